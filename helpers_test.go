package stardust_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stardustdb/stardust"
)

// withObjects are options that enable the objects plugin.
func withObjects() *stardust.Options {
	return &stardust.Options{Plugins: stardust.Plugins{Objects: &stardust.ObjectsPlugin{}}}
}

// open returns a new database with the objects plugin, closed with the test.
func open(t testing.TB) *stardust.DB {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "test.stardust"), withObjects())
}

func openAt(t testing.TB, path string, options *stardust.Options) *stardust.DB {
	t.Helper()
	db, err := stardust.Open(path, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// create runs Create with a DUST request and returns the records.
func create(t testing.TB, db *stardust.DB, nodes string) []stardust.Record {
	t.Helper()
	records, err := tryCreate(t, db, nodes)
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func tryCreate(t testing.TB, db *stardust.DB, nodes string) ([]stardust.Record, error) {
	t.Helper()
	document := parse(t, nodes)
	defer document.Close()
	made, err := db.Objects().Create(document)
	if err != nil {
		return nil, err
	}
	defer made.Close()
	var records []stardust.Record
	if err := made.Decode(&records); err != nil {
		t.Fatal(err)
	}
	return records, nil
}

func parse(t testing.TB, text string) *stardust.Document {
	t.Helper()
	document, err := stardust.Parse([]byte(text), stardust.DUST)
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// upload publishes a payload and returns its digest.
func upload(t testing.TB, db *stardust.DB, data []byte) stardust.Digest {
	t.Helper()
	published, err := tryUpload(db, data)
	if err != nil {
		t.Fatal(err)
	}
	return published.Digest
}

func tryUpload(db *stardust.DB, data []byte) (stardust.Published, error) {
	stream, err := db.Tree().Upload()
	if err != nil {
		return stardust.Published{}, err
	}
	defer stream.Close()
	if _, err := stream.Write(data); err != nil {
		return stardust.Published{}, err
	}
	return stream.Finish()
}

// download reads a payload whole.
func download(db *stardust.DB, digest stardust.Digest) ([]byte, error) {
	stream, err := db.Tree().Open(digest)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	var out bytes.Buffer
	_, err = stream.WriteTo(&out)
	return out.Bytes(), err
}

// statusOf returns the status of an error, zero for nil.
func statusOf(err error) stardust.Status {
	if e, ok := errors.AsType[*stardust.Error](err); ok {
		return e.Status
	}
	return 0
}

func codeOf(err error) string {
	if e, ok := errors.AsType[*stardust.Error](err); ok {
		return e.Code
	}
	return ""
}

func itoa(i int64) string { return strconv.FormatInt(i, 10) }

// removeDeep removes a tree that is too deep for one path.
func removeDeep(t testing.TB, dir string) {
	t.Helper()
	if err := exec.Command("rm", "-rf", dir).Run(); err != nil {
		t.Error(err)
	}
}

func digestOf(data []byte) stardust.Digest { return sha256.Sum256(data) }
