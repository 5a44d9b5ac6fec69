package azure

import (
	"context"
	"iter"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/stardustdb/stardust/objectstore"
)

// List implements objectstore.Store, a page of up to 5000 objects a request. The
// service begins at the prefix: an offset costs the pages before it.
func (s *Store) List(ctx context.Context, options *objectstore.ListOptions) iter.Seq2[objectstore.ObjectMeta, error] {
	if options == nil {
		options = &objectstore.ListOptions{}
	}
	return func(yield func(objectstore.ObjectMeta, error) bool) {
		for meta, err := range s.objects(ctx, options) {
			if err != nil {
				yield(objectstore.ObjectMeta{}, s.fail(objectstore.OpList, objectstore.Path(options.Prefix), err))
				return
			}
			if !yield(meta, nil) {
				return
			}
		}
	}
}

func (s *Store) objects(ctx context.Context, options *objectstore.ListOptions) iter.Seq2[objectstore.ObjectMeta, error] {
	return func(yield func(objectstore.ObjectMeta, error) bool) {
		pages := s.container.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Prefix: prefix(options)})
		for pages.More() {
			if err := ctx.Err(); err != nil {
				yield(objectstore.ObjectMeta{}, err)
				return
			}
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(objectstore.ObjectMeta{}, err)
				return
			}
			for _, item := range page.Segment.BlobItems {
				if meta := metaOf(item); string(meta.Path) > options.Offset && !yield(meta, nil) {
					return
				}
			}
		}
	}
}

// ListWithDelimiter implements objectstore.Store.
func (s *Store) ListWithDelimiter(ctx context.Context, options *objectstore.ListOptions) (*objectstore.ListResult, error) {
	if options == nil {
		options = &objectstore.ListOptions{}
	}
	result, err := s.level(ctx, options)
	if err != nil {
		return nil, s.fail(objectstore.OpList, objectstore.Path(options.Prefix), err)
	}
	return result, nil
}

func (s *Store) level(ctx context.Context, options *objectstore.ListOptions) (*objectstore.ListResult, error) {
	result := &objectstore.ListResult{}
	pages := s.container.NewListBlobsHierarchyPager("/", &container.ListBlobsHierarchyOptions{Prefix: prefix(options)})
	for pages.More() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Segment.BlobItems {
			if meta := metaOf(item); string(meta.Path) > options.Offset {
				result.Objects = append(result.Objects, meta)
			}
		}
		for _, common := range page.Segment.BlobPrefixes {
			listed, err := s.goesBeyond(ctx, value(common.Name), options.Offset)
			if err != nil {
				return nil, err
			}
			if listed {
				result.CommonPrefixes = append(result.CommonPrefixes, value(common.Name))
			}
		}
	}
	return result, nil
}

// goesBeyond reports whether there is an object with the prefix after the offset.
func (s *Store) goesBeyond(ctx context.Context, prefix, offset string) (bool, error) {
	if !strings.HasPrefix(offset, prefix) {
		return prefix > offset, nil
	}
	for _, err := range s.objects(ctx, &objectstore.ListOptions{Prefix: prefix, Offset: offset}) {
		return err == nil, err
	}
	return false, nil
}

func prefix(options *objectstore.ListOptions) *string {
	if options.Prefix == "" {
		return nil
	}
	return &options.Prefix
}

func metaOf(item *container.BlobItem) objectstore.ObjectMeta {
	meta := objectstore.ObjectMeta{Path: objectstore.Path(value(item.Name)), Version: value(item.VersionID)}
	if p := item.Properties; p != nil {
		meta.Size, meta.LastModified, meta.ETag = value(p.ContentLength), value(p.LastModified), unquote(p.ETag)
	}
	return meta
}
