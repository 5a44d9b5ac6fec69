package container_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/stardustdb/stardust/internal/container"
	"github.com/stardustdb/stardust/internal/heap"
)

// recorder keeps every operation in the order in which they were done.
type recorder struct {
	ops   []container.Op
	acked []int // commits acknowledged before each operation
	commits,
	begun int
	omit func(container.Op) bool // syncs that the disk only claims to have made
	fail func(container.Op) error
}

func (r *recorder) hook(op container.Op, do func() error) error {
	if r.fail != nil {
		if err := r.fail(op); err != nil {
			return err
		}
	}
	if err := unsynced(op, do); err != nil {
		return err
	}
	if r.omit != nil && r.omit(op) {
		return nil
	}
	for i := range op.Data {
		op.Data[i] = bytes.Clone(op.Data[i])
	}
	op.Data = [][]byte{bytes.Join(op.Data, nil)}
	r.ops = append(r.ops, op)
	r.acked = append(r.acked, r.commits)
	return nil
}

// content is what commit number n stores. Every other one gets smaller when it is
// compressed.
func content(n int) []byte {
	data := make([]byte, 50+(n*7919)%30_000)
	_, _ = rand.NewChaCha8([32]byte{byte(n), byte(n >> 8)}).Read(data)
	if n%2 == 0 {
		copy(data[len(data)/3:], data)
	}
	return data
}

// session is a Container with its heap and a connection.
type session struct {
	c    *container.Container
	h    *heap.Heap
	conn *sqlite3.Conn
}

func start(path string, o container.Options) (*session, error) {
	c, err := container.Open(path, o)
	if err != nil {
		return nil, err
	}
	conn, err := sqlite3.OpenFlags(c.DSN(), sqlite3.OPEN_READWRITE|sqlite3.OPEN_URI)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	s := &session{c, heap.New(c), conn}
	if err := s.h.Compress(1, 0); err != nil {
		return nil, errors.Join(err, s.close())
	}
	if err := conn.Exec(strings.Join(container.Pragmas(), ";")); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *session) close() error { return errors.Join(s.conn.Close(), s.c.Close()) }

// store appends the content, makes it durable and commits a row that names it.
// Each row has a body of its own, so that SQLite's pages grow too. A second commit
// follows that no sync of records comes before.
func (s *session) store(n int) error {
	data := content(n)
	digest := sha256.Sum256(data)
	loc, err := s.h.Append(digest, data)
	if err != nil {
		return err
	}
	if err := s.h.Sync(); err != nil {
		s.h.Free(loc)
		return err
	}
	if n%5 == 0 { // an upload that is abandoned, and one that never ends
		if other, err := s.h.Append(digest, data[:40]); err == nil && n%10 == 0 {
			s.h.Free(other)
		}
	}
	err = s.conn.Exec(fmt.Sprintf(`INSERT INTO t VALUES (%d, %d, %d, x'%x', randomblob(6000))`, n, loc.Offset, loc.Size<<32|loc.Stored, digest))
	if err != nil {
		return err
	}
	return s.conn.Exec(fmt.Sprintf(`INSERT INTO u VALUES (%d, randomblob(9000))`, n))
}

