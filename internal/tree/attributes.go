package tree

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/stardustdb/stardust/internal/attributes"
	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/dust"
)

// MaxAttributesSize is how many bytes the attributes of an entity take together
// at most, as compact JSON: names and values. It keeps what a commit writes, and
// what a removal takes away, within a transaction record's limits.
const MaxAttributesSize = 1 << 20

// maxAttributeName bounds an attribute's name, in bytes.
const maxAttributeName = 4096

// ReservedPrefix begins the attributes that plugins keep. They are not among
// those of Attributes.
const ReservedPrefix = "stardust/"

// CheckAttribute holds the name of an attribute to 1 to 4096 bytes of UTF-8
// without ReservedPrefix. It returns a Refusal.
func CheckAttribute(name string) error {
	switch {
	case strings.HasPrefix(name, ReservedPrefix) && !attributes.Shared(name):
		return Refuse(Invalid, "%s: is reserved; of these only %s may be patched", Quote(name), catalog.AttributeDigest)
	case name == "" || len(name) > maxAttributeName || !utf8.ValidString(name):
		return Refuse(Invalid, "%s: is not an attribute's name, which has 1 to %d bytes of UTF-8", Quote(name), maxAttributeName)
	}
	return nil
}

// Attributes returns the attributes that were written to an entity, in name
// order.
func Attributes(v *catalog.View, entity int64) ([]dust.Member, error) {
	var members []dust.Member
	var bad error
	err := v.Attributes(entity, func(name string, json []byte) bool {
		value, err := dust.Parse(json, dust.JSON)
		if err != nil {
			bad = fmt.Errorf("%w: attribute %s of entity %d: %w", catalog.ErrCorrupt, Quote(name), entity, err)
			return false
		}
		members = append(members, dust.Member{Name: name, Value: value})
		return true
	})
	if err == nil {
		err = bad
	}
	return members, err
}
