package stardust_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"maps"
	"path/filepath"
	"slices"
	"sort"
	"testing"

	"pgregory.net/rapid"

	"github.com/stardustdb/stardust"
)

// modelNode is a node of the model: what the database must say of it.
type modelNode struct {
	parent, revision int64
	name             string
	file             bool
	digest           stardust.Digest
}

// model is the objects spec as a Go map, beside the database that must agree.
type model struct {
	path     string
	db       *stardust.DB
	next     int64 // of the one sequence of entities and transactions
	nodes    map[int64]modelNode
	payloads map[stardust.Digest][]byte
	// past holds the tree as every commit left it.
	past  map[int64]map[int64]modelNode
	steps int
}

func TestDatabaseAgreesWithTheModel(t *testing.T) {
	dir := stardust.FastDir(t)
	runs := 0
	if !stardust.LongTests() {
		// A few short runs; STARDUST_LONG=1 makes rapid's own number of long ones.
		for name, value := range map[string]string{"rapid.checks": "20", "rapid.steps": "25"} {
			if err := flag.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		runs++
		m := &model{
			path: filepath.Join(dir, itoa(int64(runs))), next: 1,
			nodes: map[int64]modelNode{}, payloads: map[stardust.Digest][]byte{},
			past: map[int64]map[int64]modelNode{0: {}},
		}
		m.open(r)
		defer func() { m.db.Close() }()
		r.Repeat(map[string]func(*rapid.T){
			"":       m.compareNow,
			"upload": m.upload, "create": m.create, "update": m.update, "move": m.move,
			"remove": m.remove, "reopen": m.reopen, "past": m.comparePast, "forget": m.forget, "compact": m.compact,
		})
	})
}

func (m *model) open(r *rapid.T) {
	db, err := stardust.Open(m.path, withObjects())
	if err != nil {
		r.Fatal(err)
	}
	m.db = db
}

func (m *model) reopen(r *rapid.T) {
	if rapid.IntRange(0, 3).Draw(r, "reopen") > 0 {
		return
	}
	if err := m.db.Close(); err != nil {
		r.Fatal(err)
	}
	m.open(r)
}

// commit takes a transaction's id and gives it to the nodes it touched.
func (m *model) commit(touched ...int64) {
	for _, entity := range touched {
		n := m.nodes[entity]
		n.revision = m.next
		m.nodes[entity] = n
	}
	m.past[m.next] = maps.Clone(m.nodes)
	m.next++
}

func (m *model) child(parent int64, name string) int64 {
	for entity, n := range m.nodes {
		if n.parent == parent && n.name == name {
			return entity
		}
	}
	return 0
}

func (m *model) isDirectory(entity int64) bool {
	n, ok := m.nodes[entity]
	return entity == 0 || ok && !n.file
}

func (m *model) children(parent int64) (entities []int64) {
	for entity, n := range m.nodes {
		if n.parent == parent {
			entities = append(entities, entity)
		}
	}
	sort.Slice(entities, func(i, j int) bool { return m.nodes[entities[i]].name < m.nodes[entities[j]].name })
	return entities
}

// entity draws an id that mostly exists.
func (m *model) entity(r *rapid.T, label string) int64 {
	return rapid.Int64Range(-1, m.next).Draw(r, label)
}

func (m *model) name(r *rapid.T) string {
	return rapid.SampledFrom([]string{"a", "b", "c", "ä", "a\u0308", "CON", ".hidden", "..", "x/y"}).Draw(r, "name")
}

func validName(name string) bool { return name != ".." && name != "x/y" }

func (m *model) upload(r *rapid.T) {
	size := rapid.SampledFrom([]int{0, 1, 14, 1000, 300 << 10}).Draw(r, "size")
	data := randomBytes(uint64(rapid.IntRange(0, 3).Draw(r, "seed")), size)
	if rapid.Bool().Draw(r, "compressible") {
		copy(data[size/2:], data)
	}
	published, err := tryUpload(m.db, data)
	if err != nil {
		r.Fatal(err)
	}
	digest := stardust.Digest(sha256.Sum256(data))
	_, known := m.payloads[digest]
	if published.Digest != digest || published.Size != int64(size) || published.Deduplicated != known {
		r.Fatalf("published %+v, known %v", published, known)
	}
	m.payloads[digest] = data
}

