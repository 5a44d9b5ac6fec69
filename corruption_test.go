package stardust

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// exhibit is a small database at rest, and everything that it says.
type exhibit struct {
	file         []byte
	payloads     map[Digest][]byte
	entries      []Entry
	histories    map[int64][]Version
	attributes   map[int64]string
	transactions []string
}

// newExhibit makes a database with one thing of every kind.
func newExhibit(t *testing.T) *exhibit {
	t.Helper()
	s := newSession(filepath.Join(FastDir(t), "db"))
	small, large := []byte("hello"), noise(1, 700<<10)
	names := "[{name dir}"
	for i := range 120 {
		data := noise(byte(i), 10+i)
		stepUpload(data).mustRun(t, s)
		names += fmt.Sprintf(` {name "file %03d" under 1 digest {#sha256 %q}}`, i, digestOf(data))
	}
	for _, step := range []step{
		stepUpload(small), stepUpload(large), stepUpload(nil), stepUpload(large[:600<<10]),
		stepCreate(names + "]"),
		stepUpdate(2, digestOf(large)), stepUpdate(3, digestOf(nil)), stepMove(4, 0, "moved", false),
		stepRemove(5), stepPatch(1, `{color red tags [a b]}`), stepUpdate(2, digestOf(small)),
		stepUpdate(2, digestOf(large[:600<<10])),
		stepClose(), stepOpen(),
	} {
		step.mustRun(t, s)
	}
	x := &exhibit{payloads: s.payloads}
	if err := x.read(s.db, nil); err != nil {
		t.Fatal(err)
	}
	stepClose().mustRun(t, s)
	var err error
	if x.file, err = os.ReadFile(s.path); err != nil {
		t.Fatal(err)
	}
	return x
}

func (s step) mustRun(t *testing.T, on *session) {
	t.Helper()
	if err := on.open(); err != nil {
		t.Fatal(err)
	}
	if err := s.run(on); err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
}

// read reads all there is of a database into x. Each kind of thing is read
// whole or, when failed is given, ends with an error that failed judges.
func (x *exhibit) read(db *DB, failed func(what string, err error) error) error {
	if failed == nil {
		failed = func(what string, err error) error { return fmt.Errorf("%s: %w", what, err) }
	}
	x.histories, x.attributes = make(map[int64][]Version), make(map[int64]string)
	var judged []error
	fail := func(what string, err error) { judged = append(judged, failed(what, err)) }
	for entry, err := range db.Tree().Walk(0) {
		if err != nil {
			fail("walk", err)
			x.entries = nil
			break
		}
		x.entries = append(x.entries, entry)
	}
	for entity := int64(1); entity <= 123; entity++ {
		versions, err := db.Tree().History(entity)
		switch {
		case err == nil:
			x.histories[entity] = versions
		case !(errors.Is(err, StatusNotFound) && entity >= 122): // ids of transactions
			fail("history", err)
		}
		if attributes, err := db.Attributes(entity); err == nil {
			x.attributes[entity] = attributes.String()
		} else if !(errors.Is(err, StatusNotFound) && (entity >= 122 || entity == 5)) {
			fail("attributes", err)
		}
	}
	for transaction, err := range db.Transactions(0) {
		if err != nil {
			fail("transactions", err)
			x.transactions = nil
			break
		}
		transaction.Time = time.Time{}
		x.transactions = append(x.transactions, describeTransaction(&transaction))
	}
	return errors.Join(judged...)
}

func describeTransaction(t *Transaction) string {
	text := fmt.Sprint(t.ID)
	for _, f := range t.Facts {
		text += fmt.Sprintf(" %d %s %v %v", f.Entity, f.Attribute, f.Value, f.Retracted)
	}
	return text
}

