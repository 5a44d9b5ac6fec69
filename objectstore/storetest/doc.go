// Package storetest is what every objectstore.Store must do, as tests.
//
// There are three nouns:
//
//   - [Run] runs the conformance suite over the stores that a function opens.
//   - [Features] say what a store is excused from.
//   - [Faulty] is a store around another one that fails as a [Script] says:
//     transient errors, lost answers, cut and altered bodies, delays.
package storetest
