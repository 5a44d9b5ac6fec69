package payload

import (
	"errors"
	"syscall"
	"testing"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/container"
)

// TestPublishingLooksAtTheRowsThatAreThereThen stores a payload whose chunk is in
// the file already, and publishes it where no row names the chunk any more.
func TestPublishingLooksAtTheRowsThatAreThereThen(t *testing.T) {
	p, other := newPlace(t, 64<<20), newPlace(t, 64<<20)
	data := random(1, 1000)
	p.upload(t, data)
	other.upload(t, random(2, 1000)) // takes the row that the first place had
	d := p.draft(t, data)
	defer d.Abandon()
	err := other.catalog.Write(t.Context(), d.Publish)
	if !errors.Is(err, ErrGone) {
		t.Errorf("publish without the chunk: %v", err)
	}
}

// TestAnUploadThatFilledTheDiskGivesItBack, also what was written of a chunk when the
// disk became full.
func TestAnUploadThatFilledTheDiskGivesItBack(t *testing.T) {
	full := false
	p := newPlaceOn(t, 64<<20, func(op container.Op, do func() error) error {
		err := do()
		if full && op.Kind == container.OpWrite {
			return syscall.ENOSPC
		}
		return err
	})
	size := func() int64 {
		info, err := p.file.Stat()
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := size()
	u, err := p.NewUpload(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := u.Write(t.Context(), random(1, 100_000)); err != nil {
		t.Fatal(err)
	}
	full = true
	if _, err := u.Detach(t.Context()); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("on a full disk: %v", err)
	}
	u.Close()
	if after := size(); after != before {
		t.Errorf("the file has %d bytes, it had %d", after, before)
	}
}

// TestADraftPublishedTwiceKeepsItsRecords publishes a draft in a commit that took
// place although its caller was told that it failed, and then again.
func TestADraftPublishedTwiceKeepsItsRecords(t *testing.T) {
	p := newPlace(t, 64<<20)
	data := random(1, 1000)
	d := p.draft(t, data)
	for range 2 {
		if err := p.catalog.Write(t.Context(), d.Publish); err != nil {
			t.Fatal(err)
		}
	}
	before := p.taken()
	d.Settle()
	if after := p.taken(); after != before {
		t.Errorf("%d bytes of a published payload were freed", before-after)
	}
}

// TestOfTwoDraftsOfOneChunkOneRecordStays publishes equal payloads that were stored
// at the same time.
func TestOfTwoDraftsOfOneChunkOneRecordStays(t *testing.T) {
	p := newPlace(t, 64<<20)
	empty := p.taken()
	data := random(1, 100_000)
	first, second := p.draft(t, data), p.draft(t, data)
	one := (p.taken() - empty) / 2
	if err := errors.Join(p.commit(first), p.commit(second)); err != nil {
		t.Fatal(err)
	}
	first.Settle()
	second.Settle()
	if !second.published.Deduplicated || first.published.Deduplicated {
		t.Error("the second was not deduplicated, or the first was")
	}
	err := p.catalog.Read(t.Context(), catalog.Live, func(v *catalog.View) error {
		totals, err := v.ChunkTotals()
		if totals.Chunks != 1 {
			t.Errorf("%d chunks", totals.Chunks)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if taken := p.taken() - empty; taken < one || taken > one+one/2 {
		t.Errorf("%d bytes are taken, one record has %d", taken, one)
	}
}
