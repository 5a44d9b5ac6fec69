package stardust_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stardustdb/stardust"
)

// aging opens a new database whose clock goes on by an hour for each reading.
func aging(t *testing.T) (db *stardust.DB, options *stardust.Options, path string) {
	t.Helper()
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	options = withObjects()
	options.Now = func() time.Time {
		now = now.Add(time.Hour)
		return now
	}
	path = filepath.Join(stardust.FastDir(t), "db")
	db, err := stardust.Open(path, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db, options, path
}

// put stores content as the root's child of that name.
func put(t *testing.T, db *stardust.DB, name string, data []byte) stardust.Record {
	t.Helper()
	r, err := db.Tree().Put(name, bytes.NewReader(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func forgotten(err error) bool {
	var e *stardust.Error
	return errors.As(err, &e) && e.Status == stardust.StatusNotFound && e.Code == stardust.CodeForgotten
}

func digestOfRecord(t *testing.T, db *stardust.DB, digest stardust.Digest, want []byte) {
	t.Helper()
	got, err := download(db, digest)
	if want == nil {
		if !errors.Is(err, stardust.StatusNotFound) {
			t.Errorf("payload %v: %d bytes, %v", digest, len(got), err)
		}
		return
	}
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("payload %v: %d bytes, %v", digest, len(got), err)
	}
}

// TestForgottenRevisionsSaySo keeps a tagged revision and the latest. All else
// answers reads of the past with an error, what only it had is gone, and its
// space is used again; what was uploaded and never named stays.
func TestForgottenRevisionsSaySo(t *testing.T) {
	db, options, path := aging(t)
	const size = 1 << 20
	var contents [][]byte
	var records []stardust.Record
	for i := range 4 {
		contents = append(contents, randomBytes(uint64(i), size))
		records = append(records, put(t, db, "file", contents[i]))
	}
	unnamed, err := tryUpload(db, []byte("never named"))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.SetTag(t.Context(), "second", records[1].Revision); err != nil {
		t.Fatal(err)
	}
	held, err := db.AsOf(records[2].Revision)
	if err != nil {
		t.Fatal(err)
	}
	ask := &stardust.ForgetOptions{KeepLast: 1, DryRun: true}
	dry, err := db.Forget(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	digestOfRecord(t, db, records[0].Digest, contents[0])
	ask.DryRun = false
	report, err := db.Forget(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	if report.Kept != 2 || report.Forgotten != 3 || report.Payloads != 2 || report.ChunkBytes != 2*size || report.LeftBytes != 2*size+11 {
		t.Errorf("%+v", report)
	}
	if dry.Forgotten != report.Forgotten || dry.ChunkBytes != report.ChunkBytes || !slices.EqualFunc(dry.Revisions, report.Revisions,
		func(a, b stardust.RetainedRevision) bool { return a.ID == b.ID && slices.Equal(a.Reasons, b.Reasons) }) {
		t.Errorf("the dry run said %+v, then it was %+v", dry, report)
	}
	if got := report.Revisions[1].Reasons; !slices.Equal(got, []string{"tag second"}) {
		t.Errorf("the second is kept for %q", got)
	}

	check := func() {
		t.Helper()
		for i, r := range records {
			_, err := db.AsOf(r.Revision)
			if kept := i == 1; kept != (err == nil) || err != nil && !forgotten(err) {
				t.Errorf("as of %d: %v", r.Revision, err)
			}
		}
		digestOfRecord(t, db, records[0].Digest, nil)
		digestOfRecord(t, db, records[1].Digest, contents[1])
		digestOfRecord(t, db, records[2].Digest, nil)
		digestOfRecord(t, db, records[3].Digest, contents[3])
		digestOfRecord(t, db, unnamed.Digest, []byte("never named"))
		old, err := db.Tree().History(records[0].Entity)
		if err != nil || len(old) != 2 || old[0].Revision != records[1].Revision || old[1].Revision != records[3].Revision {
			t.Errorf("history: %+v, %v", old, err)
		}
		// A version may have begun with a revision that is forgotten.
		view, err := db.KeptFrom(records[3].Revision)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := view.Tree().Get(records[3].Entity); err != nil || r != records[3] {
			t.Errorf("%+v, %v", r, err)
		}
		if before, err := db.KeptBefore(records[3].Revision); err != nil || before.Revision() != records[1].Revision {
			t.Errorf("before it: %v, %v", before.Revision(), err)
		}
		if err := db.SetTag(t.Context(), "lost", records[0].Revision); !forgotten(err) {
			t.Errorf("a tag of a forgotten revision: %v", err)
		}
		if _, err := db.RevisionAt(time.Date(2026, 3, 1, 1, 30, 0, 0, time.UTC)); !forgotten(err) {
			t.Errorf("at the time of a forgotten revision: %v", err)
		}
		clean(t, db)
	}
	check()
	if _, err := held.Tree().Get(records[0].Entity); !forgotten(err) {
		t.Errorf("a snapshot that was forgotten: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before := sizeOf(t, path)
	if db, err = stardust.Open(path, options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	check()
	for i := range 2 {
		put(t, db, "new", randomBytes(uint64(10+i), size))
	}
	check()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if after := sizeOf(t, path); after > before {
		t.Errorf("the file grew from %d to %d bytes, although %d were free", before, after, 2*size)
	}
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func clean(t *testing.T, db *stardust.DB) {
	t.Helper()
	report, err := db.Check(t.Context(), nil)
	if err != nil || report.Damaged > 0 {
		t.Errorf("check: %v, %v", report.Problems, err)
	}
}

// TestReadersOfForgottenContentGoOn opens streams, forgets what they read, stores
// other content, and reads them to their end.
func TestReadersOfForgottenContentGoOn(t *testing.T) {
	db, _, _ := aging(t)
	content := randomBytes(1, 9<<20)
	old := put(t, db, "file", content)
	put(t, db, "file", []byte("new"))
	stream, err := db.Tree().Open(old.Digest)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	begun, err := db.Tree().Open(old.Digest)
	if err != nil {
		t.Fatal(err)
	}
	defer begun.Close()
	if _, err := io.CopyN(io.Discard, begun, 100_000); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Forget(t.Context(), &stardust.ForgetOptions{KeepLast: 1}); err != nil {
		t.Fatal(err)
	}
	put(t, db, "other", randomBytes(2, 9<<20))
	for what, r := range map[string]io.Reader{"not read yet": stream, "read in part": begun, "read at": io.NewSectionReader(stream, 0, 9<<20)} {
		got, err := io.ReadAll(r)
		want := content
		if r == io.Reader(begun) {
			want = content[100_000:]
		}
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes of %d, %v", what, len(got), len(want), err)
		}
	}
	digestOfRecord(t, db, old.Digest, nil)
	clean(t, db)
}

// TestForgetRefusesWhatItCannotDo changes nothing.
func TestForgetRefusesWhatItCannotDo(t *testing.T) {
	db, options, path := aging(t)
	first := put(t, db, "file", []byte("1"))
	put(t, db, "file", []byte("2"))
	for what, o := range map[string]*stardust.ForgetOptions{
		"nothing is kept": nil, "no rule": {DryRun: true}, "a negative time": {KeepLast: 1, KeepWithin: -1},
	} {
		if _, err := db.Forget(t.Context(), o); !errors.Is(err, stardust.StatusInvalidArgument) {
			t.Errorf("%s: %v", what, err)
		}
	}
	release, err := db.HoldWrites(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	keep := &stardust.ForgetOptions{KeepLast: 1}
	if _, err := db.Forget(t.Context(), keep); !errors.Is(err, stardust.StatusConflict) {
		t.Errorf("while writes are held: %v", err)
	}
	release()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	read := *options
	read.ReadOnly = true
	if db, err = stardust.Open(path, &read); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Forget(t.Context(), keep); !errors.Is(err, stardust.StatusUnavailable) {
		t.Errorf("read-only: %v", err)
	}
	keep.DryRun = true
	if report, err := db.Forget(t.Context(), keep); err != nil || report.Forgotten != 1 {
		t.Errorf("a dry run, read-only: %+v, %v", report, err)
	}
	digestOfRecord(t, db, first.Digest, []byte("1"))
}

// TestCopiesRememberWhatWasForgotten makes a backup, and salvages a file as if it
// were damaged: both know the kept revisions and say which were forgotten.
func TestCopiesRememberWhatWasForgotten(t *testing.T) {
	db, options, path := aging(t)
	var all []stardust.Record
	for i := range 6 {
		all = append(all, put(t, db, "file", []byte{byte(i)}))
		put(t, db, "other", []byte{byte(i), 1})
	}
	if err := db.SetTag(t.Context(), "third", all[2].Revision); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Forget(t.Context(), &stardust.ForgetOptions{KeepLast: 3}); err != nil {
		t.Fatal(err)
	}
	backup, saved := path+".backup", path+".saved"
	if err := db.Backup(t.Context(), backup, nil); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := stardust.Salvage(t.Context(), path, saved, nil); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{path, backup, saved} {
		db, err := stardust.Open(path, options)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range all {
			view, err := db.AsOf(r.Revision)
			if kept := i == 2 || i == 5; kept != (err == nil) || !kept && !forgotten(err) {
				t.Errorf("%s: as of %d: %v", filepath.Base(path), r.Revision, err)
			} else if kept {
				if got, err := view.Tree().Get(r.Entity); err != nil || got.Digest != r.Digest {
					t.Errorf("%s: %+v, %v", filepath.Base(path), got, err)
				}
			}
		}
		// The last version began with a revision of its own, which may be kept or not.
		for tr, err := range db.Transactions(0) {
			if err != nil {
				t.Fatalf("%s: %v", filepath.Base(path), err)
			}
			if _, err := db.AsOf(tr.ID); tr.Forgotten != forgotten(err) {
				t.Errorf("%s: transaction %d is forgotten: %v, %v", filepath.Base(path), tr.ID, tr.Forgotten, err)
			}
		}
		clean(t, db)
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
