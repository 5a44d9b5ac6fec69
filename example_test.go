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

// store uploads a text and names it in the root directory.
func store(db *stardust.DB, name, text string) stardust.Record {
	upload, err := db.Objects().Upload()
	if err != nil {
		log.Fatal(err)
	}
	defer upload.Close()
	if _, err := io.Copy(upload, strings.NewReader(text)); err != nil {
		log.Fatal(err)
	}
	published, err := upload.FinishPayload()
	if err != nil {
		log.Fatal(err)
	}
	nodes, err := stardust.Parse(fmt.Appendf(nil, `[{name %s digest {#sha256 "%v"}}]`, name, published.Digest), stardust.DUST)
	if err != nil {
		log.Fatal(err)
	}
	created, err := db.Objects().Create(nodes)
	if err != nil {
		log.Fatal(err)
	}
	defer created.Close()
	var records []stardust.Record
	if err := created.Decode(&records); err != nil {
		log.Fatal(err)
	}
	return records[0]
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

	record := store(db, "hello.txt", "Hello, objects")
	fmt.Println(record.Name, record.Size, "bytes, revision", record.Revision)

	reader, err := db.Objects().OpenDigest(record.Digest)
	if err != nil {
		log.Fatal(err)
	}
	defer reader.Close()
	if _, err := io.Copy(os.Stdout, reader); err != nil { // every chunk is verified
		log.Fatal(err)
	}
	// Output:
	// hello.txt 14 bytes, revision 2
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
	first := store(db, "draft", "first words")
	if _, err := db.Objects().Move(first.Entity, 0, "final", first.Revision, false); err != nil {
		log.Fatal(err)
	}
	past, err := db.AsOf(first.Revision)
	if err != nil {
		log.Fatal(err)
	}
	for _, view := range []stardust.Objects{past.Objects(), db.Objects()} {
		for record, err := range view.List(0) {
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

func ExampleObjects_Import() {
	path, remove := temporary()
	defer remove()
	db, err := stardust.Open(path, withObjects())
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	from := fstest.MapFS{"docs/a.txt": {Data: []byte("A")}, "docs/b.txt": {Data: []byte("B")}} // or os.DirFS(dir)
	report, err := db.Objects().Import(context.Background(), from, 0, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Created, "created,", report.Failed, "failed")
	for entry, err := range db.Objects().Walk(0) {
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

func ExampleObjects_FS() {
	path, remove := temporary()
	defer remove()
	db, err := stardust.Open(path, withObjects())
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	store(db, "note", "read through io/fs")
	text, err := fs.ReadFile(db.Objects().FS(), "note")
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
	store(db, "note", "words")
	request, err := stardust.Parse([]byte(`name note`), stardust.DUST)
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
