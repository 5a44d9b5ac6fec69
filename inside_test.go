package stardust

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// LongTests reports whether the tests may take hours: STARDUST_LONG=1 asks for
// every crash image, thousands of trials, and uploads of many gigabytes.
func LongTests() bool { return os.Getenv("STARDUST_LONG") != "" }

// FastDir returns a directory of the test's own, in memory where the system has
// such a thing. It is for tests that sync often and prove nothing about the disk.
func FastDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "stardust-test-") //nolint:usetesting // faster than the default directory
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// noise returns n bytes that are the same for the same seed.
func noise(seed byte, n int) []byte {
	data := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{seed, 'n'}).Read(data) // it never fails
	return data
}

// halves is noise that gets about half as large when it is compressed.
func halves(seed byte, n int) []byte {
	data := noise(seed, n)
	for at := 0; at+2048 <= n; at += 2048 {
		copy(data[at+1024:at+2048], data[at:])
	}
	return data
}

// store publishes a payload.
func store(db *DB, data []byte) (Published, error) {
	stream, err := db.Tree().Upload()
	if err != nil {
		return Published{}, err
	}
	defer stream.Close()
	if _, err := stream.Write(data); err != nil {
		return Published{}, err
	}
	return stream.Finish()
}

// load reads a payload whole.
func load(db *DB, digest Digest) ([]byte, error) {
	stream, err := db.Tree().Open(digest)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	var out bytes.Buffer
	_, err = stream.WriteTo(&out)
	return out.Bytes(), err
}

// session is a database that the steps of a script open, change and close.
type session struct {
	path    string
	options Options
	db      *DB
	// payloads are all that were uploaded or may have been.
	payloads map[Digest][]byte
}

func newSession(path string) *session {
	return &session{
		path:     path,
		options:  Options{Plugins: Plugins{Objects: &ObjectsPlugin{}}},
		payloads: make(map[Digest][]byte),
	}
}

func (s *session) open() (err error) {
	if s.db == nil {
		s.db, err = Open(s.path, &s.options)
	}
	return err
}

func (s *session) close() error {
	if s.db == nil {
		return nil
	}
	db := s.db
	s.db = nil
	return db.Close()
}

// step is one call of a script. Run again after a failure it does what it did
// not do.
type step struct {
	name string
	run  func(s *session) error
}

func stepOpen() step  { return step{"open", (*session).open} }
func stepClose() step { return step{"close", (*session).close} }

func stepUpload(data []byte) step {
	return step{fmt.Sprintf("upload of %d bytes", len(data)), func(s *session) error {
		s.payloads[digestOf(data)] = data
		_, err := store(s.db, data)
		return err
	}}
}

// stepAbandon uploads and closes without finishing.
func stepAbandon(data []byte) step {
	return step{"abandoned upload", func(s *session) error {
		stream, err := s.db.Tree().Upload()
		if err != nil {
			return err
		}
		_, err = stream.Write(data)
		return errors.Join(err, stream.Close())
	}}
}

// stepLeave uploads and leaves the stream to Close.
func stepLeave(data []byte) step {
	return step{"forgotten upload", func(s *session) error {
		stream, err := s.db.Tree().Upload()
		if err != nil {
			return err
		}
		_, err = stream.Write(data)
		return err
	}}
}

func stepCreate(nodes string) step {
	return step{"create", func(s *session) error {
		document, err := Parse([]byte(nodes), DUST)
		if err != nil {
			return err
		}
		_, err = s.db.Objects().Create(document)
		return err
	}}
}

func stepUpdate(entity int64, digest Digest) step {
	return step{"update", func(s *session) error {
		_, err := s.db.Objects().Update(entity, digest.String(), 0)
		return err
	}}
}

func stepMove(entity, parent int64, name string, replace bool) step {
	return step{"move", func(s *session) error {
		_, err := s.db.Objects().Move(entity, parent, name, 0, replace)
		return err
	}}
}

func stepRemove(entity int64) step {
	return step{"remove", func(s *session) error { return s.db.Objects().Remove(entity, 0) }}
}

func stepPatch(entity int64, patch string) step {
	return step{"patch", func(s *session) error {
		document, err := Parse([]byte(patch), DUST)
		if err != nil {
			return err
		}
		_, err = s.db.Patch(entity, document, 0)
		return err
	}}
}

// stepForget forgets all but the last few revisions.
func stepForget(last int) step {
	return step{fmt.Sprintf("forget all but %d", last), func(s *session) error {
		_, err := s.db.Forget(context.Background(), &ForgetOptions{KeepLast: last})
		return err
	}}
}

func stepCompact() step {
	return step{"compact", func(s *session) error {
		_, err := s.db.Compact(context.Background(), nil)
		return err
	}}
}

func stepImport(from fstest.MapFS) step {
	return step{"import", func(s *session) error {
		for _, file := range from {
			s.payloads[digestOf(file.Data)] = file.Data
		}
		report, err := s.db.Tree().Import(context.Background(), from, 0, &ImportOptions{Workers: 1}) // in a fixed order
		if err == nil && report.Failed != 0 {
			err = report.Problems[0].Err
		}
		return err
	}}
}

// stateOf describes all that a database shows: the tree, every transaction, and
// which of the payloads are published, whose bytes it reads and compares.
func stateOf(db *DB, payloads map[Digest][]byte) (string, error) {
	var out strings.Builder
	for entry, err := range db.Tree().Walk(0) {
		if err != nil {
			return "", err
		}
		r := entry.Record
		fmt.Fprintf(&out, "%d %d %d %s %.20q %.8s\n", r.Entity, r.Parent, r.Revision, r.Kind, r.Name, r.Digest)
		if want, known := payloads[r.Digest]; r.Kind == KindFile && (!known || r.Size != int64(len(want))) {
			return "", fmt.Errorf("file %q of %d bytes holds a payload that was never written", entry.Path, r.Size)
		}
	}
	for transaction, err := range db.Transactions(0) {
		if err != nil {
			return "", err
		}
		_, err = db.AsOf(transaction.ID)
		if err != nil && !errors.Is(err, StatusNotFound) {
			return "", err
		}
		fmt.Fprintf(&out, "transaction %d of %d facts, forgotten: %v\n", transaction.ID, len(transaction.Facts), err != nil)
	}
	published := 0
	for digest, want := range payloads {
		got, err := load(db, digest)
		switch {
		case errors.Is(err, StatusNotFound):
			continue
		case err != nil:
			return "", err
		case !bytes.Equal(got, want):
			return "", fmt.Errorf("payload %v: wrong bytes", digest)
		}
		published++
	}
	info, err := db.Info()
	if err != nil {
		return "", err
	}
	if info.Payloads != int64(published) {
		return "", fmt.Errorf("%d payloads are published, of which %d were written", info.Payloads, published)
	}
	fmt.Fprintf(&out, "%d payloads", published)
	return out.String(), nil
}

// checkClean returns what a check of the whole file finds.
func checkClean(db *DB) error {
	report, err := db.Check(context.Background(), nil)
	if err == nil && report.Damaged != 0 {
		err = fmt.Errorf("check: %d problems, the first: %w", report.Damaged, report.Problems[0])
	}
	return err
}

// copyFile copies a file that may be in use, or returns that there is none.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// alone checks that nothing lies beside a file that was closed.
func alone(path string) error {
	beside, err := filepath.Glob(filepath.Join(filepath.Dir(path), filepath.Base(path)+"?*"))
	if err == nil && len(beside) > 0 {
		err = fmt.Errorf("beside the file at rest lies %q", beside)
	}
	return err
}
