package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
)

// jsonFlag adds --json to a command that lists things.
func jsonFlag(cmd *cobra.Command, value *bool) {
	cmd.Flags().BoolVar(value, "json", false, "print JSON, one document a line")
}

// printJSON writes v as one line of JSON.
func (e *env) printJSON(v any) error {
	encoder := json.NewEncoder(e.out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// node is a record with its path, as --json prints it: the members of the
// objects spec's records, in their order, after the path.
type node struct {
	Path     string              `json:"path"`
	Entity   int64               `json:"entity"`
	Parent   int64               `json:"parent"`
	Revision int64               `json:"revision"`
	Name     string              `json:"name"`
	Kind     stardust.RecordKind `json:"kind"`
	Size     *int64              `json:"size,omitempty"`
	Digest   *stardust.Digest    `json:"digest,omitempty"`
}

func newNode(path string, r stardust.Record) node {
	n := node{
		Path: absolute(path), Entity: r.Entity, Parent: r.Parent, Revision: r.Revision,
		Name: r.Name, Kind: r.Kind,
	}
	if r.Kind == stardust.KindFile {
		n.Size, n.Digest = &r.Size, &r.Digest
	}
	return n
}
