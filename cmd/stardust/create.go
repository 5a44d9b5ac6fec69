package main

import (
	"strings"

	"github.com/stardustdb/stardust"
)

// makeDirectories makes a directory and those that lead to it, as far as they
// are missing, and returns its entity. It reports whether it made any.
func (s *session) makeDirectories(p string) (entity int64, made bool, err error) {
	at, rest := int64(0), p
	for rest != "" {
		name, more, _ := strings.Cut(rest, "/")
		r, err := s.tree.Lookup(at, name)
		if isMissing(err) {
			break
		}
		if err == nil && !isDirectory(r) {
			err = errNotDirectory
		}
		if err != nil {
			return 0, false, about(absolute(strings.TrimSuffix(p[:len(p)-len(more)], "/")), err)
		}
		at, rest = r.Entity, more
	}
	if rest == "" {
		return at, false, nil
	}
	names := strings.Split(rest, "/")
	for len(names) > 0 {
		batch := names[:min(len(names), stardust.MaxNodes)]
		nodes := make([]stardust.NewNode, len(batch))
		for i, name := range batch {
			nodes[i] = stardust.NewNode{Name: name, Under: i}
		}
		nodes[0].Parent = at
		records, err := s.tree.Create(nodes...)
		if err != nil {
			return 0, true, about(absolute(p), err)
		}
		at, names = records[len(records)-1].Entity, names[len(batch):]
	}
	return at, true, nil
}

// setContent points the file at a path to a published payload, and stores its
// attributes: an existing file gets a new version, a missing one is created. It
// returns the file's record.
func (s *session) setContent(d destination, name string, digest stardust.Digest, known *stardust.FileAttributes) (stardust.Record, error) {
	return s.tree.PutPublished(d.at(name), digest, &stardust.PutOptions{File: known})
}
