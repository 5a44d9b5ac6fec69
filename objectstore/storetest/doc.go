// Package storetest tests what every objectstore.Store must do.
//
// There are three nouns:
//
//   - [Run] runs the conformance suite over the stores that a function opens.
//   - [Features] say what a store need not do.
//   - [Faulty] is a store around another one that fails as a [Script] says:
//     transient errors, lost answers, cut and altered bodies, delays.
package storetest
