package stardust_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stardustdb/stardust"
)

// specExample is an example of the objects spec: its code as printed there, and
// the result that it prints.
type specExample struct {
	operation, title string
	run              func(db *stardust.DB, show func(result any)) error
	result           string
}

// TestSpecExamples runs every example of the objects spec on a new database and
// compares the result byte for byte.
func TestSpecExamples(t *testing.T) {
	for _, example := range specExamples() {
		t.Run(example.operation, func(t *testing.T) {
			db := open(t)
			shown := ""
			err := example.run(db, func(result any) { shown = show(t, result) })
			if err != nil {
				t.Fatalf("%s: %v", example.title, err)
			}
			if shown != example.result {
				t.Errorf("%s: got\n%s\nwant\n%s", example.title, shown, example.result)
			}
		})
	}
}

// show prints a result as the spec does: two spaces a level.
func show(t *testing.T, result any) string {
	t.Helper()
	document, ok := result.(*stardust.Document)
	if !ok {
		return fmt.Sprint(result)
	}
	text, err := document.Indent()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(text), "\n")
}

func specExamples() []specExample {
	return []specExample{
		{
			"Get", "Read the record of a file",
			specGet,
			`{
  "entity": 1,
  "parent": 0,
  "revision": 2,
  "name": "hello.txt",
  "kind": "file",
  "size": 14,
  "digest": {
    "#sha256": "95e84da38cbefdf3f9f6ef02201074c73124f7cf2025d3e1d69e591a410856fb"
  }
}`,
		},
		{
			"Lookup", "Find a child of the root by name",
			specLookup,
			`{
  "entity": 1,
  "parent": 0,
  "revision": 2,
  "name": "notes",
  "kind": "directory"
}`,
		},
		{
			"Children", "List the root directory",
			specChildren,
			`[
  {
    "entity": 2,
    "parent": 0,
    "revision": 3,
    "name": "drafts",
    "kind": "directory"
  },
  {
    "entity": 1,
    "parent": 0,
    "revision": 3,
    "name": "notes",
    "kind": "directory"
  }
]`,
		},
		{
			"Path", "Read the path of a nested directory",
			specPath,
			`[
  "notes",
  "drafts"
]`,
		},
		{
			"Files", "Find the files that hold a payload",
			specFiles,
			`[
  1,
  2
]`,
		},
		{
			"Manifest", "Read the manifest of a published payload",
			specManifest,
			`{
  "digest": {
    "#sha256": "95e84da38cbefdf3f9f6ef02201074c73124f7cf2025d3e1d69e591a410856fb"
  },
  "size": 14,
  "chunks": [
    {
      "digest": {
        "#sha256": "95e84da38cbefdf3f9f6ef02201074c73124f7cf2025d3e1d69e591a410856fb"
      },
      "size": 14
    }
  ]
}`,
		},
		{
			"Create", "Create a directory and a file in one commit",
			specCreate,
			`[
  {
    "entity": 1,
    "parent": 0,
    "revision": 3,
    "name": "notes",
    "kind": "directory"
  },
  {
    "entity": 2,
    "parent": 1,
    "revision": 3,
    "name": "hello.txt",
    "kind": "file",
    "size": 14,
    "digest": {
      "#sha256": "95e84da38cbefdf3f9f6ef02201074c73124f7cf2025d3e1d69e591a410856fb"
    }
  }
]`,
		},
		{
			"Update", "Point a file at a new payload",
			specUpdate,
			`{
  "entity": 1,
  "parent": 0,
  "revision": 3,
  "name": "hello.txt",
  "kind": "file",
  "size": 13,
  "digest": {
    "#sha256": "2b6d3a4299dac5900171112d4fd569b48e54711d8937f6ff5ca00528d47afad2"
  }
}`,
		},
		{
			"Move", "Move a directory into another",
			specMove,
			`{
  "entity": 2,
  "parent": 1,
  "revision": 4,
  "name": "archive",
  "kind": "directory"
}`,
		},
		{
			"Remove", "Remove an empty directory",
			specRemove,
			``,
		},
		{
			"Upload", "Upload a payload and publish it",
			specUpload,
			`{
  "digest": {
    "#sha256": "95e84da38cbefdf3f9f6ef02201074c73124f7cf2025d3e1d69e591a410856fb"
  },
  "size": 14,
  "deduplicated": false
}`,
		},
		{
			"Open", "Read a byte range of a payload",
			specOpen,
			`7`,
		},
	}
}

