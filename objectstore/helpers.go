package objectstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Head returns an object's metadata.
func Head(ctx context.Context, store Store, path Path) (ObjectMeta, error) {
	result, err := store.Get(ctx, path, &GetOptions{Head: true})
	if err != nil {
		return ObjectMeta{}, err
	}
	return result.Meta, nil
}

// ReadAll returns all bytes of an object, and its metadata.
func ReadAll(ctx context.Context, store Store, path Path) ([]byte, ObjectMeta, error) {
	result, err := store.Get(ctx, path, nil)
	if err != nil {
		return nil, ObjectMeta{}, err
	}
	data, err := readExactly(result.Body, result.End-result.Start)
	if err = errors.Join(err, result.Body.Close()); err != nil {
		return nil, ObjectMeta{}, &Error{Op: "read", Store: store.String(), Path: string(path), Err: err}
	}
	return data, result.Meta, nil
}

// readExactly reads size bytes and the end of r. A size that promises too much
// costs no more memory than the bytes that came.
func readExactly(r io.Reader, size int64) ([]byte, error) {
	const step = 16 << 20
	data := make([]byte, 0, min(size, step))
	for int64(len(data)) < size {
		have := len(data)
		want := int(min(size, int64(max(2*have, step))))
		grown := make([]byte, want)
		if have == 0 {
			grown = data[:want]
		}
		copy(grown, data)
		n, err := io.ReadFull(r, grown[have:])
		data = grown[:have+n]
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, fmt.Errorf("after %d of %d bytes: %w", len(data), size, err)
		}
	}
	// A source may report at its end that its bytes were wrong.
	var one [1]byte
	switch n, err := io.ReadFull(r, one[:]); {
	case n > 0:
		return nil, fmt.Errorf("body is longer than its %d bytes", size)
	case !errors.Is(err, io.EOF):
		return nil, err
	}
	return data, nil
}

// DeleteAll deletes the paths and yields each with its own error or nil, many
// in one call if the store is a [BulkDeleter]. A missing object is not an
// error. It stops early when the consumer does.
func DeleteAll(ctx context.Context, store Store, paths iter.Seq[Path]) iter.Seq2[Path, error] {
	if bulk, ok := store.(BulkDeleter); ok {
		return bulk.DeleteAll(ctx, paths)
	}
	return func(yield func(Path, error) bool) {
		for path := range paths {
			err := store.Delete(ctx, path)
			if errors.Is(err, ErrNotFound) {
				err = nil
			}
			if !yield(path, err) {
				return
			}
		}
	}
}
