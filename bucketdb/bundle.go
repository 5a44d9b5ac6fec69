package bucketdb

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/stardustdb/stardust/internal/batch"
	"github.com/stardustdb/stardust/internal/digest"
	"github.com/stardustdb/stardust/objectstore"
)

// bundleSizes are how many batches bundles have: each one as many as its number is a
// multiple of.
func bundleSizes() []int64 { return []int64{1024, 16384} }

// bundlesAtOnce bounds the bundles that one push writes.
const bundlesAtOnce = 32

// span is the batches of a bundle.
type span struct{ first, last int64 }

func (s span) path() objectstore.Path {
	return objectstore.Path(fmt.Sprintf("%s%020d-%020d", bundlePrefix, s.first, s.last))
}

// spanOf returns the batches of the bundle at a path.
func spanOf(p objectstore.Path) (s span, ok bool) {
	name, found := cutPrefix(p, bundlePrefix)
	first, last, dash := strings.Cut(name, "-")
	if !found || !dash {
		return s, false
	}
	var errs [2]error
	s.first, errs[0] = strconv.ParseInt(first, 10, 64)
	s.last, errs[1] = strconv.ParseInt(last, 10, 64)
	return s, errors.Join(errs[:]...) == nil && s.first > 0 && s.first < s.last && s.path() == p
}

// spans returns the bundles that reading some batches may make use of, by their
// first batch. What is no bundle's name is a later version's.
func (b *bucket) spans(ctx context.Context, first, last int64) ([]span, error) {
	if last-first+1 < b.sizes[0] {
		return nil, nil // too few
	}
	var spans []span
	for meta, err := range b.store.List(ctx, &objectstore.ListOptions{Prefix: bundlePrefix}) {
		if err != nil {
			return nil, err
		}
		if s, ok := spanOf(meta.Path); ok && s.last >= first && s.last <= last {
			spans = append(spans, s)
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(b.last, a.last)) })
	return spans, nil
}

// nextStretch returns what to read for a batch and those that follow: the bundle that
// reaches farthest and of which half is wanted, or that one batch.
func nextStretch(next, last int64, spans []span) stretch {
	best := stretch{next, next, nil}
	for i := range spans {
		s := &spans[i]
		if s.first > next {
			break
		}
		if s.last > best.last && s.last <= last && 2*(s.last-next+1) > s.last-s.first {
			best = stretch{next, s.last, s}
		}
	}
	return best
}

// replaceable reports whether the log does instead of a bundle that could not be read
// for this reason.
func replaceable(err error) bool {
	return errors.Is(err, errBundle) || errors.Is(err, ErrNewer)
}

// errBundle is the reason for which the log is read instead of a bundle.
var errBundle = errors.New("the log is read instead")

// readBundle returns the batches of a bundle. They are those of the log, since each
// has the digest of the one before, and the last one is compared with the log's.
func (b *bucket) readBundle(ctx context.Context, s *span) ([]*link, error) {
	var data, last []byte
	group, inner := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		data, err = b.readBundleObject(inner, s.path())
		return err
	})
	group.Go(func() (err error) {
		if last, err = b.read(inner, logPath(s.last)); errors.Is(err, objectstore.ErrNotFound) {
			err = damaged("%q in %s is missing: somebody deleted it", logPath(s.last), b.store)
		}
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	u, err := b.decodeBundle(s, data)
	if err != nil {
		return nil, fmt.Errorf("%w; %w", err, errBundle)
	}
	wrong := func(what string) error {
		return fmt.Errorf("%w; %w", damaged("%q in %s %s", s.path(), b.store, what), errBundle)
	}
	if !bytes.Equal(u.Batches[len(u.Batches)-1], last) {
		return nil, wrong(fmt.Sprintf("ends with another batch than %q", logPath(s.last)))
	}
	links := make([]*link, len(u.Batches))
	for i, data := range u.Batches {
		if links[i], err = b.decode(s.first+int64(i), data); err != nil {
			return nil, wrong("has a damaged batch: " + err.Error())
		}
		if i > 0 && links[i].Previous != links[i-1].sum {
			return nil, wrong("has batches that do not follow each other")
		}
	}
	return links, nil
}

// decodeBundle decodes a bundle, which must be the one of its name.
func (b *bucket) decodeBundle(s *span, data []byte) (*batch.Bundle, error) {
	u, err := batch.DecodeBundle(data)
	switch {
	case err != nil:
		return nil, objectError(b.store, s.path(), err)
	case u.Identity != b.identity, u.First != s.first, int64(len(u.Batches)) != s.last-s.first+1:
		return nil, damaged("%q in %s is not the bundle of its name", s.path(), b.store)
	}
	return u, nil
}

func (b *bucket) readBundleObject(ctx context.Context, path objectstore.Path) ([]byte, error) {
	data, err := b.read(ctx, path)
	switch {
	case errors.Is(err, objectstore.ErrNotFound):
		err = fmt.Errorf("%q in %s went away; %w", path, b.store, errBundle)
	case errors.Is(err, ErrDamaged):
		err = fmt.Errorf("%w; %w", err, errBundle)
	}
	return data, err
}

// bundle writes the bundles up to a batch that are not there, the earliest first. A
// range whose batches are too large for one is left out.
func (b *bucket) bundle(ctx context.Context, head int64) error {
	there := make(map[span]bool)
	for meta, err := range b.store.List(ctx, &objectstore.ListOptions{Prefix: bundlePrefix}) {
		if err != nil {
			return err
		}
		if s, ok := spanOf(meta.Path); ok {
			there[s] = true
		}
	}
	written := 0
	for _, size := range b.sizes {
		for last := size; last <= head && written < bundlesAtOnce; last += size {
			s := span{last - size + 1, last}
			if there[s] {
				continue
			}
			if err := b.writeBundle(ctx, s); err != nil {
				return fmt.Errorf("write %q in %s: %w", s.path(), b.store, err)
			}
			written++
		}
	}
	return nil
}

func (b *bucket) writeBundle(ctx context.Context, s span) error {
	u := batch.Bundle{Identity: b.identity, First: s.first}
	size := 0
	var sum digest.Digest
	for l, err := range b.batches(ctx, s.first, s.last) {
		if err != nil {
			return err
		}
		if len(u.Batches) > 0 && l.Previous != sum {
			return damaged("%q in %s does not follow the batch before it: one of the two was replaced", logPath(l.Number), b.store)
		}
		if size += len(l.data) + 10; size > batch.MaxBundle {
			return nil
		}
		sum = l.sum
		u.Batches = append(u.Batches, l.data)
	}
	data, err := u.Encode()
	if err != nil {
		return err
	}
	_, err = b.store.Put(ctx, s.path(), objectstore.Bytes(data), &objectstore.PutOptions{Mode: objectstore.Create})
	if errors.Is(err, objectstore.ErrAlreadyExists) {
		err = nil // of somebody else who passed the same batch, or our own, repeated
	}
	return err
}
