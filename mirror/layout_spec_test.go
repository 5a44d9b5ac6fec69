package mirror_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
)

func TestDirectoryLooksAsTheSpecSays(t *testing.T) {
	bubble(t, func(e *env) {
		e.put("path/to/db/compacted/01M05WR6EZ6ZF44TGFNN5HFTDD.sst", "sst")
		e.store("path/to/other/db/compacted/01M05WRF0MG8EZY9HJEY36JE4B.sst", "other")
		open := e.gateOn("get", "path/to/other/db/compacted/01M05WRF0MG8EZY9HJEY36JE4B.sst")
		fetch := e.h.Fetch("path/to/other/db/compacted/01M05WRF0MG8EZY9HJEY36JE4B.sst")
		synctest.Wait()
		want := []string{
			"4e7dc5d27c63e00966170758c2ff14bf.01M05WRF0MG8EZY9HJEY36JE4B.sst.obj.3",
			"754128269b532c9827ffa09d3afb6118.01M05WR6EZ6ZF44TGFNN5HFTDD.sst.obj",
			"754128269b532c9827ffa09d3afb6118.01M05WR6EZ6ZF44TGFNN5HFTDD.sst.obj.meta",
		}
		if got := e.files(); !slices.Equal(got, want) {
			t.Errorf("files %q, want %q", got, want)
		}
		open(nil)
		if err := fetch.Wait(e.Context()); err != nil {
			t.Fatal(err)
		}
		if data, err := e.disk.ReadFile(dir + "/" + want[1]); err != nil || string(data) != "sst" {
			t.Errorf("object file %q, %v", data, err)
		}
	})
}

