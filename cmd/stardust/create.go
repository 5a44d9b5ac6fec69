package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/stardustdb/stardust"
)

// maxNodes is how many nodes one commit creates; see the objects spec, "Files
// and directories".
const maxNodes = 4096

// newNodeRequest is one node of a create request.
type newNodeRequest struct {
	Name   string           `json:"name"`
	Parent int64            `json:"parent,omitempty"`
	Under  int              `json:"under,omitempty"`
	Digest *stardust.Digest `json:"digest,omitempty"`
}

// create makes up to maxNodes nodes in one commit and returns their records.
func (s *session) create(nodes []newNodeRequest) ([]stardust.Record, error) {
	for i := range nodes {
		// JSON would turn what is not UTF-8 into another name.
		if !utf8.ValidString(nodes[i].Name) {
			return nil, fmt.Errorf("the name %q is not valid UTF-8", nodes[i].Name)
		}
	}
	text, err := json.Marshal(nodes)
	if err != nil {
		return nil, err
	}
	request, err := stardust.Parse(text, stardust.JSON)
	if err != nil {
		return nil, err
	}
	defer request.Close() //nolint:errcheck // always nil
	result, err := s.objects.Create(request)
	if err != nil {
		return nil, err
	}
	defer result.Close() //nolint:errcheck // always nil
	var records []stardust.Record
	err = result.Decode(&records)
	if err == nil && len(records) != len(nodes) {
		err = fmt.Errorf("the database made %d nodes of the %d that it was asked for", len(records), len(nodes))
	}
	return records, err
}

// makeDirectories makes a directory and those that lead to it, as far as they
// are missing, and returns its entity. It reports whether it made any.
func (s *session) makeDirectories(p string) (entity int64, made bool, err error) {
	at, rest := int64(0), p
	for rest != "" {
		name, more, _ := strings.Cut(rest, "/")
		r, err := s.objects.LookupRecord(at, name)
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
		batch := names[:min(len(names), maxNodes)]
		nodes := make([]newNodeRequest, len(batch))
		for i, name := range batch {
			nodes[i] = newNodeRequest{Name: name, Under: i}
		}
		nodes[0].Parent = at
		records, err := s.create(nodes)
		if err != nil {
			return 0, true, about(absolute(p), err)
		}
		at, names = records[len(records)-1].Entity, names[len(batch):]
	}
	return at, true, nil
}

// setContent points the file at a path to a payload: an existing file gets a
// new version, a missing one is created. It returns the file's record.
func (s *session) setContent(d destination, name string, digest stardust.Digest) (stardust.Record, error) {
	r, found, err := d.existing(s, name)
	switch {
	case err != nil:
		return r, err
	case found && isDirectory(r):
		return r, errIsDirectory
	case found:
		return s.update(r.Entity, digest)
	}
	if d.name != "" {
		name = d.name
	}
	records, err := s.create([]newNodeRequest{{Name: name, Parent: d.entity, Digest: &digest}})
	if err != nil {
		return r, err
	}
	return records[0], nil
}

// update points a file at another payload and returns its record.
func (s *session) update(entity int64, digest stardust.Digest) (r stardust.Record, err error) {
	document, err := s.objects.Update(entity, digest.String(), 0)
	if err != nil {
		return r, err
	}
	defer document.Close() //nolint:errcheck // always nil
	return r, document.Decode(&r)
}
