package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/stardustdb/stardust/objectstore"
)

func newStoreCpCommand(e *env) *cobra.Command {
	var recursive bool
	cmd := &cobra.Command{
		Use:   "cp FROM-URL TO-URL",
		Short: "Copy objects from one store to another",
		Long: `Copy an object, with its attributes, from one store to another or within one. A
TO-URL that ends in a slash takes it in under its own name. With --recursive
everything under FROM-URL is copied to under TO-URL.`,
		Example: `  stardust store cp s3://bucket/a.bin file:///tmp/a.bin
  stardust store cp -r s3://bucket/db file:///backup/db`,
		Args: arguments(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if recursive {
				return e.copyAll(cmd.Context(), args[0], args[1])
			}
			return e.copyOne(cmd.Context(), args[0], args[1])
		},
	}
	cmd.Flags().BoolVarP(&recursive, "recursive", "r", false, "copy everything under FROM-URL")
	return cmd
}

func (e *env) copyOne(ctx context.Context, fromURL, toURL string) error {
	return e.withObject(ctx, fromURL, "", false, func(from objectstore.Store, source objectstore.Path) error {
		// The target's directory must not appear for a source that is missing.
		meta, err := objectstore.Head(ctx, from, source)
		if err != nil {
			return err
		}
		return e.withObject(ctx, toURL, source.Base(), true, func(to objectstore.Store, target objectstore.Path) error {
			b := e.newBar("copy", meta.Size)
			err := copier{from, fromURL, to, toURL, b}.copy(ctx, source, target)
			b.done(b.current.Load())
			return stopped(ctx, err, "nothing was stored")
		})
	})
}

func (e *env) copyAll(ctx context.Context, fromURL, toURL string) error {
	return e.withPrefix(ctx, fromURL, false, func(from objectstore.Store) error {
		return e.withPrefix(ctx, toURL, true, func(to objectstore.Store) error {
			if lies(to.String(), from.String()) {
				return usagef("%s lies in %s: the copy would never end", redacted(toURL), redacted(fromURL))
			}
			b := e.newBar("copy", 0)
			count, err := copier{from, fromURL, to, toURL, b}.copyAll(ctx)
			size := b.current.Load()
			b.done(size)
			if err == nil {
				e.printf("%s copied (%s).\n", objects(count), humanSize(size))
			}
			return stopped(ctx, err, objects(count)+" copied; the same command copies everything again")
		})
	})
}

// lies reports whether one store is another, or a part of it.
func lies(inner, outer string) bool {
	innerPath, innerEndpoint, _ := strings.Cut(inner, "?endpoint=")
	outerPath, outerEndpoint, _ := strings.Cut(outer, "?endpoint=")
	return innerEndpoint == outerEndpoint && strings.HasPrefix(innerPath+"/", outerPath+"/")
}

// copier copies objects from one store to another and tells a bar.
type copier struct {
	from    objectstore.Store
	fromURL string
	to      objectstore.Store
	toURL   string
	bar     *bar
}

// copyAll copies everything, several objects at a time, and returns how many
// were.
func (c copier) copyAll(ctx context.Context) (count int64, err error) {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(partsAtOnce)
	var total int64
	var copied atomic.Int64
	var listing error
	for meta, err := range listed(groupCtx, c.from) {
		if err != nil {
			listing = aboutStore(c.fromURL, err)
			break
		}
		total += meta.Size
		c.bar.setTotal(total)
		group.Go(func() error {
			err := c.copy(groupCtx, meta.Path, meta.Path)
			if err == nil {
				copied.Add(1)
			}
			return err
		})
	}
	err = group.Wait()
	if err == nil { // a copy that failed ended the listing, too
		err = listing
	}
	return copied.Load(), err
}

// copy streams an object with its attributes. The error says which of the two
// URLs it is about.
func (c copier) copy(ctx context.Context, source, target objectstore.Path) error {
	result, err := c.from.Get(ctx, source, nil)
	if err != nil {
		return aboutStore(c.name(c.fromURL, source), err)
	}
	defer result.Body.Close()
	body := &sourceReader{r: countingReader{result.Body, c.bar}}
	size := result.Meta.Size
	if size <= multipartSize {
		_, err = c.to.Put(ctx, target, objectstore.Stream(body, size), &objectstore.PutOptions{Attributes: result.Attributes})
	} else {
		w := partWriter{store: c.to, path: target, attributes: result.Attributes}
		err = w.stream(ctx, body, func(int) int64 { return partSizeOf(size) })
	}
	if body.err != nil {
		return aboutStore(c.name(c.fromURL, source), body.err)
	}
	return aboutStore(c.name(c.toURL, target), err)
}

// name returns a URL for a message, with the object when the URL is that of
// several.
func (c copier) name(rawURL string, path objectstore.Path) string {
	bare := withoutQuery(redacted(rawURL))
	if bare == path.String() || strings.HasSuffix(bare, "/"+path.String()) {
		return bare
	}
	return strings.TrimSuffix(bare, "/") + "/" + path.String()
}

// sourceReader remembers why reading failed, so that the store that was written
// to isn't blamed for it.
type sourceReader struct {
	r   io.Reader
	err error
}

func (s *sourceReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}
