package slatedb_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
	"github.com/stardustdb/stardust/slatedb"
	"github.com/stardustdb/stardust/slatedb/slatetest"
)

func TestTheLatestManifestAndCompactionsAreFound(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(f.Set+"/"+f.Name, func(t *testing.T) {
			store := fixtureStore(t, f.Set)
			m, err := slatedb.LatestManifest(t.Context(), store, f.Root())
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "latest", m.ID, f.Expected.LatestManifestID)

			cs, err := slatedb.LatestCompactions(t.Context(), store, f.Root())
			if err != nil {
				t.Fatal(err)
			}
			if len(f.Expected.Compactions) == 0 {
				equal(t, "no compactions", cs == nil, true)
			} else {
				equal(t, "latest compactions", cs.ID, f.Expected.Compactions[len(f.Expected.Compactions)-1].ID)
			}
		})
	}
}

func TestListsHaveEveryNumberOnceAscending(t *testing.T) {
	f := fixtureNamed(t, "a-small", "db")
	store := fixtureStore(t, f.Set)
	// Neither another database's nor foreign objects are listed.
	put(t, store, "db/manifest/boundary", nil)
	put(t, store, "db/manifest/x/manifest/00000000000000000099.manifest", nil)
	put(t, store, "db2/manifest/00000000000000000099.manifest", nil)

	var got, want []uint64
	for stored, err := range slatedb.ListManifests(t.Context(), store, "db") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, stored.ID)
		equal(t, "path", stored.Meta.Path, slatedb.ManifestPath("db", stored.ID))
	}
	for _, m := range f.Expected.Manifests {
		want = append(want, m.ID)
	}
	equalSlices(t, "manifests", got, want)

	got, want = nil, nil
	for stored, err := range slatedb.ListCompactions(t.Context(), store, "db") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, stored.ID)
	}
	for _, c := range f.Expected.Compactions {
		want = append(want, c.ID)
	}
	equalSlices(t, "compactions", got, want)
}

func TestNoDatabaseIsAnErrorThatNamesTheRoot(t *testing.T) {
	store := memory.New(nil)
	_, err := slatedb.LatestManifest(t.Context(), store, "no/db")
	if !errors.Is(err, slatedb.ErrNoDatabase) || !strings.Contains(err.Error(), "no/db") {
		t.Error(err)
	}
	if _, err := slatedb.Usage(t.Context(), store, "no/db", time.Now()); !errors.Is(err, slatedb.ErrNoDatabase) {
		t.Error(err)
	}
	if cs, err := slatedb.LatestCompactions(t.Context(), store, "no/db"); cs != nil || err != nil {
		t.Error(cs, err)
	}
}

func TestErrorsNameTheObject(t *testing.T) {
	store := memory.New(nil)
	put(t, store, "db/manifest/00000000000000000001.manifest", []byte("\x00\x01junk"))
	put(t, store, "db/compactions/00000000000000000001.compactions", []byte("\x00\x09"))
	_, err := slatedb.ReadManifest(t.Context(), store, "db", 1)
	if _, ok := errors.AsType[*slatedb.DecodeError](err); !ok || !strings.Contains(err.Error(), "db/manifest/00000000000000000001.manifest") {
		t.Error(err)
	}
	if _, err = slatedb.ReadCompactions(t.Context(), store, "db", 1); !errors.Is(err, slatedb.ErrUnsupportedVersion) ||
		!strings.Contains(err.Error(), "00000000000000000001.compactions") {
		t.Error(err)
	}
	if _, err = slatedb.ReadManifest(t.Context(), store, "db", 2); !errors.Is(err, objectstore.ErrNotFound) {
		t.Error(err)
	}
}

// collectingStore deletes an object as soon as it was listed, once, and puts
// its successor, as a writer and a collector at work do.
type collectingStore struct {
	objectstore.Store
	collect func()
}

func (s *collectingStore) List(ctx context.Context, options *objectstore.ListOptions) iter.Seq2[objectstore.ObjectMeta, error] {
	return func(yield func(objectstore.ObjectMeta, error) bool) {
		for meta, err := range s.Store.List(ctx, options) {
			if !yield(meta, err) {
				return
			}
		}
		if s.collect != nil {
			s.collect()
			s.collect = nil
		}
	}
}

