package stardust_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/ncruces/go-sqlite3"

	"github.com/stardustdb/stardust"
)

// The tests of this file read a database by docs/formats.md and
// docs/formats-catalog.md alone and use none of the program's decoders, so that the
// documents stay true.

func castagnoli(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// formatsFile is a database at rest, being read by the documents.
type formatsFile struct {
	t        *testing.T
	data     []byte
	identity []byte
	extents  [][2]uint64 // offset, size
	trailer  uint64
}

func (f *formatsFile) u32(at uint64) uint32 { return binary.LittleEndian.Uint32(f.data[at:]) }
func (f *formatsFile) u64(at uint64) uint64 { return binary.LittleEndian.Uint64(f.data[at:]) }

// superblock reads a slot and returns its generation.
func (f *formatsFile) superblock(at uint64) uint64 {
	slot := f.data[at : at+4096]
	if want := "\x89Stardust DB\r\n\x1a\n"; string(slot[:16]) != want {
		f.t.Errorf("slot at %d: magic %q", at, slot[:16])
	}
	if version, page, reserved := f.u32(at+16), f.u32(at+20), f.u32(at+56); version != 2 || page != 4096 || reserved != 4 {
		f.t.Errorf("slot at %d: version %d, pages of %d, %d reserved", at, version, page, reserved)
	}
	if f.u32(at+4092) != castagnoli(slot[:4092]) {
		f.t.Errorf("slot at %d: checksum", at)
	}
	f.trailer = f.u64(at + 4084)
	if tail := f.u64(at + 48); tail != uint64(len(f.data)) {
		f.t.Errorf("slot at %d: tail %d, the file at rest has %d bytes", at, tail, len(f.data))
	}
	f.identity = slot[32:48]
	f.extents = nil
	for i := range uint64(f.u32(at + 60)) {
		extent := [2]uint64{f.u64(at + 64 + 16*i), f.u64(at + 72 + 16*i)}
		if extent[0]%4096 != 0 || extent[1]%4096 != 0 || extent[0] < 12288 {
			f.t.Errorf("extent %d: %v", i, extent)
		}
		f.extents = append(f.extents, extent)
	}
	return f.u64(at + 24)
}

// copied reads the trailer's copy of the superblock.
func (f *formatsFile) copied(at uint64, extents string) {
	slot := f.data[at : at+4096]
	if f.u32(at+4092) != castagnoli(slot[:4092]) || f.u64(at+4084) != at || !bytes.Equal(slot[32:48], f.identity) {
		f.t.Errorf("the trailer at %d: no copy of the superblock", at)
	}
	got := [][2]uint64{}
	for i := range uint64(f.u32(at + 60)) {
		got = append(got, [2]uint64{f.u64(at + 64 + 16*i), f.u64(at + 72 + 16*i)})
	}
	if fmt.Sprint(got) != extents {
		f.t.Errorf("the trailer's extents %v, want %s", got, extents)
	}
}

// note reads a note at rest and returns the mark of the log before.
func (f *formatsFile) note(at uint64) []byte {
	note := f.data[at : at+512]
	if f.u32(at) != castagnoli(note[4:]) {
		f.t.Errorf("note at %d: checksum", at)
	}
	if string(note[384:392]) != "SDnote\x00\x02" || f.u64(at+392) == 0 || !bytes.Equal(note[400:432], make([]byte, 32)) {
		f.t.Errorf("note at %d: % x", at, note[384:432])
	}
	return note[432:456]
}

// tables takes SQLite's database out of the extents, checks every page and opens
// a copy of it with plain SQLite.
func (f *formatsFile) tables() *sqlite3.Conn {
	f.t.Helper()
	var pages []byte
	for _, e := range f.extents {
		pages = append(pages, f.data[e[0]:e[0]+e[1]]...)
	}
	count := binary.BigEndian.Uint32(pages[28:32])
	pages = pages[:4096*uint64(count)]
	for i := range uint64(count) {
		page := pages[4096*i : 4096*(i+1)]
		covered := append([]byte(nil), f.identity...)
		covered = binary.LittleEndian.AppendUint64(covered, i+1)
		covered = append(covered, page[:4092]...)
		if binary.LittleEndian.Uint32(page[4092:]) != castagnoli(covered) {
			f.t.Errorf("page %d of %d: checksum", i+1, count)
		}
	}
	path := filepath.Join(f.t.TempDir(), "tables.sqlite")
	if err := os.WriteFile(path, pages, 0o666); err != nil {
		f.t.Fatal(err)
	}
	c, err := sqlite3.Open(path)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { c.Close() })
	return c
}

