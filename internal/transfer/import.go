package transfer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/stardustdb/stardust/internal/transfer/fileindex"
)

// ImportOptions are the options of an import.
type ImportOptions struct {
	Options
	// Delete makes the tree equal to the file system.
	Delete bool
	// Only, when not nil, are paths beneath the file system: what does not lie at
	// one of them is left alone, and there is no index.
	Only []string
	// Exclude, when not nil, tells what is neither imported nor removed.
	Exclude *Rules
	// DeleteExcluded removes from the tree what Exclude matches. It means Delete,
	// too.
	DeleteExcluded bool
	// SkipCaches leaves out what is in directories with a CACHEDIR.TAG.
	SkipCaches bool
	// OneDevice leaves out what is in directories of other file systems.
	OneDevice bool
	// Index is the path of the file that keeps what the import saw; empty for
	// none. Source names the file system that is imported.
	Index, Source string
	// ReadAll reads files that did not change by the index, too.
	ReadAll bool
	// Preserve selects what is kept of files besides.
	Preserve Preserve
	// Message, when not empty, is said of the import.
	Message string
	// Now is the clock that tells whether a file changed just now.
	Now func() time.Time
}

// Import copies the files and directories of a file system into a directory of
// the tree. The report is valid with an error, too: what was committed stays.
func Import(ctx context.Context, to Target, from fs.FS, into int64, options ImportOptions) (*Report, error) {
	im := &importer{
		collector: collector{options: options.Options}, o: options, to: to, from: from, into: into,
		files:      make(chan *Item, 4*options.Workers),
		stored:     make(chan *Item, batchItems),
		incomplete: make(map[string]bool), left: make(map[string]bool), inodes: make(map[inode]inodeContent),
	}
	im.o.Delete = im.o.Delete || im.o.DeleteExcluded
	im.links, _ = from.(fs.ReadLinkFS)
	im.opener = openerOf(from)
	err := im.openIndex()
	if err == nil {
		err = im.run(ctx)
	}
	if closed := im.closeIndex(); err == nil {
		err = closed
	}
	return im.finish(), err
}

// importer is one import: a walk that finds files, workers that store their
// content, and a batcher that commits what they bring.
type importer struct {
	collector
	o      ImportOptions
	to     Target
	from   fs.FS
	links  fs.ReadLinkFS // from, when it can read symbolic links
	opener openFunc      // of from; nil when it has none
	into   int64
	device uint64     // of the top, with OneDevice
	files  chan *Item // from the walk to the workers
	stored chan *Item // to the batcher; a directory comes before what is in it

	entries []listed // of the directory that the walk is at, to be used again
	known   []bool   // likewise
	index   indexUse
	gone    []goneNode      // what the walk missed, with Delete
	blocked []*Item         // files whose place a directory has that is not empty
	left    map[string]bool // where files moved away from
	owners  owners

	linking sync.Mutex
	inodes  map[inode]inodeContent // files of several names
	late    []*Item                // names of these that wait for another to be committed

	failing    sync.Mutex
	incomplete map[string]bool // directories that something was left out of
}

