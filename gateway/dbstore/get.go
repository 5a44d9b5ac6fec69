package dbstore

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/internal/patience"
	"github.com/stardustdb/stardust/objectstore"
)

// Get implements objectstore.Store. A version is a revision at which the object was
// written, by its number; it need not be there any more.
func (s *Store) Get(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	if options == nil {
		options = &objectstore.GetOptions{}
	}
	err := check(ctx, path)
	if err != nil {
		return nil, s.fail(objectstore.OpGet, path, err)
	}
	result, err := s.get(ctx, path, options)
	if err != nil {
		return nil, s.fail(objectstore.OpGet, path, err)
	}
	return result, nil
}

func (s *Store) get(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	tree, record, err := s.at(ctx, path, options.Version)
	if err != nil {
		return nil, err
	}
	meta, err := s.meta(path, record)
	if err != nil {
		return nil, err
	}
	if err := options.Check(meta); err != nil {
		return nil, err
	}
	start, end, err := options.Range.Resolve(meta.Size)
	if err != nil {
		return nil, err
	}
	result := &objectstore.GetResult{Meta: meta, Start: start, End: end}
	if result.Attributes, _, err = attributes(tree, record); err != nil {
		return nil, err
	}
	switch {
	case options.Head:
	case record.Kind != stardust.KindFile:
		result.Body = io.NopCloser(emptyReader{})
	default:
		reader, err := patience.Open(ctx, tree, record.Digest)
		if err != nil {
			return nil, err
		}
		if _, err := reader.Seek(start, io.SeekStart); err != nil {
			_ = reader.Close()
			return nil, err
		}
		result.Body = &body{reader, end - start}
	}
	return result, nil
}

// at returns the object as it is now, or as it was at a version.
func (s *Store) at(ctx context.Context, path objectstore.Path, version string) (stardust.Tree, stardust.Record, error) {
	if version == "" {
		tree, err := s.view(ctx)
		if err != nil {
			return tree, stardust.Record{}, err
		}
		record, err := s.find(tree, path)
		return tree, record, err
	}
	revision, err := strconv.ParseInt(version, 10, 64)
	if err != nil || revision <= 0 {
		return stardust.Tree{}, stardust.Record{}, fmt.Errorf("%w: %q is no version of this store", objectstore.ErrNotFound, version)
	}
	snapshot, err := s.db.KeptFrom(revision) // where the version is as it was, if it is there yet
	if err != nil {
		return stardust.Tree{}, stardust.Record{}, err
	}
	tree := snapshot.Tree().WithContext(ctx)
	record, err := s.find(tree, path)
	if err == nil && record.Revision != revision {
		err = fmt.Errorf("%w: the object was not written at version %s", objectstore.ErrNotFound, version)
	}
	return tree, record, err
}

// emptyReader is the body of a directory.
type emptyReader struct{}

func (emptyReader) Read([]byte) (int, error) { return 0, io.EOF }

// body reads a part of a payload.
type body struct {
	reader *patience.Reader
	left   int64
}

func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, io.EOF
	}
	n, err := b.reader.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if err == io.EOF && b.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (b *body) Close() error { return b.reader.Close() }
