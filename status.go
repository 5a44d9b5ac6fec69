package stardust

import "strconv"

// Status classifies why a call failed. A Status is an error, so that
// errors.Is(err, stardust.StatusNotFound) tells what an [Error] means.
type Status int

// The statuses. The objects spec lists for every operation which it may return.
const (
	// StatusInvalidArgument: the request is malformed or makes no sense.
	StatusInvalidArgument Status = iota + 1
	// StatusNotFound: what the request names does not exist.
	StatusNotFound
	// StatusConflict: another writer was first, a name is taken, or writes
	// are held. Read again, decide, and repeat.
	StatusConflict
	// StatusEvaluationFailed: stored bytes are damaged. Nothing wrong was
	// returned; restore the payload or the file from a copy.
	StatusEvaluationFailed
	// StatusUnavailable: the database does not offer this, because a plugin
	// is not enabled or the view is read-only.
	StatusUnavailable
	// StatusClosed: the database, stream or document is closed.
	StatusClosed
	// StatusOutOfMemory: the memory budget has no room for the call.
	StatusOutOfMemory
	// StatusIO: the operating system failed a read or a write, or the disk is
	// full. Error.Err has the cause.
	StatusIO
	// StatusCanceled: the call's context ended first. Nothing was written
	// unless the message says so.
	StatusCanceled
)

// String returns the status as the spec spells it, such as "not_found".
func (s Status) String() string {
	switch s {
	case StatusInvalidArgument:
		return "invalid_argument"
	case StatusNotFound:
		return "not_found"
	case StatusConflict:
		return "conflict"
	case StatusEvaluationFailed:
		return "evaluation_failed"
	case StatusUnavailable:
		return "unavailable"
	case StatusClosed:
		return "closed"
	case StatusOutOfMemory:
		return "out_of_memory"
	case StatusIO:
		return "io_error"
	case StatusCanceled:
		return "canceled"
	}
	return "status " + strconv.Itoa(int(s))
}

// Error implements error.
func (s Status) Error() string { return s.String() }
