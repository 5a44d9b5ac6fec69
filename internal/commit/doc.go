// Package commit writes the catalog: one goroutine runs the writes of a
// database one after the other, and those that wait at the same time share one
// durable commit.
//
// Its nouns:
//
//   - A [Queue] runs writes. [Queue.Hold] keeps it from doing so.
//   - A [Write] is a function that waits its turn.
//   - A [Plan] is what such a function works on: it sees the state after all
//     earlier writes, collects facts or refuses, and changes nothing until it
//     is done.
//
// A plan that the tree's rules refuse returns a [tree.Refusal]. [Refused] tells
// which errors mean that nothing was written and nothing will be.
package commit
