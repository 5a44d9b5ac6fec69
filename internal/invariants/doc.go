// Package invariants holds assertions that are checked under the build tag
// "invariants" and under the race detector, and cost nothing otherwise. They say
// what must be true whatever the input: one that fails is a bug of ours.
package invariants

import "fmt"

// Check panics when a condition that must hold doesn't.
func Check(holds bool, format string, args ...any) {
	if Enabled && !holds {
		panic("invariant broken: " + fmt.Sprintf(format, args...))
	}
}