func TestTheLatestManifestIsFoundWhileACollectorRuns(t *testing.T) {
	inner := memory.New(nil)
	manifest := func(id uint64) {
		put(t, inner, string(slatedb.ManifestPath("db", id)), slatetest.EncodeManifest(&slatedb.Manifest{FormatVersion: 1, WriterEpoch: id}))
	}
	manifest(1)
	store := &collectingStore{inner, func() {
		manifest(2)
		if err := inner.Delete(t.Context(), slatedb.ManifestPath("db", 1)); err != nil {
			t.Error(err)
		}
	}}
	m, err := slatedb.LatestManifest(t.Context(), store, "db")
	if err != nil || m.ID != 2 || m.WriterEpoch != 2 {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestActiveCheckpointsOfFixturesAreThoseExpected(t *testing.T) {
	for _, f := range fixtures(t) {
		if f.ReferenceTime.Unix() == 0 {
			continue
		}
		t.Run(f.Set+"/"+f.Name, func(t *testing.T) {
			m, err := slatedb.LatestManifest(t.Context(), fixtureStore(t, f.Set), f.Root())
			if err != nil {
				t.Fatal(err)
			}
			var live []string
			for _, c := range m.ActiveCheckpoints(f.ReferenceTime) {
				live = append(live, c.ID.String())
			}
			equalSlices(t, "active checkpoints", live, f.Expected.AtReferenceTime.Live)
		})
	}
}

func TestACheckpointHoldsThroughTheSecondItExpiresAt(t *testing.T) {
	c := slatedb.Checkpoint{ExpireTime: time.Unix(100, 0)}
	for at, want := range map[time.Time]bool{
		time.Unix(99, 0): true, time.Unix(100, 999_999_999): true, time.Unix(101, 0): false,
	} {
		equal(t, at.String(), c.Active(at), want)
	}
	never := slatedb.Checkpoint{}
	equal(t, "without expiry", never.Active(time.Unix(1<<40, 0)), true)
}

func TestUsageCountsEveryObjectOnce(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(f.Set+"/"+f.Name, func(t *testing.T) {
			store := fixtureStore(t, f.Set)
			// At time zero no checkpoint has expired.
			u, err := slatedb.Usage(t.Context(), store, f.Root(), time.Unix(0, 0))
			if err != nil {
				t.Fatal(err)
			}
			latest := f.Expected.Manifests[len(f.Expected.Manifests)-1]
			foreign := toSet(f.Expected.ForeignSSTs)
			live := toSet(latest.SSTsReferenced)
			var want slatedb.UsageReport
			count := func(a *slatedb.Amount, size int64) { a.Objects++; a.Bytes += size }
			for file, size := range f.Expected.Files["compacted"] {
				id := strings.TrimSuffix(file, path.Ext(file))
				switch {
				case live[id]:
					count(&want.Live, size)
				case toSet(f.Expected.AllSSTs)[id]:
					count(&want.Retained, size)
				default:
					count(&want.Garbage, size)
				}
			}
			equal(t, "live", u.Live, want.Live)
			equal(t, "retained", u.Retained, want.Retained)
			equal(t, "garbage", u.Garbage, want.Garbage)
			equal(t, "garbage objects", u.Garbage.Objects, int64(len(f.Expected.UnreferencedSSTs)))
			equal(t, "external", u.External.Objects, int64(len(foreign)))
			equal(t, "missing", len(u.Missing), 0)
			equal(t, "manifest", u.ManifestID, f.Expected.LatestManifestID)
		})
	}
}

func TestUsageJudgesCheckpointsByTheTimeGiven(t *testing.T) {
	f := fixtureNamed(t, "b-checkpoints", "db")
	store := fixtureStore(t, f.Set)
	farFuture := time.Unix(1<<33, 0)
	u, err := slatedb.Usage(t.Context(), store, f.Root(), farFuture)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "retained", u.Retained.Objects, 0)
	equal(t, "garbage", u.Garbage.Objects, 4)
}

