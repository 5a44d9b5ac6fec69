package stardust_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stardustdb/stardust"
)

func openFast(t testing.TB, options *stardust.Options) *stardust.DB {
	t.Helper()
	return openAt(t, filepath.Join(stardust.FastDir(t), "db"), options)
}

// The sizes of chunks, as the objects spec has them.
const (
	minChunk = 256 << 10
	maxChunk = 4 << 20
)

// TestChunksDoNotDependOnTheSizesOfWrites uploads payloads of all sizes around
// the limits of chunks and buffers in one write, in small ones, and by io.Copy.
func TestChunksDoNotDependOnTheSizesOfWrites(t *testing.T) {
	whole, pieces, copied := openFast(t, withObjects()), openFast(t, withObjects()), openFast(t, withObjects())
	for i, size := range []int{
		0, 1, 1000, minChunk - 1, minChunk, minChunk + 1, 1 << 20, 3 << 19,
		maxChunk - 1, maxChunk, maxChunk + 1, 2*maxChunk - 1, 2*maxChunk + 1, 5*maxChunk + 12345,
	} {
		data := randomBytes(uint64(40+i), size)
		if i%3 == 2 {
			data = make([]byte, size) // zeros are cut nowhere but at the maximum
		}
		digest := upload(t, whole, data)
		piece := 7777
		if size <= 1000 || size == minChunk+1 {
			piece = 1 // where that is quick
		}
		if got := uploadPieces(t, pieces, data, piece); got != digest {
			t.Errorf("%d bytes in pieces of %d: digest %v, want %v", size, piece, got, digest)
		}
		stream, err := copied.Objects().Upload()
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(stream, iotest.HalfReader(bytes.NewReader(data))); err != nil || n != int64(size) {
			t.Fatal(n, err)
		}
		if _, err := stream.Finish(); err != nil {
			t.Fatal(err)
		}
		stream.Close()
		want := manifest(t, whole, digest)
		checkManifest(t, whole, digest, data)
		for name, db := range map[string]*stardust.DB{"in pieces": pieces, "by io.Copy": copied} {
			if got := manifest(t, db, digest); got != want {
				t.Errorf("%d bytes %s: the manifest is\n%s\nwant\n%s", size, name, got, want)
			}
			if got, err := download(db, digest); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%d bytes %s: read back %d bytes, %v", size, name, len(got), err)
			}
		}
	}
	wantClean(t, whole)
}

