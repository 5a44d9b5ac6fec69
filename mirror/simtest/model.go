package simtest

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/stardustdb/stardust/objectstore"
)

// outcome is what an operation leaves behind, by the rules of RFC 0034,
// Ordering.
type outcome int

const (
	unknown outcome = iota
	present         // there is a local copy
	absent          // there is none
)

// turn is an operation's place in the line of a path.
type turn struct {
	download bool
	issued   int
	done     bool
	leaves   outcome // once done
	// Of a prefetch, or nil: what the remote had of each path when it was issued.
	prefetch map[objectstore.Path]seen
}

// object is what the model knows of one path.
type object struct {
	path objectstore.Path
	// line has the turns of this life since the last quiet moment, in the
	// order in which they were issued.
	line []*turn
	// Reads that may download on their own: how many are in progress, and
	// when the last one ended.
	loose, looseEnded int
	remote            bool // it is in the remote
	deletions         int
	deleted           bool // by anyone, since the last quiet moment or before
	rotten            bool // its local copy may have been damaged
	rotted            int  // when it was last
	vanished          bool // somebody else removed its local copy's file
	installed         int  // when a copy was last renamed into place
	// Single flight: GETs of downloads, and how many there may be. group is
	// set while a new download may join one in line.
	gets, allowed int
	group         bool
	// barren is how many GETs of a download have failed since one brought bytes,
	// that one included; gaveUp is when they were too many, progressed when one
	// brought bytes.
	barren, gaveUp, progressed int
	calls                      []string // to the remote that exclude each other
}

// claim returns what the path must be like now. s.mu is held.
func (s *simulation) claim(ob *object) outcome {
	if len(ob.line) == 0 || s.life == nil || s.life.closing {
		return unknown
	}
	last := ob.line[len(ob.line)-1]
	switch {
	case !last.done:
		return unknown
	case last.leaves == present && (ob.deleted || ob.vanished):
		return unknown // a scan, or a read, may have found out
	case ob.loose == 0 && ob.looseEnded < last.issued:
	case last.leaves == absent, s.life.localFaults > 0:
		// A read has downloaded it since, or has tried to and lost it.
		return unknown
	}
	return last.leaves
}

// mustBePrefetched reports whether the last operation on a path that was not a
// download given up by its caller, or failed, was a prefetch, and nothing can
// have kept it from bringing the object. Nothing is in progress. s.mu is held.
func (s *simulation) mustBePrefetched(ob *object) bool {
	l := s.life
	if l == nil || l.closing || l.localFaults > 0 || l.lies > 0 || ob.vanished || ob.deleted ||
		s.config.maxRetries.Or(objectstore.RetryForever) != objectstore.RetryForever {
		return false
	}
	for _, t := range slices.Backward(ob.line) {
		switch {
		case t.prefetch != nil:
			before := t.prefetch[ob.path]
			return before.remote && before.deletions == ob.deletions
		case !t.download || !t.done || t.leaves != unknown:
			return false
		}
	}
	return false
}

func (s *simulation) object(path objectstore.Path) *object {
	ob := s.objects[path]
	if ob == nil {
		ob = &object{path: path}
		s.objects[path] = ob
		s.nameFiles(path)
	}
	return ob
}

// forgetLife forgets what was only of a life before.
func (s *simulation) forgetLife() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ob := range s.objects {
		ob.line, ob.calls = nil, nil
		ob.loose, ob.looseEnded, ob.gets, ob.allowed, ob.group = 0, 0, 0, 0, false
	}
	s.active = nil
	clear(s.quiet)
}

// turnKind is what a turn is for.
type turnKind int

const (
	turnFetch   turnKind = iota // download unless local
	turnRefetch                 // download
	turnOther                   // write, delete or evict
)

// issue puts a turn into the line of every path.
func (s *simulation) issue(kind turnKind, paths ...objectstore.Path) *turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moment++
	t := &turn{download: kind != turnOther, issued: s.moment}
	for _, path := range paths {
		ob := s.object(path)
		if kind == turnOther {
			ob.allowed += ob.loose
		} else {
			s.allow(ob, kind)
		}
		ob.line = append(ob.line, t)
	}
	return t
}

// allow counts a download that may need a GET of its own. s.mu is held.
func (s *simulation) allow(ob *object, kind turnKind) {
	if n := len(ob.line); n > 0 && ob.line[n-1].download && ob.group {
		return
	}
	if kind == turnFetch && s.life.mirror.Handle().Contains(ob.path) && !slices.ContainsFunc(ob.line, func(t *turn) bool { return !t.done }) {
		return // at most evictions are pending, which the fetch cancels
	}
	ob.allowed++
	ob.group = true
}

// finish says what a turn has left, and checks that it is so.
func (s *simulation) finish(l *life, t *turn, leaves outcome, paths ...objectstore.Path) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moment++
	t.done, t.leaves = true, leaves
	if s.life != l || l.mirror == nil {
		return
	}
	for _, path := range paths {
		ob := s.object(path)
		if leaves == unknown {
			ob.group = false
			continue
		}
		if ob.line[len(ob.line)-1] != t {
			continue
		}
		claim, local := s.claim(ob), l.mirror.Handle().Contains(path)
		if claim == present && !local || claim == absent && local {
			s.fail(fmt.Sprintf("order: the last operation on %q left it %v, but Contains is %v", path, leaves, local))
		}
	}
}

func (o outcome) String() string { return [...]string{"unknown", "local", "not local"}[o] }

