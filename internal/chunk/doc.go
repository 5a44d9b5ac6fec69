// Package chunk cuts payloads into chunks where their content says so.
//
// A chunk is a run of 256 KiB to 4 MiB of a payload; only the last one may be
// shorter. Where a payload is cut depends on the bytes since the last cut and on
// nothing else, so an edit changes the chunks around it and leaves the others as
// they were ("Payloads" in the objects spec).
//
// [Cut] finds the next cut in a window of bytes. The cuts are FastCDC's, as
// version 1.0.0 of the algorithm in github.com/PlakarKorp/go-cdc-chunkers makes
// them. They are part of the file format: two versions that cut differently
// would both read every file, but store the same payload twice. Golden vectors
// pin them.
package chunk
