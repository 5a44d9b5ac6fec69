// Command libstardust is the database as a C library: build it with
//
//	go build -buildmode=c-shared -o libstardust.so ./cmd/libstardust
//
// or c-archive. stardust.h, written by hand, says what each function does; its
// prototypes and the exports here are compared by the C compiler in every build.
//
// There are only a few nouns:
//
//   - The handles are a table from the numbers that C holds to Go's objects, of
//     which there is one for each type of the header.
//   - A result carries a call's document, error, or both.
//   - A watcher brings callbacks back to the thread that made the call.
//
// It is the only package of the module that needs a C compiler; without one it
// builds to a program that says so.
package main
