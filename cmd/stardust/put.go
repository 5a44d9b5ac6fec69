package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/internal/transfer"
)

// putting is what the flags of put say.
type putting struct {
	parents  bool
	keep     bool
	json     bool
	preserve preserve
	command  bool // what follows "--" is a command; its output is stored
}

func newPutCommand(e *env) *cobra.Command {
	var p putting
	cmd := &cobra.Command{
		Use:        "put FILE LOCAL... DEST",
		SuggestFor: []string{"cp", "copy", "add", "store"},
		Short:      "Store local files, or standard input, in the database",
		Long: `Store each local file LOCAL at the path DEST of the database. When DEST is a
directory, ends in a slash or takes several files, they land in it under their own
names. LOCAL - is standard input, which needs DEST to be a file's name.

A file that is there already gets a new version; its earlier ones stay in the
history. Permissions and time of a local file are kept. FILE is made when it is
missing.

With --from-command, what stands after -- is a command whose output is stored at
DEST: whole, or nothing when it fails.`,
		Example: `  stardust put notes.stardust todo.txt /
  stardust put notes.stardust draft.md outline.md essays/2026/ -p
  tar c src | stardust put notes.stardust - backups/src.tar -p
  stardust put notes.stardust backups/shop.sql -p --from-command -- pg_dump shop`,
		Args:    arguments(2, -1),
		GroupID: groupTransfer,
		RunE: func(cmd *cobra.Command, args []string) error {
			if p.command {
				if cmd.ArgsLenAtDash() != 2 || len(args) < 3 {
					return usagef("--from-command takes FILE DEST -- COMMAND [ARGUMENT]...")
				}
				return p.runCommand(cmd.Context(), e, args[0], args[1], args[2:])
			}
			if len(args) < 3 {
				return usagef("too few arguments; it takes %s", cmd.Use)
			}
			return p.run(cmd.Context(), e, args[0], args[1:len(args)-1], args[len(args)-1])
		},
		ValidArgsFunction: e.complete(completeFile, completeLocal),
	}
	cmd.Flags().BoolVarP(&p.parents, "parents", "p", false, "make missing directories on the way")
	cmd.Flags().BoolVar(&p.keep, "keep", false, "refuse to replace a file that exists already")
	cmd.Flags().BoolVar(&p.command, "from-command", false, "store what the command after -- prints, unless it fails")
	preserveFlag(cmd, &p.preserve, "store")
	jsonFlag(cmd, &p.json)
	return cmd
}

func (p *putting) run(ctx context.Context, e *env, file string, locals []string, to string) error {
	total := int64(0)
	for _, local := range locals { // before a database is made for nothing
		size, err := localSize(local)
		if err != nil && len(locals) == 1 {
			return err
		}
		total += size
	}
	note := "nothing was stored"
	if len(locals) > 1 {
		note = "the files stored before stay; run the same command again to continue"
	}
	err := e.write(ctx, file, true, func(s *session) error {
		if p.parents {
			if err := p.makeParents(s, to, len(locals) > 1); err != nil {
				return err
			}
		}
		d, err := s.destination(to, len(locals) > 1)
		if err != nil {
			return err
		}
		b := e.newBar("put", total)
		failed := 0
		for _, local := range locals {
			err = p.put(ctx, e, s, b, local, d)
			if errors.Is(err, errOwnFile) && len(locals) > 1 {
				e.notice("%s", explain(err)) // as tar leaves out its own archive
				continue
			}
			if err != nil && len(locals) > 1 && ctx.Err() == nil {
				failed++
				b.printf("failed: %s: %s", quote(local), explainWithout(local, err))
				err = nil
			}
			if err != nil {
				break
			}
		}
		b.done(b.current.Load())
		switch {
		case err != nil:
			return err
		case failed > 0:
			return fmt.Errorf("%d of %s failed; the others are stored", failed, files(int64(len(locals))))
		}
		return nil
	})
	return stopped(ctx, err, note)
}

// makeParents makes the directories on the way to the destination.
func (p *putting) makeParents(s *session, to string, several bool) error {
	directory := cleanPath(to)
	if !several && to != "" && to[len(to)-1] != '/' {
		directory, _ = splitPath(directory)
	}
	_, _, err := s.makeDirectories(directory)
	return err
}