func (m *model) digest(r *rapid.T) stardust.Digest {
	known := slices.SortedFunc(maps.Keys(m.payloads), func(a, b stardust.Digest) int { return bytes.Compare(a[:], b[:]) })
	known = append(known, stardust.Digest{1})
	return rapid.SampledFrom(known).Draw(r, "digest")
}

// agree checks the status of a call and returns whether it succeeded.
func agree(r *rapid.T, err error, want stardust.Status) bool {
	if want == 0 && err != nil {
		r.Fatalf("failed: %v", err)
	}
	if want != 0 && !errors.Is(err, want) {
		r.Fatalf("got %v, want %v", err, want)
	}
	return want == 0
}

func (m *model) create(r *rapid.T) {
	parent, name := m.entity(r, "parent"), m.name(r)
	file := rapid.Bool().Draw(r, "file")
	text := "[{parent " + itoa(parent) + " name \"" + name + "\""
	var digest stardust.Digest
	if file {
		digest = m.digest(r)
		text += " digest {#sha256 \"" + digest.String() + "\"}"
	}
	nodes, err := stardust.Parse([]byte(text+"}]"), stardust.DUST)
	if err != nil {
		r.Fatal(err)
	}
	_, published := m.payloads[digest]
	_, exists := m.nodes[parent]
	var want stardust.Status
	switch {
	case parent < 0 || !validName(name):
		want = stardust.StatusInvalidArgument
	case parent != 0 && !exists:
		want = stardust.StatusNotFound
	case !m.isDirectory(parent):
		want = stardust.StatusInvalidArgument
	case m.child(parent, name) != 0:
		want = stardust.StatusConflict
	case file && !published:
		want = stardust.StatusNotFound
	}
	_, err = m.db.Objects().Create(nodes)
	if agree(r, err, want) {
		entity := m.next
		m.next++
		m.nodes[entity] = modelNode{parent: parent, name: name, file: file, digest: digest}
		m.commit(entity)
	}
}

func (m *model) update(r *rapid.T) {
	entity, digest := m.entity(r, "entity"), m.digest(r)
	expected := rapid.SampledFrom([]int64{0, 0, m.nodes[entity].revision, 1}).Draw(r, "revision")
	n, exists := m.nodes[entity]
	_, published := m.payloads[digest]
	var want stardust.Status
	switch {
	case entity <= 0:
		want = stardust.StatusInvalidArgument
	case !exists:
		want = stardust.StatusNotFound
	case !n.file:
		want = stardust.StatusInvalidArgument
	case expected != 0 && expected != n.revision:
		want = stardust.StatusConflict
	case !published:
		want = stardust.StatusNotFound
	}
	_, err := m.db.Objects().Update(entity, digest.String(), expected)
	if agree(r, err, want) && n.digest != digest {
		n.digest = digest
		m.nodes[entity] = n
		m.commit(entity)
	}
}

func (m *model) inside(entity, directory int64) bool {
	for at := directory; at != 0; at = m.nodes[at].parent {
		if at == entity {
			return true
		}
	}
	return false
}

func (m *model) move(r *rapid.T) {
	entity, parent, name := m.entity(r, "entity"), m.entity(r, "parent"), m.name(r)
	replace := rapid.Bool().Draw(r, "replace")
	n, exists := m.nodes[entity]
	_, target := m.nodes[parent]
	other := m.child(parent, name)
	same := n.parent == parent && n.name == name
	var want stardust.Status
	switch {
	case entity <= 0 || parent < 0 || !validName(name):
		want = stardust.StatusInvalidArgument
	case !exists || parent != 0 && !target:
		want = stardust.StatusNotFound
	case !m.isDirectory(parent):
		want = stardust.StatusInvalidArgument
	case same:
	case !n.file && m.inside(entity, parent):
		want = stardust.StatusInvalidArgument
	case other != 0 && !replace:
		want = stardust.StatusConflict
	case other != 0 && (m.nodes[other].file != n.file || len(m.children(other)) > 0):
		want = stardust.StatusInvalidArgument
	}
	_, err := m.db.Objects().Move(entity, parent, name, 0, replace)
	if agree(r, err, want) && !same {
		delete(m.nodes, other)
		n.parent, n.name = parent, name
		m.nodes[entity] = n
		m.commit(entity)
	}
}