func (im *importer) run(caller context.Context) error {
	group, ctx := errgroup.WithContext(caller)
	// The walk sends to the batcher, too: both channels' senders end together.
	senders, sendCtx := errgroup.WithContext(ctx)
	senders.Go(func() error {
		defer close(im.files)
		return im.walk(sendCtx)
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
		abandon([]*Item{item})
	}
	if err == nil {
		err = im.storeLate(caller)
	}
	if err == nil && im.o.Delete {
		err = im.remove(caller)
	}
	if err == nil && im.o.Message != "" {
		err = im.to.Say(caller, im.o.Message)
	}
	return err
}

// fail reports something that could not be imported.
func (im *importer) fail(path string, err error) {
	im.leftOut(path)
	im.failed(path, err)
}

// skip reports something of a kind that is never imported.
func (im *importer) skip(path string, why error) {
	im.leftOut(path)
	im.collector.skip(path, why)
}

// leftOut notes that the tree may differ from a path's directory.
func (im *importer) leftOut(path string) {
	im.failing.Lock()
	defer im.failing.Unlock()
	im.incomplete[parentOf(path)] = true
	im.incomplete[path] = true // it may be a directory
}

// pending is a directory that the walk has still to list.
type pending struct {
	path string
	dir  *Directory
	// entity is that of the tree's directory, when there is one. Fresh says that
	// there was none before this import; neither is so when it is not known.
	entity int64
	there  bool
	fresh  bool
}

// walk finds everything, without recursion and without following links. It
// sends a directory to the batcher before its files to the workers.
func (im *importer) walk(ctx context.Context) error {
	top := pending{path: ".", dir: &Directory{Entity: im.into}, entity: im.into, there: true}
	if im.o.OneDevice {
		if info, err := fs.Stat(im.from, "."); err == nil {
			im.device = statOf(info).device
		}
	}
	stack := []pending{top}
	if im.o.Only != nil {
		var err error
		if stack, err = im.only(ctx, top); err != nil {
			return err
		}
	}
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		k, err := im.knowledge(ctx, &top)
		if err != nil {
			return err
		}
		cache := im.o.SkipCaches && im.isCache(top.path)
		whole, err := im.list(ctx, top.path, func(e *listed) error {
			if im.o.DeleteExcluded && im.o.Exclude.Match(join(top.path, e.name), e.stat.mode.IsDir()) {
				return nil // as if it were not there
			}
			k.see(e.name)
			if cache && e.name != cacheTag {
				k.keep(e.name)
				return nil
			}
			below, err := im.found(ctx, &top, k, e)
			if below != nil {
				stack = append(stack, *below)
			}
			return err
		})
		if err != nil {
			return err
		}
		im.listed(&top, k, whole && !cache)
	}
	return nil
}

// found sends an entry of a directory on its way. It returns a directory, which
// is to be listed, too.
func (im *importer) found(ctx context.Context, in *pending, k *knowledge, e *listed) (*pending, error) {
	item := &Item{path: join(in.path, e.name), Name: e.name, Parent: in.dir, Replace: im.o.Delete, stat: e.stat}
	if im.o.Exclude.Match(item.path, e.stat.mode.IsDir()) {
		return nil, nil
	}
	if bad := im.to.CheckName(item.Name); bad != nil {
		im.fail(item.path, bad)
		return nil, nil
	}
	if e.err != nil {
		im.fail(item.path, e.err)
		return nil, nil
	}
	mode := e.stat.mode
	switch {
	case mode.IsDir():
		return im.foundDirectory(ctx, k, item)
	case IsTemporary(item.Name):
		im.skip(item.path, errors.New("is what an interrupted export or get left behind, which is not imported"))
		return nil, nil
	case mode.IsRegular(), mode.Type() == fs.ModeSymlink && im.links != nil:
		if k.unchanged(e) {
			im.update(func(r *Report) { r.Bytes += e.stat.size; r.Files++; r.Unchanged++ })
			return nil, nil
		}
		return nil, send(ctx, im.files, item)
	}
	im.skip(item.path, fmt.Errorf("is a %s, which is not imported", kindOf(mode)))
	return nil, nil
}

// foundDirectory sends a directory to the batcher, unless it is known to be as it
// was.
func (im *importer) foundDirectory(ctx context.Context, k *knowledge, item *Item) (*pending, error) {
	below := &pending{path: item.path}
	var same bool
	var err error
	if below.entity, below.there, below.fresh, same, err = k.directory(ctx, item); err != nil {
		return nil, err
	}
	if same {
		below.dir = &Directory{Entity: below.entity}
		im.update(func(r *Report) { r.Directories++ })
	} else {
		item.Made = new(Directory)
		im.describeDirectory(item)
		below.dir = item.Made
		if err := send(ctx, im.stored, item); err != nil {
			return nil, err
		}
	}
	if im.o.OneDevice && item.stat.device != im.device {
		return nil, nil // an empty place where something is mounted
	}
	return below, nil
}

func send(ctx context.Context, to chan<- *Item, item *Item) error {
	select {
	case to <- item:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// join returns the path of a name in a directory.
func join(directory, name string) string {
	if directory == "." {
		return name
	}
	return directory + "/" + name
}

// parentOf returns the path of the directory that a path lies in.
func parentOf(path string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' {
			return path[:i]
		}
	}
	return "."
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

// indexUse is what an import has of an index.
type indexUse struct {
	reader *fileindex.Reader // nil when there is none that fits
	exact  bool              // the tree is as the index says
	writer *fileindex.Writer // nil when none is made
	before State             // of the database when the import began
}
