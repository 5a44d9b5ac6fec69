package bucketdb

import (
	"errors"
	"fmt"

	"github.com/stardustdb/stardust/internal/batch"
	"github.com/stardustdb/stardust/internal/replica"
	"github.com/stardustdb/stardust/objectstore"
)

// The sentinels that errors of this package wrap, besides those of the stardust
// and objectstore packages. The errors' texts name the object and say what to
// do.
var (
	// ErrNoDatabase: there is no database under the prefix of the store.
	ErrNoDatabase = errors.New("there is no database here")
	// ErrOtherDatabase: the file is a replica of another database.
	ErrOtherDatabase = errors.New("the file is a replica of another database")
	// ErrBehind: the bucket has what the file lacks. Pull first.
	ErrBehind = errors.New("the bucket is ahead of the file; pull first")
	// ErrDiverged: each has something that the other lacks; see [Diverged].
	ErrDiverged = errors.New("the file and the bucket have diverged")
	// ErrDamaged: an object is missing, or is not what was written.
	ErrDamaged = errors.New("the database in the bucket is damaged")
	// ErrForgotten: the file has forgotten a part of its history, so that it can
	// neither be pushed nor pulled to.
	ErrForgotten = replica.ErrForgotten
	// ErrNewer: a newer version wrote the database.
	ErrNewer = batch.ErrNewer
	// ErrUnknown: it could not be found out whether a batch was written. Another
	// push finds it out and does nothing twice.
	ErrUnknown = errors.New("it is not known whether the batch was written; push again")
)

// Diverged is the error of a file and a bucket that have diverged. It wraps
// ErrDiverged.
type Diverged struct {
	// Revision is the last that both have.
	Revision int64
	// What describes the first difference.
	What string
}

// Error implements error.
func (d *Diverged) Error() string {
	return fmt.Sprintf("%v after revision %d: %s; nothing was changed. Push to another place, or clone the bucket to a new file and import into it what only this file has",
		ErrDiverged, d.Revision, d.What)
}

// Unwrap returns ErrDiverged.
func (d *Diverged) Unwrap() error { return ErrDiverged }

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrDamaged}, args...)...)
}

// What an operation needs to be allowed, for those who are told that they are not.
const (
	pushRights = "a push needs the rights to read, list and create objects"
	pullRights = "this needs the rights to read and list objects"
	gcRights   = "gc needs the rights to read, list and create objects, and to delete them under packs/ and probe-*"
)

// advise adds to an error what to do about it.
func advise(err error, rights string) error {
	switch {
	case errors.Is(err, objectstore.ErrPermissionDenied), errors.Is(err, objectstore.ErrUnauthenticated):
		return fmt.Errorf("%w; %s", err, rights)
	case errors.Is(err, ErrDamaged):
		return fmt.Errorf("%w; bring the object back from a copy of the bucket, or push a file that has everything to another place", err)
	}
	return err
}
