// Command database keeps a note in a database, changes it, and reads both
// versions: what a program does with package stardust.
//
//	go run ./examples/database notes.stardust
package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/stardustdb/stardust"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("name a database file, which is made if it does not exist")
	}
	if err := run(os.Args[1], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(path string, out io.Writer) (err error) {
	db, err := stardust.Open(path, &stardust.Options{
		Plugins: stardust.Plugins{Objects: &stardust.ObjectsPlugin{}},
	})
	if err != nil {
		return err
	}
	defer func() {
		if closed := db.Close(); err == nil {
			err = closed
		}
	}()
	tree := db.Tree()
	first, err := tree.Put("/notes/today.txt", strings.NewReader("rain\n"), &stardust.PutOptions{Parents: true})
	if err != nil {
		return err
	}
	// The revision says: only if nobody has changed it since.
	second, err := tree.Put("/notes/today.txt", strings.NewReader("sun\n"), &stardust.PutOptions{ExpectedRevision: first.Revision})
	if err != nil {
		return err
	}
	past, err := db.AsOf(first.Revision)
	if err != nil {
		return err
	}
	if err := show(out, "before", past.Tree(), second.Entity); err != nil {
		return err
	}
	if err := show(out, "now", tree, second.Entity); err != nil {
		return err
	}
	for entry, err := range tree.Walk(0) {
		if err != nil {
			return err
		}
		fmt.Fprintln(out, "/"+entry.Path)
	}
	return nil
}

// show prints a file as a version of the tree has it.
func show(out io.Writer, name string, tree stardust.Tree, entity int64) error {
	file, err := tree.Get(entity)
	if err != nil {
		return err
	}
	content, err := tree.Open(file.Digest)
	if err != nil {
		return err
	}
	defer content.Close()
	text, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: %s", name, text)
	return err
}
