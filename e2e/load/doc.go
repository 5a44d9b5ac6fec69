// Package load holds tests of a real "stardust serve" under many clients at once: its
// memory, its throughput beside the library's own, and what clients that are slow or
// vanish do to others. They take minutes and ask for STARDUST_LONG=1; the variable
// STARDUST_LOAD is how long each phase takes, such as 60s.
package load
