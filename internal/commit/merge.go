package commit

import (
	"maps"
	"slices"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/digest"
	"github.com/stardustdb/stardust/internal/dust"
	"github.com/stardustdb/stardust/internal/tree"
)

// Change is one member of a merge patch.
type Change struct {
	Name  string
	Value dust.Value // null removes the attribute
	// Digest is the file's new payload when the name is
	// catalog.AttributeDigest, whose Value does not count.
	Digest digest.Digest
}

// Merge plans a merge patch (RFC 7396) of an entity's attributes. It returns the
// node as it will be, but for the revision, and all attributes that will be
// written to it, in name order. The caller has checked the names.
func (p *Plan) Merge(entity int64, changes []Change, expected int64) (catalog.Node, []dust.Member, error) {
	n, err := p.expected(entity, expected)
	if err != nil {
		return n, nil, err
	}
	old, err := tree.Attributes(&p.tx.View, entity)
	if err != nil {
		return n, nil, err
	}
	now := make(map[string]dust.Value, len(old)+len(changes))
	for _, m := range old {
		now[m.Name] = m.Value
	}
	for i := range changes {
		c := &changes[i]
		if c.Name == catalog.AttributeDigest {
			if n, err = p.Update(entity, c.Digest, 0); err != nil {
				return n, nil, err
			}
			continue
		}
		before, existed := now[c.Name]
		after, keep := merge(before, c.Value)
		switch {
		case keep && !(existed && dust.Equal(before, after)):
			now[c.Name] = after
			p.add(catalog.Raw(entity, c.Name, dust.AppendJSON(nil, after)))
		case !keep && existed:
			delete(now, c.Name)
			p.add(catalog.Retract(entity, c.Name))
		}
	}
	return n, inNameOrder(now), checkSize(now)
}

func inNameOrder(attributes map[string]dust.Value) []dust.Member {
	members := make([]dust.Member, 0, len(attributes))
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		members = append(members, dust.Member{Name: name, Value: attributes[name]})
	}
	return members
}

func checkSize(attributes map[string]dust.Value) error {
	size := 0
	for name, value := range attributes {
		size += len(name) + len(dust.AppendJSON(nil, value))
	}
	if size > tree.MaxAttributesSize {
		return tree.Refuse(tree.Invalid, "the attributes would have %d bytes together, at most %d fit on an entity", size, tree.MaxAttributesSize)
	}
	return nil
}

// merge is RFC 7396's MergePatch on one value; false removes it. Documents are
// at most 128 deep, so the recursion is bounded.
func merge(target, patch dust.Value) (dust.Value, bool) {
	if patch.Kind() == dust.Null {
		return dust.Value{}, false
	}
	if patch.Kind() != dust.Object {
		return patch, true
	}
	changes := patch.Members()
	merged := make([]dust.Member, 0, len(changes))
	at := make(map[string]int, len(changes))
	for _, m := range target.Members() {
		at[m.Name] = len(merged)
		merged = append(merged, m)
	}
	removed := make(map[int]bool)
	for _, m := range changes {
		i, existed := at[m.Name]
		var before dust.Value
		if existed {
			before = merged[i].Value
		}
		after, keep := merge(before, m.Value)
		switch {
		case existed:
			merged[i].Value = after
			removed[i] = !keep
		case keep:
			merged = append(merged, dust.Member{Name: m.Name, Value: after})
		}
	}
	kept := merged[:0]
	for i, m := range merged {
		if !removed[i] {
			kept = append(kept, m)
		}
	}
	return dust.NewObject(kept...), true
}