// put stores one file.
func (p *putting) put(ctx context.Context, e *env, s *session, b *bar, local string, d destination) error {
	name := filepath.Base(local)
	if local == "-" && d.name == "" {
		return errors.New("standard input has no name; give the path of a file, not of a directory")
	}
	if old, found, err := d.existing(s, name); err != nil {
		return err
	} else if found && isDirectory(old) {
		return about(absolute(d.at(name)), errIsDirectory)
	} else if found && p.keep {
		return about(absolute(d.at(name)), errors.New("exists already, and --keep says to leave it"))
	}
	source, end, err := e.openLocal(ctx, s, local)
	if err != nil {
		return err
	}
	defer end()
	published, err := upload(s, countingReader{source, b}, nil)
	if err != nil {
		return err
	}
	known, err := p.knownOf(local)
	if err != nil { // of what else is kept
		b.printf("%s: %s", quote(local), explain(err))
	}
	return p.name(e, s, d, name, published, known)
}

// name gives a file its content and prints what became of it.
func (p *putting) name(e *env, s *session, d destination, name string, published stardust.Published, known *stardust.FileAttributes) error {
	r, err := s.setContent(d, name, published.Digest, known)
	if err != nil {
		return err
	}
	if p.json {
		return e.printJSON(struct {
			node
			Deduplicated bool `json:"deduplicated"`
		}{newNode(d.at(name), r), published.Deduplicated})
	}
	return nil
}

// knownOf returns what the file system knows of a regular file. The error says what
// of it cannot be kept.
func (p *putting) knownOf(local string) (*stardust.FileAttributes, error) {
	if info, err := os.Stat(local); local == "-" || err != nil || !info.Mode().IsRegular() {
		return nil, nil //nolint:nilerr // its content is stored all the same
	}
	file, err := os.Open(local)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // reading loses nothing
	f, err := transfer.Describe(file, transfer.Preserve(p.preserve))
	return &stardust.FileAttributes{
		HasMode: f.HasMode, Mode: f.FileMode(), ModTime: f.MTime,
		Owner: (*stardust.FileOwner)(f.Owner), Xattrs: f.Xattrs, Sparse: f.Sparse,
	}, err
}

// upload publishes what a reader yields, unless end, which may be nil, returns
// an error after it.
func upload(s *session, source io.Reader, end func() error) (stardust.Published, error) {
	stream, err := s.tree.Upload()
	if err != nil {
		return stardust.Published{}, err
	}
	defer stream.Close()
	if _, err := stream.ReadFrom(source); err != nil {
		return stardust.Published{}, err
	}
	if end != nil {
		if err := end(); err != nil {
			return stardust.Published{}, err
		}
	}
	return stream.Finish()
}

// localSize returns the size of a regular file, and an error for anything that
// put can't take.
func localSize(local string) (int64, error) {
	if local == "-" {
		return 0, nil
	}
	info, err := os.Stat(local)
	switch {
	case err != nil:
		return 0, err
	case info.IsDir():
		return 0, about(quote(local), errors.New("is a directory; stardust import stores what is in it"))
	case !info.Mode().IsRegular():
		return 0, nil
	}
	return info.Size(), nil
}

// errOwnFile says that a file is the database, which would grow without end if it
// stored itself.
var errOwnFile = errors.New("is the database; not stored")

// openLocal opens a local file, or standard input, to read it until ctx ends.
// It refuses the files of the session's own database, whatever their names.
func (e *env) openLocal(ctx context.Context, s *session, local string) (r io.Reader, end func(), err error) {
	if local == "-" {
		if f, ok := e.in.(*os.File); ok && owns(s, f) {
			return nil, nil, about("standard input", errOwnFile)
		}
		return interruptible(ctx, e.in), func() {}, nil
	}
	if _, err := localSize(local); err != nil {
		return nil, nil, err
	}
	f, err := os.Open(local)
	if err != nil {
		return nil, nil, err
	}
	end = func() { _ = f.Close() } // reading loses nothing
	if owns(s, f) {
		end()
		return nil, nil, about(quote(local), errOwnFile)
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		return contextReader(ctx, transfer.Reader(f)), end, nil
	}
	return interruptible(ctx, f), end, nil
}

func owns(s *session, f *os.File) bool {
	info, err := f.Stat()
	return err == nil && s.db.Owns(info)
}
