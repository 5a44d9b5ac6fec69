package transfer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/stardustdb/stardust/internal/attributes"
)

// restorer gives files what is kept of them besides content and time.
type restorer struct{ owners }

// restore gives an open file owner and extended attributes and then, with chmod,
// the permissions mode, together with the special bits that are kept. It returns
// what it could not give, on which the rest does not depend. A program runs with
// its owner's rights only when it is the owner that was kept.
func (r *restorer) restore(file *os.File, chmod bool, mode fs.FileMode, kept *attributes.File) error {
	owned, lost := r.chown(file.Chown, kept.Owner)
	if special := kept.FileMode() & (fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky); special != 0 {
		if !owned && special != fs.ModeSticky {
			lost = errors.Join(lost, errors.New("its setuid and setgid bits are left out without the owner that goes with them"))
			special &= fs.ModeSticky
		}
		mode |= special
	}
	// Before the permissions, which may forbid it.
	lost = errors.Join(lost, setXattrs(file, kept.Xattrs))
	if chmod {
		lost = errors.Join(lost, file.Chmod(mode))
	}
	return lost
}

// chown gives a file to its owner, when one is kept, and reports whether it is
// that owner's.
func (r *restorer) chown(chown func(uid, gid int) error, to *attributes.Owner) (owned bool, err error) {
	if to == nil {
		return false, nil
	}
	uid, gid := r.numbers(to)
	err = chown(uid, gid)
	if err == nil {
		return true, nil
	}
	// The group alone may be allowed.
	_ = chown(-1, gid)
	return false, fmt.Errorf("its owner, user %d and group %d: %w", uid, gid, bare(err))
}

// bare removes the path from an error: it is a temporary one.
func bare(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// LostAttributesError says which attributes of a file could not be restored.
// The file itself is in its place.
type LostAttributesError struct{ Err error }

func (e *LostAttributesError) Error() string {
	return "is there, but without everything that is kept of it: " + e.Err.Error()
}

// Unwrap returns what was lost.
func (e *LostAttributesError) Unwrap() error { return e.Err }

// lostAttributes returns err as a *LostAttributesError, nil for nil.
func lostAttributes(err error) error {
	if err == nil {
		return nil
	}
	return &LostAttributesError{err}
}

// refresh gives a file that has its content already the owner and the extended
// attributes that are kept, when files may be replaced. Its permissions stay.
func (ex *exporter) refresh(root *os.Root, name string, info fs.FileInfo, kept *attributes.File) error {
	if !ex.replace || ex.options.DryRun || kept.Owner == nil && kept.Xattrs == nil {
		return nil
	}
	file, err := openRegular(root, name, info)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // nothing was written through it
	only := attributes.File{Xattrs: kept.Xattrs}
	if kept.Owner != nil && !ex.owns(info, kept.Owner) {
		only.Owner = kept.Owner
	}
	return lostAttributes(ex.restore(file, false, 0, &only))
}
