package uploads

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
)

func TestTableIsBounded(t *testing.T) {
	now := time.Unix(1000, 0)
	table := NewTable(memory.New(nil), &Options{Limit: 2, TTL: time.Hour, Now: func() time.Time { return now }})
	create := func() (string, error) { return table.CreateMultipart(t.Context(), "k", nil) }
	first, err := create()
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Minute)
	if _, err := create(); err != nil {
		t.Fatal(err)
	}
	if _, err := create(); !errors.Is(err, ErrTooMany) {
		t.Errorf("the third of two: %v, want ErrTooMany", err)
	}
	now = now.Add(time.Hour - time.Minute)
	if _, err := create(); err != nil {
		t.Errorf("once the first has rested an hour: %v", err)
	}
	if _, err := table.UploadPart(t.Context(), "k", first, 1, objectstore.Bytes(nil)); !errors.Is(err, objectstore.ErrUploadNotFound) {
		t.Errorf("the first upload: %v, want ErrUploadNotFound", err)
	}
	if err := table.Close(t.Context()); err != nil || len(table.byID) != 0 {
		t.Errorf("after close: %d uploads, %v", len(table.byID), err)
	}
}

// TestTableEndsOnce: of racing Complete and Abort one wins, and parts in
// transit are waited for.
func TestTableEndsOnce(t *testing.T) {
	for range 50 {
		table := NewTable(memory.New(nil), nil)
		id, err := table.CreateMultipart(t.Context(), "k", nil)
		if err != nil {
			t.Fatal(err)
		}
		part, err := table.UploadPart(t.Context(), "k", id, 1, objectstore.Bytes([]byte("x")))
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		var completed, aborted error
		wg.Go(func() {
			_, completed = table.CompleteMultipart(t.Context(), "k", id, []objectstore.Part{part}, nil)
		})
		wg.Go(func() { aborted = table.AbortMultipart(t.Context(), "k", id) })
		wg.Wait()
		if (completed == nil) == (aborted == nil) {
			t.Fatalf("complete: %v, abort: %v", completed, aborted)
		}
		if _, err := objectstore.Head(t.Context(), table, "k"); (err == nil) != (completed == nil) {
			t.Fatalf("complete: %v, the object: %v", completed, err)
		}
	}
}

func TestTableRefusesConditionsAndMissingParts(t *testing.T) {
	table := NewTable(memory.New(nil), nil)
	id, err := table.CreateMultipart(t.Context(), "k", nil)
	if err != nil {
		t.Fatal(err)
	}
	var parts []objectstore.Part
	for number := 1; number <= 2; number++ {
		part, err := table.UploadPart(t.Context(), "k", id, number, objectstore.Bytes([]byte("x")))
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, part)
	}
	_, err = table.CompleteMultipart(t.Context(), "k", id, parts, &objectstore.CompleteOptions{Mode: objectstore.Create})
	if !errors.Is(err, objectstore.ErrUnsupported) {
		t.Errorf("a condition: %v, want ErrUnsupported", err)
	}
	if _, err = table.CompleteMultipart(t.Context(), "k", id, parts[:1], nil); !errors.Is(err, objectstore.ErrInvalidPart) {
		t.Errorf("a part left out: %v, want ErrInvalidPart", err)
	}
	if _, err = table.CompleteMultipart(t.Context(), "k", id, parts, nil); err != nil {
		t.Errorf("complete after that: %v", err)
	}
}
