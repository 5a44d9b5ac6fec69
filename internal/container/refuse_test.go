package container

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sample makes a file with a table in it and returns its bytes.
func sample(t testing.TB) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sample")
	c := openTest(t, path, Options{Create: true})
	conn := connect(t, c)
	run(t, conn, `CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB)`)
	run(t, conn, `INSERT INTO t (b) SELECT randomblob(500) FROM generate_series(1, 100)`)
	if err := errors.Join(conn.Close(), c.Close()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// seal gives a changed slot its checksum.
func seal(slot []byte) {
	binary.LittleEndian.PutUint32(slot[sbChecksum:], crc32.Checksum(slot[:sbChecksum], castagnoli()))
}

func edit(data []byte, change func(p []byte)) []byte {
	p := bytes.Clone(data)
	change(p)
	return p
}

// secondNote returns where the second note lies.
func secondNote(t testing.TB, data []byte) int64 {
	t.Helper()
	s, err := decodeSlot(data[:PageSize])
	if err != nil {
		t.Fatal(err)
	}
	return s.noteOffset()
}

// TestOneDamagedNoteIsHealed flips a bit in either note: the other one tells what
// there is to know.
func TestOneDamagedNoteIsHealed(t *testing.T) {
	good := sample(t)
	for _, at := range []int64{holderOff, secondNote(t, good)} {
		path := filepath.Join(t.TempDir(), "db")
		if err := os.WriteFile(path, edit(good, func(p []byte) { p[at+noteSequence] ^= 1 }), 0o600); err != nil {
			t.Fatal(err)
		}
		c := openTest(t, path, Options{})
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, kind := decodeNote(data[at:][:noteSize]); kind != noteWhole {
			t.Errorf("the note at %d is of kind %v after a writer", at, kind)
		}
	}
}

func TestRefusedFilesStayAsTheyAre(t *testing.T) {
	good := sample(t)
	bothSlots := func(change func(slot []byte)) []byte {
		return edit(good, func(p []byte) {
			for i := range slots {
				change(p[i*PageSize : (i+1)*PageSize])
				seal(p[i*PageSize : (i+1)*PageSize])
			}
		})
	}
	second := func(change func(note []byte)) []byte {
		return edit(good, func(p []byte) { change(p[secondNote(t, p):][:noteSize]) })
	}
	for _, test := range []struct {
		name string
		data []byte
		want error
	}{
		{"empty", nil, ErrEmpty},
		{"text", []byte("hello, this is somebody's text\n"), ErrNotDatabase},
		{"zeros", make([]byte, 100_000), ErrNotDatabase},
		{"SQLite", append([]byte("SQLite format 3\x00"), make([]byte, 99_984)...), ErrNotDatabase},
		{"magic alone", []byte(magic), ErrTruncated},
		{"cut in the first slot", good[:2000], ErrTruncated},
		{"cut in the second slot", good[:6000], ErrTruncated},
		{"cut in the pages", good[:len(good)/2], ErrTruncated},
		{"cut by one byte", good[:len(good)-1], ErrTruncated},
		{"newer", bothSlots(func(s []byte) { s[sbVersion] = 3 }), ErrNewer},
		{"newer in one slot", edit(good, func(p []byte) { p[sbVersion] = 9; seal(p[:PageSize]) }), ErrNewer},
		{"version 0", bothSlots(func(s []byte) { s[sbVersion] = 0 }), ErrDamaged},
		{"both slots damaged", edit(good, func(p []byte) { p[100] ^= 1; p[PageSize+3000] ^= 1 }), ErrDamaged},
		{"no extents", bothSlots(func(s []byte) { s[sbExtents] = 0 }), ErrDamaged},
		{"many extents", bothSlots(func(s []byte) { s[sbExtents], s[sbExtents+1] = 255, 255 }), ErrDamaged},
		{"an extent in the head", bothSlots(func(s []byte) { clear(s[sbList : sbList+8]) }), ErrDamaged},
		{"an extent of odd size", bothSlots(func(s []byte) { s[sbList+8]++ }), ErrDamaged},
		{"a huge extent", bothSlots(func(s []byte) { s[sbList+14] = 0x7f }), ErrDamaged},
		{"a negative extent", bothSlots(func(s []byte) { s[sbList+15] = 0xff }), ErrDamaged},
		{"another page size", bothSlots(func(s []byte) { s[sbPageSize+1] = 0x20 }), ErrDamaged},
		{"another reserve", bothSlots(func(s []byte) { s[sbReserved] = 8 }), ErrDamaged},
		{"a tail in the head", bothSlots(func(s []byte) { clear(s[sbTail : sbTail+8]) }), ErrDamaged},
		{"a record where the second note was", second(func(note []byte) { copy(note, bytes.Repeat([]byte("chunk"), noteSize/5)) }), ErrTornCopy},
		{"the end of a record there", second(func(note []byte) {
			binary.LittleEndian.PutUint32(note, 1)
			note[noteMoved] = 1
		}), ErrTornCopy},
		{"zeros where the second note was", second(func(note []byte) { clear(note) }), ErrTornCopy},
	} {
		for _, readOnly := range []bool{false, true} {
			dir := t.TempDir()
			path := filepath.Join(dir, "db")
			if err := os.WriteFile(path, test.data, 0o644); err != nil {
				t.Fatal(err)
			}
			c, err := Open(path, Options{ReadOnly: readOnly, Create: true})
			if err == nil {
				_ = c.Close()
			}
			if !errors.Is(err, test.want) || err != nil && !strings.Contains(err.Error(), path) {
				t.Errorf("%s (read-only %v): got %v, want %v with the path", test.name, readOnly, err, test.want)
			}
			after, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(after, test.data) {
				t.Errorf("%s: the file was changed", test.name)
			}
			if got := names(t, dir); got != "db" {
				t.Errorf("%s: left behind: %s", test.name, got)
			}
		}
	}
}

func TestPathsThatCannotBeOpened(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "dangling")); err != nil {
		t.Fatal(err)
	}
	long := filepath.Join(dir, strings.Repeat(strings.Repeat("d", 200)+"/", 6))
	for _, test := range []struct {
		path string
		o    Options
		want error
	}{
		{"", Options{}, fs.ErrInvalid},
		{filepath.Join(dir, "missing"), Options{}, fs.ErrNotExist},
		{filepath.Join(dir, "missing"), Options{ReadOnly: true, Create: true}, fs.ErrNotExist},
		{filepath.Join(dir, "no", "directory"), Options{Create: true}, fs.ErrNotExist},
		{filepath.Join(dir, "dangling"), Options{Create: true}, fs.ErrNotExist},
		{long, Options{Create: true}, fs.ErrNotExist},
	} {
		if c, err := Open(test.path, test.o); !errors.Is(err, test.want) {
			t.Errorf("%q: %v, want %v", test.path, err, test.want)
			_ = c.Close()
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(dir, "folder"), Options{ReadOnly: true}); !errors.Is(err, ErrNotDatabase) {
		t.Errorf("a directory: %v", err)
	}
	if got := names(t, dir); got != "dangling folder" {
		t.Errorf("left behind: %s", got)
	}
}

