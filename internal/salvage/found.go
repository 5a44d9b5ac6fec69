package salvage

import (
	"context"
	"fmt"

	"github.com/stardustdb/stardust/internal/btree"
	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/container"
	"github.com/stardustdb/stardust/internal/digest"
	"github.com/stardustdb/stardust/internal/heap"
)

// Found is what was read of a damaged file. It is all in memory: a few hundred
// bytes for each row and chunk.
type Found struct {
	*catalog.Remains
	// Stored are the records that match their digests.
	Stored map[digest.Digest]heap.Location
	// Damaged are the records that do not, by offset.
	Damaged []heap.Found
	// Lost are the pages that are damaged.
	Lost []int64
	// LogWhole says that every transaction is known, and LogEnd that at least none
	// after the known ones can be missing.
	LogWhole, LogEnd bool
	// Doubt says why the latest commits may be missing altogether.
	Doubt error
}

// Read reads a damaged file. The error is that of the disk or of ctx.
func Read(ctx context.Context, w *container.Wreck, step func(done, total int64)) (*Found, error) {
	f := &Found{Remains: catalog.NewRemains(), Stored: make(map[digest.Digest]heap.Location), Doubt: w.Doubt()}
	if err := f.readPages(ctx, w); err != nil {
		return nil, err
	}
	size, err := w.Size()
	if err != nil {
		return nil, err
	}
	for found, err := range heap.New(w).Scan(ctx) {
		switch {
		case err != nil:
			return nil, err
		case found.Whole:
			f.Stored[found.Digest] = found.Location
		default:
			f.Damaged = append(f.Damaged, found)
		}
		if step != nil {
			step(found.Location.Offset, size)
		}
	}
	return f, nil
}

// pages reads whole pages of a wreck.
type pages struct {
	w   *container.Wreck
	err error
}

func (p *pages) read(number uint32) ([]byte, bool) {
	page := make([]byte, container.PageSize)
	ok, err := p.w.Page(int64(number), page)
	if err != nil && p.err == nil {
		p.err = err
	}
	return page, ok && err == nil
}

const usable = container.PageSize - container.ReservedBytes

// readPages reads the rows of all pages that are whole and not free.
func (f *Found) readPages(ctx context.Context, w *container.Wreck) error {
	p := &pages{w: w}
	first, firstWhole := p.read(1)
	var free map[uint32]bool
	if firstWhole {
		free, _ = btree.FreePages(first, usable, p.read)
	}
	for n := uint32(1); int64(n) <= w.Pages() && p.err == nil; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		data, ok := p.read(n)
		if !ok {
			f.Lost = append(f.Lost, int64(n))
			continue
		}
		page, ok := btree.Parse(n, data, container.ReservedBytes)
		if !ok || free[n] {
			continue
		}
		for cell := range page.Cells(p.read) {
			f.Add(page.Kind, &cell)
		}
	}
	if firstWhole && f.Doubt == nil {
		f.walkLog(p)
	}
	return p.err
}

// walkLog looks whether all transactions are there.
func (f *Found) walkLog(p *pages) {
	root := f.logRoot(p, 1)
	if root == 0 {
		return
	}
	seen := make(map[uint32]bool)
	f.LogEnd = true
	f.LogWhole = f.walk(p, root, seen, true)
}

// logRoot searches the schema, which is a table of its own at page 1.
func (f *Found) logRoot(p *pages, number uint32) uint32 {
	data, ok := p.read(number)
	if !ok {
		return 0
	}
	page, ok := btree.Parse(number, data, container.ReservedBytes)
	if !ok {
		return 0
	}
	for cell := range page.Cells(p.read) {
		if root, ok := catalog.LogTable(&cell); ok {
			return uint32(root)
		}
	}
	if number == 1 {
		for _, child := range page.Children() {
			if root := f.logRoot(p, child); root != 0 {
				return root
			}
		}
	}
	return 0
}

// walk reports whether all rows below a page are known. Last says that the page
// leads to the end of the table.
func (f *Found) walk(p *pages, number uint32, seen map[uint32]bool, last bool) bool {
	data, ok := p.read(number)
	page, isPage := btree.Parse(number, data, container.ReservedBytes)
	if !ok || !isPage || seen[number] {
		f.LogEnd = f.LogEnd && !last
		return false
	}
	seen[number] = true
	if page.Kind == btree.TableInterior {
		whole := true
		children := page.Children()
		for i, child := range children {
			whole = f.walk(p, child, seen, last && i == len(children)-1) && whole
		}
		return whole
	}
	rows := 0
	for cell := range page.Cells(p.read) {
		if f.Log[cell.Row] != nil {
			rows++
		}
	}
	if page.Kind != btree.TableLeaf || rows != page.Len() {
		f.LogEnd = f.LogEnd && !last
		return false
	}
	return true
}

// Summary says in one line what is lost of the file itself.
func (f *Found) Summary() string {
	return fmt.Sprintf("%d of the catalog's pages and %d chunks are damaged", len(f.Lost), len(f.Damaged))
}
