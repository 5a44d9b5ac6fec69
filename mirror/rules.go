package mirror

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/stardustdb/stardust/objectstore"
)

// A Rule gives routes to the paths that it matches: those that have the
// Prefix, the Suffix and match the Glob, each where it is not empty.
type Rule struct {
	// Prefix and Suffix are plain strings.
	Prefix, Suffix string
	// Glob matches whole paths: * within a segment, ** across segments,
	// ? one character, [a-z] a class, {a,b} alternatives.
	Glob string
	// The routes. Observe routes are not allowed: Rules has nothing to do
	// with what it would see.
	Read      ReadRoute
	Write     WriteRoute
	Multipart MultipartRoute
}

// Keep is a Rule that keeps the paths under a prefix: it reads through and
// writes to both.
func Keep(prefix string) Rule {
	return Rule{Prefix: prefix, Read: ReadThrough, Write: WriteMirror, Multipart: MultipartMirror}
}

// Rules is a Policy made of rules: the first that matches a path counts, and a
// path that none matches goes to the remote only. Make one with [NewRules].
type Rules struct {
	BasePolicy
	rules []Rule
}

// NewRules checks the rules; the error is an [InvalidConfig] that names the one
// that can't be.
func NewRules(rules ...Rule) (*Rules, error) {
	for i, rule := range rules {
		if err := rule.validate(); err != nil {
			return nil, &InvalidConfig{Message: fmt.Sprintf("rule %d of %d", i+1, len(rules)), Source: err}
		}
	}
	return &Rules{rules: append([]Rule(nil), rules...)}, nil
}

func (r Rule) validate() error {
	switch {
	case r.Glob != "" && !doublestar.ValidatePattern(r.Glob):
		return fmt.Errorf("glob %q is malformed", r.Glob)
	case r.Read == ReadObserve || r.Write == WriteObserve:
		return errors.New("a rule can't observe")
	case r.Read < ReadRemote || r.Read > ReadThrough:
		return fmt.Errorf("%v does not exist", r.Read)
	case r.Write < WriteRemote || r.Write > WriteMirror:
		return fmt.Errorf("%v does not exist", r.Write)
	case r.Multipart < MultipartRemote || r.Multipart > MultipartMirror:
		return fmt.Errorf("%v does not exist", r.Multipart)
	}
	return nil
}

func (r Rule) matches(path objectstore.Path) bool {
	return strings.HasPrefix(string(path), r.Prefix) && strings.HasSuffix(string(path), r.Suffix) &&
		(r.Glob == "" || doublestar.MatchUnvalidated(r.Glob, string(path)))
}

// find returns the rule for a path; the zero Rule is remote only.
func (r *Rules) find(path objectstore.Path) Rule {
	for _, rule := range r.rules {
		if rule.matches(path) {
			return rule
		}
	}
	return Rule{}
}

// ReadRoute implements Policy.
func (r *Rules) ReadRoute(path objectstore.Path, _ *objectstore.GetOptions) (ReadRoute, error) {
	return r.find(path).Read, nil
}

// PutRoute implements Policy.
func (r *Rules) PutRoute(path objectstore.Path, _ *objectstore.PutOptions) (WriteRoute, error) {
	return r.find(path).Write, nil
}

// MultipartRoute implements Policy.
func (r *Rules) MultipartRoute(path objectstore.Path, _ *objectstore.MultipartOptions) (MultipartRoute, error) {
	return r.find(path).Multipart, nil
}

func hasPrefix(path objectstore.Path, prefix string) bool {
	return strings.HasPrefix(string(path), prefix)
}

// isGone reports whether err is nil or says that the object was deleted.
func isGone(err error) bool { return err == nil || errors.Is(err, objectstore.ErrNotFound) }
