package stardust_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing/fstest"

	"github.com/stardustdb/stardust"
)

// temporary returns the path of a new database for an example.
func temporary() (path string, remove func()) {
	dir, err := os.MkdirTemp("", "stardust-example-")
	if err != nil {
		log.Fatal(err)
	}
	return filepath.Join(dir, "files.stardust"), func() { os.RemoveAll(dir) }
}

func Example() {
	path, remove := temporary()
	defer remove()
	db, err := stardust.Open(path, &stardust.Options{
		Plugins: stardust.Plugins{Objects: &stardust.ObjectsPlugin{}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	record, err := db.Tree().Put("notes/hello.txt", strings.NewReader("Hello, objects"), &stardust.PutOptions{Parents: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(record.Name, record.Size, "bytes, revision", record.Revision)

	reader, err := db.Tree().Open(record.Digest)
	if err != nil {
		log.Fatal(err)
	}
	defer reader.Close()
	if _, err := io.Copy(os.Stdout, reader); err != nil { // every chunk is verified
		log.Fatal(err)
	}
	// Output:
	// hello.txt 14 bytes, revision 3
	// Hello, objects
}

func ExampleDB_AsOf() {
	path, remove := temporary()
	defer remove()
	db, err := stardust.Open(path, withObjects())
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	first, err := db.Tree().Put("draft", strings.NewReader("first words"), nil)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := db.Tree().Move(first.Entity, 0, "final", first.Revision, false); err != nil {
		log.Fatal(err)
	}
	past, err := db.AsOf(first.Revision)
	if err != nil {
		log.Fatal(err)
	}
	for _, view := range []stardust.Tree{past.Tree(), db.Tree()} {
		for record, err := range view.Children(0) {
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(record.Name, record.Revision)
		}
	}
	// Output:
	// draft 2
	// final 3
}

func ExampleTree_Import() {
	path, remove := temporary()
	defer remove()
	db, err := stardust.Open(path, withObjects())
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	from := fstest.MapFS{"docs/a.txt": {Data: []byte("A")}, "docs/b.txt": {Data: []byte("B")}} // or os.DirFS(dir)
	report, err := db.Tree().Import(context.Background(), from, 0, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Created, "created,", report.Failed, "failed")
	for entry, err := range db.Tree().Walk(0) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(entry.Record.Kind, "/"+entry.Path)
	}
	// Output:
	// 2 created, 0 failed
	// directory /
	// directory /docs
	// file /docs/a.txt
	// file /docs/b.txt
}

func ExampleTree_FS() {
	path, remove := temporary()
	defer remove()
	db, err := stardust.Open(path, withObjects())
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Tree().Put("note", strings.NewReader("read through io/fs"), nil); err != nil {
		log.Fatal(err)
	}
	text, err := fs.ReadFile(db.Tree().FS(), "note")
	fmt.Println(string(text), err)
	// Output: read through io/fs <nil>
}

func ExampleDB_Call() {
	path, remove := temporary()
	defer remove()
	db, err := stardust.Open(path, withObjects())
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Tree().Put("note", strings.NewReader("words"), nil); err != nil {
		log.Fatal(err)
	}
	request, err := stardust.Parse([]byte(`parent 0 name note`), stardust.DUST)
	if err != nil {
		log.Fatal(err)
	}
	found, err := db.Call("objects", "lookup", request)
	if err != nil {
		log.Fatal(err)
	}
	defer found.Close()
	var record stardust.Record
	fmt.Println(found.Decode(&record), record.Name, record.Size)
	// Output: <nil> note 5
}
