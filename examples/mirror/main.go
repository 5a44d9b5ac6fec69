// Command mirror puts a mirror in front of a bucket, here a directory, and reads
// from the local copy while the bucket is gone: what a program does with package
// mirror.
//
//	go run ./examples/mirror work
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/file"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("name a directory to work in")
	}
	if err := run(context.Background(), os.Args[1], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, dir string, out io.Writer) (err error) {
	bucket, err := file.Open(filepath.Join(dir, "bucket"), nil) // or package objectstore/s3, gcs, azure
	if err != nil {
		return err
	}
	defer bucket.Close()
	rules, err := mirror.NewRules(mirror.Keep("hot/")) // all else goes to the bucket alone
	if err != nil {
		return err
	}
	m, err := mirror.Open(ctx, filepath.Join(dir, "mirror"), bucket, rules, nil)
	if err != nil {
		return err
	}
	defer func() {
		if closed := m.Close(); err == nil {
			err = closed
		}
	}()
	for _, path := range []objectstore.Path{"hot/a", "cold/b"} {
		if _, err := m.Put(ctx, path, objectstore.Bytes([]byte("content of "+path)), nil); err != nil {
			return err
		}
	}
	// Everything is in the bucket by now, and hot/ is here as well.
	if err := os.RemoveAll(filepath.Join(dir, "bucket")); err != nil {
		return err
	}
	for _, path := range []objectstore.Path{"hot/a", "cold/b"} {
		if err := show(ctx, m, path, out); err != nil {
			fmt.Fprintf(out, "%s: only the bucket had it\n", path)
		}
	}
	return nil
}

// show prints an object.
func show(ctx context.Context, store objectstore.Store, path objectstore.Path, out io.Writer) error {
	result, err := store.Get(ctx, path, nil)
	if err != nil {
		return err
	}
	defer result.Body.Close()
	text, err := io.ReadAll(result.Body)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: %s\n", path, text)
	return err
}
