package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/stardustdb/stardust/internal/attributes"
)

// storeLink stores the target of a symbolic link, which is not followed, as the
// content of a file.
func (im *importer) storeLink(ctx context.Context, item *Item) (Content, error) {
	item.looked = im.o.Now()
	info, err := im.links.Lstat(item.path)
	if err != nil {
		return nil, &SourceError{err}
	}
	item.stat = statOf(info)
	target, err := im.links.ReadLink(item.path)
	if err != nil {
		return nil, &SourceError{err}
	}
	return im.to.Store(ctx, io.TeeReader(strings.NewReader(target), &im.collector))
}

// targetBuffer refuses what is too long for the target of a link.
type targetBuffer struct{ text []byte }

func (b *targetBuffer) Write(p []byte) (int, error) {
	if len(b.text)+len(p) > attributes.MaxTarget {
		return 0, fmt.Errorf("is a symbolic link whose target is longer than %d bytes", attributes.MaxTarget)
	}
	b.text = append(b.text, p...)
	return len(p), nil
}

// writeLink brings a symbolic link of the tree to its place. It never follows
// one, and where it leads does not matter.
func (ex *exporter) writeLink(ctx context.Context, f *exportFile, info fs.FileInfo) (Outcome, error) {
	node := &f.node
	var target targetBuffer
	if err := ex.from.WriteContent(node, &target); err != nil {
		return Failed, err
	}
	ex.update(func(r *Report) { r.Bytes += node.Size })
	outcome := Created
	if f.dir == nil {
		return outcome, nil
	}
	root := f.dir.root
	if info != nil {
		if info.Mode().Type() == fs.ModeSymlink {
			old, err := root.Readlink(node.Name)
			if err != nil {
				return Failed, err
			}
			if old == string(target.text) {
				return Unchanged, nil
			}
		}
		if err := ex.makeWay(ctx, f.dir, node, info); err != nil {
			return Failed, err
		}
		outcome = Updated
	}
	if ex.options.DryRun {
		return outcome, nil
	}
	return outcome, ex.makeLink(root, node.Name, string(target.text), &node.Attributes)
}

// mayReplace returns why what has the place of a file, or of a link, stays there;
// nil when it may go.
func (ex *exporter) mayReplace(info fs.FileInfo) error {
	switch {
	case !info.Mode().IsRegular() && info.Mode().Type() != fs.ModeSymlink:
		return fmt.Errorf("a %s of that name is in the way", kindOf(info.Mode()))
	case ex.replace:
		return nil
	case info.Mode().IsRegular():
		return errors.New("a file with other content is there already; say replace to overwrite it")
	default:
		return errors.New("a symbolic link of that name is in the way; say replace to put the file in its place")
	}
}

// SaveLink makes a symbolic link, whose target content writes, in place of a file
// or link that is there.
func SaveLink(root *os.Root, name string, kept *attributes.File, content func(io.Writer) (int64, error)) error {
	var target targetBuffer
	if _, err := content(&target); err != nil {
		return err
	}
	return new(restorer).makeLink(root, name, string(target.text), kept)
}

// makeLink makes a symbolic link under a temporary name and then gives it its own.
func (r *restorer) makeLink(root *os.Root, name, target string, kept *attributes.File) error {
	for {
		temporary := temporaryName()
		err := root.Symlink(target, temporary)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		_, lost := r.chown(func(uid, gid int) error { return root.Lchown(temporary, uid, gid) }, kept.Owner)
		if !kept.MTime.IsZero() {
			err = setLinkTime(root, temporary, kept.MTime)
		}
		if err == nil {
			err = root.Rename(temporary, name)
		}
		if err != nil {
			return errors.Join(err, root.Remove(temporary))
		}
		return lostAttributes(lost)
	}
}