// loosely counts a read that may download on its own: at any time, or only when
// it finds its object removed again. The caller calls the function returned at
// its end.
func (s *simulation) loosely(path objectstore.Path, anyTime bool) (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ob := s.object(path)
	ob.loose++
	more := func() {
		if anyTime {
			ob.allowed += 8
		}
	}
	more()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.moment++
		ob.loose--
		ob.looseEnded = s.moment
		more()
	}
}

// stored is told that the remote has an object, and by which operation.
func (s *simulation) stored(o *op, path objectstore.Path) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.object(path).remote = true
	s.mutated(path)
	if o != nil {
		o.committed = true
	}
}

// reached is told that a write's call to the remote begins.
func (s *simulation) reached(o *op) {
	if o == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o.reached = true
}

// removed is told that the remote has an object no more.
func (s *simulation) removed(path objectstore.Path) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ob := s.object(path)
	ob.remote, ob.deleted = false, true
	ob.deletions++
	s.mutated(path)
}

// downloadBegins is told of a GET that a download makes.
func (s *simulation) downloadBegins(l *life, path objectstore.Path) {
	if !isSingle(path) || s.hasEnded(l) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ob := s.object(path)
	ob.gets++
	if ob.gets > ob.allowed {
		s.fail(fmt.Sprintf("single flight: %d GETs of %q for %d downloads and faults", ob.gets, path, ob.allowed))
	}
	s.exclude(ob, "get")
}

// downloadWent is told how a GET of a download went: whether it brought bytes,
// and whether it failed. A download that makes progress must not give up.
func (s *simulation) downloadWent(path objectstore.Path, progress, failed bool) {
	if !isSingle(path) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ob := s.object(path)
	if progress {
		s.moment++
		ob.barren, ob.progressed = 0, s.moment
	}
	if !failed {
		return
	}
	ob.barren++
	if max := s.config.maxRetries.Or(objectstore.RetryForever); !max.Allow(ob.barren - 1) {
		s.moment++
		ob.gaveUp = s.moment
	}
}

// downloadEnds is told of its end, and how many GETs it may give rise to because
// it went wrong.
func (s *simulation) downloadEnds(l *life, path objectstore.Path, more int) {
	if !isSingle(path) || s.hasEnded(l) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ob := s.object(path)
	ob.allowed += more
	if more == 0 {
		ob.group = false
	}
	ob.admit("get")
}

// alone checks that no other call of the mirror's operations on the path is in
// progress: they run one after another. The caller calls the function returned
// at its end.
func (s *simulation) alone(l *life, path objectstore.Path, call string) (end func()) {
	if !isSingle(path) || s.hasEnded(l) {
		return func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ob := s.object(path)
	s.exclude(ob, call)
	return func() {
		if s.hasEnded(l) {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		ob.admit(call)
	}
}

func (s *simulation) exclude(ob *object, call string) {
	if len(ob.calls) > 0 {
		s.fail(fmt.Sprintf("order: %s of %q reaches the remote while %v is in progress", call, ob.path, ob.calls))
	}
	ob.calls = append(ob.calls, call)
}

func (ob *object) admit(call string) {
	if i := slices.Index(ob.calls, call); i >= 0 {
		ob.calls = slices.Delete(ob.calls, i, i+1)
	}
}

// bigPath is that of an object so large that a download asks for it in ranges,
// side by side, when it can.
const (
	bigPath objectstore.Path = "big/one"
	bigSize                  = 24<<20 + 70_000
)

// isSingle reports whether a path is mirrored, and its download one GET.
func isSingle(path objectstore.Path) bool { return strings.HasPrefix(string(path), "db/") }

// content returns the bytes of a path, the same whoever writes it.
func content(path objectstore.Path) []byte {
	switch {
	case path == bigPath:
		data := make([]byte, 0, bigSize+8)
		for i := uint64(1); len(data) < bigSize; i++ {
			data = binary.LittleEndian.AppendUint64(data, i*0x9e3779b97f4a7c15|0x0101010101010101)
		}
		return data[:bigSize]
	case !isSingle(path):
		return []byte(path)
	}
	random := rand.New(rand.NewPCG(hash(1, string(path)), 2))
	size := 0
	switch random.IntN(10) {
	case 0:
	case 1:
		size = 1
	case 2:
		size = 64<<10 + random.IntN(3) - 1
	case 3:
		size = 64<<10 + 1000
	default:
		size = 2 + random.IntN(600)
	}
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(random.Uint32()>>8) | 1 // never zero
	}
	return data
}

// attributes returns the attributes of a path.
func attributes(path objectstore.Path) objectstore.Attributes {
	if hash(7, string(path))%2 == 0 {
		return objectstore.Attributes{}
	}
	return objectstore.Attributes{ContentType: "text/plain", Metadata: map[string]string{"path": string(path)}}
}

// pathNumber returns one of the paths that clients use.
func pathNumber(n int) objectstore.Path {
	switch n % 6 {
	case 3:
		return objectstore.Path(fmt.Sprintf("db/other/%02d.sst", n))
	case 4: // the next one differs by case alone
		return objectstore.Path(fmt.Sprintf("db/one/twin-%02d", n))
	case 5:
		return objectstore.Path(fmt.Sprintf("db/one/TWIN-%02d", n-1))
	default:
		return objectstore.Path(fmt.Sprintf("db/one/%02d.sst", n))
	}
}

func sortedPaths[V any](m map[objectstore.Path]V) []objectstore.Path {
	return slices.Sorted(maps.Keys(m))
}
