//go:build race

package simtest_test

// raced tells that the race detector is on: it makes everything slower, and
// the order of goroutines random.
const raced = true
