//go:build !man

package main

import "github.com/spf13/cobra"

// manCommands has nothing in the program that people use: what writes man pages
// would be a part of it.
func manCommands() []func(*env) *cobra.Command { return nil }
