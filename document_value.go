package stardust

import (
	"encoding/json"
	"iter"
	"strconv"

	"github.com/stardustdb/stardust/internal/dust"
)

// A Value is one value in a [Document], with everything beneath it. It lets a
// program walk a document without decoding it. Values are immutable and safe
// for concurrent use, and stay valid when the document closes. The zero Value
// is null.
type Value struct{ v dust.Value }

// Root returns the value that the document is. Like every method of a Document
// it fails with StatusClosed after Close.
func (d *Document) Root() (Value, error) {
	v, err := d.value()
	return Value{v}, withOp("document.root", err)
}

// ValueKind says what a [Value] is.
type ValueKind int

// The kinds of values. ValueInt is an integer that an int64 holds, ValueNumber
// every other number, such as 1.5, 1.0 or 1e400. They are numbered as those of
// package dust.
const (
	ValueNull ValueKind = iota
	ValueBool
	ValueInt
	ValueNumber
	ValueString
	ValueArray
	ValueObject
)

// String returns the kind in words, such as "an object".
func (k ValueKind) String() string {
	if k < ValueNull || k > ValueObject {
		return "kind " + strconv.Itoa(int(k))
	}
	return dust.Kind(k).String()
}

// Kind returns the kind of v.
func (v Value) Kind() ValueKind { return ValueKind(v.v.Kind()) }

// Bool returns the boolean that v is, and whether it is one.
func (v Value) Bool() (b, ok bool) { return v.v.Bool() }

// Int64 returns the integer that v is, and whether it is one: false for every
// number that is not a ValueInt.
func (v Value) Int64() (int64, bool) { return v.v.Int() }

// Float64 returns the float64 that is nearest to the number v is. It returns
// false when v is no number, or is too large for a float64.
func (v Value) Float64() (float64, bool) {
	literal, ok := v.v.Literal()
	if !ok {
		return 0, false
	}
	f, err := strconv.ParseFloat(literal, 64)
	return f, err == nil
}

// Number returns the number that v is, digit for digit, and whether it is one.
func (v Value) Number() (json.Number, bool) {
	literal, ok := v.v.Literal()
	return json.Number(literal), ok
}

// Text returns the string that v is, and whether it is one.
func (v Value) Text() (string, bool) { return v.v.Text() }

// Len returns the number of items of an array or members of an object, and 0
// for every other kind.
func (v Value) Len() int { return len(v.v.Items()) + len(v.v.Members()) }

// Index returns item i of an array, from 0, and whether v is an array that has
// one.
func (v Value) Index(i int) (Value, bool) {
	items := v.v.Items()
	if i < 0 || i >= len(items) {
		return Value{}, false
	}
	return Value{items[i]}, true
}

// Items returns an iterator over the items of an array; it yields nothing for
// other kinds.
func (v Value) Items() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		for _, item := range v.v.Items() {
			if !yield(Value{item}) {
				return
			}
		}
	}
}

// Member returns the member of an object that has this name, and whether v is
// an object that has one. It takes time in proportion to the members.
func (v Value) Member(name string) (Value, bool) {
	m, ok := v.v.Member(name)
	return Value{m}, ok
}

// Members returns an iterator over the members of an object in their order; it
// yields nothing for other kinds.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for _, m := range v.v.Members() {
			if !yield(m.Name, Value{m.Value}) {
				return
			}
		}
	}
}

// MarshalJSON implements json.Marshaler.
func (v Value) MarshalJSON() ([]byte, error) { return dust.AppendJSON(nil, v.v), nil }

// MarshalText implements encoding.TextMarshaler with the value as DUST.
func (v Value) MarshalText() ([]byte, error) { return dust.AppendDUST(nil, v.v), nil }

// String implements fmt.Stringer with the value as DUST.
func (v Value) String() string { return string(dust.AppendDUST(nil, v.v)) }
