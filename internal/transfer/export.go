package transfer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// ExportOptions are the options of an export.
type ExportOptions struct {
	Options
	// Replace overwrites files that have other content.
	Replace bool
	// Delete makes the directory equal to the tree. It implies Replace.
	Delete bool
	// Sparse makes holes of zeros in every file, not only in those that had some.
	Sparse bool
	// Preserve selects what is restored of files besides.
	Preserve Preserve
	// Exclude, when not nil, tells what is neither exported nor removed, by paths
	// beneath the export; with DeleteExcluded it is removed.
	Exclude        *Rules
	DeleteExcluded bool
}

// Export copies a node, with everything beneath it, into a directory, which is
// made when it is missing. The report is valid with an error, too.
func Export(ctx context.Context, from Source, entity int64, to string, options ExportOptions) (*Report, error) {
	ex := &exporter{
		collector: collector{options: options.Options}, from: from,
		replace: options.Replace || options.Delete || options.DeleteExcluded,
		delete:  options.Delete || options.DeleteExcluded, deleteExcluded: options.DeleteExcluded,
		rules: options.Exclude, sparse: options.Sparse,
		preserve: options.Preserve, links: make(map[linkGroup]*linkedNames),
		files: make(chan exportFile, 4*options.Workers),
	}
	err := ex.run(ctx, entity, to)
	if end, ok := errors.AsType[*EndError](err); ok {
		err = end.Err
	}
	return ex.finish(), err
}

// exporter is one export: a walk that makes directories, and workers that write
// files.
type exporter struct {
	collector
	restorer
	replace bool
	delete  bool
	rules   *Rules
	// deleteExcluded removes what rules exclude.
	deleteExcluded bool
	// skipped is the excluded directory that the walk is in, absent one that a dry
	// run did not make, and barred one that it could not, with a "/" at the end;
	// empty for none.
	skipped, absent, barred string

	sparse   bool
	preserve Preserve
	from     Source
	// links are files of several names, and linkOrder those that have some that
	// are still to be made.
	links     map[linkGroup]*linkedNames
	linkOrder []*linkedNames
	// directories are those that were made or found, with Delete.
	directories []Node
	files       chan exportFile
	made        []Node // directories to describe once everything is in them
}

// exportFile is a file to write into an open directory.
type exportFile struct {
	node Node
	dir  *directory // nil in a dry run that did not make it
	// group is what it belongs to when it has several names.
	group *linkedNames
}

func (ex *exporter) run(caller context.Context, entity int64, to string) error {
	top, err := ex.top(to)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(caller)
	group.Go(func() error {
		defer close(ex.files)
		return ex.walk(ctx, entity, top)
	})
	for range ex.options.Workers {
		group.Go(func() error { return ex.write(ctx) })
	}
	err = group.Wait()
	for f := range ex.files { // what an error left behind
		f.dir.release()
	}
	if err == nil && len(ex.linkOrder) > 0 {
		var root *os.Root
		if root, err = os.OpenRoot(to); err == nil {
			err = ex.makeLinks(caller, newDirectory(root))
		}
	}
	if err == nil && ex.delete {
		err = ex.prune(caller, to)
	}
	if err != nil || ex.options.DryRun {
		return err
	}
	return ex.describe(to)
}

// top opens the directory to export into, and makes it when it is missing; a dry
// run returns nil then.
func (ex *exporter) top(to string) (*directory, error) {
	made := false
	if !ex.options.DryRun {
		var err error
		if made, err = makeAll(to); err != nil {
			return nil, err
		}
	}
	root, err := os.OpenRoot(to)
	if ex.options.DryRun && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	top := newDirectory(root)
	if !made && !ex.options.DryRun {
		ex.clean(top, "")
	}
	return top, nil
}

// describe gives the directories that were made their permissions and times,
// those further in first: until then they could be written, and changed as they
// were.
func (ex *exporter) describe(to string) error {
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	path := newChain(newDirectory(root))
	defer path.close()
	for i := len(ex.made) - 1; i >= 0; i-- {
		node := &ex.made[i]
		dir, err := path.parent(node.Path)
		if err == nil {
			err = ex.describeOne(dir.root, node)
		}
		if err != nil {
			ex.failed(node.Path, err)
		}
	}
	return nil
}

// describeOne gives a directory the attributes that are kept of it.
func (ex *exporter) describeOne(in *os.Root, node *Node) error {
	kept := &node.Attributes
	child, err := openChild(in, node.Name)
	if err != nil {
		return err
	}
	open, err := child.Open(".")
	if err == nil {
		err = lostAttributes(ex.restore(open, kept.HasMode, kept.FileMode().Perm(), kept))
		err = errors.Join(err, open.Close())
	}
	err = errors.Join(err, child.Close())
	if !kept.MTime.IsZero() {
		err = errors.Join(err, in.Chtimes(node.Name, kept.MTime, kept.MTime))
	}
	return err
}

// makeAll makes a directory and those that lead to it, and reports whether it
// was missing.
func makeAll(path string) (made bool, err error) {
	_, missing := os.Stat(path)
	return missing != nil, os.MkdirAll(path, 0o777)
}

// clean removes what killed exports left in a directory.
func (ex *exporter) clean(d *directory, path string) {
	if err := RemoveTemporaries(d.root); err != nil {
		ex.failed(path, err)
	}
}

