package storetest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stardustdb/stardust/objectstore"
)

// Features say what a store cannot do; the suite then checks that it refuses
// to. The zero value is a store that can do everything.
type Features struct {
	// LooseDelete: Delete of a missing object returns nil, as S3's does.
	LooseDelete bool
	// NoKeyPaths: the store refuses, with ErrInvalidPath, paths that only
	// objectstore.KeyPath accepts, such as those with an empty segment or a
	// control character.
	NoKeyPaths bool
	// Folders: it holds those that end in one "/" nevertheless.
	Folders bool
	// NoDotPaths: the store refuses, with ErrInvalidPath, paths with a segment "."
	// or "..". NoKeyPaths implies it.
	NoDotPaths bool
	// Outside returns the store of which the tested one shows a part, such as a
	// prefix: no path may reach the rest. Nil if there is none.
	Outside func(store objectstore.Store) objectstore.Store
	// LooseKeyPaths: what becomes of such paths is not tested.
	LooseKeyPaths bool
	// NoBackslash: paths with a backslash are refused with ErrInvalidPath.
	NoBackslash bool
	// NoNesting: an object "a" and an object "a/b" cannot both exist; the
	// second is refused with ErrUnsupported or ErrInvalidPath.
	NoNesting bool
	// MaxSegment is the longest segment of a path in bytes; zero means 1024.
	// Longer ones are refused with ErrInvalidPath or ErrUnsupported.
	MaxSegment int
	// NoTags: the tags of a write are not kept.
	NoTags bool
	// NoCreateCopy: Copy and Rename refuse mode Create with ErrUnsupported.
	NoCreateCopy bool
	// LooseUploads: whether calls for an unknown upload id fail is not tested.
	LooseUploads bool
	// ReplacedReads: a read of an object that is replaced meanwhile may fail
	// with ErrPrecondition; it must never yield a mix.
	ReplacedReads bool
	// MinPartSize is the least size of all parts but the last, in bytes.
	MinPartSize int64
	// ListKeys is how many objects the paging test lists; zero means 1100,
	// more than one page of S3.
	ListKeys int
}

// Run runs the suite. open returns an empty store, or one of its own prefix,
// for each test; it registers its own clean-up.
func Run(t *testing.T, open func(t *testing.T) objectstore.Store, features Features) {
	if features.ListKeys == 0 {
		features.ListKeys = 1100
	}
	if features.MaxSegment == 0 {
		features.MaxSegment = objectstore.MaxPathLength
	}
	for _, group := range []struct {
		name  string
		tests []test
	}{
		{"Get", getTests},
		{"Put", putTests},
		{"Body", bodyTests},
		{"Path", pathTests},
		{"List", listTests},
		{"Delete", deleteTests},
		{"ConditionalDelete", conditionalDeleteTests},
		{"Copy", copyTests},
		{"Multipart", multipartTests},
		{"MultipartStore", multipartStoreTests},
		{"Race", raceTests},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, test := range group.tests {
				t.Run(test.name, func(t *testing.T) {
					test.run(&env{T: t, store: open(t), features: features})
				})
			}
		})
	}
}

// test is one promise of a Store.
type test struct {
	name string
	run  func(*env)
}

// env is what a test works with: its own store, and helpers that end the test
// when something unexpected happens.
type env struct {
	*testing.T
	store    objectstore.Store
	features Features
}

func (e *env) ctx() context.Context { return e.Context() }

func (e *env) put(path objectstore.Path, data string) *objectstore.PutResult {
	e.Helper()
	result, err := e.store.Put(e.ctx(), path, objectstore.Bytes([]byte(data)), nil)
	if err != nil {
		e.Fatalf("put %q: %v", path, err)
	}
	return result
}

func (e *env) get(path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, string) {
	e.Helper()
	result, err := e.store.Get(e.ctx(), path, options)
	if err != nil {
		e.Fatalf("get %q: %v", path, err)
	}
	if options != nil && options.Head {
		if result.Body != nil {
			e.Fatalf("head %q returned a body", path)
		}
		return result, ""
	}
	return result, string(e.read(result))
}

func (e *env) read(result *objectstore.GetResult) []byte {
	e.Helper()
	data, err := io.ReadAll(result.Body)
	if err != nil {
		e.Fatalf("read: %v", err)
	}
	if err := result.Body.Close(); err != nil {
		e.Fatalf("close: %v", err)
	}
	if int64(len(data)) != result.End-result.Start {
		e.Fatalf("body has %d bytes, result says [%d, %d)", len(data), result.Start, result.End)
	}
	return data
}

// holds fails the test unless the object has exactly these bytes.
func (e *env) holds(path objectstore.Path, want string) {
	e.Helper()
	result, got := e.get(path, nil)
	if got != want {
		e.Fatalf("%q holds %s, want %s", path, brief(got), brief(want))
	}
	if result.Meta.Size != int64(len(want)) {
		e.Fatalf("%q has size %d, want %d", path, result.Meta.Size, len(want))
	}
}

// missing fails the test when there is an object.
func (e *env) missing(path objectstore.Path) {
	e.Helper()
	result, err := e.store.Get(e.ctx(), path, &objectstore.GetOptions{Head: true})
	if err == nil {
		e.Fatalf("%q exists: %+v", path, result.Meta)
	}
	e.wantError(err, objectstore.ErrNotFound)
}

// wantError fails the test unless err is an *objectstore.Error of one of the
// targets.
func (e *env) wantError(err error, targets ...error) {
	e.Helper()
	if err == nil {
		e.Fatalf("no error, want %v", targets)
	}
	for _, target := range targets {
		if !errors.Is(err, target) {
			continue
		}
		var typed *objectstore.Error
		if !errors.As(err, &typed) || typed.Op == "" {
			e.Fatalf("%v is no *objectstore.Error that names its operation", err)
		}
		return
	}
	e.Fatalf("error is %v, want %v", err, targets)
}

func (e *env) list(options *objectstore.ListOptions) []string {
	e.Helper()
	paths := []string{}
	for meta, err := range e.store.List(e.ctx(), options) {
		if err != nil {
			e.Fatalf("list: %v", err)
		}
		paths = append(paths, string(meta.Path))
	}
	return paths
}

// partSize is a size that every part of a multipart upload may have.
func (e *env) partSize() int { return max(int(e.features.MinPartSize), 1000) }

// pattern returns n bytes that differ everywhere and by seed.
func pattern(seed, n int) string {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], uint64(seed))
	data := make([]byte, n)
	_, _ = rand.NewChaCha8(key).Read(data) // never fails
	return string(data)
}

func brief(s string) string {
	if len(s) > 40 {
		return fmt.Sprintf("%q… (%d bytes)", s[:40], len(s))
	}
	return fmt.Sprintf("%q", s)
}
