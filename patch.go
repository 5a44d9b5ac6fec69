package stardust

import (
	"context"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/dust"
)

// MaxAttributesSize is how many bytes all attributes of an entity that Patch wrote
// take together at most, as compact JSON: names and values.
const MaxAttributesSize = 1 << 20

// maxAttributeName bounds an attribute's name, in bytes.
const maxAttributeName = 4096

// reservedPrefix begins the attributes that plugins keep.
const reservedPrefix = "stardust/"

// Attributes returns an entity's attributes as an object in name order: the
// tree's own (stardust/object/parent, /name and, of a file, /digest) and those
// written by [DB.Patch]. It works without the objects plugin.
//
// It returns StatusInvalidArgument when the entity is not a user entity,
// StatusNotFound when it does not exist, and StatusEvaluationFailed when
// stored metadata is damaged.
func (db *DB) Attributes(entity int64) (*Document, error) {
	const op = "attributes"
	if err := checkEntity("entity", entity); err != nil {
		return nil, withOp(op, err)
	}
	var value dust.Value
	err := db.view(context.Background(), catalog.Live, true, func(v *catalog.View) error {
		n, found, err := v.Node(entity)
		if err != nil {
			return err
		}
		if !found {
			return notFound("entity %d does not exist", entity)
		}
		value, err = attributes(v, &n)
		return err
	})
	if err != nil {
		return nil, withOp(op, err)
	}
	return newDocument(value), nil
}

func attributes(v *catalog.View, n *catalog.Node) (dust.Value, error) {
	var before, after []dust.Member
	var bad error
	err := v.Attributes(n.Entity, func(name string, json []byte) bool {
		value, err := dust.Parse(json, dust.JSON)
		if err != nil {
			bad = damaged(err, "attribute %s of entity %d", shorten(name), n.Entity)
			return false
		}
		m := dust.Member{Name: name, Value: value}
		if name < reservedPrefix {
			before = append(before, m)
		} else {
			after = append(after, m)
		}
		return true
	})
	if err == nil {
		err = bad
	}
	if n.File {
		before = append(before, dust.Member{Name: catalog.AttributeDigest, Value: documentDigest(n.Digest)})
	}
	before = append(before,
		dust.Member{Name: catalog.AttributeName, Value: dust.NewString(n.Name)},
		dust.Member{Name: catalog.AttributeParent, Value: dust.NewInt(n.Parent)})
	return dust.NewObject(append(before, after...)...), err
}

// Patch applies a merge patch (RFC 7396) to an entity's attributes in one
// commit and returns all of them: null removes a member, objects merge,
// anything else replaces. Of the reserved attributes only
// stardust/object/digest may be written, on a file, and names a published
// payload. A patch that changes nothing keeps the revision. The result shows the
// entity as this commit left it.
//
// An attribute's name has 1 to 4096 bytes of UTF-8 and does not begin with
// "stardust/". All of an entity's attributes together are at most
// MaxAttributesSize.
//
// It returns StatusUnavailable with CodePluginRequired when the patch writes
// stardust/object/digest and the database does not enable objects;
// StatusInvalidArgument when the patch is malformed, too large, names a reserved
// attribute, or expectedRevision is negative, and when it gives a directory a
// payload; StatusNotFound when the entity
// does not exist or the digest is not published; StatusConflict when
// expectedRevision is stale (zero skips the check) or the database holds writes.
func (db *DB) Patch(entity int64, patch *Document, expectedRevision int64) (*Document, error) {
	return db.PatchContext(context.Background(), entity, patch, expectedRevision)
}

