package stardust

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/commit"
	"github.com/stardustdb/stardust/internal/tree"
)

// Tags and messages are attributes of the root directory, which no patch reaches.
const (
	attributeTag     = "stardust/tag/"
	attributeMessage = "stardust/message"
)

// MaxTagLength is the greatest length of a tag's name, in bytes, and
// MaxMessageLength that of a message.
const (
	MaxTagLength     = 255
	MaxMessageLength = 64 << 10
)

// Tag is a name of a revision.
type Tag struct {
	Name     string    `json:"name"`
	Revision int64     `json:"revision"`
	Time     time.Time `json:"time"` // when the tag was set
}

// tagValue is a tag as it is stored.
type tagValue struct {
	Revision int64     `json:"revision"`
	Time     time.Time `json:"time"`
}

// SetTag gives a revision a name, and takes it from another revision that has
// it. This is a commit of its own; history keeps where tags were.
//
// It returns StatusInvalidArgument when the name is empty, longer than
// MaxTagLength, holds white space or control characters, begins with "-", or is a
// number or "latest"; StatusNotFound when the revision is negative, later than
// the last commit or forgotten; StatusConflict when the database holds writes.
func (db *DB) SetTag(ctx context.Context, name string, revision int64) error {
	const op = "set_tag"
	if err := checkTag(name); err != nil {
		return withOp(op, err)
	}
	if err := db.writable(); err != nil {
		return withOp(op, err)
	}
	value, err := json.Marshal(tagValue{revision, db.options.Now().UTC()})
	if err != nil {
		return withOp(op, err)
	}
	_, err = db.commit(ctx, commit.Write{Plan: func(p *commit.Plan) error {
		err := checkCommitted(&p.Tx().View, revision)
		if err == nil {
			err = p.Tx().Readable(revision)
		}
		if err == nil {
			p.Note(attributeTag+name, value)
		}
		return err
	}})
	return withOp(op, err)
}

// RemoveTag removes a name. It returns StatusNotFound when there is no such
// tag, and StatusConflict when the database holds writes.
func (db *DB) RemoveTag(ctx context.Context, name string) error {
	const op = "remove_tag"
	if err := db.writable(); err != nil {
		return withOp(op, err)
	}
	_, err := db.commit(ctx, commit.Write{Plan: func(p *commit.Plan) error {
		_, found, err := tagOf(&p.Tx().View, name)
		if err == nil && !found {
			err = notFound("there is no tag %s", tree.Quote(name))
		}
		if err == nil {
			p.Note(attributeTag+name, nil)
		}
		return err
	}})
	return withOp(op, err)
}

// Tags returns all tags, in the order of their names.
func (db *DB) Tags() ([]Tag, error) {
	var tags []Tag
	err := db.view(context.Background(), catalog.Live, false, func(v *catalog.View) error {
		return eachTag(v, func(t Tag) bool {
			tags = append(tags, t)
			return true
		})
	})
	return tags, withOp("tags", err)
}

// TagRevision returns the revision that has a name. It returns StatusNotFound when
// there is no such tag.
func (db *DB) TagRevision(name string) (int64, error) {
	var tag Tag
	err := db.view(context.Background(), catalog.Live, false, func(v *catalog.View) error {
		found := false
		var err error
		if tag, found, err = tagOf(v, name); err == nil && !found {
			err = notFound("there is no tag %s", tree.Quote(name))
		}
		return err
	})
	return tag.Revision, withOp("tags", err)
}

// RevisionAt returns the last revision that was committed at a time or before, by
// the clock of those who wrote. It returns StatusNotFound when there is none, and
// with CodeForgotten when it was forgotten.
func (db *DB) RevisionAt(when time.Time) (int64, error) {
	var revision int64
	err := db.view(context.Background(), catalog.Live, true, func(v *catalog.View) error {
		at, found, err := v.RevisionAt(when)
		revision = at
		if err == nil && !found {
			err = notFound("nothing was committed by %v", when.Format(time.RFC3339))
		}
		return err
	})
	return revision, withOp("revision_at", err)
}

// Message returns the commit's message, such as ImportOptions.Message; empty if
// it has none.
func (t *Transaction) Message() string {
	for i := range t.Facts {
		f := &t.Facts[i]
		if d, ok := f.Value.(*Document); ok && f.Entity == catalog.Root && f.Attribute == attributeMessage {
			text, err := d.JSON()
			var message string
			if err == nil && json.Unmarshal(text, &message) == nil {
				return message
			}
		}
	}
	return ""
}

// TagNames returns the names of the tags that the commit set or removed.
func (t *Transaction) TagNames() []string {
	var names []string
	for i := range t.Facts {
		if name, ok := strings.CutPrefix(t.Facts[i].Attribute, attributeTag); ok && t.Facts[i].Entity == catalog.Root {
			names = append(names, name)
		}
	}
	return names
}

func eachTag(v *catalog.View, fn func(Tag) bool) error {
	var bad error
	err := v.Attributes(catalog.Root, func(name string, text []byte) bool {
		name, ok := strings.CutPrefix(name, attributeTag)
		if !ok {
			return true
		}
		var value tagValue
		if bad = json.Unmarshal(text, &value); bad != nil {
			bad = damaged(bad, "tag %s", tree.Quote(name))
			return false
		}
		return fn(Tag{name, value.Revision, value.Time})
	})
	if err == nil {
		err = bad
	}
	return err
}

func tagOf(v *catalog.View, name string) (tag Tag, found bool, err error) {
	err = eachTag(v, func(t Tag) bool {
		if found = t.Name == name; found {
			tag = t
		}
		return !found
	})
	return tag, found, err
}

func checkTag(name string) error {
	switch {
	case name == "" || len(name) > MaxTagLength:
		return invalid("tag: has %d bytes; it can have 1 to %d", len(name), MaxTagLength)
	case !utf8.ValidString(name):
		return invalid("tag %s: is not valid UTF-8", tree.Quote(name))
	case name == "latest" || name[0] == '-' || strings.Trim(name, "0123456789") == "":
		return invalid("tag %s: would be taken for something else", tree.Quote(name))
	case slices.ContainsFunc([]rune(name), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
		return invalid("tag %s: holds white space or control characters", tree.Quote(name))
	}
	return nil
}

func checkMessage(text string) error {
	if len(text) > MaxMessageLength || !utf8.ValidString(text) {
		return invalid("message: has %d bytes; it can have %d of valid UTF-8", len(text), MaxMessageLength)
	}
	return nil
}
