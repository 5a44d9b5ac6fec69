package main

import (
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
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

// completeLocal does the same for arguments that are no database.
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
	var names []string
	whole := true
	// What cannot be listed is not completed.
	_ = e.read(cmd.Context(), args[0], nil, func(s *session) error {
		r, err := s.tree.Resolve(cleanPath(typedDirectory))
		if err == nil {
			names, whole, err = s.complete(r.Entity, prefix)
		}
		return err
	})
	for i := range names {
		names[i] = typedDirectory + names[i]
	}
	if whole && len(names) == 1 && !strings.HasSuffix(names[0], "/") {
		directive = cobra.ShellCompDirectiveNoFileComp
	}
	return names, directive
}

// complete returns the names in a directory that begin with prefix; directories
// end in a slash. If there are more than maxCompletions, it returns the
// different continuations after what all of them share, which are no whole
// names: given only some of the names, a shell would take what those share for
// what all share.
func (s *session) complete(directory int64, prefix string) (names []string, whole bool, err error) {
	for child, err := range s.beginning(directory, prefix) {
		if err != nil {
			return nil, true, err
		}
		if len(names) == maxCompletions {
			names, err = s.branches(directory, prefix)
			return names, false, err
		}
		name := child.Name
		if isDirectory(child) {
			name += "/"
		}
		if plain(name) {
			names = append(names, name)
		}
	}
	return names, true, nil
}

// beginning yields the children whose names begin with prefix.
func (s *session) beginning(directory int64, prefix string) iter.Seq2[stardust.Record, error] {
	return func(yield func(stardust.Record, error) bool) {
		if prefix != "" {
			r, err := s.tree.Lookup(directory, prefix)
			if err == nil && !yield(r, nil) {
				return
			}
		}
		for child, err := range s.tree.ChildrenAfter(directory, prefix) {
			if err == nil && !strings.HasPrefix(child.Name, prefix) || !yield(child, err) {
				return
			}
		}
	}
}

// branches returns what the names that begin with prefix share, once with each
// letter that follows. It reads one name per letter.
func (s *session) branches(directory int64, prefix string) ([]string, error) {
	var found []string
	for len(found) < 2 {
		found = found[:0]
		if _, err := s.tree.Lookup(directory, prefix); prefix != "" && err == nil {
			found = append(found, prefix)
		}
		for at := prefix; len(found) < maxCompletions; {
			next, err := first(s.tree.ChildrenAfter(directory, at))
			if err != nil || !strings.HasPrefix(next, prefix) || next == "" {
				if len(found) == 0 {
					return nil, err
				}
				break
			}
			_, size := utf8.DecodeRuneInString(next[len(prefix):])
			branch := next[:len(prefix)+size]
			if plain(branch) {
				found = append(found, branch)
			}
			at = branch + string(utf8.MaxRune) + "\xff" // after all that begin so
		}
		if len(found) == 1 {
			prefix = found[0]
		} else if len(found) == 0 {
			return nil, nil
		}
	}
	return found, nil
}

// first returns the first name of a listing, or none.
func first(children iter.Seq2[stardust.Record, error]) (string, error) {
	for child, err := range children {
		return child.Name, err
	}
	return "", nil
}