func specGet(db *stardust.DB, show func(any)) error {
	upload, err := db.Objects().Upload()
	if err != nil {
		return err
	}
	defer upload.Close()
	if _, err := upload.Write([]byte("Hello, objects")); err != nil {
		return err
	}
	published, err := upload.Finish()
	if err != nil {
		return err
	}
	defer published.Close()

	nodes, err := stardust.Parse([]byte(`[{name hello.txt digest {#sha256 "95e84da38cbefdf3f9f6ef02201074c73124f7cf2025d3e1d69e591a410856fb"}}]`), stardust.DUST)
	if err != nil {
		return err
	}
	defer nodes.Close()
	created, err := db.Objects().Create(nodes)
	if err != nil {
		return err
	}
	created.Close()

	result, err := db.Objects().Get(1)
	if err != nil {
		return err
	}
	defer result.Close()
	show(result)
	return nil
}

func specLookup(db *stardust.DB, show func(any)) error {
	nodes, err := stardust.Parse([]byte(`[{name notes}]`), stardust.DUST)
	if err != nil {
		return err
	}
	defer nodes.Close()
	created, err := db.Objects().Create(nodes)
	if err != nil {
		return err
	}
	created.Close()

	// Entity 0 is the root directory.
	result, err := db.Objects().Lookup(0, "notes")
	if err != nil {
		return err
	}
	defer result.Close()
	show(result)
	return nil
}

func specChildren(db *stardust.DB, show func(any)) error {
	nodes, err := stardust.Parse([]byte(`[{name notes} {name drafts}]`), stardust.DUST)
	if err != nil {
		return err
	}
	defer nodes.Close()
	created, err := db.Objects().Create(nodes)
	if err != nil {
		return err
	}
	created.Close()

	result, err := db.Objects().Children(0)
	if err != nil {
		return err
	}
	defer result.Close()
	show(result)
	return nil
}

func specPath(db *stardust.DB, show func(any)) error {
	nodes, err := stardust.Parse([]byte(`[{name notes} {name drafts under 1}]`), stardust.DUST)
	if err != nil {
		return err
	}
	defer nodes.Close()
	created, err := db.Objects().Create(nodes)
	if err != nil {
		return err
	}
	created.Close()

	result, err := db.Objects().Path(2)
	if err != nil {
		return err
	}
	defer result.Close()
	show(result)
	return nil
}

func specFiles(db *stardust.DB, show func(any)) error {
	upload, err := db.Objects().Upload()
	if err != nil {
		return err
	}
	defer upload.Close()
	if _, err := upload.Write([]byte("Hello, objects")); err != nil {
		return err
	}
	published, err := upload.Finish()
	if err != nil {
		return err
	}
	defer published.Close()

	nodes, err := stardust.Parse([]byte(`[{name a.txt digest {#sha256 "95e84da38cbefdf3f9f6ef02201074c73124f7cf2025d3e1d69e591a410856fb"}} {name b.txt digest {#sha256 "95e84da38cbefdf3f9f6ef02201074c73124f7cf2025d3e1d69e591a410856fb"}}]`), stardust.DUST)
	if err != nil {
		return err
	}
	defer nodes.Close()
	created, err := db.Objects().Create(nodes)
	if err != nil {
		return err
	}
	created.Close()

	result, err := db.Objects().Files("95e84da38cbefdf3f9f6ef02201074c73124f7cf2025d3e1d69e591a410856fb")
	if err != nil {
		return err
	}
	defer result.Close()
	show(result)
	return nil
}

func specManifest(db *stardust.DB, show func(any)) error {
	upload, err := db.Objects().Upload()
	if err != nil {
		return err
	}
	defer upload.Close()
	if _, err := upload.Write([]byte("Hello, objects")); err != nil {
		return err
	}
	published, err := upload.Finish()
	if err != nil {
		return err
	}
	defer published.Close()

	result, err := db.Objects().Manifest("95e84da38cbefdf3f9f6ef02201074c73124f7cf2025d3e1d69e591a410856fb")
	if err != nil {
		return err
	}
	defer result.Close()
	show(result)
	return nil
}

