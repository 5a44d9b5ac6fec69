// Package prefix shows the part of an object store below a prefix as a store of
// its own.
package prefix