// verify reads everything and returns how many commits there are.
func (s *session) verify() (int, error) {
	stmt, _, err := s.conn.Prepare(`SELECT n, off, size, digest FROM t ORDER BY n`)
	if err != nil {
		return 0, err
	}
	defer stmt.Close()
	var locs []heap.Location
	for stmt.Step() {
		n := len(locs) + 1
		if stmt.ColumnInt(0) != n {
			return 0, fmt.Errorf("commit %d is missing, there is %d", n, stmt.ColumnInt(0))
		}
		sizes := stmt.ColumnInt64(2)
		loc := heap.Location{Offset: stmt.ColumnInt64(1), Size: sizes >> 32, Stored: sizes & (1<<32 - 1)}
		locs = append(locs, loc)
		data := make([]byte, min(loc.Size, 1<<20))
		if err := s.h.Read(loc, [32]byte(stmt.ColumnRawBlob(3)), data); err != nil {
			return 0, err
		}
		if !bytes.Equal(data, content(n)) {
			return 0, fmt.Errorf("commit %d has the wrong content", n)
		}
	}
	if err := stmt.Err(); err != nil {
		return 0, err
	}
	if err := s.h.SetLive(slices.Values(locs)); err != nil {
		return 0, err
	}
	second, _, err := s.conn.Prepare(`SELECT count(*), coalesce(max(n), 0), sum(length(body)) FROM u`)
	if err != nil {
		return 0, err
	}
	defer second.Close()
	second.Step()
	n := second.ColumnInt(0)
	if err := second.Err(); err != nil {
		return 0, err
	}
	if n != second.ColumnInt(1) || n > len(locs) || n < len(locs)-1 {
		return 0, fmt.Errorf("%d second commits for %d first ones", n, len(locs))
	}
	if n < len(locs) { // the crash came between the two
		return n, s.conn.Exec(fmt.Sprintf(`DELETE FROM t WHERE n = %d`, n+1))
	}
	return n, nil
}

// workload makes a file, and records what a session does to it.
func workload(t *testing.T, commits int, r *recorder) (before []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "db")
	s, err := start(path, container.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.conn.Exec(`CREATE TABLE t (n INTEGER PRIMARY KEY, off INT, size INT, digest BLOB, body BLOB); CREATE TABLE u (n INTEGER PRIMARY KEY, body BLOB)`), s.close()); err != nil {
		t.Fatal(err)
	}
	if before, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	s, err = start(path, container.Options{Hook: r.hook})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.conn.Exec(`PRAGMA wal_autocheckpoint = 25`); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= commits; n++ {
		r.begun = n
		if err := s.store(n); err != nil {
			t.Fatal(err)
		}
		r.commits = n
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	return before
}

// platter is a file on a disk: what is durable, and what may be.
type platter struct {
	durable []byte
	exists  bool
	pending []container.Op
}

func (p *platter) add(op container.Op) {
	if op.Kind != container.OpSync {
		p.pending = append(p.pending, op)
		return
	}
	p.durable, p.exists = p.crash(func(int, int) bool { return true })
	p.pending = nil
}

// crash returns the file after a crash in which only those sectors of pending
// operations got through that keep says.
func (p *platter) crash(keep func(op, sector int) bool) ([]byte, bool) {
	const sector = 512
	data, exists := bytes.Clone(p.durable), p.exists
	for i, op := range p.pending {
		switch op.Kind {
		case container.OpRemove:
			if keep(i, 0) {
				data, exists = nil, false
			}
		case container.OpTruncate:
			if keep(i, 0) {
				data = resize(data, op.Offset)
			}
		case container.OpWrite:
			piece, off := op.Data[0], op.Offset
			for n := 0; len(piece) > 0; n++ {
				m := min(len(piece), sector-int(off%sector))
				if keep(i, n) {
					exists = true
					data = resize(data, max(int64(len(data)), off+int64(m)))
					copy(data[off:], piece[:m])
				}
				piece, off = piece[m:], off+int64(m)
			}
		}
	}
	return data, exists
}

func resize(p []byte, n int64) []byte {
	if n <= int64(len(p)) {
		return p[:n]
	}
	return append(p, make([]byte, n-int64(len(p)))...)
}

// crash is a way in which a crash picks among pending operations.
type crash struct {
	name string
	keep func(rng *rand.Rand, pending int) func(op, sector int) bool
}

func crashes() []crash {
	sectors := func(rng *rand.Rand, _ int) func(int, int) bool {
		return func(int, int) bool { return rng.IntN(2) == 0 }
	}
	return []crash{
		{"all", func(*rand.Rand, int) func(int, int) bool { return func(int, int) bool { return true } }},
		{"none", func(*rand.Rand, int) func(int, int) bool { return func(int, int) bool { return false } }},
		{"last", func(_ *rand.Rand, n int) func(int, int) bool { return func(op, _ int) bool { return op == n-1 } }},
		{"writes", func(rng *rand.Rand, n int) func(int, int) bool {
			kept := make([]bool, n)
			for i := range kept {
				kept[i] = rng.IntN(2) == 0
			}
			return func(op, _ int) bool { return kept[op] }
		}},
		{"sectors", sectors},
		{"other sectors", sectors},
	}
}

