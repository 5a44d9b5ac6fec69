package fileindex

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

func someEntries(n int) []Entry {
	entries := make([]Entry, n)
	for i := range entries {
		entries[i] = Entry{
			Name: fmt.Sprintf("file%04d", i), Kind: Kind(i % 3), Racy: i%7 == 0,
			Size: int64(i) << 20, MTime: int64(i) - 3, CTime: 1 << 60, Inode: 1 << 63, Mode: 0o644,
			Entity: int64(i), Revision: 1 << 40,
		}
	}
	return entries
}

func write(t *testing.T, path string, old *Reader, fill func(*Writer), binding Binding) {
	t.Helper()
	w, err := Create(path, old)
	if err != nil {
		t.Fatal(err)
	}
	fill(w)
	if err := w.Commit(binding); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) *Reader {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func TestAnIndexReturnsWhatWasAdded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "index")
	entries := someEntries(100)
	binding := Binding{Identity: "x", Revision: 7, Exact: true, Source: "/s"}
	write(t, path, nil, func(w *Writer) {
		w.Add("d", entries[50:])
		w.Add("d", entries[:60])
		w.Add("e", entries)
		w.SetComplete("e", true)
		w.SetComplete("empty", true)
	}, binding)
	r := read(t, path)
	if r.Binding() != binding {
		t.Errorf("%+v", r.Binding())
	}
	for _, test := range []struct {
		path     string
		want     []Entry
		complete bool
	}{{"d", entries, false}, {"e", entries, true}, {"empty", nil, true}, {"other", nil, false}} {
		got, complete := r.Directory(test.path)
		if !slices.Equal(got, test.want) || complete != test.complete {
			t.Errorf("%s: %d entries, %v", test.path, len(got), complete)
		}
	}
	// The next one keeps one directory, and adds to it.
	changed := entries[3]
	changed.Size++
	write(t, path, r, func(w *Writer) {
		w.Keep("e")
		w.Add("e", []Entry{changed})
	}, binding)
	next := read(t, path)
	got, complete := next.Directory("e")
	if len(got) != 100 || got[3] != changed || !complete {
		t.Errorf("%d entries, %v, %v", len(got), got[3], complete)
	}
	if got, _ := next.Directory("d"); len(got) != 0 {
		t.Error("a directory was kept that nobody asked for")
	}
	// One that says the same leaves the old one alone.
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, next, func(w *Writer) { w.Keep("e") }, binding)
	after, err := os.Stat(path)
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the same index was written again: %v", err)
	}
	names, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(names) != 1 {
		t.Errorf("%v, %v", names, err)
	}
}

// TestADamagedIndexKnowsNothingWrong flips every byte and cuts at every length.
func TestADamagedIndexKnowsNothingWrong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index")
	entries := someEntries(10)
	binding := Binding{Identity: "x"}
	write(t, path, nil, func(w *Writer) { w.Add("d", entries); w.Add("e", entries[:5]) }, binding)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	check := func(text []byte, what string) {
		t.Helper()
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path)
		if err != nil {
			return
		}
		defer func() { _ = r.Close() }()
		if r.Binding() != binding {
			t.Errorf("%s: %+v", what, r.Binding())
		}
		for path, want := range map[string][]Entry{"d": entries, "e": entries[:5]} {
			if got, _ := r.Directory(path); got != nil && !slices.Equal(got, want) {
				t.Errorf("%s: %s has %v", what, path, got)
			}
		}
	}
	for i := range whole {
		flipped := append([]byte(nil), whole...)
		flipped[i] ^= 0x21
		check(flipped, fmt.Sprintf("byte %d flipped", i))
		check(whole[:i], fmt.Sprintf("cut at %d", i))
	}
}

func FuzzDecode(f *testing.F) {
	var block []byte
	for _, e := range someEntries(3) {
		block = appendEntry(block, &e)
	}
	f.Add(string(block), int64(100))
	table, err := appendTable(nil, &Binding{Identity: "x"}, map[string]*directory{"d": {true, []place{{8, 9, 10}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(table), int64(100))
	f.Fuzz(func(t *testing.T, text string, end int64) {
		entries, err := decodeEntries(text, nil)
		if err == nil {
			var again []byte
			for i := range entries {
				again = appendEntry(again, &entries[i])
			}
			back, err := decodeEntries(string(again), nil)
			if err != nil || !reflect.DeepEqual(back, entries) {
				t.Errorf("%v became %v, %v", entries, back, err)
			}
		}
		_, directories, err := decodeTable(text, end)
		for path, d := range directories {
			for _, p := range d.blocks {
				if err == nil && (p.offset < 0 || p.size < 0 || p.offset+p.size > end) {
					t.Errorf("%q has a block at %v of %d", path, p, end)
				}
			}
		}
	})
}