func uploadPieces(t *testing.T, db *stardust.DB, data []byte, piece int) stardust.Digest {
	t.Helper()
	stream, err := db.Tree().Upload()
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	for rest := data; len(rest) > 0; {
		n, err := stream.Write(rest[:min(piece, len(rest))])
		if err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	published, err := stream.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return published.Digest
}

func manifest(t *testing.T, db *stardust.DB, digest stardust.Digest) string {
	t.Helper()
	document, err := db.Objects().Manifest(digest.String())
	if err != nil {
		t.Fatal(err)
	}
	defer document.Close()
	return document.String()
}

// checkManifest checks that the chunks are the payload's bytes in order, and of
// the sizes that the spec allows.
func checkManifest(t *testing.T, db *stardust.DB, digest stardust.Digest, data []byte) {
	t.Helper()
	rest := data
	for c, err := range db.Tree().Chunks(digest) {
		if err != nil {
			t.Fatal(err)
		}
		last := c.Size == int64(len(rest))
		if c.Size > int64(len(rest)) || c.Size > maxChunk || c.Size < minChunk && !last || c.Digest != digestOf(rest[:c.Size]) {
			t.Fatalf("payload of %d bytes: chunk %v of %d bytes at %d", len(data), c.Digest, c.Size, len(data)-len(rest))
		}
		rest = rest[c.Size:]
	}
	if len(rest) != 0 {
		t.Errorf("the manifest leaves %d bytes out", len(rest))
	}
	if text := manifest(t, db, digest); (len(data) == 0) == strings.Contains(text, "chunks") {
		t.Errorf("manifest of %d bytes: %.100s", len(data), text)
	}
}

func TestEditsToALargePayloadShareMostChunks(t *testing.T) {
	db := openFast(t, withObjects())
	data := randomBytes(1, 12<<20)
	upload(t, db, data)
	before, err := db.Info()
	if err != nil {
		t.Fatal(err)
	}
	edited := append(append(bytes.Clone(data[:6<<20]), randomBytes(2, 4<<10)...), data[6<<20:]...)
	upload(t, db, edited)
	after, err := db.Info()
	if err != nil || after.Chunks-before.Chunks > 3 || after.Payloads != before.Payloads+1 {
		t.Errorf("%d new chunks for 4 KiB in the middle of 12 MiB, %v", after.Chunks-before.Chunks, err)
	}
}

func TestEqualBytesPublishOnePayload(t *testing.T) {
	db := openFast(t, withObjects())
	for _, size := range []int{0, 5, 3 << 20} {
		data := randomBytes(1, size)
		first, err := tryUpload(db, data)
		if err != nil || first.Deduplicated || first.Size != int64(size) {
			t.Fatalf("%+v, %v", first, err)
		}
		before, err := db.Info()
		if err != nil {
			t.Fatal(err)
		}
		second, err := tryUpload(db, data)
		if err != nil || !second.Deduplicated || second.Digest != first.Digest {
			t.Errorf("%d bytes: %+v, %v", size, second, err)
		}
		if after, err := db.Info(); err != nil || after.Payloads != before.Payloads || after.ChunkBytes != before.ChunkBytes || after.LastRevision != before.LastRevision {
			t.Errorf("%d bytes stored again: %+v, was %+v, %v", size, after, before, err)
		}
	}
}

// TestAbandonedUploadsLeaveNothing abandons uploads by Close, by the database's
// Close, and by a crash: nothing is published and the space comes back.
func TestAbandonedUploadsLeaveNothing(t *testing.T) {
	path := filepath.Join(stardust.FastDir(t), "db")
	options := withObjects()
	options.MemoryBudget = maxChunk // one buffer: what Write returned for is in the file
	db := openAt(t, path, options)
	upload(t, db, []byte("kept"))
	// reopen closes and opens the file, and returns its size at rest between.
	reopen := func() int64 {
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		db = openAt(t, path, options)
		if i, err := db.Info(); err != nil || i.Payloads != 1 {
			t.Errorf("%+v, %v", i, err)
		}
		return info.Size()
	}
	size := reopen()
	begin := func() *stardust.Upload {
		stream, err := db.Tree().Upload()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Write(randomBytes(9, 17<<20)); err != nil {
			t.Fatal(err)
		}
		return stream
	}
	begin().Close()
	if got := reopen(); got != size {
		t.Errorf("after an upload that was closed the file has %d bytes, was %d", got, size)
	}
	begin()
	if got := reopen(); got != size {
		t.Errorf("after an upload that Close ended the file has %d bytes, was %d", got, size)
	}
	stream := begin()
	for _, suffix := range []string{"", "-wal"} { // what a crash right now would leave
		data, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+"2"+suffix, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	stream.Close()
	db.Close()
	path += "2"
	if info, err := os.Stat(path); err != nil || info.Size() < size+12<<20 {
		t.Errorf("the interrupted upload is not in the file: %v, %v", info.Size(), err)
	}
	db = openAt(t, path, options)
	if got := reopen(); got != size {
		t.Errorf("after a crash and an open the file has %d bytes, was %d", got, size)
	}
}

// TestAnyByteRangeIsRight compares seeks, reads and reads at offsets with those
// of a bytes.Reader, over many chunks and with a cache that holds few.
func TestUploadsAndReadsKeepToTheMemoryBudget(t *testing.T) {
	options := withObjects()
	options.MemoryBudget = maxChunk
	db := openFast(t, options)
	data := randomBytes(8, 10<<20)
	stream, err := db.Tree().Upload()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Write(data); err != nil {
		t.Fatalf("an upload of 10 MiB in a budget of 4 MiB: %v", err)
	}
	small := finish(t, stream)
	reader, err := db.Tree().Open(small)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if got, err := io.ReadAll(reader); err != nil || !bytes.Equal(got, data) {
		t.Fatalf("reading it: %d bytes, %v", len(got), err)
	}
	hog, err := db.Tree().Upload()
	if err != nil {
		t.Fatalf("at its end a reader holds memory: %v", err)
	}
	if _, err := hog.Write(data[:maxChunk]); err != nil {
		t.Fatal(err)
	}
	another, err := db.Tree().Open(small)
	if err != nil {
		t.Fatal(err)
	}
	defer another.Close()
	p := make([]byte, 10)
	if _, err := another.ReadAt(p, 0); !errors.Is(err, stardust.StatusOutOfMemory) {
		t.Errorf("reading while an upload has the budget: %v", err)
	}
	if _, err := another.Read(p); !errors.Is(err, stardust.StatusOutOfMemory) {
		t.Errorf("reading in sequence while an upload has the budget: %v", err)
	}
	hog.Close()
	if _, err := another.ReadAt(p, 0); err != nil || !bytes.Equal(p, data[:10]) {
		t.Errorf("reading after the upload has gone: %v", err)
	}
	options.MemoryBudget = 1 << 20
	tight := openFast(t, options)
	wide, err := tight.Objects().Upload()
	if err != nil {
		t.Fatal(err)
	}
	defer wide.Close()
	if n, err := wide.Write(data); n >= 1<<20 || !errors.Is(err, stardust.StatusOutOfMemory) {
		t.Errorf("upload in a budget of 1 MiB: %d bytes, %v", n, err)
	}
}

// finish finishes a stream.
func finish(t *testing.T, stream *stardust.Upload) stardust.Digest {
	t.Helper()
	published, err := stream.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Close(); err != nil {
		t.Fatal(err)
	}
	return published.Digest
}

// zeros reads as n bytes of zeros.
type zeros struct{ n int64 }

func (z *zeros) Read(p []byte) (int, error) {
	if z.n == 0 {
		return 0, io.EOF
	}
	n := int(min(z.n, int64(len(p))))
	clear(p[:n])
	z.n -= int64(n)
	return n, nil
}

// TestZerosTakeConstantMemoryAndAFewChunks uploads zeros: 64 GiB when
// STARDUST_LONG is set, past the limits of 32 bits.
func TestZerosTakeConstantMemoryAndAFewChunks(t *testing.T) {
	size := int64(100<<20 + 5)
	if stardust.LongTests() {
		size = 64<<30 + 5
	}
	db := openFast(t, withObjects())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	stream, err := db.Tree().Upload()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(stream, &zeros{size}); err != nil {
		t.Fatal(err)
	}
	digest := finish(t, stream)
	runtime.ReadMemStats(&after)
	if grown := int64(after.Sys) - int64(before.Sys); grown > 64<<20 {
		t.Errorf("uploading %d bytes took %d bytes of memory", size, grown)
	}
	info, err := db.Info()
	if err != nil || info.PayloadBytes != size || info.Chunks > 2 {
		t.Errorf("%+v, %v", info, err)
	}
	total := int64(0)
	for c, err := range db.Tree().Chunks(digest) {
		if err != nil {
			t.Fatal(err)
		}
		total += c.Size
	}
	reader, err := db.Tree().Open(digest)
	if err != nil || total != size || reader.Size() != size {
		t.Fatalf("chunks of %d bytes, %v", total, err)
	}
	defer reader.Close()
	p := []byte{1, 2, 3, 4}
	if n, err := reader.ReadAt(p, size-3); n != 3 || err != io.EOF || !bytes.Equal(p, []byte{0, 0, 0, 4}) {
		t.Errorf("the last bytes: %d, %v, %v", n, err, p)
	}
}

func TestPayloadsAreNeverDeleted(t *testing.T) {
	db := openFast(t, withObjects())
	digest, other := upload(t, db, []byte("one")), upload(t, db, []byte("two"))
	made := create(t, db, fmt.Sprintf(`[{name f digest {#sha256 %q}}]`, digest))
	if _, err := db.Objects().Update(made[0].Entity, other.String(), 0); err != nil {
		t.Fatal(err)
	}
	if err := db.Objects().Remove(made[0].Entity, 0); err != nil {
		t.Fatal(err)
	}
	for _, d := range []stardust.Digest{digest, other} {
		if _, err := download(db, d); err != nil {
			t.Error(err)
		}
	}
}
