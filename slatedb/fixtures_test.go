package slatedb_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
)

// A fixture is one database of testdata and what is known about it.
type fixture struct {
	Set, Name     string
	ReferenceTime time.Time
	Expected      expectedDatabase
}

// Root is the database's root in the set's store.
func (f *fixture) Root() objectstore.Path { return objectstore.Path(f.Name) }

type expectedSet struct {
	ReferenceTimeS int64                       `json:"reference_time_s"`
	Databases      map[string]expectedDatabase `json:"databases"`
}

type expectedDatabase struct {
	Manifests        []expectedManifest          `json:"manifests"`
	Compactions      []expectedCompactions       `json:"compactions"`
	Files            map[string]map[string]int64 `json:"files"`
	LatestManifestID uint64                      `json:"latest_manifest_id"`
	AllSSTs          []string                    `json:"ssts_referenced_by_latest_and_all_its_checkpoints"`
	ForeignSSTs      []string                    `json:"ssts_referenced_but_not_under_this_db"`
	UnreferencedSSTs []string                    `json:"ssts_present_but_not_referenced_by_latest_or_any_checkpoint"`
	AtReferenceTime  struct {
		Live    []string `json:"live_checkpoints"`
		Expired []string `json:"expired_checkpoints"`
	} `json:"at_reference_time"`
}

type expectedManifest struct {
	ID                   uint64               `json:"id"`
	File                 string               `json:"file"`
	FormatVersion        uint16               `json:"format_version"`
	Initialized          bool                 `json:"initialized"`
	WriterEpoch          uint64               `json:"writer_epoch"`
	CompactorEpoch       uint64               `json:"compactor_epoch"`
	ReplayAfterWALID     uint64               `json:"replay_after_wal_id"`
	WALIDLastSeen        uint64               `json:"wal_id_last_seen"`
	LastL0Seq            uint64               `json:"last_l0_seq"`
	RecentSnapshotMinSeq uint64               `json:"recent_snapshot_min_seq"`
	LastL0ClockTick      int64                `json:"last_l0_clock_tick"`
	L0LastCompacted      *string              `json:"l0_last_compacted"`
	WALObjectStoreURI    *string              `json:"wal_object_store_uri"`
	L0                   []string             `json:"l0"`
	SortedRuns           []expectedRun        `json:"sorted_runs"`
	SSTsReferenced       []string             `json:"ssts_referenced"`
	SSTInfo              []expectedSST        `json:"sst_info"`
	Checkpoints          []expectedCheckpoint `json:"checkpoints"`
	ExternalDBs          []expectedExternal   `json:"external_dbs"`
}

type expectedRun struct {
	ID   uint32   `json:"id"`
	SSTs []string `json:"ssts"`
}

type expectedSST struct {
	ULID          string `json:"ulid"`
	FormatVersion uint16 `json:"format_version"`
	FirstEntry    string `json:"first_entry_hex"`
	LastEntry     string `json:"last_entry_hex"`
	IndexOffset   uint64 `json:"index_offset"`
	IndexLen      uint64 `json:"index_len"`
	FilterOffset  uint64 `json:"filter_offset"`
	FilterLen     uint64 `json:"filter_len"`
	Compression   string `json:"compression"`
	SSTType       string `json:"sst_type"`
}

type expectedCheckpoint struct {
	ID          string  `json:"id"`
	ManifestID  uint64  `json:"manifest_id"`
	ExpireTimeS *int64  `json:"expire_time_s"`
	CreateTimeS int64   `json:"create_time_s"`
	Name        *string `json:"name"`
}

type expectedExternal struct {
	Path               string   `json:"path"`
	SourceCheckpointID string   `json:"source_checkpoint_id"`
	FinalCheckpointID  *string  `json:"final_checkpoint_id"`
	SSTIDs             []string `json:"sst_ids"`
}

type expectedCompactions struct {
	ID             uint64               `json:"id"`
	File           string               `json:"file"`
	FormatVersion  uint16               `json:"format_version"`
	CompactorEpoch uint64               `json:"compactor_epoch"`
	Compactions    []expectedCompaction `json:"compactions"`
}

type expectedCompaction struct {
	ID         string   `json:"id"`
	Status     string   `json:"status"`
	SpecType   string   `json:"spec_type"`
	SortedRuns []uint32 `json:"sorted_runs"`
	SSTs       []string `json:"ssts"`
	L0ViewIDs  []string `json:"l0_view_ids"`
	OutputSSTs []string `json:"output_ssts"`
}

// fixtures returns every database of testdata.
func fixtures(t testing.TB) []*fixture {
	t.Helper()
	var all []*fixture
	for _, set := range []string{"a-small", "b-checkpoints", "c-clone", "d-v2"} {
		text, err := os.ReadFile(filepath.Join("testdata", set, "expected.json"))
		if err != nil {
			t.Fatal(err)
		}
		var expected expectedSet
		if err := json.Unmarshal(text, &expected); err != nil {
			t.Fatal(err)
		}
		for name, database := range expected.Databases {
			all = append(all, &fixture{set, name, time.Unix(expected.ReferenceTimeS, 0), database})
		}
	}
	return all
}

// fixtureNamed returns one database of testdata.
func fixtureNamed(t testing.TB, set, name string) *fixture {
	t.Helper()
	for _, f := range fixtures(t) {
		if f.Set == set && f.Name == name {
			return f
		}
	}
	t.Fatalf("no fixture %s/%s", set, name)
	return nil
}

// read returns the bytes of a file of the database, such as
// "manifest/00000000000000000001.manifest".
func (f *fixture) read(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", f.Set, f.Name, filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// metadataFiles returns the manifests and compactions of the database.
func (f *fixture) metadataFiles() []string {
	var files []string
	for _, m := range f.Expected.Manifests {
		files = append(files, "manifest/"+m.File)
	}
	for _, c := range f.Expected.Compactions {
		files = append(files, "compactions/"+c.File)
	}
	return files
}

// latestManifest returns the file name of the last manifest.
func (f *fixture) latestManifest() string {
	return f.Expected.Manifests[len(f.Expected.Manifests)-1].File
}

// fixtureStore returns a store with all databases of a set: their metadata, and SSTs
// of the right sizes whose contents are their own paths.
func fixtureStore(t testing.TB, set string) objectstore.Store {
	t.Helper()
	store := memory.New(nil)
	for _, f := range fixtures(t) {
		if f.Set != set {
			continue
		}
		for _, file := range f.metadataFiles() {
			put(t, store, f.Name+"/"+file, f.read(t, file))
		}
		for folder, files := range f.Expected.Files {
			for file, size := range files {
				if folder == "compacted" || folder == "wal" {
					path := f.Name + "/" + folder + "/" + file
					put(t, store, path, contents(path, int(size)))
				}
			}
		}
	}
	return store
}

// contents returns n bytes that belong to the path and no other.
func contents(path string, n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = path[i%len(path)]
	}
	return data
}

func put(t testing.TB, store objectstore.Store, path string, data []byte) {
	t.Helper()
	if _, err := store.Put(t.Context(), objectstore.Path(path), objectstore.Bytes(data), nil); err != nil {
		t.Fatal(err)
	}
}
