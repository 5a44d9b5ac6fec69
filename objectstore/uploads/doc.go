// Package uploads gives ids to the multipart uploads of a Store that is no
// [objectstore.MultipartStore].
//
// A [Table] is such a MultipartStore over any Store. It knows the uploads that were
// begun through it for as long as it lives: they end with [Table.Close].
package uploads
