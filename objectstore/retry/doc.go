// Package retry repeats the calls to an object store that failed for a transient
// reason, as objectstore.IsTransient tells.
//
// What was lost may have happened: a call whose answer did not arrive may have
// changed the store. Where its repetition finds the work done (nothing left to
// delete, an upload gone whose object is there, with the ETag that its parts
// make) the call has succeeded. Where it cannot tell, the error says so: see
// [ErrAmbiguous].
package retry
