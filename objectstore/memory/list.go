package memory

import (
	"context"
	"iter"
	"sort"
	"strings"

	"github.com/stardustdb/stardust/objectstore"
)

// List implements objectstore.Store. It yields the objects as they were when
// the iteration began.
func (s *Store) List(ctx context.Context, options *objectstore.ListOptions) iter.Seq2[objectstore.ObjectMeta, error] {
	if options == nil {
		options = &objectstore.ListOptions{}
	}
	return func(yield func(objectstore.ObjectMeta, error) bool) {
		objects := s.snapshot()
		for i := first(objects, options); i < len(objects); i++ {
			meta := objects[i].meta
			if err := ctx.Err(); err != nil {
				yield(objectstore.ObjectMeta{}, s.fail(objectstore.OpList, objectstore.Path(options.Prefix), err))
				return
			}
			if !strings.HasPrefix(string(meta.Path), options.Prefix) || !yield(meta, nil) {
				return
			}
		}
	}
}

// ListWithDelimiter implements objectstore.Store. It costs in proportion to the
// result, not to what lies below the common prefixes.
func (s *Store) ListWithDelimiter(ctx context.Context, options *objectstore.ListOptions) (*objectstore.ListResult, error) {
	if options == nil {
		options = &objectstore.ListOptions{}
	}
	result := &objectstore.ListResult{}
	objects := s.snapshot()
	for i := first(objects, options); i < len(objects); {
		if err := ctx.Err(); err != nil {
			return nil, s.fail(objectstore.OpList, objectstore.Path(options.Prefix), err)
		}
		rest, ok := strings.CutPrefix(string(objects[i].meta.Path), options.Prefix)
		if !ok {
			break
		}
		slash := strings.IndexByte(rest, '/')
		if slash < 0 {
			result.Objects = append(result.Objects, objects[i].meta)
			i++
			continue
		}
		common := options.Prefix + rest[:slash+1]
		result.CommonPrefixes = append(result.CommonPrefixes, common)
		i += sort.Search(len(objects)-i, func(n int) bool {
			path := string(objects[i+n].meta.Path)
			return path > common && !strings.HasPrefix(path, common)
		})
	}
	return result, nil
}

// first returns the index of the first object at or after the prefix, and
// after the offset.
func first(objects []*object, options *objectstore.ListOptions) int {
	return sort.Search(len(objects), func(i int) bool {
		path := string(objects[i].meta.Path)
		return path >= options.Prefix && (options.Offset == "" || path > options.Offset)
	})
}
