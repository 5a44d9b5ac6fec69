package slatedb_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"

	"github.com/stardustdb/stardust/slatedb"
)

func TestManifestsOfFixturesDecodeAsExpected(t *testing.T) {
	for _, f := range fixtures(t) {
		for _, want := range f.Expected.Manifests {
			t.Run(fmt.Sprintf("%s/%s/%d", f.Set, f.Name, want.ID), func(t *testing.T) {
				m, err := slatedb.DecodeManifest(f.read(t, "manifest/"+want.File))
				if err != nil {
					t.Fatal(err)
				}
				compareManifest(t, m, want)
			})
		}
	}
}

func compareManifest(t *testing.T, m *slatedb.Manifest, want expectedManifest) {
	t.Helper()
	equal(t, "format version", m.FormatVersion, want.FormatVersion)
	equal(t, "initialized", m.Initialized, want.Initialized)
	equal(t, "writer epoch", m.WriterEpoch, want.WriterEpoch)
	equal(t, "compactor epoch", m.CompactorEpoch, want.CompactorEpoch)
	equal(t, "replay after WAL id", m.ReplayAfterWALID, want.ReplayAfterWALID)
	equal(t, "last seen WAL id", m.WALIDLastSeen, want.WALIDLastSeen)
	equal(t, "last L0 seq", m.LastL0Seq, want.LastL0Seq)
	equal(t, "snapshot seq", m.RecentSnapshotMinSeq, want.RecentSnapshotMinSeq)
	equal(t, "clock tick", m.LastL0ClockTick, want.LastL0ClockTick)
	equal(t, "WAL store", m.WALObjectStoreURI, deref(want.WALObjectStoreURI))
	lastCompacted := ""
	if m.Root.LastCompactedL0 != (ulid.ULID{}) {
		lastCompacted = m.Root.LastCompactedL0.String()
	}
	equal(t, "last compacted L0", lastCompacted, deref(want.L0LastCompacted))

	equalSlices(t, "L0", viewSSTs(m.Root.L0), want.L0)
	equal(t, "number of sorted runs", len(m.Root.SortedRuns), len(want.SortedRuns))
	for i, run := range m.Root.SortedRuns {
		equal(t, "sorted run", run.ID, want.SortedRuns[i].ID)
		equalSlices(t, "SSTs of the sorted run", viewSSTs(run.SSTs), want.SortedRuns[i].SSTs)
	}
	equalSlices(t, "SSTs", idStrings(m.SSTs()), want.SSTsReferenced)
	compareSSTs(t, m, want.SSTInfo)

	equal(t, "number of checkpoints", len(m.Checkpoints), len(want.Checkpoints))
	for i, c := range m.Checkpoints {
		compareCheckpoint(t, c, want.Checkpoints[i])
	}
	equal(t, "number of external databases", len(m.ExternalDBs), len(want.ExternalDBs))
	for i, e := range m.ExternalDBs {
		w := want.ExternalDBs[i]
		equal(t, "external path", e.Path, w.Path)
		equal(t, "source checkpoint", e.SourceCheckpointID.String(), w.SourceCheckpointID)
		final := ""
		if e.FinalCheckpointID != uuid.Nil {
			final = e.FinalCheckpointID.String()
		}
		equal(t, "final checkpoint", final, deref(w.FinalCheckpointID))
		equalSlices(t, "external SSTs", idStrings(e.SSTIDs), w.SSTIDs)
	}
}

func compareSSTs(t *testing.T, m *slatedb.Manifest, want []expectedSST) {
	t.Helper()
	found := map[string]*slatedb.SST{}
	for view := range m.AllSSTViews() {
		found[view.SST.ID.String()] = view.SST
	}
	for _, w := range want {
		sst := found[w.ULID]
		if sst == nil {
			t.Errorf("SST %s is missing", w.ULID)
			continue
		}
		got := expectedSST{
			w.ULID, sst.FormatVersion,
			hex.EncodeToString(sst.Info.FirstEntry), hex.EncodeToString(sst.Info.LastEntry),
			sst.Info.IndexOffset, sst.Info.IndexLen, sst.Info.FilterOffset, sst.Info.FilterLen,
			sst.Info.Compression.String(), sst.Info.Type.String(),
		}
		equal(t, "SST", got, w)
	}
}

func compareCheckpoint(t *testing.T, c slatedb.Checkpoint, want expectedCheckpoint) {
	t.Helper()
	equal(t, "checkpoint", c.ID.String(), want.ID)
	equal(t, "checkpoint's manifest", c.ManifestID, want.ManifestID)
	equal(t, "creation", c.CreateTime.Unix(), want.CreateTimeS)
	equal(t, "name", c.Name, deref(want.Name))
	if want.ExpireTimeS == nil {
		equal(t, "no expiry", c.ExpireTime.IsZero(), true)
	} else {
		equal(t, "expiry", c.ExpireTime.Unix(), *want.ExpireTimeS)
	}
}