func TestASymbolicLinkLeadsToTheFile(t *testing.T) {
	dir, links := t.TempDir(), t.TempDir()
	link := filepath.Join(links, "link")
	if err := os.Symlink(filepath.Join(dir, "db"), link); err != nil {
		t.Fatal(err)
	}
	openTest(t, filepath.Join(dir, "db"), Options{Create: true})
	if _, err := Open(link, Options{}); !errors.Is(err, ErrLocked) {
		t.Errorf("the same file by another name: %v", err)
	}
	c := openTest(t, link, Options{ReadOnly: true})
	if c.Path() != filepath.Join(dir, "db") {
		t.Errorf("path is %s", c.Path())
	}
}

func TestOneDamagedSlotIsHealed(t *testing.T) {
	good := sample(t)
	for slot := range slots {
		path := filepath.Join(t.TempDir(), "db")
		data := edit(good, func(p []byte) { clear(p[slot*PageSize : (slot+1)*PageSize]) })
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		c := openTest(t, path, Options{})
		conn := connect(t, c)
		wantText(t, conn, `SELECT count(*) FROM t`, "100")
		if err := errors.Join(conn.Close(), c.Close()); err != nil {
			t.Fatal(err)
		}
		healed, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range slots {
			if _, err := decodeSlot(healed[i*PageSize : (i+1)*PageSize]); err != nil {
				t.Errorf("slot %d after slot %d was damaged: %v", i, slot, err)
			}
		}
	}
}

func FuzzSlot(f *testing.F) {
	s := &superblock{version: 2, generation: 3, tail: 1 << 20, extents: extents{{headSize, minExtent}, {headSize + 2*minExtent, minExtent}}}
	f.Add(s.encode())
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, p []byte) {
		if len(p) == PageSize {
			seal(p)
		}
		s, err := decodeSlot(p)
		if err != nil {
			return
		}
		again, err := decodeSlot(s.encode())
		if err != nil || again.tail != s.tail || len(again.extents) != len(s.extents) || again.generation != s.generation {
			t.Errorf("%+v became %+v, %v", s, again, err)
		}
	})
}

func FuzzNote(f *testing.F) {
	n := note{
		holder: Holder{1234, "host"}, sequence: 7, names: otherNames,
		log: mark{salts: [8]byte{1}, frames: 3, sum: [8]byte{2}}, spent: mark{salts: [8]byte{3}},
	}
	f.Add(n.encode())
	f.Add(make([]byte, noteSize))
	f.Fuzz(func(t *testing.T, p []byte) {
		if len(p) == noteSize {
			binary.LittleEndian.PutUint32(p, crc32.Checksum(p[notePID:], castagnoli()))
		}
		n, kind := decodeNote(p)
		if kind != noteWhole {
			return
		}
		again, kind := decodeNote(n.encode())
		n.holder.Host, again.holder.Host = "", "" // what is not UTF-8 in it is replaced
		if kind != noteWhole || again != n {
			t.Errorf("%+v became %+v", n, again)
		}
	})
}
