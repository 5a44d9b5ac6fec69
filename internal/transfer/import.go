package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

// sortedRun is how many entries of a directory are read at a time. They are
// stored in the order of their names, so that the rows of neighbors lie near each
// other and a listing reads few pages.
const sortedRun = 64 << 10

// Import copies the files and directories of a file system into a directory of
// the tree. The report is valid with an error, too: what was committed stays.
func Import(ctx context.Context, to Target, from fs.FS, into int64, options Options) (*Report, error) {
	im := &importer{
		collector: collector{options: options}, to: to, from: from,
		files:  make(chan *Item, 4*options.Workers),
		stored: make(chan *Item, batchItems),
	}
	im.links, _ = from.(fs.ReadLinkFS)
	err := im.run(ctx, into)
	return im.finish(), err
}

// importer is one import: a walk that finds files, workers that store their
// content, and a batcher that commits what they bring.
type importer struct {
	collector
	to     Target
	from   fs.FS
	links  fs.ReadLinkFS // from, when it can read symbolic links
	files  chan *Item    // from the walk to the workers
	stored chan *Item    // to the batcher; a directory comes before what is in it
}

func (im *importer) run(caller context.Context, into int64) error {
	group, ctx := errgroup.WithContext(caller)
	// The walk sends to the batcher, too: both channels' senders end together.
	senders, sendCtx := errgroup.WithContext(ctx)
	senders.Go(func() error {
		defer close(im.files)
		return im.walk(sendCtx, &Directory{Entity: into})
	})
	for range im.options.Workers {
		senders.Go(func() error { return im.store(sendCtx) })
	}
	group.Go(func() error {
		defer close(im.stored)
		return senders.Wait()
	})
	group.Go(func() error { return im.batch(ctx, caller) })
	err := group.Wait()
	for item := range im.stored { // what an error left behind
		if item.Content != nil {
			item.Content.Abandon()
		}
	}
	return err
}

// pending is a directory that the walk has still to list.
type pending struct {
	path string
	dir  *Directory
}

// walk finds everything, without recursion and without following links. It
// sends a directory to the batcher before its files to the workers.
func (im *importer) walk(ctx context.Context, root *Directory) error {
	for stack := []pending{{".", root}}; len(stack) > 0; {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		err := im.list(ctx, top.path, func(entry fs.DirEntry) error {
			item, err := im.found(ctx, top, entry)
			if item != nil {
				stack = append(stack, pending{item.path, item.Made})
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// found sends an entry of a directory on its way. It returns the item of a
// directory, which is to be listed, too.
func (im *importer) found(ctx context.Context, in pending, entry fs.DirEntry) (directory *Item, err error) {
	item := &Item{path: entry.Name(), Name: entry.Name(), Parent: in.dir}
	if in.path != "." {
		item.path = in.path + "/" + item.path
	}
	if bad := im.to.CheckName(item.Name); bad != nil {
		im.failed(item.path, bad)
		return nil, nil
	}
	switch {
	case entry.IsDir():
		item.Made = new(Directory)
		if info, err := entry.Info(); err == nil {
			item.Attributes = describe(info)
		}
		return item, send(ctx, im.stored, item)
	case IsTemporary(item.Name):
		im.skip(item.path, errors.New("is what an interrupted export or get left behind, which is not imported"))
		return nil, nil
	case entry.Type().IsRegular():
		return nil, send(ctx, im.files, item)
	case entry.Type() == fs.ModeSymlink && im.links != nil:
		item.link = true
		return nil, send(ctx, im.files, item)
	}
	im.skip(item.path, fmt.Errorf("is a %s, which is not imported", kindOf(entry.Type())))
	return nil, nil
}

// list calls fn with a directory's entries, a few at a time so that a directory
// of any size takes bounded memory. A directory that can't be read is a problem,
// not an error.
func (im *importer) list(ctx context.Context, path string, fn func(fs.DirEntry) error) error {
	f, err := im.from.Open(path)
	if err != nil {
		im.failed(path, err)
		return nil
	}
	defer func() { _ = f.Close() }() // reading loses nothing
	dir, ok := f.(fs.ReadDirFile)
	if !ok {
		im.failed(path, errors.New("its file system cannot list it"))
		return nil
	}
	for {
		entries, err := dir.ReadDir(sortedRun)
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
		for _, entry := range entries {
			if err := fn(entry); err != nil {
				return err
			}
		}
		if err != nil || len(entries) == 0 {
			if err != nil && !errors.Is(err, io.EOF) {
				im.failed(path, err)
			}
			return ctx.Err()
		}
	}
}

func send(ctx context.Context, to chan<- *Item, item *Item) error {
	select {
	case to <- item:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// kindOf names what a file is that is neither regular nor expected.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "file"
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeSymlink != 0:
		return "symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}
