//go:build !linux

package main

import (
	"errors"

	"github.com/spf13/cobra"
)

func newMirrorMountCommand(*env) *cobra.Command {
	return &cobra.Command{
		Use: "mount DIR", Short: "Show a bucket as a directory through its mirror (Linux only)", Hidden: true,
		RunE: func(*cobra.Command, []string) error { return errors.New("mirror mount: it needs Linux") },
	}
}
