package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// TestLargeRecordsAreCompressedAndReadAsTheyWere commits many nodes at once: the log
// takes a fraction of the record, and everybody who reads it sees the record itself.
func TestLargeRecordsAreCompressedAndReadAsTheyWere(t *testing.T) {
	c := openTest(t)
	var facts []Fact
	for i := range int64(2000) {
		facts = append(facts, node(i+1, 0, fmt.Sprintf("file-%06d.txt", i))...)
	}
	large := &Transaction{ID: 2001, Time: time.Unix(77, 5).UTC(), Facts: facts}
	small := &Transaction{ID: 2002, Time: time.Unix(78, 0).UTC(), Facts: []Fact{String(1, AttributeName, "x")}}
	for _, tr := range []*Transaction{large, small} {
		write(t, c, func(tx *Tx) error { return tx.Apply(tr) })
	}
	want := AppendRecord(nil, large)
	read(t, c, Live, func(v *View) error {
		var kept []byte
		if err := v.conn.query(`SELECT record FROM log WHERE id = 2001`, func(s *sqlite3.Stmt) (bool, error) {
			kept = bytes.Clone(s.ColumnRawBlob(0))
			return false, nil
		}); err != nil {
			return err
		}
		if len(kept) > len(want)/3 || kept[0] != packedVersion {
			t.Errorf("the log has %d bytes for a record of %d", len(kept), len(want))
		}
		if version, err := v.conn.version(); version != newestVersion || err != nil {
			t.Errorf("tables of version %d, %v", version, err)
		}
		var got []*Transaction
		if err := v.Transactions(1, func(tr *Transaction) bool { got = append(got, tr); return true }); err != nil {
			return err
		}
		if !reflect.DeepEqual(got, []*Transaction{large, small}) {
			t.Error("the transactions are others")
		}
		records := 0
		if err := v.Records(2001, func(id int64, record []byte) bool {
			records++
			if id == 2001 && !bytes.Equal(record, want) {
				t.Errorf("the record has %d bytes", len(record))
			}
			return true
		}); err != nil || records != 2 {
			t.Errorf("%d records, %v", records, err)
		}
		if got, found, err := v.RevisionAt(time.Unix(77, 6)); got != 2001 || !found || err != nil {
			t.Errorf("at its time was %d, %v", got, err)
		}
		_, err := v.Check(t.Context(), func(err error) { t.Error(err) })
		return err
	})
}

// TestThePackerIsMadeByManyAtOnce, of whom some compress and some restore.
func TestThePackerIsMadeByManyAtOnce(t *testing.T) {
	record := AppendRecord(nil, &Transaction{ID: 9, Time: time.Unix(1, 0), Facts: []Fact{Raw(1, "a", bytes.Repeat([]byte("1"), 9000))}})
	kept, err := newPacker().packed(record)
	if err != nil {
		t.Fatal(err)
	}
	p := newPacker()
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			if got, err := p.packed(record); err != nil || !bytes.Equal(got, kept) {
				t.Errorf("compressed: %d bytes, %v", len(got), err)
			}
		})
		work.Go(func() {
			if got, err := p.record(kept); err != nil || !bytes.Equal(got, record) {
				t.Errorf("restored: %d bytes, %v", len(got), err)
			}
		})
	}
	work.Wait()
}

// FuzzKeptRecord restores what anybody may have written into the log.
func FuzzKeptRecord(f *testing.F) {
	p := newPacker()
	tr := &Transaction{ID: 9, Time: time.Unix(1, 0), Facts: []Fact{Raw(1, "a", bytes.Repeat([]byte("1"), 9000))}}
	record := AppendRecord(nil, tr)
	kept, err := p.packed(record)
	if err != nil || len(kept) >= len(record) {
		f.Fatal(len(kept), err)
	}
	if back, err := p.record(kept); err != nil || !bytes.Equal(back, record) {
		f.Fatal(err)
	}
	f.Add(kept)
	f.Add(record)
	f.Add([]byte{packedVersion})
	f.Add([]byte{packedVersion, 1, 1, 0xff, 0xff, 0xff, 0x7f, 1})
	f.Add(append(bytes.Clone(kept[:len(kept)-1]), 0))
	f.Fuzz(func(t *testing.T, kept []byte) {
		record, err := p.record(kept)
		switch {
		case err != nil && !errors.Is(err, ErrCorrupt):
			t.Errorf("not damage: %v", err)
		case err == nil && len(record) > maxUnpacked:
			t.Errorf("%d bytes", len(record))
		case err == nil:
			_, _ = DecodeRecord(record)
		}
	})
}
