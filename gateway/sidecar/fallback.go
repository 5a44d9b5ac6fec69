package sidecar

import (
	"context"
	"errors"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

// fallback keeps trouble with the local disk from the clients: it costs them
// only speed.
//
// A read that the mirror can't serve because its disk failed goes upstream.
//
// A write that the upstream has, but whose local part failed, is a success.
// Over S3 no answer says "it is stored, but something went wrong": a client
// that gets an error repeats the write, and a conditional one then fails
// against itself. Nothing is lost by saying yes: the first read downloads what
// isn't local.
type fallback struct {
	*mirror.Mirror
	upstream objectstore.Store
	reads    prometheus.Counter
	writes   prometheus.Counter
	logger   *slog.Logger
}

var _ objectstore.MultipartStore = (*fallback)(nil)

// Get implements objectstore.Store.
func (c *fallback) Get(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	result, err := c.Mirror.Get(ctx, path, options)
	var local *mirror.Local
	if !errors.As(err, &local) || ctx.Err() != nil {
		return result, err
	}
	c.reads.Inc()
	c.logger.Warn("the local disk failed a read, which goes upstream", "path", path.String(), "error", local)
	return c.upstream.Get(ctx, path, options)
}

// Put implements objectstore.Store.
func (c *fallback) Put(ctx context.Context, path objectstore.Path, body objectstore.Body, options *objectstore.PutOptions) (*objectstore.PutResult, error) {
	result, err := c.Mirror.Put(ctx, path, body, options)
	return c.settle(ctx, path, result, err)
}

// CompleteMultipart implements objectstore.MultipartStore.
func (c *fallback) CompleteMultipart(ctx context.Context, path objectstore.Path, id string, parts []objectstore.Part, options *objectstore.CompleteOptions) (*objectstore.PutResult, error) {
	result, err := c.Mirror.CompleteMultipart(ctx, path, id, parts, options)
	return c.settle(ctx, path, result, err)
}

// settle asks the upstream for the ETag of a write whose local part failed.
func (c *fallback) settle(ctx context.Context, path objectstore.Path, result *objectstore.PutResult, err error) (*objectstore.PutResult, error) {
	var local *mirror.WriteCommitted
	if !errors.As(err, &local) {
		return result, err
	}
	c.writes.Inc()
	c.logger.Warn("a write is durable upstream but not local; the first read downloads it", "path", path.String(), "error", local.Source)
	meta, head := objectstore.Head(ctx, c.upstream, path)
	if head != nil {
		return nil, errors.Join(err, head)
	}
	return &objectstore.PutResult{ETag: meta.ETag, Version: meta.Version}, nil
}
