//go:build !linux

package main

// mountCases are none: mounts need Linux.
func mountCases() []benchCase { return nil }