func TestUsageTellsInFlightAndMissingSSTs(t *testing.T) {
	store := memory.New(nil)
	live, gone, running, failed := ulid.ULID{1}, ulid.ULID{2}, ulid.ULID{3}, ulid.ULID{4}
	put(t, store, string(slatedb.ManifestPath("", 1)), slatetest.EncodeManifest(manifestOf(1, live, gone)))
	put(t, store, string(slatedb.CompactionsPath("", 1)), slatetest.EncodeCompactions(&slatedb.Compactions{
		FormatVersion: 2,
		Recent: []slatedb.Compaction{
			{Status: slatedb.StatusRunning, Spec: slatedb.CompactionSpec{Kind: slatedb.SpecTiered}, Outputs: []slatedb.SST{{ID: running}}},
			{Status: slatedb.StatusFailed, Spec: slatedb.CompactionSpec{Kind: slatedb.SpecTiered}, Outputs: []slatedb.SST{{ID: failed}}},
		},
	}))
	for id, size := range map[ulid.ULID]int{live: 10, running: 20, failed: 30} {
		path := string(slatedb.SSTPath("", id))
		put(t, store, path, contents(path, size))
	}
	u, err := slatedb.Usage(t.Context(), store, "", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "live", u.Live, slatedb.Amount{Objects: 1, Bytes: 10})
	equal(t, "in flight", u.InFlight, slatedb.Amount{Objects: 1, Bytes: 20})
	equal(t, "garbage", u.Garbage, slatedb.Amount{Objects: 1, Bytes: 30})
	equalSlices(t, "missing", u.Missing, []objectstore.Path{slatedb.SSTPath("", gone)})
}

func TestTheJSONViewIsThatOfTheCommand(t *testing.T) {
	f := fixtureNamed(t, "c-clone", "clone")
	m, err := slatedb.LatestManifest(t.Context(), fixtureStore(t, f.Set), f.Root())
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(m.View())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "JSON", string(text), `{"id":6,"format_version":1,`+
		`"ssts":["01M8TRDCR2A9HWSJDYX97N6X28","01M8TRDCR2ZVJDK2A0FTK7YDK3","01M8TRDECEZY01E71GEY279FBK","01M8TRDNN9SY50RKQBGQZBPX6A"],`+
		`"checkpoints":[],"external_dbs":[{"path":"parent","sst_ids":`+
		`["01M8TRDCR2A9HWSJDYX97N6X28","01M8TRDCR2ZVJDK2A0FTK7YDK3","01M8TRDECEZY01E71GEY279FBK"]}],"segments":[]}`)

	f = fixtureNamed(t, "c-clone", "parent")
	m, err = slatedb.LatestManifest(t.Context(), fixtureStore(t, f.Set), f.Root())
	if err != nil {
		t.Fatal(err)
	}
	text, err = json.Marshal(m.View().Checkpoints[1:])
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "JSON", string(text), `[{"id":"e4522c97-f221-4fdc-86b1-e813d7eeac89","manifest_id":12,"expire_time_s":1796194655,"name":null},`+
		`{"id":"6edb781f-fcc4-47b8-9447-260d6861f0af","manifest_id":12,"expire_time_s":null,"name":null},`+
		`{"id":"e3620601-16a6-4ce6-93c4-f7372806c2fd","manifest_id":14,"expire_time_s":null,"name":"nightly"}]`)
}

func TestViewsOfSegmentsShowAnyPrefix(t *testing.T) {
	m := &slatedb.Manifest{Segments: []slatedb.Segment{
		{Prefix: []byte("day"), Tree: slatedb.Tree{SortedRuns: []slatedb.SortedRun{{ID: 3}}}},
		{Prefix: []byte{0xff}},
	}}
	text, err := json.Marshal(m.View().Segments)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "JSON", string(text), `[{"prefix":"day","prefix_hex":"646179","l0":[],"sorted_runs":[{"id":3,"ssts":[]}]},`+
		`{"prefix_hex":"ff","l0":[],"sorted_runs":[]}]`)
}

