// Package logging writes a structured log of the calls to an object store.
package logging
