package bucketdb

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/stardustdb/stardust/internal/batch"
	"github.com/stardustdb/stardust/internal/digest"
	"github.com/stardustdb/stardust/objectstore"
)

// bucket is the database under a prefix of a store.
type bucket struct {
	store    objectstore.Store
	identity batch.Identity
	sizes    []int64 // of bundles

	// again waits before a batch is sent again whose outcome is not known, and reports
	// whether it is; nil means that it is not.
	again func(ctx context.Context, attempt int) bool

	mu      sync.Mutex
	problem func(error) // tells what is wrong and could be done without, or nil
}

// set sets what options say.
func (b *bucket) set(sizes []int64, problem func(error)) {
	if sizes != nil {
		b.sizes = sizes
	}
	b.problem = problem
}

// tell tells of something that is wrong and could be done without.
func (b *bucket) tell(err error) {
	if b.problem != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.problem(err)
	}
}

// open opens the database that is there, or returns ErrNoDatabase.
func open(ctx context.Context, store objectstore.Store) (*bucket, error) {
	data, _, err := objectstore.ReadAll(ctx, store, genesisPath)
	if errors.Is(err, objectstore.ErrNotFound) {
		return nil, fmt.Errorf("%w: %s has no object %q", ErrNoDatabase, store, genesisPath)
	}
	if err != nil {
		return nil, err
	}
	g, err := batch.DecodeGenesis(data)
	if err != nil {
		return nil, objectError(store, genesisPath, err)
	}
	return &bucket{store: store, identity: g.Identity, sizes: bundleSizes()}, nil
}

// openOrCreate is open, but begins a database if there is none. It refuses a
// store that does not honor create-only writes.
func openOrCreate(ctx context.Context, store objectstore.Store) (*bucket, error) {
	b, err := open(ctx, store)
	switch {
	case err == nil:
		return b, b.recreate(ctx)
	case !errors.Is(err, ErrNoDatabase):
		return nil, err
	}
	for meta, err := range store.List(ctx, &objectstore.ListOptions{Prefix: logPrefix}) {
		if err != nil {
			return nil, err
		}
		return nil, damaged("%s has %q but no %q: somebody deleted it", store, meta.Path, genesisPath)
	}
	if err := objectstore.ProbeCreate(ctx, store, ""); err != nil {
		return nil, err
	}
	var g batch.Genesis
	_, _ = rand.Read(g.Identity[:]) // it never fails
	if _, err := store.Put(ctx, genesisPath, objectstore.Bytes(g.Encode()), &objectstore.PutOptions{Mode: objectstore.Create}); err != nil {
		// It may have been written all the same, by us or by somebody else.
		b, other := open(ctx, store)
		if other != nil {
			return nil, err
		}
		return b, nil
	}
	return &bucket{store: store, identity: g.Identity, sizes: bundleSizes()}, nil
}

// recreate writes the first object again, which must be refused: otherwise the
// store replaces what exists, perhaps because its settings changed since the
// first push. That does no harm, since the bytes are the same.
func (b *bucket) recreate(ctx context.Context) error {
	body := objectstore.Bytes(batch.Genesis{Identity: b.identity}.Encode())
	_, err := b.store.Put(ctx, genesisPath, body, &objectstore.PutOptions{Mode: objectstore.Create})
	switch {
	case errors.Is(err, objectstore.ErrAlreadyExists):
		return nil
	case err == nil:
		return fmt.Errorf("%w: %s replaced %q although it was told to create it only; it cannot hold a database",
			objectstore.ErrUnsupported, b.store, genesisPath)
	}
	return err
}

// link is a batch of the log with its bytes and their digest.
type link struct {
	*batch.Batch
	data []byte
	sum  digest.Digest
}

// get reads a batch. A missing one is objectstore.ErrNotFound.
func (b *bucket) get(ctx context.Context, n int64) (*link, error) {
	data, err := b.read(ctx, logPath(n))
	if err != nil {
		return nil, err
	}
	return b.decode(n, data)
}

// mustGet is get of a batch that must be there. A missing one is ErrDamaged.
func (b *bucket) mustGet(ctx context.Context, n int64) (*link, error) {
	l, err := b.get(ctx, n)
	if errors.Is(err, objectstore.ErrNotFound) {
		err = damaged("%q in %s is missing: somebody deleted it", logPath(n), b.store)
	}
	return l, err
}