// compare finds what another reading shows that is wrong. What it does not show
// it has reported as damaged.
func (x *exhibit) compare(got *exhibit) error {
	if got.entries != nil {
		if len(got.entries) != len(x.entries) {
			return fmt.Errorf("the walk shows %d nodes of %d, and no error", len(got.entries), len(x.entries))
		}
		for i := range got.entries {
			if got.entries[i] != x.entries[i] {
				return fmt.Errorf("the walk shows %+v, not %+v", got.entries[i], x.entries[i])
			}
		}
	}
	for entity, versions := range got.histories {
		want := x.histories[entity]
		if len(versions) != len(want) {
			return fmt.Errorf("the history of %d shows %d versions of %d, and no error", entity, len(versions), len(want))
		}
		for i := range versions {
			if versions[i] != want[i] {
				return fmt.Errorf("the history of %d shows %+v, not %+v", entity, versions[i], want[i])
			}
		}
	}
	for entity, text := range got.attributes {
		if text != x.attributes[entity] {
			return fmt.Errorf("the attributes of %d are %s, not %s", entity, text, x.attributes[entity])
		}
	}
	if got.transactions != nil {
		if len(got.transactions) != len(x.transactions) {
			return fmt.Errorf("%d transactions of %d, and no error", len(got.transactions), len(x.transactions))
		}
		for i := range got.transactions {
			if got.transactions[i] != x.transactions[i] {
				return fmt.Errorf("transaction %s, not %s", got.transactions[i], x.transactions[i])
			}
		}
	}
	return nil
}

// spoil damages a copy of the file and says how.
func (x *exhibit) spoil(random *rand.Rand) (file []byte, how string) {
	file = bytes.Clone(x.file)
	at := random.IntN(len(file))
	if random.IntN(2) == 0 {
		at = random.IntN(400 << 10) // SQLite's pages and the superblock
	}
	n := min(1+random.IntN(1<<(1+random.IntN(13))), len(file)-at)
	switch random.IntN(5) {
	case 0:
		file[at] ^= 1 << random.IntN(8)
		return file, fmt.Sprintf("a bit of byte %d", at)
	case 1:
		for i := range n {
			file[at+i] = byte(random.Uint32())
		}
		return file, fmt.Sprintf("%d random bytes at %d", n, at)
	case 2:
		clear(file[at : at+n])
		return file, fmt.Sprintf("%d zeros at %d", n, at)
	case 3:
		from, to := random.IntN(len(file)/4096)*4096, random.IntN(len(file)/4096)*4096
		copy(file[to:to+4096], file[from:from+4096])
		return file, fmt.Sprintf("the page at %d copied to %d", from, to)
	}
	return file[:at], fmt.Sprintf("cut to %d bytes", at)
}

// judge accepts an error that says that stored bytes are damaged.
func judge(what string, err error) error {
	if errors.Is(err, StatusEvaluationFailed) {
		return nil
	}
	return fmt.Errorf("%s: %w, want evaluation_failed", what, err)
}

// TestDamageIsReportedAndNeverShown damages the file at rest anywhere, many
// times: whatever is read afterwards is right, or an error of
// evaluation_failed. Nothing panics or hangs, no byte is wrong, and no listing is
// shorter without an error. A file that is refused stays as it is.
func TestDamageIsReportedAndNeverShown(t *testing.T) {
	x := newExhibit(t)
	trials := 100
	if LongTests() {
		trials = 5000
	}
	dir := FastDir(t)
	refused, damaged, unharmed := 0, 0, 0
	for trial := range trials {
		random := rand.New(rand.NewPCG(7, uint64(trial)))
		file, how := x.spoil(random)
		outcome := make(chan error, 1)
		var open, clean bool
		go func() {
			var err error
			open, clean, err = x.trial(filepath.Join(dir, "db"), file)
			outcome <- err
		}()
		select {
		case err := <-outcome:
			if err != nil {
				t.Errorf("trial %d: %s: %v", trial, how, err)
			}
		case <-time.After(time.Minute):
			panic(fmt.Sprintf("trial %d: %s: hangs", trial, how)) // shows all goroutines
		}
		switch {
		case !open:
			refused++
		case !clean:
			damaged++
		default:
			unharmed++
		}
	}
	t.Logf("%d refused, %d with damage reported, %d unharmed", refused, damaged, unharmed)
	if damaged < trials/10 || refused < trials/20 {
		t.Errorf("of %d trials only %d were refused and %d showed damage", trials, refused, damaged)
	}
}

