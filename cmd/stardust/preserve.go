package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/internal/attributes"
	"github.com/stardustdb/stardust/internal/transfer"
)

// preserve selects which further attributes of files are kept or restored. It
// is a pflag.Value.
type preserve stardust.Preserve

// preserveKinds returns the words of the flag.
func preserveKinds() []string {
	return []string{"owner", "xattrs", "hardlinks", "privileges", "all", "none"}
}

// preserveFlag adds the flag; verb is what the command does with the rest.
func preserveFlag(cmd *cobra.Command, p *preserve, verb string) {
	cmd.Flags().Var(p, "preserve", verb+" these, too, divided by commas: owner, xattrs, hardlinks, privileges, all, none")
	_ = cmd.RegisterFlagCompletionFunc("preserve", completePreserve) // the flag is there
}

func completePreserve(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	before := typed[:strings.LastIndexByte(typed, ',')+1]
	var found []cobra.Completion
	for _, kind := range preserveKinds() {
		found = append(found, before+kind)
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// Set takes a list of words.
func (p *preserve) Set(text string) error {
	set := preserve{}
	for word := range strings.SplitSeq(text, ",") {
		switch strings.TrimSpace(word) {
		case "owner":
			set.Owner = true
		case "xattrs":
			set.Xattrs = true
		case "hardlinks":
			set.HardLinks = true
		case "privileges":
			set.Privileges = true
		case "all":
			set = preserve(stardust.PreserveAll())
		case "none":
			set = preserve{}
		default:
			return fmt.Errorf("%q is not one of %s", word, strings.Join(preserveKinds(), ", "))
		}
	}
	*p = set
	return nil
}

// Type is what the flag takes.
func (p *preserve) Type() string { return "list" }

// String returns the flag's value.
func (p *preserve) String() string {
	if *p == preserve(stardust.PreserveAll()) {
		return "all"
	}
	var words []string
	for i, on := range []bool{p.Owner, p.Xattrs, p.HardLinks, p.Privileges} {
		if on {
			words = append(words, preserveKinds()[i])
		}
	}
	return strings.Join(words, ",")
}

// filtered returns those of a file's attributes that are to be restored.
func (p *preserve) filtered(known *stardust.FileAttributes) *attributes.File {
	kept := attributes.File{MTime: known.ModTime, Owner: (*attributes.Owner)(known.Owner), Xattrs: known.Xattrs, Sparse: known.Sparse}
	if known.Symlink {
		kept.Type = attributes.Symlink
	}
	if known.HasMode {
		kept.SetMode(known.Mode)
	}
	transfer.Preserve(*p).Filter(&kept)
	return &kept
}