func (m *model) remove(r *rapid.T) {
	entity := m.entity(r, "entity")
	_, exists := m.nodes[entity]
	var want stardust.Status
	switch {
	case entity <= 0:
		want = stardust.StatusInvalidArgument
	case !exists:
		want = stardust.StatusNotFound
	case len(m.children(entity)) > 0:
		want = stardust.StatusInvalidArgument
	}
	if agree(r, m.db.Objects().Remove(entity, 0), want) {
		delete(m.nodes, entity)
		m.commit()
	}
}

// compareNow compares after every step the tree, and after every fourth the
// payloads, too.
func (m *model) compareNow(r *rapid.T) {
	if m.steps++; m.steps%4 == 0 {
		m.compare(r)
		return
	}
	m.compareTree(r, m.db.Objects(), m.nodes)
}

// compare checks the whole tree and every payload against the model.
func (m *model) compare(r *rapid.T) {
	m.compareTree(r, m.db.Objects(), m.nodes)
	for digest, data := range m.payloads {
		got, err := download(m.db, digest)
		if err != nil || !bytes.Equal(got, data) {
			r.Fatalf("payload %v: %d bytes, %v", digest, len(got), err)
		}
	}
}

func (m *model) compact(r *rapid.T) {
	if rapid.IntRange(0, 2).Draw(r, "compact") > 0 {
		return
	}
	report, err := m.db.Compact(r.Context(), nil)
	if err != nil {
		r.Fatal(err)
	}
	if report.SizeAfter > report.SizeBefore+(1<<20) {
		r.Fatalf("it grew: %+v", report)
	}
}

// forget keeps the last few revisions, and with them what they name. Payloads that
// no version ever named stay, too.
func (m *model) forget(r *rapid.T) {
	last := rapid.IntRange(1, 8).Draw(r, "keep")
	if rapid.IntRange(0, 3).Draw(r, "forget") > 0 {
		return
	}
	report, err := m.db.Forget(r.Context(), &stardust.ForgetOptions{KeepLast: last})
	if err != nil {
		r.Fatal(err)
	}
	past := slices.Sorted(maps.Keys(m.past))[1:] // all but the empty tree
	gone := past[:max(0, len(past)-last)]
	if report.Forgotten != int64(len(gone)) || report.Kept != int64(len(past)-len(gone)) {
		r.Fatalf("of %d revisions, %+v", len(past), report)
	}
	named := make(map[stardust.Digest]bool) // before
	for _, nodes := range m.past {
		for _, n := range nodes {
			named[n.digest] = true
		}
	}
	for _, revision := range gone {
		delete(m.past, revision)
		if _, err := m.db.AsOf(revision); !errors.Is(err, stardust.StatusNotFound) {
			r.Fatalf("as of %d, which was forgotten: %v", revision, err)
		}
	}
	for _, nodes := range m.past {
		for _, n := range nodes {
			delete(named, n.digest)
		}
	}
	for digest := range named {
		delete(m.payloads, digest)
	}
}

// comparePast checks the tree as some earlier commit left it.
func (m *model) comparePast(r *rapid.T) {
	revision := rapid.SampledFrom(slices.Sorted(maps.Keys(m.past))).Draw(r, "past")
	snapshot, err := m.db.AsOf(revision)
	if err != nil {
		r.Fatal(err)
	}
	m.compareTree(r, snapshot.Objects(), m.past[revision])
}

func (m *model) compareTree(r *rapid.T, objects stardust.Objects, nodes map[int64]modelNode) {
	seen := 0
	for entry, err := range objects.Tree().Walk(0) {
		if err != nil {
			r.Fatal(err)
		}
		if entry.Record.Entity == 0 {
			continue
		}
		seen++
		got := entry.Record
		want, ok := nodes[got.Entity]
		if !ok || got.Parent != want.parent || got.Name != want.name || got.Revision != want.revision ||
			(got.Kind == stardust.KindFile) != want.file || got.Digest != want.digest {
			r.Fatalf("node %+v, want %+v", got, want)
		}
		if want.file && got.Size != int64(len(m.payloads[want.digest])) {
			r.Fatalf("node %+v has %d bytes", got, got.Size)
		}
		if found, err := objects.Tree().Lookup(got.Parent, got.Name); err != nil || found != got {
			r.Fatalf("look-up of %+v: %+v, %v", got, found, err)
		}
	}
	if seen != len(nodes) {
		r.Fatalf("walked %d nodes, want %d", seen, len(nodes))
	}
}
