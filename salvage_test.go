package stardust

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/heap"
	"github.com/stardustdb/stardust/internal/payload"
)

// archive is a database at rest with many files, and where their bytes lie.
type archive struct {
	file     []byte
	files    map[string]Digest
	payloads map[Digest]bool
	spans    map[Digest][]heap.Location
	pages    [][2]int64 // ranges of the catalog's pages
}

// newArchive makes one with a history: content is replaced, files are moved and
// removed, attributes set.
func newArchive(t *testing.T, count int) *archive {
	t.Helper()
	path := filepath.Join(FastDir(t), "db")
	db, err := Open(path, &Options{Plugins: Plugins{Objects: &ObjectsPlugin{}}})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 1))
	content := func(i int) []byte {
		size := 100 + random.IntN(2000)
		if i%1000 == 7 {
			size = 2 << 20 // of several chunks
		}
		if i%2 == 0 {
			return append(fmt.Appendf(nil, "file %d ", i), halves(byte(i), size)...)
		}
		return append(fmt.Appendf(nil, "file %d ", i), noise(byte(i), size)...)
	}
	put := func(path string, data []byte) Record {
		record, err := db.Tree().Put(path, bytes.NewReader(data), &PutOptions{Parents: true})
		if err != nil {
			t.Fatal(err)
		}
		return record
	}
	for i := range count {
		record := put(fmt.Sprintf("/dir %d/of/files/file %05d.txt", i/100, i), content(i))
		switch i % 10 {
		case 3:
			put(fmt.Sprintf("/dir %d/of/files/file %05d.txt", i/100, i), content(i+count))
		case 5:
			_, err = db.Tree().Move(record.Entity, record.Parent, fmt.Sprintf("moved %05d", i), 0, false)
		case 6:
			err = db.Tree().Remove(record.Entity, 0)
		case 8:
			patch, parseErr := Parse([]byte(`{color red}`), DUST)
			if parseErr != nil {
				t.Fatal(parseErr)
			}
			_, err = db.Patch(record.Entity, patch, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	a := &archive{files: treeOf(t, db), payloads: make(map[Digest]bool), spans: make(map[Digest][]heap.Location)}
	err = db.catalog.Read(t.Context(), catalog.Live, func(v *catalog.View) error {
		return v.Transactions(0, func(tr *catalog.Transaction) bool {
			for _, f := range tr.Facts {
				if f.Value.Kind == catalog.DigestValue {
					a.payloads[f.Value.Digest] = true
				}
			}
			return true
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	for d := range a.payloads {
		for c, err := range db.Tree().Chunks(d) {
			if err != nil {
				t.Fatal(err)
			}
			row := chunkRow(t, db, c.Digest)
			a.spans[d] = append(a.spans[d], payload.Place(&row))
		}
	}
	for _, e := range db.file.container.Reserved() {
		a.pages = append(a.pages, [2]int64{e.Offset, e.End()})
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if a.file, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	return a
}

func chunkRow(t *testing.T, db *DB, d Digest) (c catalog.Chunk) {
	t.Helper()
	err := db.catalog.Read(t.Context(), catalog.Live, func(v *catalog.View) (err error) {
		c, _, err = v.ChunkByDigest(d)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// treeOf returns the digests of all files by their paths.
func treeOf(t *testing.T, db *DB) map[string]Digest {
	t.Helper()
	files := make(map[string]Digest)
	for entry, err := range db.Tree().Walk(0) {
		if err != nil {
			t.Fatal(err)
		}
		if entry.Record.Kind == KindFile {
			files[strings.Trim(entry.Path, "/")] = entry.Record.Digest
		}
	}
	return files
}

// harm damages a file in one of the ways that media do, at a random place, and
// returns which bytes it changed.
func (a *archive) harm(p []byte, random *rand.Rand) (begin, end int64) {
	at := random.Int64N(int64(len(p)))
	if random.IntN(2) == 0 { // the catalog is small beside the chunks, and matters more
		e := a.pages[random.IntN(len(a.pages))]
		at = min(int64(len(p))-1, e[0]+random.Int64N(e[1]-e[0]))
	}
	switch random.IntN(6) {
	case 0:
		p[at] ^= 1 << random.IntN(8)
		return at, at + 1
	case 1:
		return at, overwrite(p, at/512*512, make([]byte, 512))
	case 2:
		at = at / 4096 * 4096
		return at, overwrite(p, at, make([]byte, 4096))
	case 3:
		at = at / 4096 * 4096
		return at, overwrite(p, at, noise(byte(random.IntN(256)), 4096))
	case 4:
		at = at / 4096 * 4096
		from := random.Int64N(int64(len(p))/4096) * 4096
		return at, overwrite(p, at, bytes.Clone(p[from:from+4096]))
	}
	return at, overwrite(p, at, noise(byte(random.IntN(256)), 64))
}

func overwrite(p []byte, at int64, data []byte) int64 { return at + int64(copy(p[at:], data)) }

// hit reports whether a payload has bytes in a range.
func (a *archive) hit(d Digest, begin, end int64) bool {
	for _, s := range a.spans[d] {
		if s.Offset < end && begin < s.End() {
			return true
		}
	}
	return false
}

// TestSalvageBringsBackWhatIsNotHit damages a database in every way, and salvages
// it. What is not hit comes back, and nothing comes back wrong: no file has other
// content than it had last.
func TestSalvageBringsBackWhatIsNotHit(t *testing.T) {
	count, trials := 400, 40
	if LongTests() {
		count, trials = 10_000, 1000
	}
	if n, err := strconv.Atoi(os.Getenv("STARDUST_TRIALS")); err == nil {
		trials = n
	}
	a := newArchive(t, count)
	dir := FastDir(t)
	from, to := filepath.Join(dir, "damaged"), filepath.Join(dir, "salvaged")
	var back, whole, worst float64 = 0, 0, 1
	refused := 0
	for trial := range trials {
		random := rand.New(rand.NewPCG(uint64(trial), 7))
		p := bytes.Clone(a.file)
		var places [][2]int64
		for range 1 + random.IntN(3) {
			begin, end := a.harm(p, random)
			places = append(places, [2]int64{begin, end})
		}
		if err := errors.Join(os.RemoveAll(to), os.WriteFile(from, p, 0o600)); err != nil {
			t.Fatal(err)
		}
		report, err := Salvage(t.Context(), from, to, nil)
		if err != nil {
			t.Fatalf("trial %d, damage at %v: %v", trial, places, err)
		}
		if after, err := os.ReadFile(from); err != nil || !bytes.Equal(after, p) {
			t.Fatalf("trial %d: the damaged file was changed", trial)
		}
		got := a.compare(t, to, trial, report)
		here, unhit := 0., 0.
		for path, d := range a.files {
			if slices.ContainsFunc(places, func(at [2]int64) bool { return a.hit(d, at[0], at[1]) }) {
				continue
			}
			unhit++
			if got[path] == d {
				here++
			} else if !LongTests() {
				t.Logf("trial %d, damage at %v: %s did not come back: %+v", trial, places, path, report)
			}
		}
		back, whole, worst = back+here, whole+unhit, min(worst, here/unhit)
		if report.Lossless() {
			refused++
		}
	}
	t.Logf("%d files, %d trials: %.4f %% of what was not hit came back, %.2f %% in the worst trial; %d trials lost nothing",
		len(a.files), trials, 100*back/whole, 100*worst, refused)
	if back/whole < 0.99 {
		t.Error("less than 99 % came back")
	}
}

// compare looks for what is wrong in a salvaged file.
func (a *archive) compare(t *testing.T, path string, trial int, report *SalvageReport) map[string]Digest {
	t.Helper()
	db, err := Open(path, &Options{ReadOnly: true, Plugins: Plugins{Objects: &ObjectsPlugin{}}})
	if err != nil {
		t.Fatalf("trial %d: %v", trial, err)
	}
	defer db.Close()
	got := treeOf(t, db)
	if int64(len(got)) != report.Files {
		t.Errorf("trial %d: %d files, the report says %d", trial, len(got), report.Files)
	}
	for path, d := range got {
		if want, ok := a.files[path]; ok && want != d || !ok && !strings.HasPrefix(path, "lost+found/") {
			t.Errorf("trial %d: %s is wrong", trial, path)
		}
	}
	if report.LogWhole && report.Doubt == nil {
		missing := maps.Clone(a.files)
		for path := range got {
			delete(missing, path)
		}
		for _, lost := range report.LostFiles {
			delete(missing, strings.Trim(lost.Path, "/"))
		}
		for path := range missing {
			t.Errorf("trial %d: %s is lost, and not listed", trial, path)
		}
	}
	checked, err := db.Check(t.Context(), nil)
	if err != nil || checked.Damaged > 0 {
		t.Errorf("trial %d: check: %v %v", trial, err, checked.Problems)
	}
	return got
}

// TestSalvageOfWhatIsLeft loses more than a page: the head, all of the catalog, the
// end.
func TestSalvageOfWhatIsLeft(t *testing.T) {
	a := newArchive(t, 300)
	for _, test := range []struct {
		name string
		harm func(p []byte) []byte
		good func(r *SalvageReport, got map[string]Digest) bool
	}{
		{"nothing is damaged", func(p []byte) []byte { return p }, func(r *SalvageReport, got map[string]Digest) bool {
			return r.Lossless() && maps.Equal(got, a.files)
		}},
		{"both slots and the first note", func(p []byte) []byte { clear(p[:12288]); return p }, func(r *SalvageReport, got map[string]Digest) bool {
			return maps.Equal(got, a.files)
		}},
		{"the whole catalog", func(p []byte) []byte {
			for _, at := range a.pages {
				clear(p[at[0]:at[1]])
			}
			return p
		}, func(r *SalvageReport, got map[string]Digest) bool {
			return r.Doubt != nil && len(r.Orphans) == len(got) && len(got) > len(a.files)
		}},
		{"the end of the file", func(p []byte) []byte { return p[:len(p)*3/4] }, func(r *SalvageReport, got map[string]Digest) bool {
			for path, d := range a.files {
				if !a.hit(d, int64(len(a.file)*3/4), int64(len(a.file))) && got[path] != d {
					return false
				}
			}
			return !r.Lossless()
		}},
		{"every second page", func(p []byte) []byte {
			for _, at := range a.pages[1:] {
				for off := at[0]; off < at[1]; off += 8192 {
					p[off+100] ^= 1
				}
			}
			return p
		}, func(r *SalvageReport, got map[string]Digest) bool {
			return !r.Lossless() && len(got) > len(a.files)/2
		}},
	} {
		dir := FastDir(t)
		from, to := filepath.Join(dir, "damaged"), filepath.Join(dir, "salvaged")
		if err := os.WriteFile(from, test.harm(bytes.Clone(a.file)), 0o600); err != nil {
			t.Fatal(err)
		}
		report, err := Salvage(t.Context(), from, to, nil)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if got := a.compare(t, to, 0, report); !test.good(report, got) {
			t.Errorf("%s: %d files of %d, %+v", test.name, len(got), len(a.files), report)
		}
	}
}

// TestSalvageRefusals leaves no new file behind.
func TestSalvageRefusals(t *testing.T) {
	dir := FastDir(t)
	path := func(name string, data []byte) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	held := filepath.Join(dir, "held")
	db, err := Open(held, &Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	fresh := filepath.Join(dir, "fresh")
	for _, test := range []struct {
		name, from, to string
		status         Status
		code           string
	}{
		{"text", path("text", []byte("hello")), fresh, StatusInvalidArgument, CodeNotDatabase},
		{"empty", path("empty", nil), fresh, StatusInvalidArgument, CodeNotDatabase},
		{"missing", filepath.Join(dir, "missing"), fresh, StatusNotFound, ""},
		{"in use", held, fresh, StatusConflict, CodeInUse},
		{"there already", path("a", []byte("a")), path("b", []byte("b")), StatusConflict, ""},
	} {
		_, err := Salvage(t.Context(), test.from, test.to, nil)
		var e *Error
		if !errors.As(err, &e) || e.Status != test.status || e.Code != test.code {
			t.Errorf("%s: %v", test.name, err)
		}
		for _, left := range []string{fresh, fresh + ".partial"} {
			if _, err := os.Lstat(left); err == nil {
				t.Errorf("%s: %s is there", test.name, left)
			}
		}
	}
}
