//go:build !race

package slatedb_test

const raceDetector = false
