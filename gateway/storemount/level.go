package storemount

import (
	"context"
	"iter"
	"strings"

	"github.com/stardustdb/stardust/objectstore"
)

// entry is one name of a level.
type entry struct {
	name      string
	directory bool
	object    objectstore.ObjectMeta // of an object
	// hidden says why the tree can't show what is there, and is empty otherwise.
	hidden string
}

// maxName is the longest name that Linux programs expect, in bytes.
const maxName = 255

// whyHidden says why a name can't be in a tree.
func whyHidden(name string) string {
	switch {
	case name == "":
		return "an empty segment"
	case name == "." || name == "..":
		return "the segment " + name
	case len(name) > maxName:
		return "a segment of more than 255 bytes"
	}
	return ""
}

// skipAfter is how many objects beneath one directory are passed before the list is
// begun again after them: a page of S3, which has come already.
const skipAfter = 1000

// level yields what lies directly beneath a prefix, which is empty or ends in "/",
// each name once and in no order that callers may rely on. It needs memory for one
// page of the store's list, whatever the level's size. A yielded error ends it.
//
// Keys come in the order of their bytes, so "a" comes before "a.b" and both before
// "a/b": whether a directory has the name of an object shows only later. Objects
// wait for that; those that wait are each the beginning of the next one's name.
func level(ctx context.Context, store objectstore.Store, prefix string) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		l := leveller{prefix: prefix, yield: yield}
		for offset, more := "", true; more && !l.ended; {
			offset, more = l.pass(store.List(ctx, &objectstore.ListOptions{Prefix: prefix, Offset: offset}))
		}
		for !l.ended && len(l.waiting) > 0 {
			l.pop("")
		}
	}
}

// leveller is the state of a level.
type leveller struct {
	prefix  string
	yield   func(entry, error) bool
	ended   bool
	waiting []entry
	inside  string // the directory whose objects come now
	within  bool   // inside is set
}

// pass goes through a list, up to its end or to where it had better be begun again.
func (l *leveller) pass(list iter.Seq2[objectstore.ObjectMeta, error]) (offset string, more bool) {
	passed := 0
	for meta, err := range list {
		if err != nil {
			l.yield(entry{}, err)
			l.ended = true
			return "", false
		}
		name, _, deep := strings.Cut(string(meta.Path)[len(l.prefix):], "/")
		l.settle(string(meta.Path)[len(l.prefix):])
		switch {
		case l.ended:
			return "", false
		case !deep && name == "":
			// The object that makes this level a directory.
		case !deep:
			l.waiting = append(l.waiting, entry{name: name, object: meta, hidden: whyHidden(name)})
		case l.within && l.inside == name:
			// No key has a greater character than this one after the slash.
			beyond := l.prefix + name + "/\U0010FFFF"
			if passed++; passed >= skipAfter && string(meta.Path) < beyond {
				return beyond, true
			}
		default:
			l.inside, l.within, passed = name, true, 0
			l.send(entry{name: name, directory: true, hidden: whyHidden(name)})
		}
	}
	return "", false
}

// settle yields the objects that wait and that no directory can have the name of any
// more, now that rest has come.
func (l *leveller) settle(rest string) {
	for !l.ended && len(l.waiting) > 0 {
		after, longer := strings.CutPrefix(rest, l.waiting[len(l.waiting)-1].name)
		if longer && after != "" && after[0] < '/' {
			return
		}
		taken := ""
		if longer && after != "" && after[0] == '/' {
			taken = "a directory has its name"
		}
		l.pop(taken)
	}
}

// pop yields the object that waits last.
func (l *leveller) pop(hidden string) {
	last := l.waiting[len(l.waiting)-1]
	l.waiting = l.waiting[:len(l.waiting)-1]
	if last.hidden == "" {
		last.hidden = hidden
	}
	l.send(last)
}

func (l *leveller) send(e entry) {
	if !l.ended && !l.yield(e, nil) {
		l.ended = true
	}
}

// find returns what a name of a level is, in one request as a rule. It returns false
// when there is nothing of that name.
func find(ctx context.Context, store objectstore.Store, prefix, name string) (entry, bool, error) {
	key := prefix + name
	found, ok := entry{name: name}, false
	passed := 0
	for meta, err := range store.List(ctx, &objectstore.ListOptions{Prefix: key}) {
		if err != nil {
			return entry{}, false, err
		}
		rest := string(meta.Path)[len(key):]
		switch {
		case rest == "":
			found.object, ok = meta, true
			continue
		case rest[0] == '/':
			return entry{name: name, directory: true}, true, nil
		case rest[0] < '/':
			if passed++; passed < skipAfter {
				continue
			}
			directory, err := exists(ctx, store, key+"/")
			if directory || err != nil {
				return entry{name: name, directory: true}, directory, err
			}
		}
		break
	}
	return found, ok, nil
}

// exists reports whether there is an object with a prefix.
func exists(ctx context.Context, store objectstore.Store, prefix string) (bool, error) {
	for _, err := range store.List(ctx, &objectstore.ListOptions{Prefix: prefix}) {
		return err == nil, err
	}
	return false, nil
}
