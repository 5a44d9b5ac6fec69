//go:build !linux

package main

import (
	"errors"

	"github.com/spf13/cobra"
)

func newMountCommand(*env) *cobra.Command {
	return &cobra.Command{
		Use: "mount FILE DIR", Short: "Show the database as a directory (Linux only)", GroupID: groupTransfer, Hidden: true,
		RunE: func(*cobra.Command, []string) error { return errors.New("mount: it needs Linux") },
	}
}
