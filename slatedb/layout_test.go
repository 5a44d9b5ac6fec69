package slatedb_test

import (
	"testing"

	"github.com/oklog/ulid/v2"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/slatedb"
)

func parsedPath(s string) (objectstore.Path, bool) {
	path, err := objectstore.ParsePath(s)
	return path, err == nil
}

func TestNamesOfObjectsParse(t *testing.T) {
	id := ulid.MustParse("01M8TRA0DD5VQHK85KPG14R4CH")
	for path, want := range map[objectstore.Path]slatedb.Name{
		"db/manifest/00000000000000000042.manifest":       {Root: "db", Kind: slatedb.KindManifest, Number: 42},
		"manifest/00000000000000000007.manifest":          {Kind: slatedb.KindManifest, Number: 7},
		"a/b/manifest/18446744073709551615.manifest":      {Root: "a/b", Kind: slatedb.KindManifest, Number: 1<<64 - 1},
		"db/compactions/00000000000000000001.compactions": {Root: "db", Kind: slatedb.KindCompactions, Number: 1},
		"db/wal/00000000000000000003.sst":                 {Root: "db", Kind: slatedb.KindWAL, Number: 3},
		"db/compacted/01M8TRA0DD5VQHK85KPG14R4CH.sst":     {Root: "db", Kind: slatedb.KindCompacted, SST: id},
		"compacted/01M8TRA0DD5VQHK85KPG14R4CH.sst":        {Kind: slatedb.KindCompacted, SST: id},
	} {
		got, ok := slatedb.ParseName(path)
		if !ok || got != want {
			t.Errorf("ParseName(%q) = %+v, %v; want %+v", path, got, ok, want)
		}
		equal(t, "path", want.Path(), path)
	}
}

func TestOtherNamesDoNotParse(t *testing.T) {
	for _, path := range []objectstore.Path{
		"", "manifest", "db", "00000000000000000042.manifest",
		"db/manifest/42.manifest",                        // SlateDB writes 20 digits
		"db/manifest/000000000000000000042.manifest",     // 21
		"db/manifest/99999999999999999999.manifest",      // beyond 64 bits
		"db/manifest/+0000000000000000042.manifest",      // a sign
		"db/manifest/00000000000000000042.manifest.1",    // a temporary name
		"db/manifest/boundary",                           // another object of SlateDB's
		"db/compactions/00000000000000000001.manifest",   // in the wrong folder
		"db/manifests/00000000000000000001.manifest",     // not the folder
		"db/compacted/01m8tra0dd5vqhk85kpg14r4ch.sst",    // another spelling
		"db/compacted/81M8TRA0DD5VQHK85KPG14R4CH.sst",    // beyond 128 bits
		"db/compacted/01M8TRA0DD5VQHK85KPG14R4C.sst",     // too short
		"db/compacted/01M8TRA0DD5VQHK85KPG14R4CU.sst",    // a letter that ULIDs lack
		"db/compacted/01M8TRA0DD5VQHK85KPG14R4CH.sst.gz", // not an SST
		"db/compacted/00000000000000000003.sst",          // a WAL's name
		"db/wal/01M8TRA0DD5VQHK85KPG14R4CH.sst",          // a compacted SST's
	} {
		if name, ok := slatedb.ParseName(path); ok {
			t.Errorf("ParseName(%q) = %+v", path, name)
		}
	}
}

func TestExternalSSTsResolveUnderTheirOwner(t *testing.T) {
	mine, theirs, elsewhere := ulid.ULID{1}, ulid.ULID{2}, ulid.ULID{3}
	m := &slatedb.Manifest{ExternalDBs: []slatedb.ExternalDB{
		{Path: "parent", SSTIDs: []ulid.ULID{theirs}},
		{Path: "/a//../b c/\x01*/ü", SSTIDs: []ulid.ULID{elsewhere}},
	}}
	for id, want := range map[ulid.ULID]string{
		mine:      "clone/compacted/" + mine.String() + ".sst",
		theirs:    "parent/compacted/" + theirs.String() + ".sst",
		elsewhere: "a/%2E%2E/b c/%01%2A/%C3%BC/compacted/" + elsewhere.String() + ".sst",
	} {
		path := m.Resolver("clone").SSTPath(id)
		equal(t, "path", string(path), want)
		if _, ok := parsedPath(string(path)); !ok {
			t.Errorf("%q is not a valid path", path)
		}
	}
}
