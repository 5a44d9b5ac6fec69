package salvage

import (
	"maps"
	"slices"
	"strconv"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/digest"
)

// place is where a node is.
type place struct {
	parent int64
	name   string
}

// node is a file or directory as the transactions so far leave it.
type node struct {
	place
	named    bool // its name is known
	file     bool
	digest   digest.Digest
	revision int64
	live     bool // it is in the new database, too
	// others are its attributes beyond the tree's own, as compact JSON.
	others map[string][]byte
}

// tree follows the transactions, and keeps the rules of a tree where what is
// known contradicts them.
type tree struct {
	nodes    map[int64]*node
	children map[place]int64 // of live nodes
	whole    func(digest.Digest) bool
	exact    bool  // every transaction is known: they contradict nothing
	attic    int64 // the lost and found directory, made when it is first needed
	made     bool
	extra    []catalog.Fact // what must be written before the transaction's own
}

// isAttribute reports whether a fact is not of the tree itself.
func isAttribute(f *catalog.Fact) bool {
	switch f.Attribute {
	case catalog.AttributeParent, catalog.AttributeName, catalog.AttributeDigest:
		return false
	}
	return true
}

// apply returns what a transaction is in the new database; all or parts of it
// may not apply there.
func (t *tree) apply(tr *catalog.Transaction) *catalog.Transaction {
	t.extra = nil
	var facts []catalog.Fact
	for rest := tr.Facts; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Entity == rest[0].Entity {
			n++
		}
		facts = append(facts, t.change(tr.ID, rest[0].Entity, rest[:n])...)
		rest = rest[n:]
	}
	return &catalog.Transaction{ID: tr.ID, Time: tr.Time, Facts: append(t.extra, facts...)}
}

// change applies the facts of one entity and returns those to write.
func (t *tree) change(revision, entity int64, facts []catalog.Fact) []catalog.Fact {
	if entity == catalog.Root {
		return facts // said of the database as a whole, which has no place
	}
	n := t.nodes[entity]
	if n == nil {
		n = &node{others: make(map[string][]byte)}
		t.nodes[entity] = n
	}
	before := *n
	before.others = maps.Clone(n.others)
	var removed bool
	for i := range facts {
		f := &facts[i]
		switch {
		case isAttribute(f) && f.Value.Kind == catalog.Retracted:
			delete(n.others, f.Attribute)
		case isAttribute(f):
			n.others[f.Attribute] = f.Value.Bytes
		case f.Value.Kind == catalog.Retracted:
			removed = true
		case f.Attribute == catalog.AttributeParent:
			n.parent = f.Value.Int
		case f.Attribute == catalog.AttributeName:
			n.name, n.named = string(f.Value.Bytes), true
		default:
			n.file, n.digest = true, f.Value.Digest
		}
	}
	n.revision = revision
	if removed {
		delete(t.nodes, entity)
		if !before.live {
			return nil
		}
		t.vacate(entity, before.place)
		return facts
	}
	if n.file && !t.whole(n.digest) {
		n.live = false
		if !before.live {
			return nil
		}
		t.vacate(entity, before.place)
		lost := gone(entity, before.file)
		for _, name := range slices.Sorted(maps.Keys(before.others)) {
			lost = append(lost, catalog.Retract(entity, name))
		}
		return lost
	}
	wanted := n.place
	if !t.exact {
		t.fit(entity, n)
	}
	n.live = true
	if before.live {
		t.vacate(entity, before.place)
	}
	t.children[n.place] = entity
	if before.live && n.place == wanted {
		return facts // as they are
	}
	return n.facts(entity)
}

// vacate makes a node's place free.
func (t *tree) vacate(entity int64, at place) {
	if t.children[at] == entity {
		delete(t.children, at)
	}
}

// facts are all that makes a node.
func (n *node) facts(entity int64) []catalog.Fact {
	facts := []catalog.Fact{
		catalog.Int64(entity, catalog.AttributeParent, n.parent),
		catalog.String(entity, catalog.AttributeName, n.name),
	}
	if n.file {
		facts = append(facts, catalog.Digest(entity, catalog.AttributeDigest, n.digest))
	}
	for _, name := range slices.Sorted(maps.Keys(n.others)) {
		facts = append(facts, catalog.Raw(entity, name, n.others[name]))
	}
	return facts
}

// fit finds a place where a node can be, when its own is not known, or cannot be.
func (t *tree) fit(entity int64, n *node) {
	if !n.named {
		n.parent, n.name, n.named = t.lostAndFound(), "entity-"+strconv.FormatInt(entity, 10), true
	}
	if t.above(entity, n.parent) {
		n.parent = t.lostAndFound()
	}
	if n.parent != catalog.Root {
		t.directory(n.parent)
	}
	if other, taken := t.children[n.place]; taken && other != entity {
		t.toLostAndFound(other)
	}
}

// above reports whether a node is a directory or one above it.
func (t *tree) above(entity, directory int64) bool {
	for range len(t.nodes) + 1 {
		if directory == entity {
			return true
		}
		above, ok := t.nodes[directory]
		if !ok || directory == catalog.Root {
			return false
		}
		directory = above.parent
	}
	return true
}

// directory makes a directory of which nothing else is known.
func (t *tree) directory(entity int64) {
	if n := t.nodes[entity]; n != nil && n.live && !n.file {
		return
	}
	if n := t.nodes[entity]; n != nil && n.live {
		return // a file: the tables contradict each other, and Apply does not mind
	}
	attic := t.lostAndFound()
	if entity == attic {
		return
	}
	n := &node{place: place{attic, "directory-" + strconv.FormatInt(entity, 10)}, named: true, live: true}
	t.nodes[entity], t.children[n.place] = n, entity
	t.extra = append(t.extra, n.facts(entity)...)
}

// lostAndFound returns the directory for what has no place, and makes it.
func (t *tree) lostAndFound() int64 {
	if t.made {
		return t.attic
	}
	t.made = true
	n := &node{place: place{catalog.Root, "lost+found"}, named: true, live: true}
	for i := 2; ; i++ {
		if _, taken := t.children[n.place]; !taken {
			break
		}
		n.name = "lost+found-" + strconv.Itoa(i)
	}
	t.nodes[t.attic], t.children[n.place] = n, t.attic
	t.extra = append(t.extra, n.facts(t.attic)...)
	return t.attic
}

// toLostAndFound moves a node there.
func (t *tree) toLostAndFound(entity int64) {
	n := t.nodes[entity]
	if t.made && n.parent == t.attic {
		return
	}
	to := place{t.lostAndFound(), n.name}
	if _, taken := t.children[to]; taken || len(n.name) > maxName-20 {
		to.name = shorten(n.name) + "-" + strconv.FormatInt(entity, 10)
	}
	t.vacate(entity, n.place)
	n.place = to
	t.children[to] = entity
	t.extra = append(t.extra,
		catalog.Int64(entity, catalog.AttributeParent, to.parent),
		catalog.String(entity, catalog.AttributeName, to.name))
}

// maxName is how many bytes a name may have.
const maxName = 4096

func shorten(name string) string {
	cut := min(len(name), maxName-24)
	for cut > 0 && cut < len(name) && name[cut]&0xc0 == 0x80 {
		cut-- // within a character
	}
	return name[:cut]
}

// path returns where a node is.
func (t *tree) path(entity int64) string {
	text := ""
	for range len(t.nodes) + 1 {
		n := t.nodes[entity]
		if n == nil {
			break
		}
		name := n.name
		if !n.named {
			name = "entity-" + strconv.FormatInt(entity, 10)
		}
		text = "/" + name + text
		entity = n.parent
	}
	return text
}
