package stardust_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stardustdb/stardust"
)

// dirState is every file of a directory with a hash of its bytes.
func dirState(t testing.TB, dir string) map[string]string {
	t.Helper()
	state := make(map[string]string)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		state[e.Name()] = fmt.Sprintf("%x", sha256.Sum256(data))
	}
	return state
}

func copyTo(t testing.TB, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// fill makes files that are called after a letter, each with a payload.
func fill(t testing.TB, db *stardust.DB, letter string, n int) {
	t.Helper()
	for i := range n {
		name := fmt.Sprintf("%s%03d", letter, i)
		create(t, db, fmt.Sprintf(`[{name %q digest {#sha256 "%v"}}]`, name, upload(t, db, []byte("content of "+name))))
	}
}

// content lists the names in the root, and fails when a body is not what fill
// wrote.
func content(t testing.TB, path string, options *stardust.Options) ([]string, error) {
	t.Helper()
	db, err := stardust.Open(path, options)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	var names []string
	for record, err := range db.Tree().Children(0) {
		if err != nil {
			return names, err
		}
		names = append(names, record.Name)
		data, err := download(db, record.Digest)
		if err != nil || string(data) != "content of "+record.Name {
			return names, fmt.Errorf("%s holds %q: %w", record.Name, data, err)
		}
	}
	report, err := db.Check(t.Context(), nil)
	if err != nil || report.Damaged > 0 {
		return names, fmt.Errorf("check: %v, %w", report.Problems, err)
	}
	return names, db.Close()
}

func readOnly() *stardust.Options {
	o := withObjects()
	o.ReadOnly = true
	return o
}

// killedAt leaves a database in a directory as a process does that is killed: 5
// files "a" at rest, 60 files "b" in the log.
func killedAt(t testing.TB, path string) {
	t.Helper()
	dir := t.TempDir()
	from := filepath.Join(dir, "db")
	db := openAt(t, from, withObjects())
	fill(t, db, "a", 5)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = openAt(t, from, withObjects())
	fill(t, db, "b", 60)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		copyTo(t, from+suffix, path+suffix)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// made makes a database at rest with files of a letter.
func made(t testing.TB, path, letter string, n int) {
	t.Helper()
	db := openAt(t, path, withObjects())
	fill(t, db, letter, n)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestALogOfAnotherFileIsNeverPlayed leaves the log of a killed process beside
// another file, in all the ways people do.
func TestALogOfAnotherFileIsNeverPlayed(t *testing.T) {
	for name, replace := range map[string]func(t *testing.T, path string) (letter string, n int){
		"another database": func(t *testing.T, path string) (string, int) {
			made(t, path+".other", "c", 30)
			if err := os.Rename(path+".other", path); err != nil {
				t.Fatal(err)
			}
			return "c", 30
		},
		"a copy of the same database from before": func(t *testing.T, path string) (string, int) {
			made(t, path+".same", "a", 5)
			copyTo(t, path+".same", path+".copy")
			db := openAt(t, path+".same", withObjects())
			fill(t, db, "b", 20)
			copyTo(t, path+".same-wal", path+"-wal")
			db.Close()
			if err := errors.Join(os.Rename(path+".copy", path), os.Remove(path+".same")); err != nil {
				t.Fatal(err)
			}
			return "a", 5
		},
		"a backup": func(t *testing.T, path string) (string, int) {
			made(t, path+".same", "a", 50)
			db := openAt(t, path+".same", withObjects())
			if err := db.Backup(t.Context(), path+".backup", nil); err != nil {
				t.Fatal(err)
			}
			fill(t, db, "b", 20)
			copyTo(t, path+".same-wal", path+"-wal")
			db.Close()
			if err := errors.Join(os.Rename(path+".backup", path), os.Remove(path+".same")); err != nil {
				t.Fatal(err)
			}
			return "a", 50
		},
		"nothing": func(t *testing.T, path string) (string, int) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			made(t, path, "n", 3)
			return "n", 3
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := stardust.FastDir(t)
			path := filepath.Join(dir, "db")
			killedAt(t, path)
			letter, n := replace(t, path)
			log := dirState(t, dir)["db-wal"]
			before := dirState(t, dir)
			if name != "nothing" {
				names, err := content(t, path, readOnly())
				if err != nil || len(names) != n || !strings.HasPrefix(names[0], letter) {
					t.Errorf("read-only: %d names, %v", len(names), err)
				}
				if after := dirState(t, dir); !maps.Equal(before, after) {
					t.Errorf("reading changed something: %v", after)
				}
			}
			names, err := content(t, path, withObjects())
			if err != nil || len(names) != n || !strings.HasPrefix(names[0], letter) {
				t.Errorf("%d names, %v", len(names), err)
			}
			after := dirState(t, dir)
			var kept []string
			for file, sum := range after {
				if strings.HasPrefix(file, "db-wal.foreign-") && (sum == log || name == "nothing") {
					kept = append(kept, file)
				}
			}
			if len(kept) != 1 || len(after) != 2 {
				t.Errorf("the other's log is not kept: %v", slices.Collect(maps.Keys(after)))
			}
		})
	}
}

// TestAFileWithoutItsLogIsRefused opens what a killed process left after its log
// was lost, in part or in whole.
func TestAFileWithoutItsLogIsRefused(t *testing.T) {
	killed := filepath.Join(t.TempDir(), "db")
	killedAt(t, killed)
	log, err := os.ReadFile(killed + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	for name, lose := range map[string]func(path string) error{
		"missing": func(path string) error { return os.Remove(path + "-wal") },
		"emptied": func(path string) error { return os.Truncate(path+"-wal", 0) },
		"cut in the middle": func(path string) error {
			return os.Truncate(path+"-wal", int64(len(log)/2))
		},
		"cut by a byte": func(path string) error { return os.Truncate(path+"-wal", lastFrame(log)-1) },
		"its header zeroed": func(path string) error {
			return os.WriteFile(path+"-wal", append(make([]byte, 512), log[512:]...), 0o600)
		},
		"zeros": func(path string) error { return os.WriteFile(path+"-wal", make([]byte, len(log)), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := stardust.FastDir(t)
			path := filepath.Join(dir, "db")
			for _, suffix := range []string{"", "-wal", "-shm"} {
				copyTo(t, killed+suffix, path+suffix)
			}
			if err := lose(path); err != nil {
				t.Fatal(err)
			}
			before := dirState(t, dir)
			for _, options := range []*stardust.Options{withObjects(), readOnly()} {
				if db, err := stardust.Open(path, options); codeOf(err) != stardust.CodeLogMissing || !errors.Is(err, stardust.StatusEvaluationFailed) {
					t.Errorf("read-only %v: %v", options.ReadOnly, err)
					db.Close()
				}
			}
			if after := dirState(t, dir); !maps.Equal(before, after) {
				t.Errorf("a refusal changed something: %v", after)
			}
			options := withObjects()
			options.AcceptMissingLog = true
			names, err := content(t, path, options)
			if err != nil || len(names) < 5 || len(names) >= 65 {
				t.Errorf("accepted: %d names, %v", len(names), err)
			}
			if again, err := content(t, path, withObjects()); err != nil || len(again) != len(names) {
				t.Errorf("opened again: %d names, %v", len(again), err)
			}
		})
	}
}

// lastFrame returns where the last frame ends that a log's file has.
func lastFrame(log []byte) int64 {
	const frame = 24 + 4096
	salts := log[16:24]
	end := int64(32)
	for at := int64(32); at+frame <= int64(len(log)) && bytes.Equal(log[at+8:at+16], salts); at += frame {
		end = at + frame
	}
	return end
}

// TestDamageInTheLogIsNoticed spoils the log of a killed process: nothing that
// was acknowledged goes without a word.
func TestDamageInTheLogIsNoticed(t *testing.T) {
	killed := filepath.Join(t.TempDir(), "db")
	killedAt(t, killed)
	main, err := os.ReadFile(killed)
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(killed + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	trials := 60
	if stardust.LongTests() {
		trials = 1500
	}
	random := rand.New(rand.NewPCG(5, 6))
	end := lastFrame(log)
	sector := func() int64 { return random.Int64N(end/512) * 512 }
	dir := stardust.FastDir(t)
	path := filepath.Join(dir, "db")
	refused := 0
	for trial := range trials {
		bad := slices.Clone(log)
		kind := []string{"flip", "zero", "swap", "copy", "cut", "page"}[trial%6]
		switch kind {
		case "flip":
			bad[random.Int64N(end)] ^= 1 << random.IntN(8)
		case "zero":
			clear(bad[sector():][:512])
		case "swap":
			a, b := sector(), sector()
			copy(bad[a:a+512], log[b:b+512])
			copy(bad[b:b+512], log[a:a+512])
		case "copy":
			copy(bad[sector():][:512], log[sector():][:512])
		case "cut":
			bad = bad[:random.Int64N(end)]
		case "page":
			clear(bad[min(sector(), end-4096):][:4096])
		}
		if err := errors.Join(os.WriteFile(path, main, 0o600), os.WriteFile(path+"-wal", bad, 0o600)); err != nil {
			t.Fatal(err)
		}
		names, err := content(t, path, readOnly())
		switch {
		case err == nil && len(names) != 65:
			t.Errorf("%s: %d names of 65 and no word", kind, len(names))
		case err != nil && !errors.Is(err, stardust.StatusEvaluationFailed):
			t.Errorf("%s: %v", kind, err)
		case err != nil:
			refused++
		}
	}
	t.Logf("%d trials, %d refused", trials, refused)
}

// TestFilesOfOthersKeepTheirNames opens a database beside files that are called
// like its log and its shared memory.
func TestFilesOfOthersKeepTheirNames(t *testing.T) {
	dir := stardust.FastDir(t)
	made(t, filepath.Join(dir, "photos-wal"), "w", 3)
	made(t, filepath.Join(dir, "photos-shm"), "s", 3)
	if err := os.WriteFile(filepath.Join(dir, "notes-shm"), []byte("my notes about SHM\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := dirState(t, dir)
	for _, name := range []string{"photos", "notes"} {
		path := filepath.Join(dir, name)
		made(t, path, "p", 3)
		db := openAt(t, path, withObjects())
		fill(t, db, "q", 3)
		beside := openAt(t, path, readOnly())
		if _, err := beside.Tree().Lookup(0, "q002"); err != nil {
			t.Errorf("%s: a reader beside: %v", name, err)
		}
		for _, suffix := range []string{"", "-stardust-wal"} {
			copyTo(t, path+suffix, filepath.Join(dir, "killed"+suffix))
		}
		made(t, filepath.Join(dir, "killed-shm"), "k", 1)
		if err := errors.Join(beside.Close(), db.Close()); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{path, filepath.Join(dir, "killed")} {
			for _, options := range []*stardust.Options{readOnly(), withObjects(), readOnly()} {
				if names, err := content(t, path, options); err != nil || len(names) != 6 {
					t.Errorf("%s, read-only %v: %d names, %v", path, options.ReadOnly, len(names), err)
				}
			}
		}
		for _, left := range []string{path, filepath.Join(dir, "killed"), filepath.Join(dir, "killed-shm")} {
			if err := os.Remove(left); err != nil {
				t.Error(err)
			}
		}
	}
	if after := dirState(t, dir); !maps.Equal(before, after) {
		t.Errorf("%v", slices.Sorted(maps.Keys(after)))
	}
}

// TestAFileOfVersion1IsUpgraded opens a file that the first version made.
func TestAFileOfVersion1IsUpgraded(t *testing.T) {
	packed, err := os.Open(filepath.Join("testdata", "version1.stardust.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(stardust.FastDir(t), "db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(options *stardust.Options) {
		t.Helper()
		db := openAt(t, path, options)
		record, err := db.Tree().Lookup(0, "a.txt")
		if err != nil {
			t.Fatal(err)
		}
		if body, err := download(db, record.Digest); err != nil || string(body) != "hello\n" {
			t.Errorf("%q, %v", body, err)
		}
		if !options.ReadOnly {
			create(t, db, `[{name later}]`)
		}
		if report, err := db.Check(t.Context(), nil); err != nil || report.Damaged > 0 {
			t.Errorf("%+v, %v", report, err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	read(readOnly())
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, data) {
		t.Errorf("reading changed the file: %v", err)
	}
	read(withObjects())
	read(readOnly())
	if now, err := os.ReadFile(path); err != nil || now[16] != 2 || now[4096+16] != 2 {
		t.Errorf("the file is still of version %d: %v", now[16], err)
	}
}