// PatchContext is Patch with a context: StatusCanceled when it ends first.
func (db *DB) PatchContext(ctx context.Context, entity int64, patch *Document, expectedRevision int64) (*Document, error) {
	const op = "patch"
	value, err := patch.value()
	if err != nil {
		return nil, withOp(op, err)
	}
	if err := checkWrite(entity, expectedRevision); err != nil {
		return nil, withOp(op, err)
	}
	if value.Kind() != dust.Object {
		return nil, withOp(op, invalid("the patch is %v, want an object", value.Kind()))
	}
	for _, m := range value.Members() {
		if err := db.checkAttribute(m); err != nil {
			return nil, withOp(op, err)
		}
	}
	if err := db.writable(); err != nil {
		return nil, withOp(op, err)
	}
	var after dust.Value
	w := &write{plan: func(p *planner) (err error) {
		after, err = p.patch(entity, value.Members(), expectedRevision)
		return err
	}}
	if _, err := db.commit(ctx, w); err != nil {
		return nil, withOp(op, err)
	}
	return newDocument(after), nil
}

// checkAttribute refuses what no patch may write.
func (db *DB) checkAttribute(m dust.Member) *Error {
	switch name := m.Name; {
	case name == catalog.AttributeDigest && db.options.Plugins.Objects == nil:
		return &Error{
			Status: StatusUnavailable, Code: CodePluginRequired,
			Message: name + ": the database does not enable objects; open it with plugins {objects {}}",
		}
	case name == catalog.AttributeDigest:
		if _, err := digestValue(m.Value, true); err != nil {
			return invalid("%s: %s", name, err.Message)
		}
	case strings.HasPrefix(name, reservedPrefix):
		return invalid("%s: is reserved; of these only %s may be patched", shorten(name), catalog.AttributeDigest)
	case name == "" || len(name) > maxAttributeName || !utf8.ValidString(name):
		return invalid("%s: is not an attribute's name, which has 1 to %d bytes of UTF-8", shorten(name), maxAttributeName)
	}
	return nil
}

// patch plans what a merge patch changes, and returns the attributes as they will
// be.
func (p *planner) patch(entity int64, members []dust.Member, expected int64) (dust.Value, error) {
	n, err := p.node(entity)
	if err != nil {
		return dust.Value{}, err
	}
	if err := p.expect(&n, expected); err != nil {
		return dust.Value{}, err
	}
	old, err := attributes(&p.tx.View, &n)
	if err != nil {
		return dust.Value{}, err
	}
	now := make(map[string]dust.Value, len(old.Members())+len(members))
	for _, m := range old.Members() {
		now[m.Name] = m.Value
	}
	for _, m := range members {
		before, existed := now[m.Name]
		if m.Name == catalog.AttributeDigest {
			digest, _ := digestValue(m.Value, true)
			if _, err := p.updateFile(entity, digest, 0); err != nil {
				return dust.Value{}, err
			}
			now[m.Name] = documentDigest(digest)
			continue
		}
		after, keep := merge(before, m.Value)
		switch {
		case keep && !(existed && dust.Equal(before, after)):
			now[m.Name] = after
			p.facts = append(p.facts, catalog.Raw(entity, m.Name, dust.AppendJSON(nil, after)))
		case !keep && existed:
			delete(now, m.Name)
			p.facts = append(p.facts, catalog.Retract(entity, m.Name))
		}
	}
	return inNameOrder(now), checkSize(now)
}

func inNameOrder(attributes map[string]dust.Value) dust.Value {
	members := make([]dust.Member, 0, len(attributes))
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		members = append(members, dust.Member{Name: name, Value: attributes[name]})
	}
	return dust.NewObject(members...)
}

// checkSize holds attributes to MaxAttributesSize, so that what a commit writes,
// and what a removal takes away, stays within a transaction record's limits.
func checkSize(attributes map[string]dust.Value) error {
	size := 0
	for name, value := range attributes {
		if !strings.HasPrefix(name, reservedPrefix) {
			size += len(name) + len(dust.AppendJSON(nil, value))
		}
	}
	if size > MaxAttributesSize {
		return invalid("the attributes would have %d bytes together, at most %d fit on an entity", size, MaxAttributesSize)
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
