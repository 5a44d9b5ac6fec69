package stardust

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stardustdb/stardust/internal/container"
)

func digestOf(data []byte) Digest { return sha256.Sum256(data) }

// diskOp is one operation that a recorder saw.
type diskOp struct {
	kind   container.OpKind
	wal    bool
	offset int64
	size   int64 // of a hole
	data   []byte
}

// recorder notes every operation on the file and its log. It lets one happen at
// a time, so that their order is the disk's.
type recorder struct {
	mu  sync.Mutex
	ops []diskOp
}

func (r *recorder) hook(op container.Op, do func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := do(); err != nil {
		return err
	}
	o := diskOp{kind: op.Kind, wal: op.WAL, offset: op.Offset, size: op.Size}
	for _, piece := range op.Data {
		o.data = append(o.data, piece...)
	}
	r.ops = append(r.ops, o)
	return nil
}

func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.ops)
}

// recording is a script's run: its operations on the disk, and what the database
// held after each step.
type recording struct {
	ops        []diskOp
	steps      []step
	begin, end []int // of each step, as positions in ops
	states     []string
	payloads   map[Digest][]byte
}

// recordCrashScript runs a script that does a little of everything, and makes
// room for SQLite's pages more than once.
func recordCrashScript(t *testing.T) *recording {
	t.Helper()
	small, large, other := []byte("hello"), noise(1, 2800<<10), halves(2, 300<<10)
	file := func(name string, data []byte) string {
		return `{name ` + name + ` digest {#sha256 "` + digestOf(data).String() + `"}}`
	}
	var many strings.Builder
	for i := range 500 {
		fmt.Fprintf(&many, "{name %q}", fmt.Sprintf("%03d-%s", i, strings.Repeat("n", 600)))
	}
	r := &recording{steps: []step{
		stepOpen(),
		stepUpload(small),
		stepCreate(`[{name dir} ` + file("a", small) + file("b", small) + `]`), // 1 to 3
		stepUpload(large),
		stepUpdate(2, digestOf(large)),
		stepAbandon(noise(3, 5<<20)),
		stepMove(3, 1, "moved", false),
		stepCreate("[" + many.String() + "]"),
		stepRemove(3),
		stepClose(),
		stepOpen(),
		stepUpload(other),
		stepCreate(`[` + file("c", other) + `]`),
		stepUpload(append(noise(4, 10), large...)), // shares chunks with large
		stepLeave(noise(5, 5<<20)),
		stepPatch(1, `{color red}`),
		stepClose(),
		stepOpen(),
		stepUpload(nil),
		stepUpdate(2, digestOf(nil)),
		stepForget(1), // large's chunks go
		stepUpload(halves(6, 300<<10)),
		stepClose(),
		stepOpen(),
		stepUpload(halves(7, 1<<20)), // where large was
		stepForget(1),
		stepCompact(),
		stepUpload(noise(8, 1<<20)),
		stepClose(),
		stepOpen(),
		stepCompact(),
		stepUpload(noise(9, 300<<10)),
		stepClose(),
	}}
	var tape recorder
	s := newSession(filepath.Join(FastDir(t), "db"))
	s.options.hook = tape.hook
	state := ""
	for _, step := range r.steps {
		r.begin = append(r.begin, tape.count())
		if err := step.run(s); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		r.end = append(r.end, tape.count())
		if s.db != nil {
			var err error
			if state, err = stateOf(s.db, s.payloads); err != nil {
				t.Fatal(err)
			}
		}
		r.states = append(r.states, state)
	}
	r.ops, r.payloads = tape.ops, s.payloads
	return r
}

// allowed returns the states that a crash after the first n operations may leave:
// those after the last step that was acknowledged and after the one under way.
// first is negative before the file's creation was acknowledged.
func (r *recording) allowed(n int) (first, last int) {
	first, last = -1, 0
	for i := range r.steps {
		if r.end[i] <= n {
			first = i
		}
		if r.begin[i] < n {
			last = i
		}
	}
	return first, max(first, last)
}

// verify opens a crash image and checks that it holds what it must.
func (r *recording) verify(dir string, im image, first, last int) error {
	if im.main == nil {
		if first >= 0 {
			return errors.New("the file is gone")
		}
		return nil
	}
	s := newSession(filepath.Join(dir, "image"))
	defer os.Remove(s.path)
	if err := im.write(s.path); err != nil {
		return err
	}
	if err := s.open(); err != nil {
		return err
	}
	state, err := stateOf(s.db, r.payloads)
	err = errors.Join(err, checkClean(s.db), s.close())
	if err != nil {
		return err
	}
	for i := max(first, 0); i <= last; i++ {
		if r.states[i] == state {
			return alone(s.path)
		}
	}
	return fmt.Errorf("it holds neither what was acknowledged after step %d (%s) nor what step %d (%s) leaves",
		first, r.steps[max(first, 0)].name, last, r.steps[last].name)
}

// image is what a crash left on the disk; nil stands for no such file.
type image struct{ main, wal []byte }