// walk follows the tree, keeps the directories that it stands in open, and sends
// files to the workers.
func (ex *exporter) walk(ctx context.Context, entity int64, top *directory) error {
	var path *chain
	if top != nil {
		path = newChain(top)
		defer path.close()
	}
	for node, err := range ex.from.Walk(entity) {
		if ex.excluded(&node) {
			continue
		}
		if lost, ok := errors.AsType[*LostError](err); ok {
			ex.lost(&node, lost.Err)
			continue
		}
		if err != nil {
			return err
		}
		if node.Path == "" && !node.File {
			if ex.delete {
				ex.directories = append(ex.directories, node)
			}
			continue
		}
		if node.Path == "" {
			node.Path = node.Name
		}
		ex.preserve.Filter(&node.Attributes)
		var group *linkedNames
		if node.File {
			var later bool
			if group, later = ex.laterLink(&node); later {
				continue
			}
		}
		dir, err := ex.parent(path, node.Path)
		if err != nil {
			ex.lost(&node, err)
			continue
		}
		if !node.File {
			if err := ex.directory(ctx, dir, &node); err != nil {
				return err
			}
			continue
		}
		if dir != nil {
			dir.retain()
		}
		select {
		case ex.files <- exportFile{node, dir, group}:
		case <-ctx.Done():
			dir.release()
			return ctx.Err()
		}
	}
	return nil
}

// excluded reports whether a node is left out, because of its name or that of a
// directory above it.
func (ex *exporter) excluded(node *Node) bool {
	if ex.rules == nil || node.Path == "" {
		return false
	}
	if ex.skipped != "" && strings.HasPrefix(node.Path, ex.skipped) {
		return true
	}
	out := ex.rules.Match(node.Path, !node.File)
	if out && !node.File {
		ex.skipped = node.Path + "/"
	}
	return out
}

// parent returns the directory that a path lies in, or nil when a dry run did not
// make it.
func (ex *exporter) parent(path *chain, name string) (*directory, error) {
	if ex.barred != "" && strings.HasPrefix(name, ex.barred) {
		return nil, errors.New("its directory cannot be made")
	}
	if path == nil || ex.absent != "" && strings.HasPrefix(name, ex.absent) {
		return nil, nil
	}
	return path.parent(name)
}

// directory makes a directory of the tree. The error ends the export.
func (ex *exporter) directory(ctx context.Context, in *directory, node *Node) error {
	info, err := in.there(node.Name)
	if err == nil && info != nil && ex.delete && info.Mode().IsRegular() {
		if _, err := ex.clearPlace(ctx, in, node); err != nil {
			return err
		}
	}
	if ex.options.DryRun {
		ex.planDirectory(node, info)
		return nil
	}
	made, err := in.makeDirectory(node.Name, &node.Attributes, ex.replace)
	if (made || ex.replace) && ex.preserve != (Preserve{}) || made && (node.Attributes.HasMode || !node.Attributes.MTime.IsZero()) {
		describe := *node
		if !made { // it keeps what it has
			describe.Attributes.HasMode, describe.Attributes.MTime = false, time.Time{}
		}
		ex.made = append(ex.made, describe)
	}
	if err == nil && !made {
		err = cleanChild(in.root, node.Name)
	}
	if err != nil {
		ex.lost(node, err)
		return nil
	}
	if made {
		ex.changed(Change{Action: ActionCreated, Path: node.Path, Directory: true})
	}
	if ex.delete {
		ex.directories = append(ex.directories, *node)
	}
	ex.update(func(r *Report) { r.Directories++ })
	return nil
}

// planDirectory says what would become of a directory.
func (ex *exporter) planDirectory(node *Node, info fs.FileInfo) {
	switch {
	case info != nil && info.IsDir():
		if ex.delete {
			ex.directories = append(ex.directories, *node)
		}
	case info == nil, ex.delete && info.Mode().IsRegular(), ex.replace && info.Mode().Type() == fs.ModeSymlink:
		ex.absent = node.Path + "/"
		ex.changed(Change{Action: ActionCreated, Path: node.Path, Directory: true})
	default:
		ex.barred = node.Path + "/"
		ex.lost(node, fmt.Errorf("a %s of that name is in the way of the directory", kindOf(info.Mode())))
		return
	}
	ex.update(func(r *Report) { r.Directories++ })
}

func cleanChild(root *os.Root, name string) error {
	child, err := openChild(root, name)
	if err != nil {
		return nil // what is written into it says why
	}
	return errors.Join(RemoveTemporaries(child), child.Close())
}

// lost reports a node that could not be made.
func (ex *exporter) lost(node *Node, err error) {
	ex.failed(node.Path, err)
	if node.File {
		ex.done(Failed)
	}
}

// write is a worker.
func (ex *exporter) write(ctx context.Context) error {
	for f := range ex.files {
		outcome, err := ex.writeFile(ctx, &f)
		f.dir.release()
		if f.group != nil && outcome != Failed {
			f.group.there = true
		}
		if end, err := ex.written(ctx, &f.node, outcome, err); end {
			return err
		}
	}
	return nil
}

// written reports what became of a file, and whether the export ends with err.
func (ex *exporter) written(ctx context.Context, node *Node, outcome Outcome, err error) (end bool, _ error) {
	if full(err) {
		err = &EndError{err} // no other file would fare better
	}
	var ending *EndError
	var attributes *LostAttributesError
	switch {
	case ctx.Err() != nil:
		return true, ctx.Err()
	case errors.As(err, &ending):
		return true, err
	case errors.As(err, &attributes):
		ex.failed(node.Path, err)
	case err != nil:
		ex.failed(node.Path, err)
		outcome = Failed
	}
	ex.done(outcome)
	switch outcome {
	case Created:
		ex.changed(Change{Action: ActionCreated, Path: node.Path})
	case Updated:
		ex.changed(Change{Action: ActionChanged, Path: node.Path})
	}
	return false, nil
}

// full reports whether an error says that the disk has no room.
func full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