// rows calls fn with every row of a query.
func rows(t *testing.T, c *sqlite3.Conn, query string, fn func(*sqlite3.Stmt)) {
	t.Helper()
	s, _, err := c.Prepare(query)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	count := 0
	for s.Step() {
		fn(s)
		count++
	}
	if err := s.Err(); err != nil || count == 0 {
		t.Errorf("%s: %d rows, %v", query, count, err)
	}
}

// rowSum is the checksum of a row: a letter, then integers and BLOBs.
func rowSum(letter byte, columns ...any) int64 {
	covered := []byte{letter}
	for _, column := range columns {
		switch v := column.(type) {
		case int64:
			covered = binary.LittleEndian.AppendUint64(covered, uint64(v))
		case []byte:
			covered = binary.LittleEndian.AppendUint64(covered, uint64(len(v)))
			covered = append(covered, v...)
		}
	}
	return int64(castagnoli(covered))
}

// packed reads the record of a compressed chunk at an offset.
func (f *formatsFile) packed(at, size, stored uint64, digest []byte) {
	blocks := (size + 65535) / 65536
	head := f.data[at : at+44+8*blocks]
	if string(head[:4]) != "SDc\x02" || uint64(f.u32(at+4)) != size || !bytes.Equal(head[8:40], digest) ||
		f.u32(at+40+8*blocks) != castagnoli(head[:40+8*blocks]) {
		f.t.Errorf("compressed record at %d: begins % x", at, head[:8])
	}
	d, err := zstd.NewReader(nil)
	if err != nil {
		f.t.Fatal(err)
	}
	defer d.Close()
	var data []byte
	body := f.data[at+44+8*blocks:][:stored]
	for i := range blocks {
		n, sum := f.u32(at+40+8*i), f.u32(at+44+8*i)
		if sum != castagnoli(body[:n]) {
			f.t.Errorf("compressed record at %d: checksum of block %d", at, i)
		}
		block := body[:n]
		if uint64(n) < min(65536, size-65536*i) {
			if block, err = d.DecodeAll(block, nil); err != nil {
				f.t.Errorf("compressed record at %d: block %d: %v", at, i, err)
			}
		}
		data, body = append(data, block...), body[n:]
	}
	if sum := sha256.Sum256(data); uint64(len(data)) != size || !bytes.Equal(sum[:], digest) || len(body) > 0 {
		f.t.Errorf("compressed record at %d: digest", at)
	}
}

// chunk reads the record at an offset.
func (f *formatsFile) chunk(at, size uint64, digest []byte) {
	blocks := (size + 65535) / 65536
	head := f.data[at : at+44+4*blocks]
	data := f.data[at+44+4*blocks:][:size]
	sum := sha256.Sum256(data)
	switch {
	case at%64 != 0 || string(head[:4]) != "SDc\x01" || uint64(f.u32(at+4)) != size:
		f.t.Errorf("record at %d: begins % x", at, head[:8])
	case !bytes.Equal(head[8:40], digest) || !bytes.Equal(sum[:], digest):
		f.t.Errorf("record at %d: digest", at)
	case f.u32(at+40+4*blocks) != castagnoli(head[:40+4*blocks]):
		f.t.Errorf("record at %d: checksum of its head", at)
	}
	for i := range blocks {
		if block := data[65536*i : min(size, 65536*(i+1))]; f.u32(at+40+4*i) != castagnoli(block) {
			f.t.Errorf("record at %d: checksum of block %d", at, i)
		}
	}
}

// transactionText reads a transaction record and returns what it says.
func transactionText(b []byte) string {
	unsigned := func() uint64 {
		v, n := binary.Uvarint(b)
		b = b[n:]
		return v
	}
	signed := func() int64 {
		v, n := binary.Varint(b) // zigzag
		b = b[n:]
		return v
	}
	taking := func(n uint64) []byte {
		v := b[:n]
		b = b[n:]
		return v
	}
	text := fmt.Sprintf("version %d", taking(1)[0])
	text += fmt.Sprintf(" id %d", unsigned())
	text += fmt.Sprintf(" time %d:", signed())
	for range unsigned() {
		text += fmt.Sprintf(" %d", unsigned())
		switch code := taking(1)[0]; code {
		case 0:
			text += " " + string(taking(unsigned()))
		default:
			text += " " + []string{"", "parent", "name", "digest"}[code]
		}
		switch kind := taking(1)[0]; kind {
		case 0:
			text += " retracted,"
		case 1:
			text += fmt.Sprintf(" = %d,", signed())
		case 2, 4:
			text += fmt.Sprintf(" = %s,", taking(unsigned()))
		case 3:
			text += fmt.Sprintf(" = %x,", taking(32))
		}
	}
	return text + fmt.Sprintf(" %d bytes left", len(b))
}