func (b *bucket) decode(n int64, data []byte) (*link, error) {
	got, err := batch.Decode(data)
	switch {
	case err != nil:
		return nil, objectError(b.store, logPath(n), err)
	case got.Identity != b.identity:
		return nil, damaged("%q in %s belongs to the database %s, not to %s", logPath(n), b.store, got.Identity, b.identity)
	case got.Number != n:
		return nil, damaged("%q in %s is batch %d under another name", logPath(n), b.store, got.Number)
	}
	return &link{got, data, batch.Sum(data)}, nil
}

// read returns an object of the log, which has a size that a batch can have.
func (b *bucket) read(ctx context.Context, path objectstore.Path) ([]byte, error) {
	result, err := b.store.Get(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	defer result.Body.Close()
	if result.Meta.Size > batch.MaxSize {
		return nil, damaged("%q in %s has %d bytes, more than a batch can have", path, b.store, result.Meta.Size)
	}
	data := make([]byte, result.Meta.Size)
	if _, err := io.ReadFull(result.Body, data); err != nil {
		return nil, &objectstore.Error{Op: objectstore.OpGet, Store: b.store.String(), Path: string(path), Err: err}
	}
	return data, nil
}

// head returns the last batch, or nil when there is none.
func (b *bucket) head(ctx context.Context) (*link, error) {
	for {
		n, err := b.headNumber(ctx)
		if err != nil {
			return nil, err
		}
		next, err := b.after(ctx, n)
		switch {
		case err != nil:
			return nil, err
		case next == n+1:
			continue // it has just been written
		case next != 0:
			return nil, damaged("%q in %s is missing, although %q is there: somebody deleted it", logPath(n+1), b.store, logPath(next))
		case n == 0:
			return nil, nil
		}
		return b.get(ctx, n)
	}
}

// headNumber finds the end of the log by doubling and halving.
func (b *bucket) headNumber(ctx context.Context) (int64, error) {
	there := func(n int64) (bool, error) {
		_, err := objectstore.Head(ctx, b.store, logPath(n))
		if errors.Is(err, objectstore.ErrNotFound) {
			return false, nil
		}
		return err == nil, err
	}
	low, high := int64(0), int64(1)
	for ; ; high *= 2 {
		ok, err := there(high)
		if err != nil {
			return 0, err
		}
		if !ok {
			break
		}
		low = high
	}
	for high-low > 1 {
		middle := low + (high-low)/2
		ok, err := there(middle)
		if err != nil {
			return 0, err
		}
		if ok {
			low = middle
		} else {
			high = middle
		}
	}
	return low, nil
}

// after returns the first number in the log after n, or zero.
func (b *bucket) after(ctx context.Context, n int64) (int64, error) {
	options := &objectstore.ListOptions{Prefix: logPrefix, Offset: string(logPath(n))}
	for meta, err := range b.store.List(ctx, options) {
		if err != nil {
			return 0, err
		}
		number, ok := logNumber(meta.Path)
		if !ok {
			return 0, damaged("%q in %s is not the name of a batch", meta.Path, b.store)
		}
		return number, nil
	}
	return 0, nil
}

// put writes a batch and reports whether the log has it. False means that
// another batch has its number. The store may have written the batch whatever
// it answered, so unless it reported success, put looks into the log.
func (b *bucket) put(ctx context.Context, n int64, data []byte) (bool, error) {
	late := false // one that was sent may still arrive
	for attempt := 0; ; attempt++ {
		_, err := b.store.Put(ctx, logPath(n), objectstore.Bytes(data), &objectstore.PutOptions{Mode: objectstore.Create})
		if err == nil {
			return true, nil
		}
		late = late || objectstore.IsTransient(err)
		there, other := b.lookBack(ctx, n)
		switch {
		case other == nil:
			return bytes.Equal(there, data), nil
		case errors.Is(other, objectstore.ErrNotFound) && !late:
			return false, err
		case (objectstore.IsTransient(err) || objectstore.IsTransient(other)) && b.again != nil && b.again(ctx, attempt):
			continue // the same bytes: whichever of the two arrives first is ours
		}
		return false, fmt.Errorf("%w (%q in %s): %w", ErrUnknown, logPath(n), b.store, errors.Join(err, other))
	}
}

// lookBack reads what became of a batch, also for who has given up waiting.
func (b *bucket) lookBack(ctx context.Context, n int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	return b.read(ctx, logPath(n))
}

func objectError(store objectstore.Store, path objectstore.Path, err error) error {
	if errors.Is(err, batch.ErrNewer) {
		return fmt.Errorf("%q in %s: %w", path, store, err)
	}
	return damaged("%q in %s: %w", path, store, err)
}
