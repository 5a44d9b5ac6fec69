package slatedb_test

import (
	"testing"

	"github.com/stardustdb/stardust/slatedb"
)

// addFixtures seeds a fuzzer with the metadata of one extension.
func addFixtures(f *testing.F, folder string) {
	for _, fx := range fixtures(f) {
		for _, file := range fx.metadataFiles() {
			if file[:len(folder)] == folder {
				f.Add(fx.read(f, file))
			}
		}
	}
	f.Add([]byte{})
	f.Add([]byte{0, 1})
	f.Add([]byte{0, 2, 4, 0, 0, 0})
}

// maxViews bounds what a buffer can decode to: a view takes an offset in a
// vector at least.
func maxViews(data []byte) int { return len(data)/4 + 16 }

func FuzzDecodeManifest(f *testing.F) {
	addFixtures(f, "manifest")
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := slatedb.DecodeManifest(data)
		requireDecodeError(t, err)
		if err != nil {
			return
		}
		views := 0
		for view := range m.AllSSTViews() {
			views++
			_ = view.SST.ID.String()
		}
		if views > maxViews(data) {
			t.Errorf("%d views in %d bytes", views, len(data))
		}
		// Whatever was decoded can be used.
		resolver := m.Resolver("db")
		for _, id := range m.SSTs() {
			if _, ok := slatedb.ParseName(resolver.SSTPath(id)); !ok {
				t.Errorf("path %q is not an SST's", resolver.SSTPath(id))
			}
		}
		m.View()
		slatedb.Diff(m, m)
	})
}

func FuzzDecodeCompactions(f *testing.F) {
	addFixtures(f, "compactions")
	f.Fuzz(func(t *testing.T, data []byte) {
		cs, err := slatedb.DecodeCompactions(data)
		requireDecodeError(t, err)
		if err != nil {
			return
		}
		outputs := 0
		for range cs.ActiveOutputs() {
			outputs++
		}
		for range cs.ResumePoints() {
		}
		if outputs > maxViews(data) {
			t.Errorf("%d outputs in %d bytes", outputs, len(data))
		}
		cs.View()
	})
}

func FuzzParseName(f *testing.F) {
	for _, seed := range []string{
		"db/manifest/00000000000000000042.manifest", "compacted/01M8TRA0DD5VQHK85KPG14R4CH.sst",
		"a/b/wal/00000000000000000001.sst", "db/compactions/00000000000000000001.compactions",
		"db/manifest/1.manifest", "/manifest/00000000000000000042.manifest",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		path, ok := parsedPath(s)
		if !ok {
			return
		}
		if name, ok := slatedb.ParseName(path); ok && name.Path() != path {
			t.Errorf("%q parses as %+v, whose path is %q", path, name, name.Path())
		}
	})
}
