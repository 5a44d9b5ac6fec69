//go:build race

package slatedb_test

// raceDetector tells that everything is some four times slower.
const raceDetector = true
