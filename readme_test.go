package stardust_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stardustdb/stardust"
)

// readme is the program of README.md, line by line.
func readme(source io.Reader) error {
	db, err := stardust.Open("files.stardust", &stardust.Options{
		Plugins: stardust.Plugins{Objects: &stardust.ObjectsPlugin{}},
	})
	if err != nil {
		return err
	}
	defer db.Close()

	tree := db.Tree()
	file, err := tree.Put("/notes/hello.txt", source, &stardust.PutOptions{Parents: true}) // content and name in one commit
	if err != nil {
		return err
	}
	fmt.Println(file.Digest, file.Size, file.Revision)

	reader, err := tree.Open(file.Digest) // an io.ReadSeeker and io.ReaderAt; every chunk is verified
	if err != nil {
		return err
	}
	defer reader.Close()
	if _, err := io.Copy(os.Stdout, reader); err != nil {
		return err
	}

	_, err = tree.Move(file.Entity, 0, "greeting.txt", file.Revision, false) // refused if someone changed it since
	return err
}

// TestTheProgramOfTheREADMERuns runs what README.md shows first, and checks that
// it shows just that.
func TestTheProgramOfTheREADMERuns(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(page), "```go\n")
	shown, _, _ = strings.Cut(shown, "```")
	_, body, _ := strings.Cut(string(source), "func readme(source io.Reader) error {\n")
	body, _, _ = strings.Cut(body, "\n}\n")
	body = strings.TrimPrefix(strings.ReplaceAll("\n"+body+"\n", "\n\t", "\n"), "\n")
	if shown != body {
		t.Errorf("README.md shows\n%s\nand this file has\n%s", shown, body)
	}
	t.Chdir(t.TempDir())
	if err := readme(strings.NewReader("Hello, objects\n")); err != nil {
		t.Fatal(err)
	}
	db, err := stardust.Open("files.stardust", withObjects())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	text, err := fs.ReadFile(db.Tree().FS(), "greeting.txt")
	if err != nil || string(text) != "Hello, objects\n" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := db.Tree().Resolve("/notes/hello.txt"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old path: %v", err)
	}
}