func specCreate(db *stardust.DB, show func(any)) error {
	upload, err := db.Objects().Upload()
	if err != nil {
		return err
	}
	defer upload.Close()
	if _, err := upload.Write([]byte("Hello, objects")); err != nil {
		return err
	}
	published, err := upload.Finish()
	if err != nil {
		return err
	}
	defer published.Close()

	// under 1 places hello.txt in the first node of the request.
	nodes, err := stardust.Parse([]byte(`[{name notes} {name hello.txt under 1 digest {#sha256 "95e84da38cbefdf3f9f6ef02201074c73124f7cf2025d3e1d69e591a410856fb"}}]`), stardust.DUST)
	if err != nil {
		return err
	}
	defer nodes.Close()

	result, err := db.Objects().Create(nodes)
	if err != nil {
		return err
	}
	defer result.Close()
	show(result)
	return nil
}

func specUpdate(db *stardust.DB, show func(any)) error {
	for _, text := range []string{"Hello, objects", "Revised notes"} {
		upload, err := db.Objects().Upload()
		if err != nil {
			return err
		}
		if _, err := upload.Write([]byte(text)); err != nil {
			upload.Close()
			return err
		}
		published, err := upload.Finish()
		upload.Close()
		if err != nil {
			return err
		}
		published.Close()
	}

	nodes, err := stardust.Parse([]byte(`[{name hello.txt digest {#sha256 "95e84da38cbefdf3f9f6ef02201074c73124f7cf2025d3e1d69e591a410856fb"}}]`), stardust.DUST)
	if err != nil {
		return err
	}
	defer nodes.Close()
	created, err := db.Objects().Create(nodes)
	if err != nil {
		return err
	}
	created.Close()

	// 0 skips the revision check; pass a record's revision to refuse a stale write.
	result, err := db.Objects().Update(1, "2b6d3a4299dac5900171112d4fd569b48e54711d8937f6ff5ca00528d47afad2", 0)
	if err != nil {
		return err
	}
	defer result.Close()
	show(result)
	return nil
}

func specMove(db *stardust.DB, show func(any)) error {
	nodes, err := stardust.Parse([]byte(`[{name notes} {name drafts}]`), stardust.DUST)
	if err != nil {
		return err
	}
	defer nodes.Close()
	created, err := db.Objects().Create(nodes)
	if err != nil {
		return err
	}
	created.Close()

	// false refuses to replace a node that already has the name.
	result, err := db.Objects().Move(2, 1, "archive", 0, false)
	if err != nil {
		return err
	}
	defer result.Close()
	show(result)
	return nil
}

func specRemove(db *stardust.DB, show func(any)) error {
	nodes, err := stardust.Parse([]byte(`[{name drafts}]`), stardust.DUST)
	if err != nil {
		return err
	}
	defer nodes.Close()
	created, err := db.Objects().Create(nodes)
	if err != nil {
		return err
	}
	created.Close()

	if err := db.Objects().Remove(1, 0); err != nil {
		return err
	}
	return nil
}

func specUpload(db *stardust.DB, show func(any)) error {
	upload, err := db.Objects().Upload()
	if err != nil {
		return err
	}
	// Close abandons the upload unless it finished.
	defer upload.Close()

	// The upload stream implements io.Writer, so io.Copy can stream into it.
	if _, err := io.Copy(upload, strings.NewReader("Hello, objects")); err != nil {
		return err
	}

	result, err := upload.Finish()
	if err != nil {
		return err
	}
	defer result.Close()
	show(result)
	return nil
}

func specOpen(db *stardust.DB, show func(any)) error {
	upload, err := db.Objects().Upload()
	if err != nil {
		return err
	}
	defer upload.Close()
	if _, err := upload.Write([]byte("Hello, objects")); err != nil {
		return err
	}
	published, err := upload.Finish()
	if err != nil {
		return err
	}
	defer published.Close()

	reader, err := db.Objects().Open("95e84da38cbefdf3f9f6ef02201074c73124f7cf2025d3e1d69e591a410856fb")
	if err != nil {
		return err
	}
	defer reader.Close()
	// The reader is an io.ReadSeeker and an io.ReaderAt.
	if _, err := reader.Seek(7, io.SeekStart); err != nil {
		return err
	}
	data := make([]byte, 7)
	read, err := io.ReadFull(reader, data)
	if err != nil {
		return err
	}
	// data holds "objects".
	result := int64(read)
	show(result)
	return nil
}
