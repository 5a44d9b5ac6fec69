package transfer

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/stardustdb/stardust/internal/attributes"
)

var errOutside = errors.New("its name leads out of the archive; not imported")

// TarOptions are the options of the import of an archive.
type TarOptions struct {
	Options
	// Preserve selects what is kept of its entries besides.
	Preserve Preserve
}

// ReadTar copies the files, directories and links of a tar archive into a
// directory of the tree, as they come. The report is valid with an error, too:
// what was committed stays.
func ReadTar(ctx context.Context, to Target, from io.Reader, into int64, options TarOptions) (*Report, error) {
	t := &tarImport{
		importer: importer{
			collector: collector{options: options.Options}, o: ImportOptions{Preserve: options.Preserve}, to: to, into: into,
			incomplete: make(map[string]bool), left: make(map[string]bool),
		},
		directories: map[string]*Directory{".": {Entity: into}},
		named:       make(map[string]bool),
		targets:     make(map[string]bool),
	}
	err := t.run(ctx, tar.NewReader(&contextReader{ctx, from}))
	if errors.Is(err, tar.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = &SourceError{fmt.Errorf("the archive is not whole: %w", err)}
	}
	if err != nil { // what came before it stays
		err = errors.Join(err, t.flush(context.WithoutCancel(ctx)))
	}
	if state, failed := to.State(-1); failed == nil {
		t.report.Revision = state.Last
	}
	return t.finish(), err
}

// tarImport is the import of an archive: one entry after the other, many in a
// commit.
type tarImport struct {
	importer
	directories map[string]*Directory
	items       []*Item
	named       map[string]bool // paths of items
	targets     map[string]bool // files that say that they are linked
	size        int64
}

func (t *tarImport) run(ctx context.Context, r *tar.Reader) error {
	if _, err := t.to.State(-1); err != nil {
		return err
	}
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return t.flush(ctx)
		}
		if err != nil {
			return err
		}
		if err := t.entry(ctx, header, r); err != nil {
			return err
		}
		if len(t.items) >= batchItems || t.size >= batchBytes {
			if err := t.flush(ctx); err != nil {
				return err
			}
		}
	}
}

// flush commits what has come.
func (t *tarImport) flush(ctx context.Context) error {
	err := t.commit(ctx, t.items, nil)
	t.items, t.size = nil, 0
	clear(t.named)
	return err
}

// entry brings one entry.
func (t *tarImport) entry(ctx context.Context, h *tar.Header, content io.Reader) error {
	name := path.Clean("/" + h.Name)[1:]
	if name == "" {
		return nil // the top itself
	}
	for part := range strings.SplitSeq(h.Name, "/") {
		if part == ".." {
			t.fail(h.Name, errOutside)
			return nil
		}
	}
	for part := range strings.SplitSeq(name, "/") {
		if bad := t.to.CheckName(part); bad != nil {
			t.fail(h.Name, bad)
			return nil
		}
	}
	if t.named[name] { // an archive may hold a name twice; the last one counts
		if err := t.flush(ctx); err != nil {
			return err
		}
	}
	item := &Item{path: name, Name: path.Base(name), Replace: true}
	if h.Typeflag != tar.TypeLink {
		t.describe(item, h)
	}
	var from io.Reader
	switch h.Typeflag {
	case tar.TypeDir:
		return t.directory(ctx, item)
	case tar.TypeReg, tar.TypeGNUSparse:
		from = io.TeeReader(content, &t.collector)
	case tar.TypeSymlink:
		from = strings.NewReader(h.Linkname)
	case tar.TypeLink:
		return t.link(ctx, item, h.Linkname)
	default:
		t.skip(name, fmt.Errorf("is a %s, which is not imported", kindOf(h.FileInfo().Mode())))
		return nil
	}
	stored, err := t.to.Store(ctx, from)
	if err != nil {
		return err
	}
	item.Content = stored
	return t.add(ctx, item)
}

// add puts an item into its directory.
func (t *tarImport) add(ctx context.Context, item *Item) error {
	parent, err := t.parent(ctx, parentOf(item.path))
	if err != nil {
		if item.Content != nil {
			item.Content.Abandon()
		}
		return err
	}
	item.Parent, item.again = parent, true // nothing makes way for it later
	t.named[item.path] = true
	t.items = append(t.items, item)
	if item.Content != nil {
		t.size += item.Content.Size()
	}
	return nil
}

// parent returns a directory, and makes those that the archive does not name.
func (t *tarImport) parent(ctx context.Context, name string) (*Directory, error) {
	if d := t.directories[name]; d != nil {
		return d, nil
	}
	item := &Item{path: name, Name: path.Base(name), Made: new(Directory), Replace: true}
	if err := t.add(ctx, item); err != nil {
		return nil, err
	}
	t.directories[name] = item.Made
	return item.Made, nil
}

// directory brings a directory, of which something may have come before.
func (t *tarImport) directory(ctx context.Context, item *Item) error {
	item.Made = t.directories[item.path]
	if item.Made == nil {
		item.Made = new(Directory)
	}
	if err := t.add(ctx, item); err != nil {
		return err
	}
	t.directories[item.path] = item.Made
	return nil
}

// link brings another name of a file that came before.
func (t *tarImport) link(ctx context.Context, item *Item, target string) error {
	target = path.Clean("/" + target)[1:]
	if t.named[target] {
		if err := t.flush(ctx); err != nil { // so that the tree has it
			return err
		}
	}
	d := t.directories[parentOf(target)]
	var child Child
	var found bool
	var err error
	if d != nil && !d.Failed {
		child, found, err = t.to.Child(ctx, d.Entity, path.Base(target))
	}
	switch {
	case err != nil:
		return err
	case !found || !child.File:
		t.fail(item.path, fmt.Errorf("is a link to %q, which is not in the archive before it", target))
		return nil
	}
	item.Content = t.to.Published(child.Digest, child.Size)
	if target == item.path {
		t.fail(item.path, errors.New("is a link to itself"))
		return nil
	}
	text, err := t.to.Attributes(ctx, child.Entity)
	if err != nil {
		return err
	}
	known, err := attributes.Decode(text)
	if err != nil {
		known = attributes.File{}
	}
	if !t.o.Preserve.HardLinks {
		known.Link = ""
	}
	if t.o.Preserve.HardLinks && known.Link == "" {
		// The node stands for the file, as no other text does in this database.
		known.Link = fmt.Sprintf("node:%d", child.Entity)
		if err := t.say(ctx, target, &child, known.Link); err != nil {
			return err
		}
	}
	if item.Attributes, err = known.Encode(); err != nil {
		return err
	}
	item.Speaks = t.o.Preserve.members()
	return t.add(ctx, item)
}

// say makes a file say that it is one of several names.
func (t *tarImport) say(ctx context.Context, target string, child *Child, link string) error {
	text, err := (&attributes.File{Link: link}).Encode()
	if err != nil || t.targets[target] {
		return err
	}
	t.targets[target] = true
	return t.add(ctx, &Item{
		path: target, Name: path.Base(target), Content: t.to.Published(child.Digest, child.Size),
		Attributes: text, Speaks: attributes.MemberLink, aside: true,
	})
}
