package catalog

import (
	"time"

	"github.com/stardustdb/stardust/internal/digest"
)

// The attributes that the objects plugin keeps on the entities of the tree.
const (
	AttributeParent = "stardust/object/parent"
	AttributeName   = "stardust/object/name"
	AttributeDigest = "stardust/object/digest"
)

// ValueKind says what a fact's value is.
type ValueKind byte

const (
	// Retracted is no value: the entity no longer has the attribute.
	Retracted ValueKind = iota
	// Int is an int64, such as a parent's entity.
	Int
	// Text is UTF-8, such as a name.
	Text
	// DigestValue is a SHA-256.
	DigestValue
	// JSON is any JSON value in its compact form.
	JSON
)

// Value is the value of a fact.
type Value struct {
	Kind   ValueKind
	Int    int64
	Bytes  []byte // Text and JSON
	Digest digest.Digest
}

// Fact says that an entity has a value of an attribute from its transaction on.
type Fact struct {
	Entity    int64
	Attribute string
	Value     Value
}

// Transaction is what one commit writes. Facts of one entity are adjacent.
type Transaction struct {
	ID    int64
	Time  time.Time // informative: nothing is ordered by it
	Facts []Fact
}

// Int64 makes a fact with an integer value.
func Int64(entity int64, attribute string, v int64) Fact {
	return Fact{entity, attribute, Value{Kind: Int, Int: v}}
}

// String makes a fact with a text value.
func String(entity int64, attribute, v string) Fact {
	return Fact{entity, attribute, Value{Kind: Text, Bytes: []byte(v)}}
}

// Digest makes a fact with a digest value.
func Digest(entity int64, attribute string, v digest.Digest) Fact {
	return Fact{entity, attribute, Value{Kind: DigestValue, Digest: v}}
}

// Raw makes a fact whose value is compact JSON.
func Raw(entity int64, attribute string, json []byte) Fact {
	return Fact{entity, attribute, Value{Kind: JSON, Bytes: json}}
}

// Retract makes a fact that removes an attribute.
func Retract(entity int64, attribute string) Fact {
	return Fact{entity, attribute, Value{}}
}