func TestMetaIsReadableJSONWithPathETagVersionAndAttributes(t *testing.T) {
	bubble(t, func(e *env) {
		result, err := e.m.Put(e.Context(), "a/x", objectstore.Bytes([]byte("bytes")), &objectstore.PutOptions{
			Attributes: objectstore.Attributes{ContentType: "x/y", Metadata: map[string]string{"k": "<v>"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		data, err := e.disk.ReadFile(e.file(".obj.meta"))
		if err != nil {
			t.Fatal(err)
		}
		var meta struct {
			Format       int    `json:"format"`
			Path         string `json:"path"`
			Size         int64  `json:"size"`
			ETag         string `json:"etag"`
			LastModified string `json:"last_modified"`
			Attributes   objectstore.Attributes
			BlockSize    int    `json:"block_size"`
			BlockCRC32C  string `json:"block_crc32c"`
			CRC32C       string `json:"crc32c"`
		}
		if err := json.Unmarshal(data, &meta); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if meta.Format != 1 || meta.Path != "a/x" || meta.Size != 5 || meta.ETag != result.ETag || meta.LastModified == "" ||
			meta.Attributes.ContentType != "x/y" || meta.Attributes.Metadata["k"] != "<v>" || meta.BlockSize != 65536 || meta.BlockCRC32C == "" || len(meta.CRC32C) != 8 {
			t.Errorf("%s", data)
		}
	})
}

func TestNamesThatEndLikeOurOwnFilesDoNotCollide(t *testing.T) {
	bubble(t, func(e *env) {
		names := []objectstore.Path{"a/foo", "a/foo.meta", "a/foo.obj", "a/foo.obj.meta", "a/foo.5", "a/foo.obj.5", "a/foo.obj.meta.5", "a/5", "a/LOCK", "LOCK", "INDEX", "a/.obj", "a/.meta"}
		for _, path := range names {
			e.put(path, "data of "+string(path))
		}
		for range 2 {
			for _, path := range names {
				e.wantLocal(path, "data of "+string(path))
			}
			if len(e.files()) != 2*len(names) {
				t.Errorf("%d files for %d objects", len(e.files()), len(names))
			}
			e.reopen()
		}
	})
}

func TestEveryPathHasALocalFileOfItsOwnOnAnyFileSystem(t *testing.T) {
	bubble(t, func(e *env) {
		var paths []objectstore.Path
		for n := 186; n <= 260; n++ {
			paths = append(paths, objectstore.Path("a/"+strings.Repeat("n", n)))
		}
		paths = append(paths, objectstore.Path("a/"+strings.Repeat("é", 500)), objectstore.Path(strings.Repeat("deep/", 200)+"x"))
		paths = append(paths, "a", "a/", "a//b", "a/b", "/a/b", "a/./b", "a/../b", "..", ".", "a/%41", "a/A", "a/@", "a/x:y", "a/line\nfeed",
			"a/ spaces ", "a/dot.", "a/CON", `a/back\slash`, "a/tab\t", "a/é", "a/e\u0301", "a/É", "a/*?", `a/"q"`)
		// Twins in another case, directories too.
		paths = append(paths, "t/readme", "t/README", "t/ReadMe", "T/readme", "t/01ARZ3NDEKTSV4RRFFQ69G5FAV.sst", "t/01arz3ndektsv4rrffq69g5fav.sst")
		for _, path := range paths {
			e.put(path, "data of "+string(path))
		}
		check := func() {
			t.Helper()
			folded := map[string]bool{}
			for _, name := range e.files() {
				if len(name) > 255 || folded[strings.ToLower(name)] || strings.IndexFunc(name, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`/\:*?"<>|`, r) }) >= 0 {
					t.Errorf("local name %q", name)
				}
				folded[strings.ToLower(name)] = true
			}
			if len(e.files()) != 2*len(paths) {
				t.Errorf("%d files for %d objects", len(e.files()), len(paths))
			}
			for _, path := range paths {
				e.wantLocal(path, "data of "+string(path))
			}
		}
		check()
		e.reopen()
		check()
		e.close()
		_ = e.disk.Remove(dir + "/INDEX")
		e.open()
		check()
		for _, path := range paths {
			e.h.Evict(path)
		}
		synctest.Wait()
		if len(e.files()) != 0 {
			t.Errorf("left: %q", e.files())
		}
	})
}

func TestTwinThatGotAHashedNameKeepsWorkingWhenTheFirstGoes(t *testing.T) {
	bubble(t, func(e *env) {
		e.put("t/Name", "upper")
		e.put("t/name", "lower") // hashed
		e.h.Evict("t/Name")
		synctest.Wait()
		e.wantLocal("t/name", "lower")
		e.reopen()
		e.wantLocal("t/name", "lower")
		e.policy.routeReads(mirror.ReadRefetch)
		if _, err := e.read("t/name", nil); err != nil { // may take the plain name now
			t.Fatal(err)
		}
		e.fetch("t/Name")
		e.wantLocal("t/name", "lower")
		e.wantLocal("t/Name", "upper")
		if len(e.files()) != 4 {
			t.Errorf("files: %q", e.files())
		}
		e.reopen()
		e.wantLocal("t/name", "lower")
		e.wantLocal("t/Name", "upper")
	})
}

func TestMetaIsInPlaceBeforeTheObject(t *testing.T) {
	bubble(t, func(e *env) {
		var renames []string
		e.onDisk(func(op vfs.Op, name string) error {
			if op == vfs.OpRename && !strings.HasSuffix(name, "INDEX") {
				renames = append(renames, name[strings.LastIndex(name, ".x.obj"):])
			}
			return nil
		})
		e.put("a/x", "bytes")
		if got := fmt.Sprint(renames); got != "[.x.obj.meta .x.obj]" {
			t.Errorf("renames: %v", got)
		}
	})
}

func TestTemporaryNumbersAreOfTheMirrorNotOfTheProcess(t *testing.T) {
	names := func() (all []string) {
		bubble(t, func(e *env) {
			e.onDisk(func(op vfs.Op, name string) error {
				if op == vfs.OpCreate && !strings.Contains(name, "INDEX") {
					all = append(all, name)
				}
				return nil
			})
			e.put("a/x", "bytes")
			e.put("a/y", "bytes")
			e.onDisk(nil)
		})
		return all
	}
	first, second := names(), names()
	if len(first) != 4 || !slices.Equal(first, second) {
		t.Errorf("%q and %q", first, second)
	}
}
