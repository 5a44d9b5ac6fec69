package local

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/stardustdb/stardust/mirror/vfs"
)

// dirFormat is the version of the directory's format. It grows when an older
// version of this package would misread the directory.
const dirFormat = 1

// lockDocument is the JSON in LOCK.
type lockDocument struct {
	Format   int    `json:"format"`
	Identity string `json:"identity"`
}

// Lock locks the directory and makes sure that it is of the remote that
// identity names. A directory that it refuses is left as it is.
func Lock(fs vfs.FS, name, identity string) (vfs.Lock, error) {
	lock, err := fs.Lock(name)
	switch {
	case errors.Is(err, vfs.ErrLocked):
		return nil, &Refusal{Message: fmt.Sprintf("another mirror uses the directory of %s; close it first, or choose another directory", name), Source: err}
	case err != nil:
		return nil, Fail("lock the directory", "", err)
	}
	if err := checkLock(lock, name, identity); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// checkLock compares the contents of LOCK, and writes them where there are
// none, as in a new directory.
func checkLock(lock vfs.Lock, name, identity string) error {
	data, err := lock.Contents()
	if err != nil {
		return Fail("read "+name, "", err)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return Fail("write "+name, "", writeLock(lock, identity))
	}
	var doc lockDocument
	switch err := json.Unmarshal(data, &doc); {
	case err != nil || doc.Format < 1:
		return &Refusal{Message: name + " is not the lock file of a mirror; choose another directory", Source: err}
	case doc.Format > dirFormat:
		return &Refusal{Message: fmt.Sprintf("%s has format %d, this version knows up to %d; upgrade, or choose another directory", name, doc.Format, dirFormat)}
	case !sameRemote(doc.Identity, identity):
		return &Refusal{Message: fmt.Sprintf("%s says that the directory mirrors %q, not %q; choose another directory, or give that identity if it is the same remote at another address", name, doc.Identity, identity)}
	}
	return nil
}

// sameRemote reports whether two identities name one remote: a URL is the same
// with a slash at its end.
func sameRemote(a, b string) bool { return strings.TrimRight(a, "/") == strings.TrimRight(b, "/") }

func writeLock(lock vfs.Lock, identity string) error {
	data, err := json.Marshal(lockDocument{dirFormat, identity})
	if err != nil {
		return err
	}
	return lock.SetContents(append(data, '\n'))
}
