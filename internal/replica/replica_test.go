package replica_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/internal/digest"
	"github.com/stardustdb/stardust/internal/replica"
)

func open(t *testing.T, path string, options *stardust.Options) *stardust.DB {
	t.Helper()
	db, err := stardust.Open(path, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // a test may have closed it
	return db
}

func empty(t *testing.T) *stardust.DB {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "db"), &stardust.Options{Plugins: stardust.Plugins{Objects: &stardust.ObjectsPlugin{}}})
}

// filled is a database with files, versions, removals and one payload of two chunks.
func filled(t *testing.T) *stardust.DB {
	t.Helper()
	db := empty(t)
	put := func(name string, data []byte) stardust.Record {
		r, err := db.Tree().Put(name, bytes.NewReader(data), nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for i := range 5 {
		put(fmt.Sprintf("f%d", i), fmt.Appendf(nil, "content %d", i))
	}
	noise := make([]byte, 5<<20)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(noise) // it never fails
	put("large", noise)
	put("empty", nil)
	gone := put("gone", []byte("gone"))
	if err := db.Tree().Remove(gone.Entity, 0); err != nil {
		t.Fatal(err)
	}
	return db
}

// rowsOf returns all rows, and the bytes of the chunks by their rows.
func rowsOf(t *testing.T, db *stardust.DB) (replica.Position, *replica.Rows, map[int64][]byte) {
	t.Helper()
	r := db.Replica()
	at, err := r.Position(t.Context())
	var rows replica.Rows
	var errs [3]error
	rows.Chunks, errs[0] = r.Chunks(t.Context(), 0, at.Chunk, 1<<30)
	rows.Payloads, errs[1] = r.Payloads(t.Context(), 0, at.Payload, 1<<30)
	rows.Records, errs[2] = r.Records(t.Context(), 0, at.Transaction, 1<<30)
	if err := errors.Join(err, errors.Join(errs[:]...)); err != nil {
		t.Fatal(err)
	}
	data := make(map[int64][]byte)
	for _, c := range rows.Chunks {
		data[c.Row] = make([]byte, c.Size)
		if err := r.ReadChunk(t.Context(), c.Row, data[c.Row]); err != nil {
			t.Fatal(err)
		}
	}
	return at, &rows, data
}

func add(t *testing.T, draft *replica.Draft, rows *replica.Rows, data map[int64][]byte) {
	t.Helper()
	for _, c := range rows.Chunks {
		if err := draft.Add(t.Context(), c, data[c.Row]); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRowsMakeAReplica applies a database's rows to an empty one, which then says the
// same and goes on with ids that neither has used.
func TestRowsMakeAReplica(t *testing.T) {
	db, other := filled(t), empty(t)
	at, rows, data := rowsOf(t, db)
	at.Chunk, at.Payload = at.Chunk+3, at.Payload+2 // as if more had been there and were removed
	draft := other.Replica().NewDraft()
	defer draft.Close()
	add(t, draft, rows, data)
	if err := draft.Apply(t.Context(), replica.Position{}, at, rows); err != nil {
		t.Fatal(err)
	}
	gotAt, got, gotData := rowsOf(t, other)
	if gotAt != at || !reflect.DeepEqual(got, rows) || !reflect.DeepEqual(gotData, data) {
		t.Errorf("at %+v, want %+v, with %d chunks, %d payloads, %d records", gotAt, at, len(got.Chunks), len(got.Payloads), len(got.Records))
	}
	if report, err := other.Check(t.Context(), nil); err != nil || report.Damaged != 0 {
		t.Errorf("%+v, %v", report, err)
	}
	r, err := other.Tree().Put("new", bytes.NewReader([]byte("new")), nil)
	if err != nil {
		t.Fatal(err)
	}
	after, now, _ := rowsOf(t, other)
	if r.Revision != at.Transaction+2 || now.Chunks[len(now.Chunks)-1].Row != at.Chunk+1 || after.Payload != at.Payload+1 {
		t.Errorf("a write behind %+v is revision %d, and ends at %+v", at, r.Revision, after)
	}
}

// TestAWrongDraftChangesNothing hands over rows that do not follow, do not fit each
// other, or lack something.
func TestAWrongDraftChangesNothing(t *testing.T) {
	db, other := filled(t), empty(t)
	at, rows, data := rowsOf(t, db)
	before, _, _ := rowsOf(t, other)
	of := func(change func(*replica.Rows)) *replica.Rows {
		changed := &replica.Rows{
			Chunks: append([]replica.Chunk(nil), rows.Chunks...), Records: append([]replica.Record(nil), rows.Records...),
		}
		for _, p := range rows.Payloads {
			p.Entries = append([]replica.Entry(nil), p.Entries...)
			changed.Payloads = append(changed.Payloads, p)
		}
		change(changed)
		return changed
	}
	large := 0
	for i := range rows.Payloads {
		if len(rows.Payloads[i].Entries) > 1 {
			large = i
		}
	}
	largest := int64(0) // of the file, with the chunks of one draft
	for name, test := range map[string]struct {
		after replica.Position
		rows  *replica.Rows
		want  error
	}{
		"behind rows that are not there": {replica.Position{Transaction: 2}, rows, replica.ErrMoved},
		"a payload of another chunk":     {rows: of(func(r *replica.Rows) { r.Payloads[0].Entries[0].Chunk++ }), want: replica.ErrMismatch},
		"a payload under another digest": {rows: of(func(r *replica.Rows) { r.Payloads[0].Digest[0]++ }), want: replica.ErrMismatch},
		"a payload of chunks in another order": {rows: of(func(r *replica.Rows) {
			e := r.Payloads[large].Entries
			e[0], e[1] = e[1], e[0]
		}), want: replica.ErrMismatch},
		"a chunk of another size in a list":  {rows: of(func(r *replica.Rows) { r.Payloads[large].Entries[0].Size++ }), want: replica.ErrMismatch},
		"a payload whose chunk is not there": {rows: of(func(r *replica.Rows) { r.Payloads[0].Entries[0].Chunk = 1000 }), want: stardust.StatusEvaluationFailed},
		"a record without its payload":       {rows: of(func(r *replica.Rows) { r.Payloads = r.Payloads[:1] }), want: stardust.StatusEvaluationFailed},
		"a record that is none":              {rows: of(func(r *replica.Rows) { r.Records[1].Bytes = []byte("no") }), want: stardust.StatusEvaluationFailed},
	} {
		draft := other.Replica().NewDraft()
		add(t, draft, rows, data)
		if err := draft.Apply(t.Context(), test.after, at, test.rows); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
		if largest == 0 {
			info, err := other.Info()
			if err != nil {
				t.Fatal(err)
			}
			largest = info.FileSize
		}
		draft.Close()
		if now, _, _ := rowsOf(t, other); now != before {
			t.Fatalf("%s: the database is at %+v", name, now)
		}
	}
	draft := other.Replica().NewDraft()
	if err := draft.Add(t.Context(), rows.Chunks[0], data[rows.Chunks[1].Row]); !errors.Is(err, replica.ErrMismatch) {
		t.Errorf("other bytes: %v", err)
	}
	if err := draft.Apply(t.Context(), replica.Position{}, at, rows); err == nil {
		t.Error("chunks were applied that nobody added")
	}
	draft.Close()
	// What was added takes no space for good: all of it fits where it lay.
	draft = other.Replica().NewDraft()
	defer draft.Close()
	add(t, draft, rows, data)
	if err := draft.Apply(t.Context(), replica.Position{}, at, rows); err != nil {
		t.Fatal(err)
	}
	if now, err := other.Info(); err != nil || now.FileSize > largest {
		t.Errorf("the file grew from %d to %d: %v", largest, now.FileSize, err)
	}
}

// TestRowsComeByThePage in bounded pieces that make up the whole.
func TestRowsComeByThePage(t *testing.T) {
	db := filled(t)
	at, rows, _ := rowsOf(t, db)
	r := db.Replica()
	var got replica.Rows
	for after := int64(0); ; {
		page, err := r.Chunks(t.Context(), after, at.Chunk, 2)
		if err != nil || len(page) > 2 {
			t.Fatalf("%d chunks, %v", len(page), err)
		}
		if len(page) == 0 {
			break
		}
		got.Chunks, after = append(got.Chunks, page...), page[len(page)-1].Row
	}
	for after := int64(0); ; {
		page, err := r.Payloads(t.Context(), after, at.Payload, 1)
		if err != nil || len(page) > 1 {
			t.Fatalf("%d payloads, %v", len(page), err)
		}
		if len(page) == 0 {
			break
		}
		got.Payloads, after = append(got.Payloads, page...), page[len(page)-1].Row
	}
	for after := int64(0); ; {
		page, err := r.Records(t.Context(), after, at.Transaction, 1)
		if err != nil || len(page) > 1 {
			t.Fatalf("%d records, %v", len(page), err)
		}
		if len(page) == 0 {
			break
		}
		got.Records, after = append(got.Records, page...), page[len(page)-1].ID
	}
	if !reflect.DeepEqual(&got, rows) {
		t.Errorf("%d chunks, %d payloads, %d records", len(got.Chunks), len(got.Payloads), len(got.Records))
	}
	if some, err := r.Chunks(t.Context(), 1, 3, 100); err != nil || len(some) != 2 {
		t.Errorf("of rows 2 and 3: %v, %v", some, err)
	}
	// The rows of exactly one position, and of one where nothing is.
	record, chunk, payload, err := r.At(t.Context(), at)
	if err != nil || !bytes.Equal(record, rows.Records[len(rows.Records)-1].Bytes) || chunk != rows.Chunks[len(rows.Chunks)-1].Digest ||
		payload != rows.Payloads[len(rows.Payloads)-1].Digest {
		t.Errorf("%q, %v, %v, %v", record, chunk, payload, err)
	}
	none := digest.Digest{}
	record, chunk, payload, err = r.At(t.Context(), replica.Position{Transaction: 1000, Chunk: 1000, Payload: 1000})
	if err != nil || record != nil || chunk != none || payload != none {
		t.Errorf("beyond the end: %q, %v, %v, %v", record, chunk, payload, err)
	}
}

// TestTheExtentOfTransactionsIsWhatTheyName and no later content.
func TestTheExtentOfTransactionsIsWhatTheyName(t *testing.T) {
	db := filled(t)
	_, rows, _ := rowsOf(t, db)
	end, err := db.Replica().Extent(t.Context(), rows.Records[:3])
	want := replica.Position{Transaction: rows.Records[2].ID, Chunk: rows.Chunks[2].Row, Payload: rows.Payloads[2].Row}
	if err != nil || end != want {
		t.Errorf("%+v, want %+v, %v", end, want, err)
	}
	if end, err := db.Replica().Extent(t.Context(), nil); err != nil || end != (replica.Position{}) {
		t.Errorf("of none: %+v, %v", end, err)
	}
}

// TestAReplicaNotesWhereItCameFrom for those who open it later.
func TestAReplicaNotesWhereItCameFrom(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	db := open(t, path, nil)
	if _, found, err := db.Replica().Origin(t.Context()); found || err != nil {
		t.Errorf("of a new file: %v, %v", found, err)
	}
	for _, want := range []replica.Origin{{URL: "s3://a/b", Identity: [16]byte{1}}, {URL: "file:///c", Identity: [16]byte{2}}} {
		if err := db.Replica().SetOrigin(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		db.Close()
		db = open(t, path, nil)
		if got, found, err := db.Replica().Origin(t.Context()); got != want || !found || err != nil {
			t.Errorf("%+v, %v, %v", got, found, err)
		}
	}
}

// TestWhoMayOnlyReadCannotApply nor can anybody once the database is closed.
func TestWhoMayOnlyReadCannotApply(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	db := open(t, path, nil)
	beside := open(t, path, &stardust.Options{ReadOnly: true})
	rows := new(replica.Rows)
	if err := beside.Replica().NewDraft().Apply(t.Context(), replica.Position{}, replica.Position{}, rows); !errors.Is(err, stardust.StatusUnavailable) {
		t.Errorf("read-only: %v", err)
	}
	if err := beside.Replica().SetOrigin(t.Context(), replica.Origin{}); !errors.Is(err, stardust.StatusUnavailable) {
		t.Errorf("read-only: %v", err)
	}
	r := db.Replica()
	db.Close()
	if _, err := r.Position(t.Context()); !errors.Is(err, stardust.StatusClosed) {
		t.Errorf("closed: %v", err)
	}
	if err := r.NewDraft().Apply(t.Context(), replica.Position{}, replica.Position{}, rows); !errors.Is(err, stardust.StatusClosed) {
		t.Errorf("closed: %v", err)
	}
}

// TestADraftThatIsNotAppliedGivesTheFilesEndBack, which it may have filled the disk
// with.
func TestADraftThatIsNotAppliedGivesTheFilesEndBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	db := open(t, path, nil)
	size := func() int64 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := size()
	data := make([]byte, 1<<20)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(data) // it never fails
	draft := db.Replica().NewDraft()
	if err := draft.Add(t.Context(), replica.Chunk{Row: 1, Digest: digest.Of(data), Size: int64(len(data))}, data); err != nil {
		t.Fatal(err)
	}
	if grown := size(); grown < before+int64(len(data)) {
		t.Fatalf("the file has %d bytes, it had %d", grown, before)
	}
	draft.Close()
	if after := size(); after != before {
		t.Errorf("the file has %d bytes, it had %d", after, before)
	}
}
