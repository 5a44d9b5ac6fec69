package tree

import (
	"errors"
	"fmt"

	"github.com/stardustdb/stardust/internal/catalog"
)

// Reason says why the tree refuses a request.
type Reason int

// The reasons.
const (
	// Invalid: the request makes no sense, whatever the tree holds.
	Invalid Reason = iota + 1
	// NotEmpty: a directory has children and must have none.
	NotEmpty
	// Missing: a node that the request names does not exist.
	Missing
	// Unpublished: a digest names no published payload.
	Unpublished
	// Taken: the parent has another child of that name.
	Taken
	// OtherKind: a file has the name that is to be a directory's, or the other
	// way round.
	OtherKind
	// Stale: the node changed since the revision that the request expects.
	Stale
)

// Refusal is the error of a request that the tree's rules or its present state
// forbid. Nothing was written.
type Refusal struct {
	Reason  Reason
	Message string // which thing, and why
}

// Error implements error.
func (r *Refusal) Error() string { return r.Message }

// Refuse makes a Refusal.
func Refuse(reason Reason, format string, args ...any) error {
	return &Refusal{reason, fmt.Sprintf(format, args...)}
}

// Refused reports whether err is a Refusal, rather than a failure to read.
func Refused(err error) bool {
	var r *Refusal
	return errors.As(err, &r)
}

// Within says in which part of a request a Refusal arose, such as "nodes[3]".
// Other errors stay as they are.
func Within(place string, err error) error {
	if r, ok := errors.AsType[*Refusal](err); ok {
		return &Refusal{r.Reason, place + ": " + r.Message}
	}
	return err
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", catalog.ErrCorrupt, fmt.Sprintf(format, args...))
}
