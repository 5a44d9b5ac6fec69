//go:build !linux

package newfile

func name(from, to string) error { return link(from, to) }
