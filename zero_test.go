package stardust_test

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stardustdb/stardust"
)

// TestZeroAndNilValuesReturnErrors calls everything on values that no database
// stands behind.
func TestZeroAndNilValuesReturnErrors(t *testing.T) {
	var db *stardust.DB
	var stream *stardust.PluginStream
	var document *stardust.Document
	var snapshot *stardust.Snapshot
	ctx := t.Context()
	first := func(_ any, err error) error { return err }
	for name, objects := range map[string]stardust.Objects{
		"zero Objects": {}, "nil DB": db.Objects(), "nil Snapshot": snapshot.Objects(),
	} {
		for call, err := range map[string]error{
			"Get":      first(objects.Get(1)),
			"Lookup":   first(objects.Lookup(0, "a")),
			"Children": first(objects.Children(0)),
			"Path":     first(objects.Path(0)),
			"Files":    first(objects.Files(strings.Repeat("0", 64))),
			"Manifest": first(objects.Manifest(strings.Repeat("0", 64))),
			"Create":   first(objects.Create(parse(t, `[{name a}]`))),
			"Update":   first(objects.Update(1, strings.Repeat("0", 64), 0)),
			"Move":     first(objects.Move(1, 0, "a", 0, false)),
			"Remove":   objects.Remove(1, 0),
			"Upload":   first(objects.Upload()),
			"Open":     first(objects.Open(strings.Repeat("0", 64))),
			"Resolve":  first(objects.Tree().Resolve("/a")),
			"History":  first(objects.History(1)),
			"Call":     first(objects.Call("get", parse(t, `{entity 1}`))),
			"Import":   first(objects.Tree().Import(ctx, fstest.MapFS{}, 0, nil)),
			"Export":   first(objects.Tree().Export(ctx, 0, filepath.Join(t.TempDir(), "x"), nil)),
			"FS":       first(objects.Tree().FS().Open(".")),
		} {
			if !errors.Is(err, stardust.StatusClosed) {
				t.Errorf("%s: %s: %v", name, call, err)
			}
		}
		for _, err := range objects.Tree().Children(0) {
			if !errors.Is(err, stardust.StatusClosed) {
				t.Errorf("%s: List: %v", name, err)
			}
		}
		for _, err := range objects.Tree().Walk(0) {
			if !errors.Is(err, stardust.StatusClosed) {
				t.Errorf("%s: Walk: %v", name, err)
			}
		}
	}
	for _, s := range []*stardust.PluginStream{stream, {}} {
		for call, err := range map[string]error{
			"Write":    first(s.Write([]byte("a"))),
			"ReadFrom": first(s.ReadFrom(strings.NewReader("a"))),
			"Finish":   first(s.Finish()),
			"Read":     first(s.Read(make([]byte, 1))),
			"ReadAt":   first(s.ReadAt(make([]byte, 1), 0)),
			"Seek":     first(s.Seek(0, io.SeekStart)),
			"WriteTo":  first(s.WriteTo(io.Discard)),
		} {
			if !errors.Is(err, stardust.StatusClosed) {
				t.Errorf("no stream: %s: %v", call, err)
			}
		}
		if s.Size() != 0 || s.Close() != nil {
			t.Error("no stream: Size and Close")
		}
	}
	for call, err := range map[string]error{
		"Close":      db.Close(),
		"Info":       first(db.Info()),
		"Snapshot":   first(db.Snapshot()),
		"AsOf":       first(db.AsOf(1)),
		"Check":      first(db.Check(ctx, nil)),
		"Backup":     db.Backup(ctx, "x", nil),
		"HoldWrites": first(db.HoldWrites(ctx)),
		"Attributes": first(db.Attributes(1)),
		"Patch":      first(db.Patch(1, parse(t, `{a 1}`), 0)),
		"Parse":      first(stardust.ParseOptions(document)),
		"Decode":     document.Decode(new(any)),
		"JSON":       first(document.JSON()),
	} {
		if !errors.Is(err, stardust.StatusClosed) {
			t.Errorf("nil: %s: %v", call, err)
		}
	}
	for _, err := range db.Transactions(0) {
		if !errors.Is(err, stardust.StatusClosed) {
			t.Errorf("nil: Transactions: %v", err)
		}
	}
	if snapshot.Revision() != 0 || document.Close() != nil {
		t.Error("nil: Revision and Close")
	}
}
