package stardust_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stardustdb/stardust"
)

// An upload that the caller wrote becomes a file in one commit, under Put's conditions.
func TestPutUploadNamesInOneCommit(t *testing.T) {
	db := open(t)
	tree := db.Tree()
	begin := func(content string) *stardust.Upload {
		t.Helper()
		upload, err := tree.Upload()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = upload.Close() })
		if _, err := upload.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
		return upload
	}
	first := begin("first")
	record, err := tree.PutUpload("a/b", first, &stardust.PutOptions{Parents: true})
	if err != nil || record.Size != 5 || record.Name != "b" {
		t.Fatalf("%+v, %v", record, err)
	}
	if _, err := first.Write([]byte("more")); err == nil {
		t.Error("a finished upload takes more")
	}
	if _, err := tree.PutUpload("a/b", begin("second"), &stardust.PutOptions{New: true}); !errors.Is(err, stardust.StatusConflict) {
		t.Errorf("over what is there: %v", err)
	}
	if _, err := tree.PutUpload("a/b", nil, nil); !errors.Is(err, stardust.StatusInvalidArgument) {
		t.Errorf("no upload: %v", err)
	}
	other := open(t)
	if _, err := other.Tree().PutUpload("x", begin("y"), nil); !errors.Is(err, stardust.StatusInvalidArgument) {
		t.Errorf("another database's upload: %v", err)
	}
	for path, status := range map[string]stardust.Status{"a": stardust.StatusInvalidArgument, "a/b/c": stardust.StatusInvalidArgument, "missing/x": stardust.StatusNotFound} {
		if err := tree.CheckPut(path, nil); !errors.Is(err, status) {
			t.Errorf("check of %s: %v", path, err)
		}
	}
	if err := tree.CheckPut("a/b", &stardust.PutOptions{ExpectedRevision: record.Revision}); err != nil {
		t.Errorf("check of what may be: %v", err)
	}
	if _, err := tree.Put("a/b", strings.NewReader("third"), nil); err != nil {
		t.Error(err)
	}
}
