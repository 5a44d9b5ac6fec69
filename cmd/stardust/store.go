package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/file"
	"github.com/stardustdb/stardust/objectstore/prefix"
	"github.com/stardustdb/stardust/objectstore/retry"
	"github.com/stardustdb/stardust/objectstore/storeurl"
)

func newStoreCommand(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store",
		Short: "List, read, write and delete objects of an object store",
		Long: `List, read, write and delete objects of an object store. URL names the store and
what is in it: s3://bucket/path, file:///directory/path, or a local path that begins
with / or ./ and is taken literally. For S3, credentials, region and endpoint are
found as every AWS tool finds them; ?endpoint=, region= and path-style=true in the
URL go before.`,
		Args:    arguments(0, -1),
		GroupID: groupRemote,
		RunE:    runGroup,
	}
	cmd.AddCommand(newStoreLsCommand(e), newStoreGetCommand(e), newStorePutCommand(e), newStoreRmCommand(e), newStoreCpCommand(e))
	return cmd
}

// withStore opens the store of a URL as it is and calls fn with it. It must exist.
func (e *env) withStore(ctx context.Context, rawURL string, fn func(objectstore.Store) error) error {
	return e.openStore(ctx, rawURL, rawURL, true, fn)
}

// openStore opens the store at storeURL, which stands for what text says, and
// calls fn with it. What fails for a passing reason is repeated a few times. A
// local directory that is missing is made, unless it must exist.
func (e *env) openStore(ctx context.Context, text, storeURL string, exists bool, fn func(objectstore.Store) error) error {
	store, closer, err := registry(file.Options{MustExist: exists}).Open(ctx, storeURL, &storeurl.Options{
		Retry: &retry.Options{MaxRetries: commandRetries},
	})
	if err != nil {
		return aboutOpening(text, err)
	}
	err = fn(store)
	if closed := closer.Close(); err == nil {
		err = aboutStore(text, closed)
	}
	return err
}

// withPrefix opens what lies under a URL, as a store. A local directory that is
// missing is made when it is to be written to, and refused otherwise.
func (e *env) withPrefix(ctx context.Context, rawURL string, write bool, fn func(objectstore.Store) error) error {
	l, err := locate(rawURL, false)
	if err != nil {
		return err
	}
	return e.openStore(ctx, rawURL, l.store, !write, func(store objectstore.Store) error {
		below, err := l.prefix()
		if err != nil {
			return err
		}
		if below != "" {
			if err := l.checkDirectory(); err != nil && !write {
				return err
			}
			store = prefix.New(store, below)
		}
		return aboutStore(rawURL, fn(store))
	})
}

// withObject opens the store that holds the object of a URL and calls fn with it
// and the object's path in it. name completes a URL that is a directory's.
func (e *env) withObject(ctx context.Context, rawURL, name string, write bool, fn func(objectstore.Store, objectstore.Path) error) error {
	l, err := locate(rawURL, true)
	if err != nil {
		return err
	}
	path, err := l.object(name)
	if err != nil {
		return err
	}
	return e.openStore(ctx, rawURL, l.store, !write, func(store objectstore.Store) error {
		return aboutStore(rawURL, fn(store, path))
	})
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
			return e.withPrefix(cmd.Context(), args[0], false, func(store objectstore.Store) error {
				l := storeListing{e, &size, asJSON}
				if recursive {
					return l.all(cmd.Context(), store)
				}
				return l.level(cmd.Context(), store)
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
	LastModified *time.Time `json:"lastModified,omitempty"`
	ETag         string     `json:"etag,omitempty"`
}

func (l storeListing) all(ctx context.Context, store objectstore.Store) error {
	for meta, err := range listed(ctx, store) {
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
	for _, common := range result.CommonPrefixes {
		if !l.json {
			l.e.printf("%20s %14s  %s\n", "", "-", l.e.name(common))
		} else if err := l.e.printJSON(objectLine{Prefix: common}); err != nil {
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
