package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
)

// revision is a point of the history on the command line: a number, or "latest",
// which is what a nil pointer and the zero value mean. It is a pflag.Value.
type revision struct {
	set    bool
	number int64
}

func (r *revision) Set(text string) error {
	if text == "latest" {
		*r = revision{}
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return fmt.Errorf("%q is no revision; give a number that stardust log prints, or latest", text)
	}
	*r = revision{true, n}
	return nil
}

func (r *revision) String() string {
	if !r.set {
		return ""
	}
	return strconv.FormatInt(r.number, 10)
}

func (r *revision) Type() string { return "revision" }

// view returns the database as it was at the revision.
func (r *revision) view(db *stardust.DB) (*stardust.Snapshot, error) {
	if r == nil || !r.set {
		return db.Snapshot()
	}
	return db.AsOf(r.number)
}

// atFlag adds --at to a command that reads.
func atFlag(cmd *cobra.Command, at *revision) {
	cmd.Flags().Var(at, "at", "read the tree as it was at this revision (see stardust log)")
}