func (im image) write(path string) error {
	if err := os.WriteFile(path, im.main, 0o666); err != nil {
		return err
	}
	if im.wal == nil {
		if err := os.Remove(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return os.WriteFile(path+"-wal", im.wal, 0o666)
}

// crashFile is one file as a power cut may leave it: what syncs made durable,
// and later operations, any of which may have reached the disk or not.
type crashFile struct {
	durable []byte
	pending []diskOp
}

// sectorSize is what a disk writes whole or not at all.
const sectorSize = 512

// apply changes a file's bytes as an operation does, for each sector that keep
// wants.
func (op *diskOp) apply(file []byte, keep func() bool) []byte {
	if op.kind == container.OpTruncate {
		if !keep() {
			return file
		}
		if op.offset <= int64(len(file)) {
			return file[:op.offset]
		}
		return append(file, make([]byte, op.offset-int64(len(file)))...)
	}
	at, data := op.offset, op.data
	if op.kind == container.OpPunch {
		data = make([]byte, max(0, min(op.size, int64(len(file))-at)))
	}
	for len(data) > 0 {
		n := min(int64(len(data)), sectorSize-at%sectorSize)
		if keep() {
			if grow := at + n - int64(len(file)); grow > 0 {
				file = append(file, make([]byte, grow)...)
			}
			copy(file[at:], data[:n])
		}
		at += n
		data = data[n:]
	}
	return file
}

func always() bool { return true }

func (f *crashFile) sync() {
	for i := range f.pending {
		f.durable = f.pending[i].apply(f.durable, always)
	}
	f.pending = nil
}

// content returns the file with the pending operations that keep wants. A file
// that was never written is nil.
func (f *crashFile) content(keep func() bool) []byte {
	if f == nil || f.durable == nil && f.pending == nil {
		return nil
	}
	file := append([]byte{}, f.durable...)
	for i := range f.pending {
		file = f.pending[i].apply(file, keep)
	}
	return file
}

// crashDisk follows the operations and tells what a power cut may leave.
type crashDisk struct {
	main           crashFile
	created, named bool // the file has its name; for good
	wal            *crashFile
	removed        *crashFile // an earlier log whose removal is not durable yet
}

func (d *crashDisk) run(op diskOp) {
	switch {
	case op.kind == container.OpCreate:
		d.created = true
	case op.kind == container.OpSyncDir:
		d.named, d.removed = d.created, nil
	case op.kind == container.OpRemove:
		if d.removed == nil {
			d.removed = d.wal
		}
		d.wal = nil
	case op.wal && op.kind == container.OpSync:
		if d.wal != nil {
			d.wal.sync()
		}
		d.removed = nil // the log's first sync makes names durable, too
	case op.kind == container.OpSync:
		d.main.sync()
	case op.wal:
		if d.wal == nil {
			d.wal = new(crashFile)
		}
		d.wal.pending = append(d.wal.pending, op)
	default:
		d.main.pending = append(d.main.pending, op)
	}
}

// cut returns what is on the disk when of all that is not durable keep chooses
// what reached it.
func (d *crashDisk) cut(keep func() bool) image {
	named := d.named || d.created && keep()
	if !named {
		return image{}
	}
	im := image{main: d.main.content(keep)}
	if d.removed != nil && !keep() {
		im.wal = d.removed.content(keep)
	} else {
		im.wal = d.wal.content(keep)
	}
	return im
}

// crashKinds are the ways in which unsynced operations may end.
func crashKinds(random *rand.Rand) map[string]func() bool {
	return map[string]func() bool{
		"all applied":      always,
		"unsynced dropped": func() bool { return false },
		"random sectors":   func() bool { return random.IntN(2) == 0 },
	}
}

// TestEveryCrashImageHoldsWhatWasAcknowledged cuts the power after every
// operation of a script (after some of them unless STARDUST_LONG is set), with
// what was not synced applied, dropped, or torn: each image opens, is found
// clean, and holds exactly the commits up to the last acknowledged one, or up to
// the one that was under way.
func TestEveryCrashImageHoldsWhatWasAcknowledged(t *testing.T) {
	r := recordCrashScript(t)
	const sample = 20 // images of each kind
	random := rand.New(rand.NewPCG(1, 2))
	dir := FastDir(t)
	for kind, keep := range crashKinds(random) {
		t.Run(kind, func(t *testing.T) {
			var disk crashDisk
			images := 0
			for n := 1; n <= len(r.ops); n++ {
				disk.run(r.ops[n-1])
				if !LongTests() && random.IntN(len(r.ops)) >= sample && n < len(r.ops) {
					continue
				}
				images++
				first, last := r.allowed(n)
				if err := r.verify(dir, disk.cut(keep), first, last); err != nil {
					t.Fatalf("after operation %d of %d, a %v (log: %v), within step %d (%s): %v",
						n, len(r.ops), r.ops[n-1].kind, r.ops[n-1].wal, last, r.steps[last].name, err)
				}
			}
			t.Logf("%d images of %d operations", images, len(r.ops))
		})
	}
}

// TestCrashImagesCatchAMissingSync proves that the test above can fail: a disk
// that skips one sync of an upload's commit loses the upload.
func TestCrashImagesCatchAMissingSync(t *testing.T) {
	r := recordCrashScript(t)
	dir := FastDir(t)
	for i, step := range r.steps {
		if !strings.HasPrefix(step.name, "upload") || r.states[i] == r.states[i-1] {
			continue
		}
		for _, wal := range []bool{false, true} {
			var disk crashDisk
			skipped := 0
			for n := range r.end[i] {
				op := r.ops[n]
				if n >= r.begin[i] && op.kind == container.OpSync && op.wal == wal {
					skipped++
					continue
				}
				disk.run(op)
			}
			if !wal && step.name == "upload of 0 bytes" {
				continue // there are no chunks to make durable
			}
			if skipped == 0 {
				t.Errorf("%s: no sync of its commit was recorded (log: %v)", step.name, wal)
				continue
			}
			im := disk.cut(func() bool { return false })
			if err := r.verify(dir, im, i, i); err == nil {
				t.Errorf("%s: without %d syncs (log: %v) nothing is missing", step.name, skipped, wal)
			}
		}
	}
}
