package stardust

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/stardustdb/stardust/internal/catalog"
	"golang.org/x/sync/errgroup"
)

// Export copies a file or directory of the tree, with everything beneath it, to
// a directory of the operating system, which is made when it is missing. A
// directory's children land in it; a file lands in it under its own name. It
// writes files in parallel, each under a temporary name first, so that a file is
// there whole or not at all. Run again it takes up where it stopped: files that
// have the content already are left alone; those that have another are reported,
// or overwritten when TransferOptions.Replace is set.
//
// Nothing is ever written outside the directory, whatever names and symbolic
// links there are. What the target can't hold, and payloads that are damaged,
// are reported in TransferReport.Problems, and the export goes on. The error is
// for what ends it: StatusCanceled when ctx ends, StatusNotFound for a missing
// entity, StatusIO when the directory can't be used. The report is valid then,
// too.
func (v Objects) Export(ctx context.Context, entity int64, to string, options *TransferOptions) (*TransferReport, error) {
	const op = "objects.export"
	ex := new(exporter)
	if options != nil {
		ex.options = *options
	}
	if err := v.enabled(); err != nil {
		return &ex.report, withOp(op, err)
	}
	inner, end, err := v.db.task(ctx)
	if err != nil {
		return &ex.report, withOp(op, err)
	}
	ex.limitWorkers(v.db.payloads.Uploads())
	if ex.objects, err = v.WithContext(inner).pin(); err == nil {
		err = ex.run(inner, entity, to)
	}
	return &ex.report, withOp(op, end(err))
}

// exporter is one export: a walk that makes directories, and workers that write
// files.
type exporter struct {
	transfer
	objects Objects
	files   chan exportFile
}

// exportFile is a file to write into an open directory.
type exportFile struct {
	path   string
	record Record
	dir    *exportDirectory
}

func (ex *exporter) run(ctx context.Context, entity int64, to string) error {
	if entity != catalog.Root {
		if _, err := ex.objects.Record(entity); err != nil {
			return err // before anything is made
		}
	}
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	top := newExportDirectory(root)
	ex.files = make(chan exportFile, 4*ex.options.Workers)
	group, ctx := errgroup.WithContext(ctx)
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
	return err
}

// walk follows the tree, keeps the directories that it stands in open, and sends
// files to the workers.
func (ex *exporter) walk(ctx context.Context, entity int64, top *exportDirectory) error {
	path := newExportPath(top)
	defer path.close()
	for entry, err := range ex.objects.Walk(entity) {
		if err != nil {
			return err
		}
		if entry.Path == "" && entry.Record.Kind == KindDirectory {
			continue
		}
		if entry.Path == "" {
			entry.Path = entry.Record.Name
		}
		dir, err := path.parent(entry.Path)
		if err != nil {
			ex.lost(entry, err)
			continue
		}
		if entry.Record.Kind == KindDirectory {
			err := dir.makeDirectory(entry.Record.Name)
			if err != nil {
				ex.lost(entry, err)
			} else {
				ex.update(func(r *TransferReport) { r.Directories++ })
			}
			continue
		}
		dir.retain()
		select {
		case ex.files <- exportFile{entry.Path, entry.Record, dir}:
		case <-ctx.Done():
			dir.release()
			return ctx.Err()
		}
	}
	return nil
}

// lost reports an entry that could not be made.
func (ex *exporter) lost(entry Entry, err error) {
	ex.problem(entry.Path, err, false)
	if entry.Record.Kind == KindFile {
		ex.update(func(r *TransferReport) { r.Files++ })
	}
}

func (ex *exporter) write(ctx context.Context) error {
	for f := range ex.files {
		result, err := ex.writeFile(f)
		f.dir.release()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, StatusClosed) {
			return err
		}
		if err != nil {
			ex.problem(f.path, err, false)
		}
		ex.update(func(r *TransferReport) {
			r.Files++
			switch {
			case err != nil:
			case result == resultCreated:
				r.Created++
			case result == resultUpdated:
				r.Updated++
			case result == resultUnchanged:
				r.Unchanged++
			}
		})
	}
	return nil
}

func (ex *exporter) writeFile(f exportFile) (importResult, error) {
	root, name := f.dir.root, f.record.Name
	info, err := root.Lstat(name)
	result := resultCreated
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("a %s of that name is in the way", kindOf(info.Mode()))
	default:
		same, err := ex.sameContent(root, f.record, info)
		if err != nil {
			return 0, err
		}
		if same {
			ex.update(func(r *TransferReport) { r.Bytes += f.record.Size })
			return resultUnchanged, nil
		}
		if !ex.options.Replace {
			return 0, errors.New("a file with other content is there already; say replace to overwrite it")
		}
		result = resultUpdated
	}
	return result, ex.writeContent(root, f.record)
}

// sameContent reports whether a file has the record's content already.
func (ex *exporter) sameContent(root *os.Root, r Record, info fs.FileInfo) (bool, error) {
	if info.Size() != r.Size {
		return false, nil
	}
	file, err := root.Open(r.Name)
	if err != nil {
		return false, err
	}
	defer file.Close() //nolint:errcheck // reading loses nothing
	h := sha256.New()
	if _, err := io.Copy(h, &contextReader{ex.objects.context(), file}); err != nil {
		return false, err
	}
	return Digest(h.Sum(nil)) == r.Digest, nil
}

// writeContent writes a payload under a temporary name and renames it into
// place.
func (ex *exporter) writeContent(root *os.Root, r Record) (err error) {
	stream, err := ex.objects.OpenDigest(r.Digest)
	if err != nil {
		return err
	}
	defer stream.Close() //nolint:errcheck // always nil
	file, temporary, err := createTemporary(root, r.Entity)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, root.Remove(temporary))
		}
	}()
	_, err = stream.WriteTo(io.MultiWriter(file, countingWriter{&ex.transfer}))
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return root.Rename(temporary, r.Name)
}

// createTemporary makes a file of a new name in a directory. The name is short,
// since the final one may be as long as a name can be.
func createTemporary(root *os.Root, entity int64) (*os.File, string, error) {
	for i := 0; ; i++ {
		name := fmt.Sprintf(".stardust-export-%d-%d", entity, i)
		file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return file, name, err
		}
	}
}
