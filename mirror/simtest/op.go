package simtest

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

// opKind is what a client does in one operation.
type opKind int

const (
	opGet opKind = iota
	opHead
	opPut
	opMultipart
	opFetch      // and wait
	opFetchLater // wait, or cancel, some time later
	opPrefetch
	opEvict
	opDelete
	opDeleteAll
	opList
	opScan
	opReadManifest
	opWriteManifest
	opPlainPut // of a path that is not mirrored
	opPlainGet
	opCopy
	opOverwrite // of a mutable path
	opReadMutable
	opDropMutable
	opKinds
)

var opNames = [opKinds]string{
	"get", "head", "put", "multipart", "fetch", "fetch later", "prefetch", "evict", "delete", "delete all",
	"list", "scan", "read manifest", "write manifest", "plain put", "plain get", "copy",
	"overwrite", "read mutable", "drop mutable",
}

// opWeights are how often each kind is drawn.
var opWeights = [opKinds]int{20, 4, 12, 8, 10, 8, 4, 14, 6, 2, 1, 2, 3, 3, 1, 1, 1, 8, 8, 2}

// op is one operation of a client, drawn before it begins.
type op struct {
	id, client int
	kind       opKind
	paths      []objectstore.Path
	read       mirror.ReadRoute
	refused    bool // by the policy
	part       *objectstore.Range
	create     bool
	race       bool // a part is sent twice at once, with other bytes
	update     bool // of what the remote has; in place of create
	body       bodyKind
	cuts       []int // where the content is cut into parts
	order      []int // in which the parts are sent
	parallel   bool
	byID       bool
	end        int   // of a multipart upload: 0, 1 complete, 2 abort, 3 abandon
	holds      int   // how often it pauses
	number     int64 // any

	cancel context.CancelFunc
	// Guarded by simulation.mu.
	canceled, committed, done bool
	reached                   bool // a write's call to the remote began
	begun                     int
	before                    map[objectstore.Path]seen
}

// bodyKind is how the bytes of a write come.
type bodyKind int

const (
	bodyBytes bodyKind = iota
	bodyStream
	bodyBroken // it ends early
)

// seen is what the remote had when an operation began.
type seen struct {
	remote     bool
	deletions  int
	progressed int
}

func (o *op) path() objectstore.Path { return o.paths[0] }

func (o *op) String() string {
	text := fmt.Sprintf("client %d op %d: %s %q", o.client, o.id, opNames[o.kind], o.paths)
	switch o.kind {
	case opGet, opHead:
		text += fmt.Sprintf(" %v %v", o.read, o.part)
	case opOverwrite:
		text += fmt.Sprintf(" create=%v update=%v body=%d way=%d.%d race=%v", o.create, o.update, o.body, o.number%3, o.holds, o.race)
	case opReadMutable:
		text += fmt.Sprintf(" %v", o.read)
	case opDropMutable:
		text += fmt.Sprintf(" delete=%v", o.create)
	case opPut:
		text += fmt.Sprintf(" create=%v body=%d", o.create, o.body)
	case opMultipart:
		text += fmt.Sprintf(" cuts=%v order=%v parallel=%v id=%v end=%d", o.cuts, o.order, o.parallel, o.byID, o.end)
	}
	if o.refused {
		text += " refused"
	}
	return text
}

// draw draws the next operation of a client.
func (s *simulation) draw(client int) *op {
	random := s.random
	total := 0
	for _, w := range s.config.weights {
		total += w
	}
	n := random.IntN(total)
	kind := opKind(0)
	for ; n >= s.config.weights[kind]; kind++ {
		n -= s.config.weights[kind]
	}
	if kind == opScan && s.config.scan > 0 {
		// The scan in the background holds a mutex.
		kind = opGet
	}
	s.result.Operations++
	o := &op{id: s.result.Operations, client: client, kind: kind, holds: random.IntN(3), number: random.Int64(), refused: random.IntN(50) == 0}
	for range 1 + random.IntN(3) {
		o.paths = append(o.paths, s.drawPath(random))
	}
	switch kind {
	case opFetch, opFetchLater, opDeleteAll, opWriteManifest, opPrefetch, opEvict:
	default:
		o.paths = o.paths[:1]
	}
	o.read = []mirror.ReadRoute{mirror.ReadLocal, mirror.ReadLocal, mirror.ReadLocal, mirror.ReadRefetch, mirror.ReadThrough, mirror.ReadThrough}[random.IntN(6)]
	switch kind {
	case opOverwrite, opReadMutable, opDropMutable:
		o.paths[0] = mutablePath(o.number)
		o.update = random.IntN(4) == 0
		o.race = random.IntN(2) == 0
	default:
	}
	size := int64(len(s.content(o.path())))
	if random.IntN(2) == 0 && size > 0 {
		at := random.Int64N(size)
		o.part = []*objectstore.Range{objectstore.From(at), objectstore.Suffix(at + 1), objectstore.Bounded(at, at+1+random.Int64N(size))}[random.IntN(3)]
	}
	o.create = random.IntN(3) == 0
	o.body = []bodyKind{bodyBytes, bodyBytes, bodyBytes, bodyStream, bodyStream, bodyBroken}[random.IntN(6)]
	drawParts(o, random, int(size))
	return o
}

// drawPath draws a path that is known, or sometimes a new one.
func (s *simulation) drawPath(random *rand.Rand) objectstore.Path {
	if s.config.big && random.IntN(2) == 0 {
		return bigPath
	}
	if random.IntN(s.config.fresh) == 0 && s.known < 40 {
		s.known++
		return pathNumber(s.known - 1)
	}
	if random.IntN(2) == 0 {
		// Hot paths make operations meet.
		return pathNumber(max(0, s.known-1-random.IntN(2)))
	}
	return pathNumber(random.IntN(s.known))
}

func drawParts(o *op, random *rand.Rand, size int) {
	for range random.IntN(3) {
		if size > 1 {
			o.cuts = append(o.cuts, 1+random.IntN(size-1))
		}
	}
	o.order = random.Perm(len(o.cuts) + 1)
	if random.IntN(4) == 0 {
		o.order = append(o.order, random.IntN(len(o.order))) // one twice
	}
	o.parallel = random.IntN(3) == 0 && len(o.order) == len(o.cuts)+1
	o.byID = random.IntN(2) == 0
	o.end = random.IntN(6)
	if o.end > 3 {
		o.end = 0
	}
}

// canRunParts reports whether parts of an upload may be sent at once: the
// local name must be the plain one for isQuiet to know it.
func canRunParts(path objectstore.Path) bool { return path.Base()[0] != 't' && path.Base()[0] != 'T' }
