package stardust

import (
	"fmt"
	"slices"

	"github.com/stardustdb/stardust/internal/dust"
	"github.com/stardustdb/stardust/internal/tree"
)

// request takes the members of an object one by one and remembers the first
// thing that was wrong with them, by its place. Members are taken by name;
// end reports those that nobody took.
type request struct {
	place string // where the object stands, such as "nodes[3]"; empty at the top
	value dust.Value
	taken []string
	// missing is the first required member that is not there. An unknown member,
	// which may be a misspelling of it, is named instead.
	missing string
	err     error
}

func newRequest(document *Document) (*request, error) {
	v, err := document.value()
	if err != nil {
		return nil, err
	}
	if v.Kind() != dust.Object {
		return nil, invalid("the request is %v, want an object", v.Kind())
	}
	return &request{value: v}, nil
}

func (r *request) fail(format string, args ...any) {
	if r.err == nil {
		r.err = invalid("%s", r.name(fmt.Sprintf(format, args...)))
	}
}

// name prefixes a message about a member with the object's place.
func (r *request) name(s string) string {
	if r.place == "" {
		return s
	}
	return r.place + "." + s
}

// adopt takes over the error of a nested request.
func (r *request) adopt(nested *request) {
	if r.err == nil {
		r.err = nested.err
	}
}

func (r *request) member(name string) (dust.Value, bool) {
	v, ok := r.value.Member(name)
	if ok {
		r.taken = append(r.taken, name)
	}
	return v, ok
}

func (r *request) object(name string) (*request, bool) {
	v, ok := r.member(name)
	if !ok {
		return nil, false
	}
	if v.Kind() != dust.Object {
		r.fail("%s: %v, want an object", name, v.Kind())
		return nil, false
	}
	return &request{place: r.name(name), value: v}, true
}

func (r *request) integer(name string) (int64, bool) {
	v, ok := r.member(name)
	if !ok {
		return 0, false
	}
	i, ok := v.Int()
	if !ok {
		r.fail("%s: %s, want an integer of 64 bits", name, describe(v))
	}
	return i, ok
}

func (r *request) boolean(name string) (b, ok bool) {
	v, ok := r.member(name)
	if !ok {
		return false, false
	}
	b, ok = v.Bool()
	if !ok {
		r.fail("%s: %s, want true or false", name, describe(v))
	}
	return b, ok
}

func (r *request) text(name string) (string, bool) {
	v, ok := r.member(name)
	if !ok {
		return "", false
	}
	s, ok := v.Text()
	if !ok {
		r.fail("%s: %s, want a string", name, describe(v))
	}
	return s, ok
}

// digest takes a digest as {#sha256 hex}, or, where text is allowed, as hex.
func (r *request) digest(name string, asText bool) (d Digest, ok bool) {
	v, ok := r.member(name)
	if !ok {
		return d, false
	}
	d, err := digestValue(v, asText)
	if err != nil {
		r.fail("%s: %v", name, err)
	}
	return d, err == nil
}

// end fails the request when it has a member that nobody took, or lacks a
// required one.
func (r *request) end() {
	for _, m := range r.value.Members() {
		if r.err != nil {
			return
		}
		if !slices.Contains(r.taken, m.Name) {
			r.fail("%s: unknown member", tree.Quote(m.Name))
		}
	}
	if r.missing != "" {
		r.fail("%s: missing", r.missing)
	}
}

// describe shows a value of the wrong kind: text in quotes, a number without.
func describe(v dust.Value) string {
	if s, ok := v.Text(); ok {
		return tree.Quote(s)
	}
	if s, ok := v.Literal(); ok {
		return "the number " + tree.Short(s)
	}
	return v.Kind().String()
}

// need takes a required member.
func (r *request) need(name string) (dust.Value, bool) {
	v, ok := r.member(name)
	if !ok && r.missing == "" {
		r.missing = name
	}
	return v, ok
}

// needed takes a required member with one of the typed methods.
func needed[T any](r *request, name string, take func(string) (T, bool)) T {
	if _, ok := r.need(name); !ok {
		var none T
		return none
	}
	v, _ := take(name)
	return v
}

func (r *request) needInteger(name string) int64 { return needed(r, name, r.integer) }

func (r *request) needBoolean(name string) bool { return needed(r, name, r.boolean) }

func (r *request) needText(name string) string { return needed(r, name, r.text) }

func (r *request) needDigest(name string) Digest {
	return needed(r, name, func(name string) (Digest, bool) { return r.digest(name, true) })
}

// nullDocument is the result of an operation that returns none.
func nullDocument(err error) (*Document, error) {
	if err != nil {
		return nil, err
	}
	return newDocument(dust.Value{}), nil
}
