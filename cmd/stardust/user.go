package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/stardustdb/stardust/gateway/accounts"
)

// grantFlags say what a user or token may do.
type grantFlags struct {
	readOnly bool
	root     string
}

func (f *grantFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.readOnly, "read-only", false, "may only read")
	cmd.Flags().StringVar(&f.root, "root", "", "sees only this directory of the tree, such as /team")
}

func newUserCommand(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "user", Short: "Say who may use a server, with passwords", GroupID: groupCare,
		Long: `Say who may use a server. The file of accounts, which serve reads by --users, has a
hash of each password (argon2id). A server that runs takes changes within a second.`,
		Args: arguments(0, -1), RunE: func(cmd *cobra.Command, args []string) error { return runGroup(cmd, args) },
		ValidArgsFunction: e.complete(completeNothing),
	}
	var f grantFlags
	add := &cobra.Command{
		Use: "add ACCOUNTS NAME", Short: "Add a user, or change one: password from the terminal or standard input",
		Example: `  stardust user add accounts ann
  stardust user add accounts guest --read-only --root /public <password-file`,
		Args: arguments(2, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			people, err := accounts.Open(args[0], true)
			if err != nil {
				return err
			}
			password, err := e.readPassword(args[1])
			if err != nil {
				return err
			}
			if err := people.SetUser(accounts.User{Name: args[1], Write: !f.readOnly, Root: f.root}, password); err != nil {
				return err
			}
			e.notice("%s may log in", args[1])
			return nil
		},
	}
	f.add(add)
	cmd.AddCommand(add, &cobra.Command{
		Use: "ls ACCOUNTS", Short: "List the users", Args: arguments(1, 1), Example: "  stardust user ls accounts",
		RunE: func(_ *cobra.Command, args []string) error {
			people, err := accounts.Open(args[0], false)
			if err != nil {
				return err
			}
			for _, u := range people.Users() {
				e.listGrant(u.Name, u.Write, u.Root, "")
			}
			return nil
		},
	}, &cobra.Command{
		Use: "rm ACCOUNTS NAME", Short: "Remove a user", Args: arguments(2, 2), Example: "  stardust user rm accounts ann",
		RunE: func(_ *cobra.Command, args []string) error {
			people, err := accounts.Open(args[0], false)
			if err != nil {
				return err
			}
			return people.RemoveUser(args[1])
		},
	})
	return cmd
}

func (e *env) listGrant(name string, write bool, root, more string) {
	rights := "read-only"
	if write {
		rights = "read-write"
	}
	e.printf("%-20s %-10s /%s%s\n", name, rights, root, more)
}

// readPassword asks for a password at a terminal, twice, and otherwise reads a
// line.
func (e *env) readPassword(name string) (string, error) {
	file, ok := e.in.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		line, err := bufio.NewReader(io.LimitReader(e.in, 4096)).ReadString('\n')
		if err == io.EOF && line != "" {
			err = nil
		}
		return strings.TrimRight(line, "\r\n"), about("the password on standard input", err)
	}
	fmt.Fprintf(e.err, "Password of %s: ", name)
	first, err := term.ReadPassword(int(file.Fd()))
	if err != nil {
		return "", err
	}
	fmt.Fprint(e.err, "\nThe same again: ")
	second, err := term.ReadPassword(int(file.Fd()))
	fmt.Fprintln(e.err)
	if err == nil && string(first) != string(second) {
		err = fmt.Errorf("the two are not the same; nothing was changed")
	}
	return string(first), err
}
