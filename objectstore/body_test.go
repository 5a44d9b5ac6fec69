package objectstore_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stardustdb/stardust/objectstore"
)

func TestBodiesYieldTheirBytes(t *testing.T) {
	const data = "some bytes"
	for name, c := range map[string]struct {
		body   objectstore.Body
		replay bool
	}{
		"bytes":     {objectstore.Bytes([]byte(data)), true},
		"reader at": {objectstore.ReaderAt(strings.NewReader(data+"beyond"), 10), true},
		"stream":    {objectstore.Stream(strings.NewReader(data), 10), false},
	} {
		if c.body.Size() != 10 || c.body.Replayable() != c.replay || c.body.Validate() != nil {
			t.Errorf("%s: size %d, replayable %v, %v", name, c.body.Size(), c.body.Replayable(), c.body.Validate())
		}
		reader := c.body.Open()
		if err := iotest.TestReader(reader, []byte(data)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !c.replay {
			continue
		}
		if got, err := c.body.ReadAll(); err != nil || string(got) != data {
			t.Errorf("%s: read again: %q, %v", name, got, err)
		}
		if _, ok := reader.(io.ReadSeeker); !ok {
			t.Errorf("%s: its reader does not seek", name)
		}
		if _, ok := reader.(io.ReaderAt); !ok {
			t.Errorf("%s: its reader is no ReaderAt", name)
		}
	}
	if got, err := (objectstore.Body{}).ReadAll(); err != nil || len(got) != 0 {
		t.Errorf("the zero body is %q, %v", got, err)
	}
}

func TestBodiesOfAnotherLengthAreErrors(t *testing.T) {
	source := errors.New("source")
	long := strings.Repeat("x", 100_000)
	for name, c := range map[string]struct {
		body objectstore.Body
		want error
	}{
		"short stream":       {objectstore.Stream(strings.NewReader("12345"), 6), io.ErrUnexpectedEOF},
		"empty stream":       {objectstore.Stream(strings.NewReader(""), 6), io.ErrUnexpectedEOF},
		"long stream":        {objectstore.Stream(strings.NewReader("1234567"), 6), nil},
		"long empty stream":  {objectstore.Stream(strings.NewReader("1"), 0), nil},
		"error at the end":   {objectstore.Stream(io.MultiReader(strings.NewReader("123456"), iotest.ErrReader(source)), 6), source},
		"error in the midst": {objectstore.Stream(io.MultiReader(strings.NewReader("123"), iotest.ErrReader(source)), 6), source},
		"short reader at":    {objectstore.ReaderAt(strings.NewReader("12345"), 6), io.ErrUnexpectedEOF},
		"hostile size":       {objectstore.Stream(strings.NewReader(long), 1<<60), io.ErrUnexpectedEOF},
		"hostile reader at":  {objectstore.ReaderAt(strings.NewReader(long), 1<<60), io.ErrUnexpectedEOF},
		"negative":           {objectstore.Stream(strings.NewReader(""), -1), objectstore.ErrInvalidOption},
		"nil reader":         {objectstore.Stream(nil, 3), objectstore.ErrInvalidOption},
		"nil reader at":      {objectstore.ReaderAt(nil, 3), objectstore.ErrInvalidOption},
	} {
		got, err := c.body.ReadAll()
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: read %d bytes, %v, want %v", name, len(got), err, c.want)
		}
		if objectstore.IsTransient(err) {
			t.Errorf("%s: %v would be tried again", name, err)
		}
	}
}

func TestLargeStreamsReadWhole(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789abcdef"), 40<<20/16)
	got, err := objectstore.Stream(bytes.NewReader(data), int64(len(data))).ReadAll()
	if err != nil || !bytes.Equal(got, data) {
		t.Fatalf("read %d bytes, %v", len(got), err)
	}
}
