package storetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing/iotest"

	"github.com/stardustdb/stardust/objectstore"
)

// errSource is what a failing source of a body fails with.
var errSource = errors.New("the source failed")

// forms makes a body of data in every way there is.
func forms(data string) map[string]objectstore.Body {
	size := int64(len(data))
	return map[string]objectstore.Body{
		"bytes":     objectstore.Bytes([]byte(data)),
		"reader at": objectstore.ReaderAt(strings.NewReader(data), size),
		"stream":    objectstore.Stream(strings.NewReader(data), size),
		// Data and EOF in one Read, and small reads.
		"eager stream": objectstore.Stream(iotest.DataErrReader(strings.NewReader(data)), size),
		"slow stream":  objectstore.Stream(iotest.HalfReader(strings.NewReader(data)), size),
	}
}

// broken makes bodies of data that fail or have another length than they say.
func broken(data string) map[string]objectstore.Body {
	size := int64(len(data))
	half := data[:len(data)/2]
	return map[string]objectstore.Body{
		"fails in the middle": objectstore.Stream(io.MultiReader(strings.NewReader(half), iotest.ErrReader(errSource)), size),
		"fails at its end":    objectstore.Stream(io.MultiReader(strings.NewReader(data), iotest.ErrReader(errSource)), size),
		"fails at once":       objectstore.Stream(iotest.ErrReader(errSource), size),
		"ends early":          objectstore.Stream(strings.NewReader(half), size),
		"is empty":            objectstore.Stream(strings.NewReader(""), size),
		"is too long":         objectstore.Stream(strings.NewReader(data+"more"), size),
		"reader at ends":      objectstore.ReaderAt(strings.NewReader(half), size),
		"has negative size":   objectstore.Stream(strings.NewReader(data), -1),
		"nil reader":          objectstore.Stream(nil, size),
	}
}

var bodyTests = []test{
	{"of every form and size is stored", func(e *env) {
		for _, size := range []int{0, 1, 511, 64<<10 + 1, 5<<20 + 13} {
			data := pattern(size, size)
			for name, body := range forms(data) {
				if size > 1<<20 && (name == "slow stream" || name == "eager stream") {
					continue
				}
				result, err := e.store.Put(e.ctx(), "object", body, nil)
				if err != nil {
					e.Fatalf("%s of %d bytes: %v", name, size, err)
				}
				e.holds("object", data)
				if head, _ := e.get("object", &objectstore.GetOptions{Head: true}); head.Meta.ETag != result.ETag {
					e.Errorf("%s of %d bytes: put says ETag %q, head %q", name, size, result.ETag, head.Meta.ETag)
				}
			}
		}
	}},
	{"that is broken stores nothing", func(e *env) {
		for _, size := range []int{1000, 2 << 20} {
			for name, body := range broken(pattern(1, size)) {
				if _, err := e.store.Put(e.ctx(), "object", body, nil); err == nil {
					e.Fatalf("a body of %d bytes that %s was stored", size, name)
				}
				e.missing("object")
			}
		}
		if paths := e.list(nil); len(paths) > 0 {
			e.Fatalf("failed writes left %q", paths)
		}
	}},
	{"that is broken leaves the old object", func(e *env) {
		e.put("object", "old")
		for name, body := range broken(pattern(1, 100_000)) {
			if _, err := e.store.Put(e.ctx(), "object", body, nil); err == nil {
				e.Fatalf("a body that %s was stored", name)
			}
			e.holds("object", "old")
		}
	}},
	{"is not kept after the write", func(e *env) {
		data := bytes.Repeat([]byte("a"), 1000)
		if _, err := e.store.Put(e.ctx(), "object", objectstore.Bytes(data), nil); err != nil {
			e.Fatal(err)
		}
		copy(data, "changed by the caller")
		e.holds("object", strings.Repeat("a", 1000))
	}},
	{"of a canceled write stores nothing", func(e *env) {
		ctx, cancel := context.WithCancel(e.ctx())
		defer cancel()
		data := pattern(1, 300_000)
		source := &canceling{Reader: strings.NewReader(data), left: 100_000, cancel: cancel}
		if _, err := e.store.Put(ctx, "object", objectstore.Stream(source, int64(len(data))), nil); err == nil {
			e.Fatal("the write succeeded")
		}
		e.missing("object")
	}},
	{"larger than any buffer reads back by ranges", func(e *env) {
		data := pattern(7, 3<<20+5)
		e.put("object", data)
		for start := 0; start < len(data); start += 700_001 {
			end := min(start+700_001, len(data))
			_, got := e.get("object", &objectstore.GetOptions{Range: objectstore.Bounded(int64(start), int64(end))})
			if got != data[start:end] {
				e.Fatalf("range [%d, %d) differs", start, end)
			}
		}
	}},
}

// canceling calls cancel once that many bytes were read.
type canceling struct {
	io.Reader
	left   int
	cancel func()
}

func (c *canceling) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if c.left -= n; c.left <= 0 {
		c.cancel()
	}
	return n, err
}