// trial opens a damaged file, reads everything, and writes a little.
func (x *exhibit) trial(path string, file []byte) (open, clean bool, err error) {
	if err := os.WriteFile(path, file, 0o666); err != nil {
		return false, false, err
	}
	defer func() {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			_ = os.Remove(path + suffix)
		}
	}()
	s := newSession(path)
	if err := s.open(); err != nil {
		after, readErr := os.ReadFile(path)
		if readErr == nil && !bytes.Equal(after, file) {
			readErr = fmt.Errorf("the refused file was changed: %s", difference(file, after))
		}
		if !errors.Is(err, StatusEvaluationFailed) && !errors.Is(err, StatusInvalidArgument) {
			readErr = errors.Join(readErr, fmt.Errorf("refused for another reason: %w", err))
		}
		return false, false, errors.Join(readErr, alone(path))
	}
	harmed, err := x.inspect(s.db)
	errs := []error{err}
	report, err := s.db.Check(context.Background(), nil)
	if err != nil {
		errs = append(errs, fmt.Errorf("check: %w", err))
	} else if harmed && report.Damaged == 0 {
		errs = append(errs, errors.New("check finds nothing although reading does"))
	}
	errs = append(errs, x.upload(s.db))
	_, err = x.inspect(s.db)
	errs = append(errs, err, x.create(s.db))
	if err := s.close(); err != nil && !errors.Is(err, StatusEvaluationFailed) {
		errs = append(errs, fmt.Errorf("close: %w", err))
	}
	return true, report.Damaged == 0, errors.Join(errs...)
}

func difference(a, b []byte) string {
	if len(a) != len(b) {
		return fmt.Sprintf("%d bytes became %d", len(a), len(b))
	}
	for i := range a {
		if a[i] != b[i] {
			return fmt.Sprintf("byte %d became %#x", i, b[i])
		}
	}
	return "none"
}

// inspect reads everything and every payload, and compares. It reports whether
// any of it is damaged.
func (x *exhibit) inspect(db *DB) (harmed bool, err error) {
	failed := func(what string, err error) error {
		harmed = true
		return judge(what, err)
	}
	got := new(exhibit)
	errs := []error{got.read(db, failed)}
	errs = append(errs, x.compare(got))
	for digest, want := range x.payloads {
		data, err := load(db, digest)
		if err != nil {
			errs = append(errs, failed("payload", err))
		} else if !bytes.Equal(data, want) {
			errs = append(errs, fmt.Errorf("payload %v: wrong bytes", digest))
		}
	}
	return harmed, errors.Join(errs...)
}

// upload uploads what is there and may be damaged, and something new.
func (x *exhibit) upload(db *DB) error {
	var errs []error
	for _, data := range [][]byte{[]byte("hello"), noise(1, 700<<10), noise(99, 5000)} {
		published, err := store(db, data)
		if err != nil {
			errs = append(errs, judge("upload", err))
			continue
		}
		if got, err := load(db, published.Digest); err != nil {
			errs = append(errs, judge("what was uploaded", err))
		} else if !bytes.Equal(got, data) {
			errs = append(errs, errors.New("what was uploaded: wrong bytes"))
		}
	}
	return errors.Join(errs...)
}

// create makes a node and looks it up.
func (x *exhibit) create(db *DB) error {
	nodes, err := Parse([]byte(`[{name new}]`), DUST)
	if err != nil {
		return err
	}
	if _, err := db.Objects().Create(nodes); err != nil {
		return judge("create", err)
	}
	if _, err := db.Objects().Lookup(0, "new"); err != nil {
		return judge("look-up of the new node", err)
	}
	return nil
}
