package file

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/stardustdb/stardust/objectstore"
)

// Get implements objectstore.Store. The body is an [objectstore.FileBody].
func (s *Store) Get(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	if options == nil {
		options = &objectstore.GetOptions{}
	}
	if err := check(ctx, path); err != nil {
		return nil, s.fail(objectstore.OpGet, path, err)
	}
	result, err := s.get(path, options)
	if err != nil {
		return nil, s.fail(objectstore.OpGet, path, err)
	}
	return result, nil
}

func (s *Store) get(path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	if options.Version != "" {
		return nil, fmt.Errorf("%w: no versions are kept", objectstore.ErrNotFound)
	}
	for {
		result, stale, err := s.tryGet(path, options)
		if !stale || err != nil {
			return result, err
		}
	}
}

// tryGet reads the version that is there now. stale says that it was replaced
// before its attributes were read.
func (s *Store) tryGet(path objectstore.Path, options *objectstore.GetOptions) (result *objectstore.GetResult, stale bool, err error) {
	var file *os.File
	var info fs.FileInfo
	if options.Head {
		info, err = s.root.Stat(fileName(path))
	} else if file, err = s.root.OpenFile(fileName(path), os.O_RDONLY|openNonblock, 0); err == nil {
		info, err = file.Stat()
	}
	defer func() {
		if file != nil && (result == nil || result.Body == nil) {
			_ = file.Close()
		}
	}()
	if s.isMissing(err) || err == nil && !info.Mode().IsRegular() {
		return nil, false, objectstore.ErrNotFound
	}
	if err != nil {
		return nil, false, err
	}
	meta := describe(path, info)
	if err := options.Check(meta); err != nil {
		return nil, false, err
	}
	start, end, err := options.Range.Resolve(meta.Size)
	if err != nil {
		return nil, false, err
	}
	details, stale, err := s.details(meta)
	if err != nil || stale {
		return nil, stale, err
	}
	result = &objectstore.GetResult{Meta: meta, Attributes: details.Attributes, Start: start, End: end}
	if file == nil {
		return result, false, nil
	}
	if start > 0 {
		if _, err := file.Seek(start, io.SeekStart); err != nil {
			return nil, false, err
		}
	}
	result.Body = &body{file: file, left: end - start}
	return result, false, nil
}

// details returns the attributes and tags of a version. stale says that another
// version has taken its place meanwhile.
func (s *Store) details(version objectstore.ObjectMeta) (details details, stale bool, err error) {
	if isPlain(version.LastModified) {
		return details, false, nil
	}
	versions, err := s.readDetails(version.Path)
	if err != nil {
		return details, false, err
	}
	for _, v := range versions {
		if v.ETag == version.ETag {
			return v, false, nil
		}
	}
	// Either this version has none, or a writer has replaced it and dropped
	// what was kept of it.
	current, err := s.stat(version.Path)
	if err != nil {
		return details, false, err
	}
	return details, current == nil || current.ETag != version.ETag, nil
}

// body reads the rest of a file up to a length.
type body struct {
	file *os.File
	left int64
}

var (
	_ objectstore.FileBody = (*body)(nil)
	_ io.WriterTo          = (*body)(nil)
)

// File implements objectstore.FileBody.
func (b *body) File() *os.File { return b.file }

func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, io.EOF
	}
	n, err := b.file.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF // another program has truncated the file
	}
	return n, err
}

// WriteTo lets the kernel copy where w is a socket or a file.
func (b *body) WriteTo(w io.Writer) (int64, error) {
	n, err := io.Copy(w, &io.LimitedReader{R: b.file, N: b.left})
	b.left -= n
	if err == nil && b.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (b *body) Close() error { return b.file.Close() }
