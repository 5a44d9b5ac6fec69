package main

import "github.com/spf13/cobra"

// arguments demands between low and high arguments; high < 0 means no upper
// bound. The command's Use line names them.
func arguments(low, high int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < low:
			return usagef("too few arguments; it takes %s", cmd.Use)
		case high >= 0 && len(args) > high:
			return usagef("too many arguments; it takes %s", cmd.Use)
		}
		return nil
	}
}

// argument returns argument i, or empty when there are fewer.
func argument(args []string, i int) string {
	if i < len(args) {
		return args[i]
	}
	return ""
}
