package stardust_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stardustdb/stardust"
)

// copySlowly copies a file in pieces, as a tool does that knows nothing of
// databases, with pauses in which a writer goes on.
func copySlowly(from, to string, random *rand.Rand) error {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	piece := make([]byte, 4096<<random.IntN(6))
	until := io.LimitReader(in, info.Size()) // a file may grow for ever
	for {
		n, err := until.Read(piece)
		if n > 0 {
			if _, err := out.Write(piece[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if random.IntN(8) == 0 {
			<-time.After(time.Duration(random.IntN(3)) * time.Millisecond)
		}
	}
}

// TestCopiesMadeWhileAWriterWorksAreRefusedOrRight copies a database that is
// written, with its log, without it, and in both orders. A copy opens with
// everything that was acknowledged before it began, or it does not open.
func TestCopiesMadeWhileAWriterWorksAreRefusedOrRight(t *testing.T) {
	trials := 20
	if stardust.LongTests() {
		trials = 1000
	}
	const each = 20 // trials of one database, which grows
	outcomes := make(map[string]int)
	for first := 0; first < trials; first += each {
		copyWhileWritten(t, uint64(first), each, outcomes)
		if t.Failed() {
			break
		}
	}
	t.Log(outcomes)
}

// writing is a database that a goroutine writes to.
type writing struct {
	path         string
	acknowledged atomic.Int64
	stop, begun  chan struct{}
	done         chan struct{}
}

// write fills the database in sessions, until it is stopped.
func (w *writing) write(t *testing.T, seed uint64) {
	defer close(w.done)
	random := rand.New(rand.NewPCG(seed, 2))
	for next := int64(0); ; {
		db, err := stardust.Open(w.path, withObjects())
		if err != nil {
			t.Error(err)
			return
		}
		for range 20 + random.IntN(400) {
			select {
			case <-w.stop:
				if err := db.Close(); err != nil {
					t.Error(err)
				}
				return
			default:
			}
			if err := writeOne(t, db, next); err != nil {
				t.Error(err)
				return
			}
			if next > 10 && random.IntN(150) == 0 {
				if err := forgetSome(t, db, random); err != nil {
					t.Error(err)
					return
				}
			}
			next++
			w.acknowledged.Store(next)
			if next == 300 {
				close(w.begun)
			}
		}
		if err := db.Close(); err != nil {
			t.Error(err)
			return
		}
	}
}

func writeOne(t *testing.T, db *stardust.DB, n int64) error {
	name := fmt.Sprintf("n%06d", n)
	published, err := tryUpload(db, append([]byte("content of "+name), make([]byte, n%50*400)...))
	if err == nil {
		_, err = tryCreate(t, db, fmt.Sprintf(`[{name %q digest {#sha256 "%v"}}]`, name, published.Digest))
	}
	return err
}

// forgetSome gives the first names new content, forgets the old one, and gives its
// space back, now or later.
func forgetSome(t *testing.T, db *stardust.DB, random *rand.Rand) error {
	for range 3 {
		data := append([]byte("content of "), randomBytes(random.Uint64(), 20_000)...)
		if _, err := db.Tree().Put(fmt.Sprintf("n%06d", random.IntN(10)), bytes.NewReader(data), &stardust.PutOptions{}); err != nil {
			return err
		}
	}
	_, err := db.Forget(t.Context(), &stardust.ForgetOptions{KeepLast: 1 + random.IntN(50)})
	if err == nil && random.IntN(2) == 0 {
		_, err = db.Compact(t.Context(), nil)
	}
	return err
}

func copyWhileWritten(t *testing.T, seed uint64, trials int, outcomes map[string]int) {
	dir, err := os.MkdirTemp(stardust.FastDir(t), "") //nolint:usetesting // faster than the default directory
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	w := &writing{path: filepath.Join(dir, "db"), stop: make(chan struct{}), begun: make(chan struct{}), done: make(chan struct{})}
	go w.write(t, seed)
	defer func() { close(w.stop); <-w.done }()
	select {
	case <-w.begun:
	case <-w.done:
		return
	}
	random := rand.New(rand.NewPCG(seed, 9))
	for trial := range trials {
		copied := filepath.Join(dir, "copy")
		for _, suffix := range []string{"", "-wal", "-shm"} {
			_ = os.Remove(copied + suffix)
		}
		before := w.acknowledged.Load()
		kind := []string{"file", "file, log", "log, file", "log"}[trial%4]
		order := map[string][]string{"file": {""}, "file, log": {"", "-wal"}, "log, file": {"-wal", ""}, "log": {"-wal"}}[kind]
		for _, suffix := range order {
			if err := copySlowly(w.path+suffix, copied+suffix, random); err != nil {
				t.Fatal(err)
			}
		}
		n, err := wholeCopy(t, copied)
		switch {
		case err == nil && n < before:
			t.Errorf("%s: %d names, %d were acknowledged before", kind, n, before)
		case err == nil:
			outcomes[kind+": right"]++
		case n < 0:
			outcomes[kind+": refused"]++
		default:
			t.Errorf("%s: it opened, and then, after %d names: %v", kind, n, err)
		}
		if t.Failed() {
			keep(t, copied)
			return
		}
	}
}

// keep leaves a copy for those who look into a failure.
func keep(t *testing.T, path string) {
	to := os.Getenv("STARDUST_KEEP")
	if to == "" {
		return
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if data, err := os.ReadFile(path + suffix); err == nil {
			if err := os.WriteFile(filepath.Join(to, filepath.Base(path)+suffix), data, 0o600); err != nil {
				t.Log(err)
			}
		}
	}
}

// wholeCopy reads all of a copy. The number is negative when it did not open.
func wholeCopy(t *testing.T, path string) (int64, error) {
	db, err := stardust.Open(path, readOnly())
	if err != nil {
		return -1, err
	}
	defer db.Close()
	n := int64(0)
	for record, err := range db.Tree().Children(0) {
		if err != nil {
			return n, err
		}
		if want := fmt.Sprintf("n%06d", n); record.Name != want {
			return n, fmt.Errorf("name %d is %s", n, record.Name)
		}
		n++
	}
	report, err := db.Check(t.Context(), nil)
	if err == nil && report.Damaged > 0 {
		err = report.Problems[0]
	}
	return n, err
}

// TestACopyOverWholeSessionsIsRefusedOrRight puts files together from the state
// before and after sessions of a writer, cut at every page, as a slow copy does
// that reads the beginning before and the end after.
func TestACopyOverWholeSessionsIsRefusedOrRight(t *testing.T) {
	dir := stardust.FastDir(t)
	path := filepath.Join(dir, "db")
	var states [][]byte
	next := int64(0)
	for _, writes := range []int{200, 1, 60, 1, 400} {
		db := openAt(t, path, withObjects())
		for range writes {
			if err := writeOne(t, db, next); err != nil {
				t.Fatal(err)
			}
			next++
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		state, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, state)
	}
	counts := []int64{200, 201, 261, 262, 662}
	outcomes := make(map[string]int)
	copied := filepath.Join(dir, "copy")
	step := 4096 * 11
	if stardust.LongTests() {
		step = 4096
	}
	for i := range states {
		for j := i + 1; j < min(len(states), i+3); j++ {
			for cut := step; cut < len(states[i]); cut += step {
				mixed := append(append([]byte(nil), states[i][:cut]...), states[j][min(cut, len(states[j])):]...)
				if err := os.WriteFile(copied, mixed, 0o600); err != nil {
					t.Fatal(err)
				}
				n, err := wholeCopy(t, copied)
				switch {
				case err == nil && (n == counts[i] || n == counts[j]):
					outcomes["right"]++
				case n < 0:
					outcomes["refused"]++
				default:
					t.Errorf("state %d up to %d, then state %d: %d names, %v", i, cut, j, n, err)
				}
			}
		}
	}
	t.Log(outcomes)
}
