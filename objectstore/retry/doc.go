// Package retry repeats the calls to an object store that failed for a transient
// reason, as objectstore.IsTransient tells.
//
// A call whose answer was lost may have changed the store all the same. If its
// repetition finds the work done (nothing left to delete; an upload gone and
// its object there, with the ETag that its parts make), the call has succeeded.
// If that can't be told, the error says so: see [ErrAmbiguous].
package retry
