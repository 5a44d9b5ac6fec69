// Package simtest runs a mirror in a deterministic simulation and checks RFC
// 0034's guarantees. One seed decides everything: the options of the mirror,
// what several clients and others do, every fault and crash, and which of the
// goroutines that could go on does so next. A seed that fails therefore fails
// again. docs/simulation.md says what is simulated and which properties hold.
//
// There are only a few nouns:
//
//   - A simulation is one run of a seed, started by [Run].
//   - The scheduler holds up every goroutine at its next gate, which stands
//     before each client step, call to the remote, piece of a body, operation
//     on the disk and sleep, and lets one pass at a time.
//   - A life is the mirror from its Open to its Close or a crash, with the
//     clients that use it.
//   - The model knows what each path must look like, from the operations
//     issued and their outcomes.
package simtest
