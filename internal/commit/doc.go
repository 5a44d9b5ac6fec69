// Package commit writes the catalog: one goroutine runs the writes of a
// database one after the other, and those that wait at the same time share one
// durable commit.
//
// Its nouns:
//
//   - A [Queue] runs writes. [Queue.Hold] keeps it from doing so.
//   - A [Write] is a function that waits its turn.
//   - A [Plan] is what such a function works on: it sees what all writes before
//     it left, collects facts or refuses, and changes nothing until it is done.
//
// A plan that the tree's rules refuse returns a [tree.Refusal]. Which errors
// mean that nothing was written, and that nothing ever will be, [Refused] tells.
package commit