// TestTheFormatIsAsDocumented writes a database with something in every table and
// reads it by the documents.
func TestTheFormatIsAsDocumented(t *testing.T) {
	path := filepath.Join(stardust.FastDir(t), "db")
	options := withObjects()
	options.Now = func() time.Time { return time.Unix(0, -7) }
	db := openAt(t, path, options)
	large, text := randomBytes(5, 6<<20), append(randomBytes(6, 1<<16), bytes.Repeat([]byte("compressible "), 9000)...)
	digests := []stardust.Digest{upload(t, db, large), upload(t, db, []byte("small")), upload(t, db, nil), upload(t, db, text)}
	create(t, db, fmt.Sprintf(`[{name d} {name f under 1 digest {#sha256 "%v"}}]`, digests[1])) // 1, 2; revision 3
	update, err := db.Objects().Update(2, digests[0].String(), 0)                               // revision 4
	if err != nil {
		t.Fatal(err)
	}
	update.Close()
	if _, err := db.Patch(1, parse(t, `{tags [a b]}`), 0); err != nil { // revision 5
		t.Fatal(err)
	}
	if err := db.Objects().Remove(2, 0); err != nil { // revision 6
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	f := &formatsFile{t: t, data: data}
	if first, second := f.superblock(0), f.superblock(4096); first != second {
		t.Errorf("generations %d and %d at rest", first, second)
	}
	extents := fmt.Sprint(f.extents)
	for _, e := range f.extents {
		if f.trailer < e[0]+e[1] {
			t.Errorf("the trailer at %d lies before the extent's end at %d", f.trailer, e[0]+e[1])
		}
	}
	f.copied(f.trailer, extents)
	head, tail := f.note(8192), f.note(f.trailer+4096)
	if pid := f.u64(8192 + 4); pid != 0 {
		t.Errorf("process %d has a file at rest", pid)
	}
	if !bytes.Equal(head, tail) || bytes.Equal(head, make([]byte, 24)) {
		t.Errorf("the notes at rest: the log before was % x and % x", head, tail)
	}
	c := f.tables()
	rows(t, c, `PRAGMA user_version`, func(s *sqlite3.Stmt) {
		if version := s.ColumnInt64(0); version != 3 {
			t.Errorf("tables of version %d", version)
		}
	})

	chunks, packed := make(map[int64]int64), 0
	rows(t, c, `SELECT id, offset, size, digest, crc FROM chunk`, func(s *sqlite3.Stmt) {
		id, offset, size, digest := s.ColumnInt64(0), s.ColumnInt64(1), s.ColumnInt64(2), s.ColumnBlob(3, nil)
		if rowSum('c', id, offset, size, digest) != s.ColumnInt64(4) {
			t.Errorf("chunk %d: checksum", id)
		}
		if stored := uint64(size) >> 32; stored > 0 {
			packed++
			size &= 1<<32 - 1
			f.packed(uint64(offset), uint64(size), stored, digest)
		} else {
			f.chunk(uint64(offset), uint64(size), digest)
		}
		chunks[id] = size
	})
	if packed != 1 {
		t.Errorf("%d compressed chunks", packed)
	}
	rows(t, c, `SELECT name, value, crc FROM setting`, func(s *sqlite3.Stmt) {
		name, value := s.ColumnBlob(0, nil), s.ColumnBlob(1, nil)
		if string(name)+" "+string(value) != "compression zstd" || rowSum('s', name, value) != s.ColumnInt64(2) {
			t.Errorf("setting %s: %s", name, value)
		}
	})
	payloads := make(map[stardust.Digest]int64)
	rows(t, c, `SELECT id, size, chunks, coalesce(chunk, 0), digest, crc, chunk IS NULL FROM payload`, func(s *sqlite3.Stmt) {
		id, size, count, chunk, digest := s.ColumnInt64(0), s.ColumnInt64(1), s.ColumnInt64(2), s.ColumnInt64(3), s.ColumnBlob(4, nil)
		if rowSum('p', id, size, count, chunk, digest) != s.ColumnInt64(5) {
			t.Errorf("payload %d: checksum", id)
		}
		if one := count == 1; one == s.ColumnBool(6) || one && chunks[chunk] != size {
			t.Errorf("payload %d of %d bytes: %d chunks, chunk %d", id, size, count, chunk)
		}
		payloads[stardust.Digest(digest)] = size
	})
	for i, size := range []int64{int64(len(large)), 5, 0, int64(len(text))} {
		if got, found := payloads[digests[i]]; !found || got != size {
			t.Errorf("payload %d has %d bytes, %v", i, got, found)
		}
	}
	rows(t, c, `SELECT payload, start, entries, crc FROM manifest`, func(s *sqlite3.Stmt) {
		payload, start, entries := s.ColumnInt64(0), s.ColumnInt64(1), s.ColumnBlob(2, nil)
		if rowSum('m', payload, start, entries) != s.ColumnInt64(3) {
			t.Errorf("manifest of %d: checksum", payload)
		}
		total := uint64(0)
		for len(entries) > 0 {
			chunk, n := binary.Uvarint(entries)
			size, m := binary.Uvarint(entries[n:])
			entries = entries[n+m:]
			total += size
			if chunks[int64(chunk)] != int64(size) {
				t.Errorf("manifest of %d: chunk %d of %d bytes", payload, chunk, size)
			}
		}
		if start != 0 || total != uint64(len(large)) {
			t.Errorf("manifest of %d: %d bytes from %d on", payload, total, start)
		}
	})
	rows(t, c, `SELECT entity, parent, revision, coalesce(payload, -1), name, crc FROM node`, func(s *sqlite3.Stmt) {
		entity, parent, revision, payload, name := s.ColumnInt64(0), s.ColumnInt64(1), s.ColumnInt64(2), s.ColumnInt64(3), s.ColumnBlob(4, nil)
		if rowSum('n', entity, parent, revision, payload, name) != s.ColumnInt64(5) {
			t.Errorf("node %d: checksum", entity)
		}
	})
	versions := ""
	rows(t, c, `SELECT entity, parent, revision, coalesce(payload, -1), until, removed, name, crc FROM version`, func(s *sqlite3.Stmt) {
		var n [6]int64
		for i := range n {
			n[i] = s.ColumnInt64(i)
		}
		if rowSum('v', n[0], n[1], n[2], n[3], n[4], n[5], s.ColumnBlob(6, nil)) != s.ColumnInt64(7) {
			t.Errorf("version %v: checksum", n)
		}
		versions += fmt.Sprintf("%d: %d-%d %d;", n[0], n[2], n[4], n[5])
	})
	if want := "1: 3-5 0;2: 3-4 0;2: 4-6 1;"; versions != want {
		t.Errorf("versions %s, want %s", versions, want)
	}
	rows(t, c, `SELECT entity, revision, until, name, value, crc FROM attribute`, func(s *sqlite3.Stmt) {
		entity, revision, until, name, value := s.ColumnInt64(0), s.ColumnInt64(1), s.ColumnInt64(2), s.ColumnBlob(3, nil), s.ColumnBlob(4, nil)
		if rowSum('a', entity, revision, until, name, value) != s.ColumnInt64(5) {
			t.Errorf("attribute %s of %d: checksum", name, entity)
		}
		if got := fmt.Sprintf("%d %d-%d %s=%s", entity, revision, until, name, value); got != `1 5-4611686018427387903 tags=["a","b"]` {
			t.Errorf("attribute %s", got)
		}
	})
	log := ""
	rows(t, c, `SELECT id, record, crc FROM log ORDER BY id`, func(s *sqlite3.Stmt) {
		id, record := s.ColumnInt64(0), s.ColumnBlob(1, nil)
		if rowSum('l', id, record) != s.ColumnInt64(2) {
			t.Errorf("transaction %d: checksum", id)
		}
		log += transactionText(record) + "\n"
	})
	want := fmt.Sprintf(`version 1 id 3 time -7: 1 parent = 0, 1 name = d, 2 parent = 1, 2 name = f, 2 digest = %v, 0 bytes left
version 1 id 4 time -7: 2 digest = %v, 0 bytes left
version 1 id 5 time -7: 1 tags = ["a","b"], 0 bytes left
version 1 id 6 time -7: 2 parent retracted, 2 name retracted, 2 digest retracted, 0 bytes left
`, digests[1], digests[0])
	if log != want {
		t.Errorf("the log says\n%swant\n%s", log, want)
	}
}
