// Package limit bounds how many calls to an object store run at once.
package limit
