package stardust

import (
	"context"
	"slices"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/commit"
	"github.com/stardustdb/stardust/internal/dust"
	"github.com/stardustdb/stardust/internal/tree"
)

// MaxAttributesSize is the most bytes that the attributes written to one entity
// may take together, names and values, as compact JSON.
const MaxAttributesSize = tree.MaxAttributesSize

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
		n, err := tree.Node(v, entity)
		if err != nil {
			return err
		}
		written, err := tree.Attributes(v, entity)
		value = attributesValue(&n, written)
		return err
	})
	if err != nil {
		return nil, withOp(op, err)
	}
	return newDocument(value), nil
}

// attributesValue returns a node's own attributes and those written to it, in
// name order.
func attributesValue(n *catalog.Node, written []dust.Member) dust.Value {
	var own []dust.Member
	if n.File {
		own = append(own, dust.Member{Name: catalog.AttributeDigest, Value: documentDigest(n.Digest)})
	}
	own = append(own,
		dust.Member{Name: catalog.AttributeName, Value: dust.NewString(n.Name)},
		dust.Member{Name: catalog.AttributeParent, Value: dust.NewInt(n.Parent)})
	at := slices.IndexFunc(written, func(m dust.Member) bool { return m.Name > catalog.AttributeParent })
	if at < 0 {
		at = len(written)
	}
	return dust.NewObject(slices.Concat(written[:at], own, written[at:])...)
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
	changes, err := db.changes(value.Members())
	if err != nil {
		return nil, withOp(op, err)
	}
	if err := db.writable(); err != nil {
		return nil, withOp(op, err)
	}
	var after dust.Value
	_, err = db.commit(ctx, commit.Write{Plan: func(p *commit.Plan) error {
		n, written, err := p.Merge(entity, changes, expectedRevision)
		after = attributesValue(&n, written)
		return err
	}})
	if err != nil {
		return nil, withOp(op, err)
	}
	return newDocument(after), nil
}

// changes refuses what no patch may write.
func (db *DB) changes(members []dust.Member) ([]commit.Change, error) {
	changes := make([]commit.Change, len(members))
	for i, m := range members {
		c := commit.Change{Name: m.Name, Value: m.Value}
		var err error
		switch {
		case m.Name != catalog.AttributeDigest:
			err = tree.CheckAttribute(m.Name)
		case db.options.Plugins.Objects == nil:
			err = &Error{
				Status: StatusUnavailable, Code: CodePluginRequired,
				Message: m.Name + ": the database does not enable objects; open it with plugins {objects {}}",
			}
		default:
			if c.Digest, err = digestValue(m.Value, true); err != nil {
				err = tree.Within(m.Name, err)
			}
		}
		if err != nil {
			return nil, err
		}
		changes[i] = c
	}
	return changes, nil
}