func TestDiffOfNeighborsIsWhatAWriterDid(t *testing.T) {
	store := fixtureStore(t, "a-small")
	read := func(id uint64) *slatedb.Manifest {
		m, err := slatedb.ReadManifest(t.Context(), store, "db", id)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	// A flush adds one L0 SST.
	d := slatedb.Diff(read(4), read(5))
	equalSlices(t, "added", idStrings(d.AddedSSTs), []string{"01M8TR9XM0FVAS1VPKRMXQVP39"})
	equal(t, "removed", len(d.RemovedSSTs), 0)

	// From the first to the last: everything, and the other way round.
	d = slatedb.Diff(read(1), read(18))
	back := slatedb.Diff(read(18), read(1))
	equalSlices(t, "added and removed", d.AddedSSTs, back.RemovedSSTs)
	equal(t, "added SSTs", len(d.AddedSSTs), 6)
	equal(t, "added checkpoints", len(d.AddedCheckpoints), 2)
	equal(t, "fields", len(d.Fields), len(back.Fields))

	// Nothing differs from itself, whatever the format.
	d = slatedb.Diff(read(18), read(18))
	v2, err := slatedb.ReadManifest(t.Context(), fixtureStore(t, "d-v2"), "db", 18)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*slatedb.ManifestDiff{d, slatedb.Diff(read(18), v2)} {
		equal(t, "SSTs", len(d.AddedSSTs)+len(d.RemovedSSTs), 0)
	}
}

func TestDiffTellsAChangedCheckpoint(t *testing.T) {
	a, b := manifestOf(1), manifestOf(2)
	a.Checkpoints = []slatedb.Checkpoint{{ManifestID: 1, ExpireTime: time.Unix(5, 0)}}
	b.Checkpoints = []slatedb.Checkpoint{{ManifestID: 1, ExpireTime: time.Unix(6, 0)}}
	d := slatedb.Diff(a, b)
	if len(d.ChangedCheckpoints) != 1 || *d.ChangedCheckpoints[0].ExpireTimeS != 6 || len(d.AddedCheckpoints) != 0 {
		t.Errorf("%+v", d)
	}
}

// manifestOf returns a manifest with the given SSTs as its L0.
func manifestOf(id uint64, ssts ...ulid.ULID) *slatedb.Manifest {
	m := &slatedb.Manifest{ID: id, FormatVersion: 1, Initialized: true}
	for _, sst := range ssts {
		m.Root.L0 = append(m.Root.L0, slatedb.SSTView{ID: sst, SST: &slatedb.SST{ID: sst, FormatVersion: 1}})
	}
	return m
}

func toSet(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, item := range list {
		set[item] = true
	}
	return set
}

func TestRowsListEveryViewWithItsPlace(t *testing.T) {
	store := fixtureStore(t, "c-clone")
	m, err := slatedb.LatestManifest(t.Context(), store, "clone")
	if err != nil {
		t.Fatal(err)
	}
	rows := m.SSTRows("clone")
	var ids []string
	external := 0
	for _, row := range rows {
		ids = append(ids, row.ULID.String())
		if _, err := objectstore.Head(t.Context(), store, row.Path); err != nil {
			t.Error(err)
		}
		if row.External {
			external++
			equal(t, "external path", row.Path, slatedb.SSTPath("parent", row.ULID))
		}
	}
	equalSlices(t, "SSTs", ids, []string{
		"01M8TRDNN9SY50RKQBGQZBPX6A", "01M8TRDECEZY01E71GEY279FBK", "01M8TRDCR2A9HWSJDYX97N6X28", "01M8TRDCR2ZVJDK2A0FTK7YDK3",
	})
	equal(t, "external", external, 3)
	equal(t, "L0 has no run", rows[1].SortedRun == nil, true)
	equal(t, "run", *rows[2].SortedRun, 0)

	v2, err := slatedb.LatestManifest(t.Context(), fixtureStore(t, "d-v2"), "db")
	if err != nil {
		t.Fatal(err)
	}
	narrowed := 0
	for _, row := range v2.SSTRows("db") {
		if row.Narrowed {
			narrowed++
		}
	}
	equal(t, "narrowed", narrowed, 1)
}