func TestCompactionsOfFixturesDecodeAsExpected(t *testing.T) {
	for _, f := range fixtures(t) {
		for _, want := range f.Expected.Compactions {
			t.Run(fmt.Sprintf("%s/%s/%d", f.Set, f.Name, want.ID), func(t *testing.T) {
				cs, err := slatedb.DecodeCompactions(f.read(t, "compactions/"+want.File))
				if err != nil {
					t.Fatal(err)
				}
				equal(t, "format version", cs.FormatVersion, want.FormatVersion)
				equal(t, "compactor epoch", cs.CompactorEpoch, want.CompactorEpoch)
				equal(t, "number of compactions", len(cs.Recent), len(want.Compactions))
				for i, c := range cs.Recent {
					w := want.Compactions[i]
					equal(t, "id", c.ID.String(), w.ID)
					equal(t, "status", c.Status.String(), w.Status)
					equal(t, "spec", c.Spec.Kind.String(), w.SpecType)
					equalSlices(t, "sorted runs", c.Spec.SortedRuns, w.SortedRuns)
					equalSlices(t, "SSTs", idStrings(c.Spec.SSTs), w.SSTs)
					equalSlices(t, "L0 views", idStrings(c.Spec.L0ViewIDs), w.L0ViewIDs)
					var outputs []string
					for _, sst := range c.Outputs {
						outputs = append(outputs, sst.ID.String())
					}
					equalSlices(t, "outputs", outputs, w.OutputSSTs)
				}
			})
		}
	}
}

func TestViewsOfVersion2HaveIDsAndRangesOfTheirOwn(t *testing.T) {
	m, err := slatedb.DecodeManifest(fixtureNamed(t, "d-v2", "db").read(t, "manifest/00000000000000000018.manifest"))
	if err != nil {
		t.Fatal(err)
	}
	narrowed := 0
	for view := range m.AllSSTViews() {
		if view.ID == view.SST.ID {
			t.Errorf("view %v has the ID of its SST", view.ID)
		}
		if view.Visible != nil {
			narrowed++
			if view.Visible.Start.Kind == 0 || view.Visible.End.Kind == 0 {
				t.Errorf("range of view %v: %+v", view.ID, view.Visible)
			}
		}
	}
	equal(t, "number of narrowed views", narrowed, 1)
}

func TestDecodedValuesKeepNothingOfTheInput(t *testing.T) {
	f := fixtureNamed(t, "a-small", "db")
	data := f.read(t, "manifest/00000000000000000018.manifest")
	m, err := slatedb.DecodeManifest(data)
	if err != nil {
		t.Fatal(err)
	}
	clear(data)
	compareManifest(t, m, f.Expected.Manifests[17])
}

func TestUnknownVersionsAreNamed(t *testing.T) {
	for _, version := range []int{0, 3, 0x1ff, 0xffff} {
		data := []byte{byte(version >> 8), byte(version), 4, 0, 0, 0}
		_, manifestErr := slatedb.DecodeManifest(data)
		_, compactionsErr := slatedb.DecodeCompactions(data)
		for _, err := range []error{manifestErr, compactionsErr} {
			if !errors.Is(err, slatedb.ErrUnsupportedVersion) || !strings.Contains(err.Error(), fmt.Sprint(version)) {
				t.Errorf("version %d: %v", version, err)
			}
		}
	}
}

// decodeFile decodes a metadata object by its kind.
func decodeFile(file string, data []byte) error {
	var err error
	if path.Ext(file) == ".manifest" {
		_, err = slatedb.DecodeManifest(data)
	} else {
		_, err = slatedb.DecodeCompactions(data)
	}
	return err
}

func TestEveryCutOfAFixtureIsATypedError(t *testing.T) {
	for _, f := range fixtures(t) {
		for _, file := range f.metadataFiles() {
			data := f.read(t, file)
			for n := range data {
				err := decodeFile(file, data[:n])
				if err == nil && n < len(data)-8 {
					// The last bytes may be padding or a string's end.
					t.Errorf("%s/%s/%s cut to %d of %d bytes decodes", f.Set, f.Name, file, n, len(data))
				}
				requireDecodeError(t, err)
			}
		}
	}
}

func TestEveryFlippedByteOfAFixtureIsSurvived(t *testing.T) {
	for _, f := range fixtures(t) {
		files := f.metadataFiles()
		for _, file := range files {
			flips := []byte{0xff}
			if file == files[len(files)-1] || strings.HasSuffix(file, f.latestManifest()) {
				flips = []byte{0xff, 0x01, 0x80, 0x10}
			}
			data := f.read(t, file)
			for i, original := range data {
				for _, flip := range flips {
					data[i] = original ^ flip
					requireDecodeError(t, decodeFile(file, data))
				}
				data[i] = original
			}
		}
	}
}

// requireDecodeError fails the test when err is neither nil nor a DecodeError
// that names its place.
func requireDecodeError(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		return
	}
	bad, ok := errors.AsType[*slatedb.DecodeError](err)
	if !ok || bad.Object == "" || bad.Err == nil || bad.Offset < 0 {
		t.Fatalf("not a complete DecodeError: %#v", err)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func equalSlices[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func viewSSTs(views []slatedb.SSTView) []string {
	var ids []string
	for _, view := range views {
		ids = append(ids, view.SST.ID.String())
	}
	return ids
}

func idStrings(ids []ulid.ULID) []string {
	var all []string
	for _, id := range ids {
		all = append(all, id.String())
	}
	return all
}
