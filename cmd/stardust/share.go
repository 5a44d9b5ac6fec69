package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust/gateway/accounts"
)

func newShareCommand(e *env) *cobra.Command {
	var link accounts.Link
	var server string
	var life time.Duration
	cmd := &cobra.Command{
		Use: "share ACCOUNTS PATH", Short: "Make a link by which others read a file or directory", GroupID: groupTransfer,
		Long: `Make a link by which whoever has it reads a file or directory through a server, until
it expires: the present, or with --at one revision for good. The link is signed with the
key in the file of accounts and kept nowhere; share --revoke ACCOUNTS ends all of them.`,
		Example:           `  stardust share accounts /photos/2026 --server https://files.example --expires 72h`,
		Args:              arguments(1, 2),
		ValidArgsFunction: e.complete(completeLocal, completeNothing),
	}
	revoke := cmd.Flags().Bool("revoke", false, "end every link that there is")
	cmd.Flags().StringVar(&server, "server", "http://127.0.0.1:8080", "the server's address")
	cmd.Flags().Int64Var(&link.At, "at", 0, "show this revision and no other")
	cmd.Flags().DurationVar(&life, "expires", 7*24*time.Hour, "how long the link works")
	cmd.Flags().StringVar(&link.Database, "database", "", "the database's name, when the server has several")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		people, err := accounts.Open(args[0], *revoke)
		if err != nil {
			return err
		}
		switch {
		case *revoke && len(args) == 1:
			return people.Revoke()
		case *revoke || len(args) != 2:
			return usagef("share takes a path, and share --revoke none")
		case life <= 0 || link.At < 0:
			return usagef("--expires and --at cannot be negative")
		}
		link.Root, link.Expires = strings.Trim(args[1], "/"), e.now().Add(life).UTC().Truncate(time.Second)
		text, err := people.Sign(&link)
		if err != nil {
			return err
		}
		prefix := strings.TrimRight(server, "/")
		if link.Database != "" {
			prefix += "/" + link.Database
		}
		e.println(prefix + "/s/" + text + "/")
		return nil
	}
	return cmd
}