// crashEverywhere makes the images of crashes after the operations that pick
// says, opens each, and returns how many there were and what was wrong with up
// to enough of them.
func crashEverywhere(t *testing.T, before []byte, r *recorder, enough int, pick func(i int) bool) (images int, wrong []error) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "db")
	rng := rand.New(rand.NewPCG(7, 7))
	file, log := &platter{durable: before, exists: true}, &platter{}
	for i, op := range r.ops {
		if op.WAL {
			log.add(op)
		} else {
			file.add(op)
		}
		if !pick(i) && i != len(r.ops)-1 {
			continue
		}
		for _, crash := range crashes() {
			images++
			data, _ := file.crash(crash.keep(rng, len(file.pending)))
			logData, logExists := log.crash(crash.keep(rng, len(log.pending)))
			_ = os.Remove(path + "-shm")
			_ = os.Remove(path + "-wal")
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
			if logExists {
				if err := os.WriteFile(path+"-wal", logData, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := reopen(path, r, i); err != nil {
				wrong = append(wrong, fmt.Errorf("after operation %d of %d (%v, log %v, %s), crash %q: %w",
					i, len(r.ops), op.Kind, op.WAL, op.Why, crash.name, err))
				if len(wrong) == enough {
					return images, wrong
				}
			}
		}
	}
	return images, wrong
}

// unsynced spares the disk what only a power cut would need.
func unsynced(op container.Op, do func() error) error {
	if op.Kind == container.OpSync || op.Kind == container.OpSyncDir {
		return nil
	}
	return do()
}

// reopen opens an image, wants every commit that was acknowledged and nothing
// that was not begun, goes on writing, and wants a file at rest.
func reopen(path string, r *recorder, op int) error {
	s, err := start(path, container.Options{Hook: unsynced})
	if err != nil {
		return err
	}
	n, err := s.verify()
	if err == nil && n < r.acked[op] {
		err = fmt.Errorf("%d commits, %d were acknowledged", n, r.acked[op])
	}
	if err == nil {
		err = s.store(n + 1)
	}
	if err := errors.Join(err, s.close()); err != nil {
		return err
	}
	left, err := filepath.Glob(path + "-*")
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("left behind: %v", left)
	}
	return err
}

func TestEveryCrashKeepsWhatWasAcknowledged(t *testing.T) {
	commits, stride := 30, 7
	if os.Getenv("STARDUST_LONG") != "" {
		commits, stride = 200, 1
	}
	r := &recorder{}
	before := workload(t, commits, r)
	images, wrong := crashEverywhere(t, before, r, 5, func(i int) bool { return i%stride == 0 })
	for _, err := range wrong {
		t.Error(err)
	}
	t.Logf("%d operations, %d images, %d of them wrong", len(r.ops), images, len(wrong))
}

// Each kind of sync is there for a reason: without it some crash does harm, and
// these images show it.
func TestLeavingOutASyncIsNoticed(t *testing.T) {
	for _, why := range []container.SyncReason{
		container.SyncRecords, container.SyncExtent, container.SyncSuperblock, container.SyncSize, "",
		container.SyncLog, container.SyncLogEnd, // each makes pages durable, too, so SyncPages alone can be left out
	} {
		t.Run(string(why), func(t *testing.T) {
			r := &recorder{omit: func(op container.Op) bool {
				return op.Kind == container.OpSync && op.WAL == (why == "") && op.Why == why
			}}
			before := workload(t, 26, r)
			// Harm shows after operations on the file, or else in the log.
			images, wrong := crashEverywhere(t, before, r, 1, func(i int) bool {
				return r.ops[i].WAL == (why == "" || why == container.SyncLog || why == container.SyncLogEnd) && (why == container.SyncRecords || r.ops[i].Offset < 1<<14 || i%8 == 0)
			})
			if len(wrong) == 0 {
				t.Fatalf("none of %d crash images shows it", images)
			}
			t.Logf("image %d is wrong: %v", images, wrong[0])
		})
	}
}
