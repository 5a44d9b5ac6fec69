package main

import (
	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust/gateway/accounts"
)

func newTokenCommand(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "token", Short: "Say which programs may use a server", GroupID: groupCare,
		Long: `Say which programs may use a server. A token is sent as Authorization: Bearer TOKEN, or
as the password of a user of its name. The file of accounts has its SHA-256, and shows
it once; with --s3, the token itself, since S3's signatures cannot be checked otherwise.`,
		Args: arguments(0, -1), RunE: func(cmd *cobra.Command, args []string) error { return runGroup(cmd, args) },
		ValidArgsFunction: e.complete(completeNothing),
	}
	var f grantFlags
	var s3 bool
	add := &cobra.Command{
		Use: "add ACCOUNTS NAME", Short: "Make a token and print it", Args: arguments(2, 2),
		Example: `  stardust token add accounts backup --root /backups`,
		RunE: func(_ *cobra.Command, args []string) error {
			people, err := accounts.Open(args[0], true)
			if err != nil {
				return err
			}
			secret, err := people.AddToken(accounts.Token{Name: args[1], Write: !f.readOnly, Root: f.root}, s3)
			if err != nil {
				return err
			}
			if s3 {
				e.notice("the access key is %s, the secret key:", args[1])
			}
			e.println(secret)
			return nil
		},
	}
	f.add(add)
	add.Flags().BoolVar(&s3, "s3", false, "for S3 clients, whose access key is NAME")
	cmd.AddCommand(add, &cobra.Command{
		Use: "ls ACCOUNTS", Short: "List the tokens by name", Args: arguments(1, 1), Example: "  stardust token ls accounts",
		RunE: func(_ *cobra.Command, args []string) error {
			people, err := accounts.Open(args[0], false)
			if err != nil {
				return err
			}
			for _, t := range people.Tokens() {
				more := ""
				if t.Secret != "" {
					more = "  S3"
				}
				e.listGrant(t.Name, t.Write, t.Root, more)
			}
			return nil
		},
	}, &cobra.Command{
		Use: "rm ACCOUNTS NAME", Short: "Remove a token", Args: arguments(2, 2), Example: "  stardust token rm accounts backup",
		RunE: func(_ *cobra.Command, args []string) error {
			people, err := accounts.Open(args[0], false)
			if err != nil {
				return err
			}
			return people.RemoveToken(args[1])
		},
	})
	return cmd
}
