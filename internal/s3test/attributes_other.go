//go:build !linux

package s3test

// checkAttributes leaves it to the server to say so.
func checkAttributes(string) error { return nil }
