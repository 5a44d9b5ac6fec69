package main

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/file"
	"github.com/stardustdb/stardust/objectstore/retry"
	"github.com/stardustdb/stardust/objectstore/storeurl"
)

func newStoreCommand(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store",
		Short: "List, read, write and delete objects of an object store",
		Long: `List, read, write and delete objects of an object store. URL names the store and
what is in it: s3://bucket/path, file:///directory/path. For S3, credentials, region
and endpoint are found as every AWS tool finds them; ?endpoint=, region= and
path-style=true in the URL go before.`,
		Args:    arguments(0, -1),
		GroupID: groupRemote,
		RunE:    runGroup,
	}
	cmd.AddCommand(newStoreLsCommand(e), newStoreGetCommand(e), newStorePutCommand(e), newStoreRmCommand(e), newStoreCpCommand(e))
	return cmd
}

// withStore opens the store of a URL, which must exist, and calls fn with it.
// What fails for a passing reason is repeated a few times.
func (e *env) withStore(ctx context.Context, rawURL string, fn func(objectstore.Store) error) error {
	return e.openStore(ctx, rawURL, true, fn)
}

// withTarget is withStore for a store to write to: its directory is made when it
// is missing.
func (e *env) withTarget(ctx context.Context, rawURL string, fn func(objectstore.Store) error) error {
	return e.openStore(ctx, rawURL, false, fn)
}

func (e *env) openStore(ctx context.Context, rawURL string, exists bool, fn func(objectstore.Store) error) error {
	store, closer, err := storeurl.Open(ctx, rawURL, &storeurl.Options{
		File:  file.Options{MustExist: exists},
		Retry: &retry.Options{MaxRetries: commandRetries},
	})
	if err != nil {
		return about(rawURL, err)
	}
	err = fn(store)
	if closer != nil {
		if closed := closer.Close(); err == nil {
			err = about(rawURL, closed)
		}
	}
	return err
}

// withObject opens the store that holds the object of a URL and calls fn with it
// and the object's path in it.
func (e *env) withObject(ctx context.Context, rawURL string, fn func(objectstore.Store, objectstore.Path) error) error {
	return splitAnd(ctx, rawURL, e.withStore, fn)
}

// withTargetObject is withObject for an object to write.
func (e *env) withTargetObject(ctx context.Context, rawURL string, fn func(objectstore.Store, objectstore.Path) error) error {
	return splitAnd(ctx, rawURL, e.withTarget, fn)
}

func splitAnd(ctx context.Context, rawURL string, open func(context.Context, string, func(objectstore.Store) error) error, fn func(objectstore.Store, objectstore.Path) error) error {
	storeURL, name, err := splitObject(rawURL)
	if err != nil {
		return err
	}
	return open(ctx, storeURL, func(store objectstore.Store) error {
		return about(rawURL, fn(store, name))
	})
}

// splitObject divides an object's URL into that of a store and a path in it. The
// store of an S3 object is its bucket, that of a file its directory.
func splitObject(rawURL string) (storeURL string, path objectstore.Path, err error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "", "", usagef("%q is not a URL: %w", rawURL, err)
	}
	dir, name := "", strings.TrimPrefix(u.Path, "/")
	if u.Scheme != "s3" && u.Scheme != "memory" {
		cut := strings.LastIndexByte(u.Path+u.Opaque, '/') + 1
		dir, name = (u.Path + u.Opaque)[:cut], (u.Path + u.Opaque)[cut:]
	}
	if path, err = objectstore.KeyPath(name); err != nil {
		return "", "", usagef("%s names no object: %w", rawURL, err)
	}
	switch {
	case u.Opaque != "":
		u.Opaque = "./" + dir
	case u.Scheme == "":
		return "./" + dir, path, nil
	default:
		u.Path, u.RawPath = dir, ""
	}
	return u.String(), path, nil
}

func newStoreLsCommand(e *env) *cobra.Command {
	var recursive, asJSON bool
	var size sizes
	cmd := &cobra.Command{
		Use:   "ls URL",
		Short: "List objects",
		Example: `  stardust store ls s3://bucket/logs/
  stardust store ls file:///srv/objects -r --json`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.withStore(cmd.Context(), args[0], func(store objectstore.Store) error {
				l := storeListing{e, &size, asJSON}
				if recursive {
					return about(args[0], l.all(cmd.Context(), store))
				}
				return about(args[0], l.level(cmd.Context(), store))
			})
		},
	}
	cmd.Flags().BoolVarP(&recursive, "recursive", "r", false, "list what lies deeper, too")
	jsonFlag(cmd, &asJSON)
	size.addFlags(cmd)
	return cmd
}

// storeListing prints objects.
type storeListing struct {
	e    *env
	size *sizes
	json bool
}

// objectLine is an object, or a prefix that others share, for JSON.
type objectLine struct {
	Path         string     `json:"path,omitempty"`
	Prefix       string     `json:"prefix,omitempty"`
	Size         *int64     `json:"size,omitempty"`
	LastModified *time.Time `json:"last_modified,omitempty"`
	ETag         string     `json:"etag,omitempty"`
}

func (l storeListing) all(ctx context.Context, store objectstore.Store) error {
	for meta, err := range store.List(ctx, nil) {
		if err != nil {
			return err
		}
		if err := l.object(meta); err != nil {
			return err
		}
	}
	return nil
}

func (l storeListing) level(ctx context.Context, store objectstore.Store) error {
	result, err := store.ListWithDelimiter(ctx, nil)
	if err != nil {
		return err
	}
	for _, prefix := range result.CommonPrefixes {
		if !l.json {
			l.e.printf("%20s %14s  %s\n", "", "-", l.e.name(prefix))
		} else if err := l.e.printJSON(objectLine{Prefix: prefix}); err != nil {
			return err
		}
	}
	for _, meta := range result.Objects {
		if err := l.object(meta); err != nil {
			return err
		}
	}
	return nil
}

func (l storeListing) object(m objectstore.ObjectMeta) error {
	if l.json {
		return l.e.printJSON(objectLine{Path: m.Path.String(), Size: &m.Size, LastModified: &m.LastModified, ETag: m.ETag})
	}
	l.e.printf("%20s %14s  %s\n", m.LastModified.UTC().Format("2006-01-02T15:04:05Z"), l.size.format(l.e, m.Size), l.e.name(m.Path.String()))
	return nil
}
