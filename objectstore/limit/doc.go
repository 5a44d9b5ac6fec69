// Package limit bounds how many calls to an object store run at once, reads and
// writes each.
package limit
