package main

import (
	"encoding/json"
	"time"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
)

// details is what stat knows of a node beyond its record.
type details struct {
	node
	Time       time.Time       `json:"time,omitzero"`
	Chunks     int64           `json:"chunks,omitempty"`
	Versions   int             `json:"versions"`
	Attributes json.RawMessage `json:"attributes,omitempty"`
}

func newStatCommand(e *env) *cobra.Command {
	var at revision
	var asJSON bool
	var size sizes
	cmd := &cobra.Command{
		Use:   "stat FILE PATH...",
		Short: "Show everything about files and directories",
		Long: `Show the record of files and directories, when they last changed, how many chunks
and versions they have, and, in the latest state, their attributes.`,
		Example: `  stardust stat notes.stardust todo.txt`,
		Args:    arguments(2, -1),
		GroupID: groupLook,
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.read(cmd.Context(), args[0], &at, func(s *session) error {
				for i, path := range args[1:] {
					d, err := s.details(cleanPath(path), !at.set)
					if err != nil {
						return err
					}
					if asJSON {
						err = e.printJSON(d)
					} else {
						if i > 0 {
							e.println("")
						}
						d.print(e, &size)
					}
					if err != nil {
						return err
					}
				}
				return nil
			})
		},
		ValidArgsFunction: e.complete(completeFile, completePath),
	}
	atFlag(cmd, &at)
	jsonFlag(cmd, &asJSON)
	size.addFlags(cmd)
	return cmd
}

// details collects what there is to know about a node.
func (s *session) details(path string, latest bool) (details, error) {
	r, err := s.tree.Resolve(path)
	if err != nil {
		return details{}, err
	}
	d := details{node: newNode(path, r)}
	if r.Entity == 0 { // the root is not stored
		return d, nil
	}
	if d.Time, err = s.timeOf(r.Revision); err != nil {
		return d, err
	}
	versions, err := s.tree.History(r.Entity)
	if err != nil {
		return d, err
	}
	d.Versions = len(versions)
	if !isDirectory(r) {
		for _, err := range s.tree.Chunks(r.Digest) {
			if err != nil {
				return d, err
			}
			d.Chunks++
		}
	}
	if latest {
		attributes, err := s.db.Attributes(r.Entity)
		if err != nil {
			return d, err
		}
		defer attributes.Close()
		d.Attributes, err = attributes.JSON()
		return d, err
	}
	return d, nil
}

// timeOf returns when a transaction was committed.
func (s *session) timeOf(revision int64) (time.Time, error) {
	for t, err := range s.db.Transactions(revision) {
		if err != nil || t.ID == revision {
			return t.Time, err
		}
		break
	}
	return time.Time{}, nil
}

func (d *details) print(e *env, size *sizes) {
	e.printf("path        %s\n", e.name(d.Path))
	e.printf("kind        %s\n", d.Kind)
	e.printf("entity      %d\n", d.Entity)
	if d.Entity == 0 {
		return
	}
	e.printf("parent      %d\n", d.Parent)
	e.printf("revision    %d\n", d.Revision)
	e.printf("changed     %s\n", timestamp(d.Time))
	if d.Kind == stardust.KindFile {
		e.printf("size        %s\n", size.format(e, *d.Size))
		e.printf("digest      %s\n", *d.Digest)
		e.printf("chunks      %d\n", d.Chunks)
	}
	e.printf("versions    %d\n", d.Versions)
	if d.Attributes != nil {
		e.printf("attributes  %s\n", d.Attributes)
	}
}

// timestamp returns a transaction's time for people, in their zone.
func timestamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format(time.DateTime)
}
