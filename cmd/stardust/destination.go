package main

import (
	"fmt"
	"strings"

	"github.com/stardustdb/stardust"
)

// destination is where put and mv lead: into a directory, under the name that
// each thing has already, or under name if that is set.
type destination struct {
	directory string // its path
	entity    int64
	name      string
}

// destination decides, as cp and mv do, what a path means: things go into a
// directory that exists, and a path that ends in a slash or is for several must
// be one; anything else is the new name.
func (s *session) destination(raw string, several bool) (destination, error) {
	p := cleanPath(raw)
	mustHold := several || p == "" || strings.HasSuffix(raw, "/")
	r, err := s.tree.Resolve(p)
	switch {
	case err == nil && isDirectory(r):
		return destination{directory: p, entity: r.Entity}, nil
	case err == nil && mustHold:
		return destination{}, about(absolute(p), errNotDirectory)
	case err == nil || isMissing(err) && !mustHold:
		directory, name := splitPath(p)
		parent, err := s.directoryAt(directory)
		return destination{directory, parent.Entity, name}, err
	case isMissing(err):
		return destination{}, fmt.Errorf("the directory %s does not exist; stardust mkdir -p makes it", absolute(p))
	}
	return destination{}, err
}

// at returns the path that a thing called name gets.
func (d destination) at(name string) string {
	if d.name != "" {
		name = d.name
	}
	return join(d.directory, name)
}

// existing returns the record that has that name already, if any.
func (d destination) existing(s *session, name string) (r stardust.Record, found bool, err error) {
	if d.name != "" {
		name = d.name
	}
	r, err = s.tree.Lookup(d.entity, name)
	if isMissing(err) {
		return r, false, nil
	}
	return r, err == nil, err
}
