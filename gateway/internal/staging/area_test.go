package staging

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// clock is one that a test turns.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func open(t *testing.T, dir string, options *Options) *Area {
	t.Helper()
	a, err := Open(dir, options)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func create(t *testing.T, a *Area, u Upload) string {
	t.Helper()
	made, err := a.Create(u)
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}

func TestAnUploadGoesOnAfterABreakAndARestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "uploads")
	whole := make([]byte, 1<<20)
	for i := range whole {
		whole[i] = byte(rand.Uint32())
	}
	a := open(t, dir, nil)
	id := create(t, a, Upload{Owner: "ann", Path: "a/b", Size: int64(len(whole)), Metadata: map[string]string{"k": "v"}})
	broken := io.MultiReader(bytes.NewReader(whole[:300_000]), iotest.ErrReader(errors.New("the client went")))
	if n, err := a.Append(id, 0, broken); n != 300_000 || err == nil {
		t.Fatalf("a broken body: %d, %v", n, err)
	}
	// What was written but never made safe does not count, whatever it is.
	part, err := os.OpenFile(filepath.Join(dir, id+content), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.Write(make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	if err := part.Close(); err != nil {
		t.Fatal(err)
	}

	a = open(t, dir, nil)
	u, err := a.Get(id)
	if err != nil || u.Offset != 300_000 || u.Owner != "ann" || u.Metadata["k"] != "v" {
		t.Fatalf("after a restart: %+v, %v", u, err)
	}
	if _, err := a.Append(id, 300_001, bytes.NewReader(whole)); err == nil {
		t.Error("bytes are left out")
	}
	if n, err := a.Append(id, 300_000, bytes.NewReader(append(whole[300_000:len(whole):len(whole)], "too much"...))); n != int64(len(whole))-300_000 || err != nil {
		t.Fatalf("the rest: %d, %v", n, err)
	}
	refused := errors.New("refused")
	if err := a.Finish(id, func(*Upload, io.Reader) error { return refused }); !errors.Is(err, refused) {
		t.Errorf("a refused end: %v", err)
	}
	if n, err := a.Append(id, int64(len(whole))-1, bytes.NewReader(whole[len(whole)-1:])); n != 1 || err != nil {
		t.Errorf("the last byte again: %d, %v", n, err)
	}
	var got []byte
	err = a.Finish(id, func(u *Upload, from io.Reader) (err error) {
		if u.Path != "a/b" {
			t.Errorf("the path is %q", u.Path)
		}
		got, err = io.ReadAll(from)
		return err
	})
	if err != nil || !bytes.Equal(got, whole) {
		t.Fatalf("the end: %v, equal: %v", err, bytes.Equal(got, whole))
	}
	if err := a.Finish(id, func(*Upload, io.Reader) error { t.Error("stored twice"); return nil }); err != nil {
		t.Errorf("finished again: %v", err)
	}
	if u, err := open(t, dir, nil).Get(id); err != nil || !u.Done {
		t.Errorf("a finished one after a restart: %+v, %v", u, err)
	}
}

func TestAnUploadThatNobodyContinuesEndsAndLeavesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "uploads")
	c := &clock{time.Now()}
	options := &Options{Keep: time.Hour, Now: c.Now}
	a := open(t, dir, options)
	old := create(t, a, Upload{Path: "old", Size: 9})
	if _, err := a.Append(old, 0, strings.NewReader("some")); err != nil {
		t.Fatal(err)
	}
	c.now = c.now.Add(40 * time.Minute)
	young := create(t, a, Upload{Path: "young", Size: 9})
	c.now = c.now.Add(30 * time.Minute)
	if _, err := a.Get(old); !errors.Is(err, ErrNotFound) {
		t.Errorf("the old one: %v", err)
	}
	if list := a.List(); len(list) != 1 || list[0].ID != young {
		t.Errorf("listed: %+v", list)
	}
	// A restart ends what expired meanwhile.
	c.now = c.now.Add(time.Hour)
	a = open(t, dir, options)
	if len(a.List()) != 0 {
		t.Error("an expired upload goes on after a restart")
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the directory: %v", err)
	}
}

func TestUnfinishedUploadsAreBounded(t *testing.T) {
	a := open(t, filepath.Join(t.TempDir(), "uploads"), &Options{Most: 3, PerUser: 2})
	first := create(t, a, Upload{Owner: "ann", Path: "a", Size: 1})
	create(t, a, Upload{Owner: "ann", Path: "b", Size: 1})
	if _, err := a.Create(Upload{Owner: "ann", Path: "c", Size: 1}); !errors.Is(err, ErrTooMany) {
		t.Errorf("a third of one user: %v", err)
	}
	create(t, a, Upload{Owner: "bob", Path: "c", Size: 1})
	if _, err := a.Create(Upload{Owner: "eve", Path: "d", Size: 1}); !errors.Is(err, ErrTooMany) {
		t.Errorf("a fourth: %v", err)
	}
	if err := a.Remove(first); err != nil {
		t.Fatal(err)
	}
	create(t, a, Upload{Owner: "eve", Path: "d", Size: 1})
}

func TestOneRequestAtATimeAddsToAnUpload(t *testing.T) {
	a := open(t, filepath.Join(t.TempDir(), "uploads"), nil)
	id := create(t, a, Upload{Path: "a", Size: 10})
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := a.Append(id, 0, r)
		done <- err
	}()
	if _, err := w.Write([]byte("12345")); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Append(id, 0, strings.NewReader("x")); !errors.Is(err, ErrBusy) {
		t.Errorf("a second: %v", err)
	}
	if err := a.Remove(id); !errors.Is(err, ErrBusy) {
		t.Errorf("removed: %v", err)
	}
	if list := a.List(); len(list) != 1 || !list[0].Active {
		t.Errorf("listed: %+v", list)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if u, err := a.Get(id); err != nil || u.Offset != 5 || u.Active {
		t.Errorf("afterwards: %+v, %v", u, err)
	}
}

func TestWhatIsNoUploadStaysAlone(t *testing.T) {
	dir := t.TempDir()
	const id = "00112233445566778899aabbccddeeff"
	for name, text := range map[string]string{"notes.txt": "x", id + described: "not JSON", id + content: "x", "short.part": "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if a := open(t, dir, nil); len(a.List()) != 0 {
		t.Error("it has uploads")
	}
	for name, there := range map[string]bool{"notes.txt": true, "short.part": true, id + described: false, id + content: false} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	const id = "00112233445566778899aabbccddeeff"
	f.Add([]byte(`{"id":"` + id + `","path":"a","size":5,"offset":2}`))
	f.Add([]byte(`{"id":"` + id + `","path":"a","size":-1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if u, err := parse(text, id); err == nil && (u.ID != id || u.Offset < 0 || u.Offset > u.Size || u.Path == "") {
			t.Errorf("%q: %+v", text, u)
		}
	})
}
