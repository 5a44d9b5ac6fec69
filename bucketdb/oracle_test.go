package bucketdb

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/stardustdb/stardust/internal/batch"
	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/digest"
	"github.com/stardustdb/stardust/internal/replica"
	"github.com/stardustdb/stardust/objectstore"
)

// oracle follows the log from outside, batch by batch, and holds it to its rules.
type oracle struct {
	db      *memoryDB
	bytes   [][]byte // of the batches
	ends    []replica.Position
	horizon int64
	named   map[objectstore.Path]int64
	labels  map[string]bool
}

// observe takes in what came to the log.
func (w *world) observe() {
	for {
		data, _, err := objectstore.ReadAll(context.Background(), w.inner, logPath(int64(len(w.oracle.bytes))+1))
		if errors.Is(err, objectstore.ErrNotFound) {
			return
		}
		if err != nil {
			w.fail("log: %v", err)
		}
		w.batch(data)
	}
}

// batch checks one that follows the log, and applies it.
func (w *world) batch(data []byte) {
	o := &w.oracle
	b, err := batch.Decode(data)
	if err != nil {
		w.fail("batch %d: %v", len(o.bytes)+1, err)
	}
	var previous digest.Digest
	if n := len(o.bytes); n > 0 {
		previous = batch.Sum(o.bytes[n-1])
	}
	if b.Number != int64(len(o.bytes))+1 || b.Previous != previous || b.Before != o.db.at || b.Identity != w.identity {
		w.fail("rule: batch %d does not follow the one before", b.Number)
	}
	w.packs(b)
	for _, r := range b.Rows.Records {
		t, err := catalog.DecodeRecord(r.Bytes)
		if err != nil {
			w.fail("batch %d: %v", b.Number, err)
		}
		label := string(t.Facts[1].Value.Bytes)
		if o.labels[label] {
			w.fail("once: the write %q is in the log twice", label)
		}
		o.labels[label] = true
	}
	if err := o.db.apply(b.Before, b.After, &b.Rows); err != nil {
		w.fail("rule: batch %d: %v", b.Number, err)
	}
	record, chunk, payload, _ := o.db.At(context.Background(), b.After)
	if b.Tip != (batch.Tip{Record: batch.RecordSum(record), Chunk: chunk, Payload: payload}) {
		w.fail("rule: batch %d says otherwise what its last rows are", b.Number)
	}
	if b.Horizon < o.horizon {
		w.fail("rule: batch %d takes the horizon back", b.Number)
	}
	o.horizon = b.Horizon
	o.bytes, o.ends = append(o.bytes, data), append(o.ends, b.After)
}

// packs finds the bytes of a batch's chunks where it says.
func (w *world) packs(b *batch.Batch) {
	packs := make([][]byte, len(b.Packs))
	for i, ref := range b.Packs {
		path := packPath(ref.Name)
		if _, ok := w.oracle.named[path]; ok {
			w.fail("rule: batch %d introduces %s again", b.Number, path)
		}
		w.oracle.named[path] = ref.Size
		if timeOf(ref.Name) <= w.oracle.horizon {
			w.fail("rule: batch %d names %s, which lies behind the horizon", b.Number, path)
		}
		var err error
		if packs[i], _, err = objectstore.ReadAll(context.Background(), w.inner, path); err != nil || int64(len(packs[i])) != ref.Size {
			w.fail("named: batch %d names %s of %d bytes, and there is: %d bytes, %v", b.Number, path, ref.Size, len(packs[i]), err)
		}
	}
	for i, c := range b.Rows.Chunks {
		place := b.Places[i]
		data, err := w.compressor.Open(nil, packs[place.Pack][place.Offset:place.Offset+place.Stored], place.Codec, c.Size)
		if err != nil || digest.Of(data) != c.Digest {
			w.fail("named: batch %d: chunk %v is not where it says: %v", b.Number, c.Digest, err)
		}
	}
}

// deleted holds who deletes to what is named.
func (w *world) deleted(path objectstore.Path) {
	if _, ok := w.oracle.named[path]; ok {
		w.violation = "named: " + string(path) + " was deleted, which the log names"
	}
}

// unchanged compares the log, and the bundles of it, with what it was when it was
// written.
func (w *world) unchanged() {
	for _, meta := range w.listing(false) {
		s, ok := spanOf(meta.Path)
		if !ok {
			continue
		}
		data, _, err := objectstore.ReadAll(context.Background(), w.inner, meta.Path)
		if err != nil {
			w.fail("%v", err)
		}
		u, err := batch.DecodeBundle(data)
		if err != nil || u.First != s.first || !slices.EqualFunc(u.Batches, w.oracle.bytes[s.first-1:s.last], bytes.Equal) {
			w.fail("bundle: %s is not what the log has: %v", meta.Path, err)
		}
		w.bundles++
	}
	for i, data := range w.oracle.bytes {
		now, _, err := objectstore.ReadAll(context.Background(), w.inner, logPath(int64(i)+1))
		if err != nil || !bytes.Equal(now, data) {
			w.fail("log: batch %d was changed: %v", i+1, err)
		}
	}
}
