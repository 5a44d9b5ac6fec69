package dust

import (
	"strconv"
	"unsafe"
)

// Kind says which of the seven kinds of value a [Value] is.
type Kind uint8

// The kinds of values. Int and Number are both numbers of the formats: Int is
// an integer that an int64 holds, Number is every other one.
const (
	Null Kind = iota
	Bool
	Int
	Number
	String
	Array
	Object
)

// String returns the kind in words, as error messages say it: "an object".
func (k Kind) String() string {
	switch k {
	case Null:
		return "null"
	case Bool:
		return "a boolean"
	case Int:
		return "an integer"
	case Number:
		return "a number"
	case String:
		return "a string"
	case Array:
		return "an array"
	case Object:
		return "an object"
	}
	return "kind " + strconv.Itoa(int(k))
}

// A Value is one value of a document with everything beneath it. The zero
// Value is null. A Value is immutable, so goroutines may share it; copying one
// is cheap and copies nothing beneath it. Compare Values with [Equal].
//
// It is three words, whatever the kind: documents hold many small values, and
// a struct with a field for each kind is three times as large. As in log/slog,
// ref tells the kind by its type and num holds the scalar, or the length of
// what ref points to.
type Value struct {
	_   [0]func() // no ==, which would compare addresses
	num uint64
	ref any // nil, Kind (Bool, Int), or one of the pointers below
}

type (
	textRef    *byte   // String: the first byte of the text
	literalRef *byte   // Number: the first byte of the literal
	itemsRef   *Value  // Array: the first item
	membersRef *Member // Object: the first member
)

// A Member is one member of an object.
type Member struct {
	Name  string
	Value Value
}

// NewBool returns a boolean.
func NewBool(b bool) Value {
	if b {
		return Value{num: 1, ref: Bool}
	}
	return Value{ref: Bool}
}

// NewInt returns an integer.
func NewInt(i int64) Value { return Value{num: uint64(i), ref: Int} }

// NewString returns the string s, which must be valid UTF-8: what is not
// prints as U+FFFD.
func NewString(s string) Value {
	return Value{num: uint64(len(s)), ref: textRef(unsafe.StringData(s))}
}

// NewNumber returns the number that literal writes in JSON, digit for digit,
// and whether literal is a number. It is an Int when an int64 holds it and
// prints as the same literal, else a Number: 1.0, 1e400, -0.
func NewNumber(literal string) (Value, bool) {
	if !isNumber(literal) {
		return Value{}, false
	}
	return number(literal), true
}

// NewArray returns an array of items. It keeps the slice, which the caller
// must not change afterwards.
func NewArray(items ...Value) Value {
	return Value{num: uint64(len(items)), ref: itemsRef(unsafe.SliceData(items))}
}

// NewObject returns an object of members in this order. It keeps the slice,
// which the caller must not change afterwards; no two members may have one
// name, which it does not check.
func NewObject(members ...Member) Value {
	return Value{num: uint64(len(members)), ref: membersRef(unsafe.SliceData(members))}
}

// Kind returns the kind of v.
func (v Value) Kind() Kind {
	switch r := v.ref.(type) {
	case Kind:
		return r
	case textRef:
		return String
	case literalRef:
		return Number
	case itemsRef:
		return Array
	case membersRef:
		return Object
	}
	return Null
}

// Bool returns the boolean v is, and whether it is one.
func (v Value) Bool() (b, ok bool) {
	return v.num == 1, v.Kind() == Bool
}

// Int returns the integer v is, and whether it is one: false for a number that
// no int64 holds, and for one with a fraction or an exponent, such as 1.0.
func (v Value) Int() (int64, bool) {
	if v.Kind() != Int {
		return 0, false
	}
	return int64(v.num), true
}

// Literal returns the number v is as the formats write it, digit for digit,
// and whether v is a number (an Int or a Number).
func (v Value) Literal() (string, bool) {
	switch r := v.ref.(type) {
	case literalRef:
		return unsafe.String(r, int(v.num)), true
	case Kind:
		if r == Int {
			return strconv.FormatInt(int64(v.num), 10), true
		}
	}
	return "", false
}

// Text returns the string v is, and whether it is one.
func (v Value) Text() (string, bool) {
	if r, ok := v.ref.(textRef); ok {
		return unsafe.String(r, int(v.num)), true
	}
	return "", false
}

// Items returns the items of an array, nil for other kinds. The caller must
// not change the slice.
func (v Value) Items() []Value {
	if r, ok := v.ref.(itemsRef); ok {
		return unsafe.Slice((*Value)(r), int(v.num))
	}
	return nil
}

// Members returns the members of an object in their order, nil for other
// kinds. The caller must not change the slice.
func (v Value) Members() []Member {
	if r, ok := v.ref.(membersRef); ok {
		return unsafe.Slice((*Member)(r), int(v.num))
	}
	return nil
}

// Member returns the member called name, and whether v is an object that has
// one. It takes time in proportion to the number of members.
func (v Value) Member(name string) (Value, bool) {
	members := v.Members()
	for i := range members {
		if members[i].Name == name {
			return members[i].Value, true
		}
	}
	return Value{}, false
}

// Equal reports whether a and b are the same: kinds, texts, literals (1 and
// 1.0 differ), items and members in the same order.
func Equal(a, b Value) bool {
	kind := a.Kind()
	if kind != b.Kind() || a.num != b.num {
		return false
	}
	switch kind {
	case String:
		s, _ := a.Text()
		t, _ := b.Text()
		return s == t
	case Number:
		s, _ := a.Literal()
		t, _ := b.Literal()
		return s == t
	case Array:
		bs := b.Items()
		for i, item := range a.Items() {
			if !Equal(item, bs[i]) {
				return false
			}
		}
	case Object:
		bs := b.Members()
		for i, m := range a.Members() {
			if m.Name != bs[i].Name || !Equal(m.Value, bs[i].Value) {
				return false
			}
		}
	}
	return true
}
