package stardust_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stardustdb/stardust"
)

func TestStreamsRefuseWhatTheyCannotDo(t *testing.T) {
	db := openFast(t, withObjects())
	data := []byte("Hello, objects")
	stream, err := db.Objects().Upload()
	if err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 4)
	want := func(what string, status stardust.Status, err error) {
		t.Helper()
		if !errors.Is(err, status) {
			t.Errorf("%s: %v, want %v", what, err, status)
		}
	}
	try := func(s *stardust.PluginStream) map[string]error {
		errs := make(map[string]error)
		_, errs["read"] = s.Read(p)
		_, errs["read at"] = s.ReadAt(p, 0)
		_, errs["seek"] = s.Seek(0, io.SeekStart)
		_, errs["write to"] = s.WriteTo(io.Discard)
		_, errs["write"] = s.Write(data)
		_, errs["read from"] = s.ReadFrom(bytes.NewReader(data))
		_, errs["finish"] = s.Finish()
		return errs
	}
	for what, err := range try(stream) {
		if what == "read" || what == "read at" || what == "seek" || what == "write to" {
			want(what+" of an upload", stardust.StatusInvalidArgument, err)
		} else if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, what := range []string{"write", "read from", "finish"} {
		want(what+" after finish", stardust.StatusClosed, try(stream)[what])
	}
	if stream.Size() != int64(2*len(data)) || stream.Close() != nil || stream.Close() != nil {
		t.Error("size or close after finish")
	}
	digest := upload(t, db, data)
	reader, err := db.Objects().Open(strings.ToUpper(digest.String()))
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"write", "read from", "finish"} {
		want(what+" of a reader", stardust.StatusInvalidArgument, try(reader)[what])
	}
	if _, err := reader.Seek(-1, io.SeekStart); true {
		want("seek before the start", stardust.StatusInvalidArgument, err)
	}
	if _, err := reader.Seek(0, 9); true {
		want("seek from nowhere", stardust.StatusInvalidArgument, err)
	}
	if _, err := reader.Seek(1<<62, io.SeekStart); err != nil {
		t.Error(err)
	}
	if _, err := reader.Seek(1<<62, io.SeekCurrent); true {
		want("seek beyond all numbers", stardust.StatusInvalidArgument, err)
	}
	if n, err := reader.Read(p); n != 0 || err != io.EOF {
		t.Errorf("read behind the end: %d, %v", n, err)
	}
	if _, err := reader.ReadAt(p, -1); true {
		want("read at a negative offset", stardust.StatusInvalidArgument, err)
	}
	reader.Close()
	for _, what := range []string{"read", "seek", "write to"} {
		want(what+" after close", stardust.StatusClosed, try(reader)[what])
	}
	var none *stardust.PluginStream
	for what, err := range try(none) {
		want(what+" of a nil stream", stardust.StatusClosed, err)
	}
	if none.Size() != 0 || none.Close() != nil {
		t.Error("size or close of a nil stream")
	}
}

func TestReadersKeepTheRulesOfTheStandardLibrary(t *testing.T) {
	db := openFast(t, withObjects())
	for _, size := range []int{0, 1, 3000} {
		data := randomBytes(3, size)
		reader, err := db.Tree().Open(upload(t, db, data))
		if err != nil {
			t.Fatal(err)
		}
		if err := iotest.TestReader(reader, data); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
		reader.Close()
	}
}

func TestAnyByteRangeIsRight(t *testing.T) {
	options := withObjects()
	options.MemoryBudget = 13 << 20
	db := openFast(t, options)
	data := append(randomBytes(1, 9<<20), make([]byte, 9<<20)...)
	digest := upload(t, db, data)
	reader, err := db.Tree().Open(digest)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	want := bytes.NewReader(data)
	random := rand.New(rand.NewPCG(5, 6))
	got, expected := make([]byte, 5<<20), make([]byte, 5<<20)
	for range 120 {
		n := random.IntN([]int{10, 5000, 5 << 20}[random.IntN(3)])
		off := random.Int64N(int64(len(data)) + 100)
		if random.IntN(2) == 0 {
			a, errA := reader.ReadAt(got[:n], off)
			b, errB := want.ReadAt(expected[:n], off)
			if n > 0 && (a != b || errA != errB) || !bytes.Equal(got[:a], expected[:b]) {
				t.Fatalf("ReadAt(%d, %d) = %d, %v, want %d, %v", n, off, a, errA, b, errB)
			}
			continue
		}
		whence := random.IntN(3)
		off -= []int64{0, off / 2, int64(len(data))}[whence]
		a, errA := reader.Seek(off, whence)
		b, errB := want.Seek(off, whence)
		if a != b || (errA == nil) != (errB == nil) {
			t.Fatalf("Seek(%d, %d) = %d, %v, want %d, %v", off, whence, a, errA, b, errB)
		}
		x, errA := io.ReadFull(reader, got[:n])
		y, errB := io.ReadFull(want, expected[:n])
		if x != y || errA != errB || !bytes.Equal(got[:x], expected[:y]) {
			t.Fatalf("reading %d bytes from %d: %d, %v, want %d, %v", n, a, x, errA, y, errB)
		}
	}
}

func TestErrorsOfTheSourceAndTheTargetComeBackAsTheyAre(t *testing.T) {
	db := openFast(t, withObjects())
	stream, err := db.Tree().Upload()
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	broken := errors.New("broken pipe")
	if n, err := stream.ReadFrom(io.MultiReader(strings.NewReader("Hello"), iotest.ErrReader(broken))); n != 5 || err != broken {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := stream.Write([]byte(", objects")); err != nil {
		t.Error(err)
	}
	published, err := stream.Finish()
	if err != nil || published.Digest != digestOf([]byte("Hello, objects")) {
		t.Errorf("%+v, %v", published, err)
	}
	reader, err := db.Tree().Open(published.Digest)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	pipe, w := io.Pipe()
	pipe.CloseWithError(broken)
	if _, err := reader.WriteTo(w); err != broken {
		t.Errorf("write to: %v", err)
	}
}

func TestStreamsEndWithTheirContext(t *testing.T) {
	db := openFast(t, withObjects())
	digest := upload(t, db, []byte("data"))
	ctx, cancel := context.WithCancel(t.Context())
	bound := db.Objects().WithContext(ctx)
	writer, err := bound.Upload()
	if err != nil {
		t.Fatal(err)
	}
	reader, err := bound.Tree().Open(digest)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Write([]byte("never")); err != nil {
		t.Fatal(err)
	}
	cancel()
	_, errWrite := writer.Write([]byte("x"))
	_, errFinish := writer.Finish()
	_, errRead := reader.Read(make([]byte, 1))
	_, errAt := reader.ReadAt(make([]byte, 1), 0)
	_, errGet := bound.Lookup(0, "x")
	_, errOpen := bound.Tree().Open(digest)
	_, errUpload := bound.Upload()
	_, errCreate := bound.Create(parse(t, `[{name x}]`))
	for i, err := range []error{errWrite, errFinish, errRead, errAt, errGet, errOpen, errUpload, errCreate} {
		if !errors.Is(err, stardust.StatusCanceled) || !errors.Is(err, context.Canceled) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if writer.Close() != nil || reader.Close() != nil {
		t.Error("close")
	}
	if _, err := db.Tree().Open(digestOf([]byte("never"))); !errors.Is(err, stardust.StatusNotFound) {
		t.Errorf("a canceled upload: %v", err)
	}
	if _, err := db.Objects().Lookup(0, "x"); !errors.Is(err, stardust.StatusNotFound) {
		t.Errorf("a canceled create: %v", err)
	}
}
