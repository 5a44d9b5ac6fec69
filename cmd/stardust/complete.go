package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// completer proposes values for one argument; args are those before it.
type completer func(e *env, cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective)

// complete completes each argument by its own completer; the last one serves all
// that follow.
func (e *env) complete(completers ...completer) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return completers[min(len(args), len(completers)-1)](e, cmd, args, typed)
	}
}

// completeFile lets the shell complete local files.
func completeFile(*env, *cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// completeLocal does so, too, for arguments that are no database.
func completeLocal(e *env, cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return completeFile(e, cmd, args, typed)
}

// completeNothing is for arguments that only the person knows.
func completeNothing(*env, *cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// maxCompletions bounds how many names are proposed.
const maxCompletions = 500

// completePath proposes paths of the tree in the database that the first
// argument names. It never waits for the database and never complains.
func completePath(e *env, cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	directive := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	typedDirectory, prefix := "", typed
	if i := strings.LastIndexByte(typed, '/'); i >= 0 {
		typedDirectory, prefix = typed[:i+1], typed[i+1:]
	}
	var found []cobra.Completion
	//nolint:errcheck // what cannot be listed is not completed
	e.read(cmd.Context(), args[0], nil, func(s *session) error {
		r, err := s.objects.Resolve(cleanPath(typedDirectory))
		if err != nil {
			return err
		}
		for child, err := range s.objects.List(r.Entity) {
			if err != nil || len(found) == maxCompletions {
				return err
			}
			if !strings.HasPrefix(child.Name, prefix) || !plain(child.Name) {
				continue
			}
			name := typedDirectory + child.Name
			if isDirectory(child) {
				name += "/"
			}
			found = append(found, name)
		}
		return nil
	})
	if len(found) == 1 && !strings.HasSuffix(found[0], "/") {
		directive = cobra.ShellCompDirectiveNoFileComp
	}
	return found, directive
}
