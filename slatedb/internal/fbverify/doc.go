// Package fbverify checks that bytes are a well-formed FlatBuffer before a
// generated accessor touches them.
//
// The FlatBuffers runtime for Go has no verifier: its accessors follow whatever
// offsets they find and panic, or wander through shared tables for ever, on a
// damaged or hostile buffer. [Verify] walks the buffer once, guided by the
// [Table] descriptions of the fields that the caller will read, and proves for
// each of them that every vtable, offset, vector and string lies inside the
// buffer. Fields that are not described are left alone, so a newer writer's
// additions are no error.
//
// Offsets may share: many fields may point at one table, and so may the tables
// below it, which multiplies what a reader visits. Verify therefore bounds the
// number of tables and of bytes visited by the length of the buffer. A buffer
// in which each table is referred to once, as writers make them, stays within.
package fbverify
