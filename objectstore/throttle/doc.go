// Package throttle makes an object store as slow as a remote one: a latency for
// every call and a bandwidth for all bytes, for demonstrations and tests.
package throttle
