package mirror_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
)

const dir = "/cache"

// call is one call that reached the remote.
type call struct {
	op      string
	path    objectstore.Path
	options objectstore.GetOptions
}

// hookStore is a memory store that records calls and lets a test hold them up,
// fail them and change the bodies that are read.
type hookStore struct {
	listed func() // runs for every object listed; may be nil
	*memory.Store

	mu    sync.Mutex
	calls []call
	hook  func(ctx context.Context, c call) error
	body  func(c call, result *objectstore.GetResult)
}

func newHookStore() *hookStore { return &hookStore{Store: memory.New(nil)} }

func (h *hookStore) before(ctx context.Context, c call) error {
	h.mu.Lock()
	h.calls = append(h.calls, c)
	hook := h.hook
	h.mu.Unlock()
	if hook == nil {
		return nil
	}
	if err := hook(ctx, c); err != nil {
		return &objectstore.Error{Op: c.op, Store: h.String(), Path: string(c.path), Err: err}
	}
	return nil
}

func (h *hookStore) setHook(hook func(ctx context.Context, c call) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hook = hook
}

// count returns how many calls of an operation there were, on a path when it
// is not empty.
func (h *hookStore) count(op string, path objectstore.Path) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, c := range h.calls {
		if c.op == op && (path == "" || c.path == path) {
			n++
		}
	}
	return n
}

func (h *hookStore) Get(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	c := call{op: "get", path: path}
	if options != nil {
		c.options = *options
	}
	if c.options.Head {
		c.op = "head"
	}
	if err := h.before(ctx, c); err != nil {
		return nil, err
	}
	result, err := h.Store.Get(ctx, path, options)
	if err == nil && h.body != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.body(c, result)
	}
	return result, err
}

func (h *hookStore) Put(ctx context.Context, path objectstore.Path, body objectstore.Body, options *objectstore.PutOptions) (*objectstore.PutResult, error) {
	if err := h.before(ctx, call{op: "put", path: path}); err != nil {
		return nil, err
	}
	return h.Store.Put(ctx, path, body, options)
}

func (h *hookStore) Delete(ctx context.Context, path objectstore.Path) error {
	if err := h.before(ctx, call{op: "delete", path: path}); err != nil {
		return err
	}
	return h.Store.Delete(ctx, path)
}

func (h *hookStore) Copy(ctx context.Context, from, to objectstore.Path, options *objectstore.CopyOptions) error {
	if err := h.before(ctx, call{op: "copy", path: from}); err != nil {
		return err
	}
	return h.Store.Copy(ctx, from, to, options)
}

func (h *hookStore) Rename(ctx context.Context, from, to objectstore.Path, options *objectstore.CopyOptions) error {
	if err := h.before(ctx, call{op: "rename", path: from}); err != nil {
		return err
	}
	return h.Store.Rename(ctx, from, to, options)
}

func (h *hookStore) List(ctx context.Context, options *objectstore.ListOptions) iter.Seq2[objectstore.ObjectMeta, error] {
	return func(yield func(objectstore.ObjectMeta, error) bool) {
		if err := h.before(ctx, call{op: "list", path: objectstore.Path(options.Prefix)}); err != nil {
			yield(objectstore.ObjectMeta{}, err)
			return
		}
		for object, err := range h.Store.List(ctx, options) {
			if h.listed != nil {
				h.listed()
			}
			if !yield(object, err) {
				return
			}
		}
	}
}

func (h *hookStore) ListWithDelimiter(ctx context.Context, options *objectstore.ListOptions) (*objectstore.ListResult, error) {
	if err := h.before(ctx, call{op: "list", path: objectstore.Path(options.Prefix)}); err != nil {
		return nil, err
	}
	return h.Store.ListWithDelimiter(ctx, options)
}

func (h *hookStore) PutMultipart(ctx context.Context, path objectstore.Path, options *objectstore.MultipartOptions) (objectstore.Upload, error) {
	return objectstore.NewUpload(ctx, h, path, options)
}

func (h *hookStore) UploadPart(ctx context.Context, path objectstore.Path, id string, number int, body objectstore.Body) (objectstore.Part, error) {
	if err := h.before(ctx, call{op: "upload part", path: path}); err != nil {
		return objectstore.Part{}, err
	}
	return h.Store.UploadPart(ctx, path, id, number, body)
}

func (h *hookStore) CompleteMultipart(ctx context.Context, path objectstore.Path, id string, parts []objectstore.Part, options *objectstore.CompleteOptions) (*objectstore.PutResult, error) {
	if err := h.before(ctx, call{op: "complete", path: path}); err != nil {
		return nil, err
	}
	return h.Store.CompleteMultipart(ctx, path, id, parts, options)
}

func (h *hookStore) AbortMultipart(ctx context.Context, path objectstore.Path, id string) error {
	if err := h.before(ctx, call{op: "abort", path: path}); err != nil {
		return err
	}
	return h.Store.AbortMultipart(ctx, path, id)
}

// hookPolicy routes to the mirror, unless a test says otherwise.
type hookPolicy struct {
	mirror.BasePolicy
	read      func(path objectstore.Path, options *objectstore.GetOptions) (mirror.ReadRoute, error)
	put       func(path objectstore.Path, options *objectstore.PutOptions) (mirror.WriteRoute, error)
	multipart func(path objectstore.Path, options *objectstore.MultipartOptions) (mirror.MultipartRoute, error)
	observe   func(ctx context.Context, path objectstore.Path, data []byte, h mirror.Handle) error
	run       func(ctx context.Context, h mirror.Handle) error
}

func (p *hookPolicy) ReadRoute(path objectstore.Path, options *objectstore.GetOptions) (mirror.ReadRoute, error) {
	if p.read != nil {
		return p.read(path, options)
	}
	return mirror.ReadLocal, nil
}

func (p *hookPolicy) PutRoute(path objectstore.Path, options *objectstore.PutOptions) (mirror.WriteRoute, error) {
	if p.put != nil {
		return p.put(path, options)
	}
	return mirror.WriteMirror, nil
}

func (p *hookPolicy) MultipartRoute(path objectstore.Path, options *objectstore.MultipartOptions) (mirror.MultipartRoute, error) {
	if p.multipart != nil {
		return p.multipart(path, options)
	}
	return mirror.MultipartMirror, nil
}

func (p *hookPolicy) Observe(ctx context.Context, path objectstore.Path, data []byte, h mirror.Handle) error {
	if p.observe != nil {
		return p.observe(ctx, path, data, h)
	}
	return nil
}

func (p *hookPolicy) Run(ctx context.Context, h mirror.Handle) error {
	if p.run != nil {
		return p.run(ctx, h)
	}
	return nil
}

func (p *hookPolicy) routeReads(route mirror.ReadRoute) {
	p.read = func(objectstore.Path, *objectstore.GetOptions) (mirror.ReadRoute, error) { return route, nil }
}

func (p *hookPolicy) routePuts(route mirror.WriteRoute) {
	p.put = func(objectstore.Path, *objectstore.PutOptions) (mirror.WriteRoute, error) { return route, nil }
}

// env is a mirror over a memory store, on a simulated file system, in a bubble
// of simulated time.
type env struct {
	*testing.T
	remote *hookStore
	policy *hookPolicy
	disk   *vfs.Simulated
	m      *mirror.Mirror
	h      mirror.Handle
	// options are applied at every build.
	options func(o *mirror.Options)

	faultsMu sync.Mutex
	faults   func(op vfs.Op, name string) error
}

// bubble runs a test of an open mirror, whose remote scan is off.
func bubble(t *testing.T, test func(e *env)) {
	t.Helper()
	bubbleWith(t, nil, test)
}

func bubbleWith(t *testing.T, options func(o *mirror.Options), test func(e *env)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, options)
		e.open()
		test(e)
		e.close()
	})
}

func newEnv(t *testing.T, options func(o *mirror.Options)) *env {
	return &env{T: t, remote: newHookStore(), policy: &hookPolicy{}, disk: vfs.NewSimulated(), options: options}
}

func (e *env) build(ctx context.Context) (*mirror.Mirror, error) {
	faulty := vfs.NewFaulty(e.disk.Program(), func(op vfs.Op, name string) error {
		e.faultsMu.Lock()
		hook := e.faults
		e.faultsMu.Unlock()
		if hook == nil {
			return nil
		}
		return hook(op, name)
	})
	o := &mirror.Options{VFS: faulty, WithoutRemoteScan: true}
	if e.options != nil {
		e.options(o)
	}
	return mirror.Open(ctx, dir, e.remote, e.policy, o)
}

func (e *env) open() {
	e.Helper()
	m, err := e.build(e.Context())
	if err != nil {
		e.Fatal(err)
	}
	e.m, e.h = m, m.Handle()
}

func (e *env) close() {
	e.Helper()
	if err := e.m.Close(); err != nil {
		e.Fatal(err)
	}
}

func (e *env) reopen() {
	e.Helper()
	e.close()
	e.open()
}

// store puts an object into the remote, past the mirror.
func (e *env) store(path objectstore.Path, data string) {
	e.Helper()
	if _, err := e.remote.Store.Put(e.Context(), path, objectstore.Bytes([]byte(data)), nil); err != nil {
		e.Fatal(err)
	}
}

// unstore deletes an object from the remote, past the mirror.
func (e *env) unstore(path objectstore.Path) {
	e.Helper()
	if err := e.remote.Store.Delete(e.Context(), path); err != nil {
		e.Fatal(err)
	}
}

// remoteData returns an object's bytes in the remote.
func (e *env) remoteData(path objectstore.Path) string {
	e.Helper()
	data, _, err := objectstore.ReadAll(e.Context(), e.remote.Store, path)
	if err != nil {
		e.Fatal(err)
	}
	return string(data)
}

// fetch has objects downloaded.
func (e *env) fetch(paths ...objectstore.Path) {
	e.Helper()
	if err := e.h.Fetch(paths...).Wait(e.Context()); err != nil {
		e.Fatal(err)
	}
}

// put writes an object through the mirror.
func (e *env) put(path objectstore.Path, data string) {
	e.Helper()
	if _, err := e.m.Put(e.Context(), path, objectstore.Bytes([]byte(data)), nil); err != nil {
		e.Fatal(err)
	}
}

// read reads through the mirror.
func (e *env) read(path objectstore.Path, options *objectstore.GetOptions) (string, error) {
	e.Helper()
	result, err := e.m.Get(e.Context(), path, options)
	if err != nil {
		return "", err
	}
	if result.Body == nil {
		return "", nil
	}
	data, err := io.ReadAll(result.Body)
	if err == nil && int64(len(data)) != result.End-result.Start {
		e.Fatalf("%s: %d bytes for [%d, %d)", path, len(data), result.Start, result.End)
	}
	return string(data), errors.Join(err, result.Body.Close())
}

// wantLocal fails the test unless path is local with the given bytes.
func (e *env) wantLocal(path objectstore.Path, data string) {
	e.Helper()
	e.policy.routeReads(mirror.ReadLocal)
	got, err := e.read(path, nil)
	if err != nil || got != data {
		e.Fatalf("local copy of %q is %.40q, %v; want %.40q", path, got, err, data)
	}
	if !e.h.Contains(path) {
		e.Fatalf("Contains(%q) is false", path)
	}
}

// wantAbsent fails the test when path is local.
func (e *env) wantAbsent(path objectstore.Path) {
	e.Helper()
	e.policy.routeReads(mirror.ReadLocal)
	var notLocal *mirror.NotLocal
	if _, err := e.read(path, nil); !errors.As(err, &notLocal) || notLocal.Path != path {
		e.Fatalf("read of %q: %v, want NotLocal", path, err)
	}
	if e.h.Contains(path) {
		e.Fatalf("Contains(%q) is true", path)
	}
}

// files returns the names in the cache root, LOCK and INDEX aside, sorted.
func (e *env) files() []string {
	e.Helper()
	names := map[string]bool{}
	for entry, err := range e.disk.List(dir) {
		if err != nil {
			e.Fatal(err)
		}
		if entry.Name != "LOCK" && entry.Name != "INDEX" {
			names[entry.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// wantNoTemps fails the test when a temporary file is left.
func (e *env) wantNoTemps() {
	e.Helper()
	for _, name := range e.files() {
		if !strings.HasSuffix(name, ".obj") && !strings.HasSuffix(name, ".obj.meta") {
			e.Fatalf("%q is left", name)
		}
	}
}

// file returns the full name of the only file with a suffix.
func (e *env) file(suffix string) string {
	e.Helper()
	var found []string
	for _, name := range e.files() {
		if strings.HasSuffix(name, suffix) {
			found = append(found, name)
		}
	}
	if len(found) != 1 {
		e.Fatalf("files ending in %q: %v", suffix, found)
	}
	return filepath.Join(dir, found[0])
}

// damage inverts a byte of the file of the only local copy with a suffix.
func (e *env) damage(suffix string, at int) {
	e.Helper()
	name := e.file(suffix)
	data, err := e.disk.ReadFile(name)
	if err != nil {
		e.Fatal(err)
	}
	data[at] ^= 0xff
	e.disk.WriteFile(name, data)
}

// gateOn makes the remote's calls of an operation on a path wait. It returns a
// function that lets them go on, with an error when not nil.
func (e *env) gateOn(op string, path objectstore.Path) (open func(err error)) {
	gate := make(chan struct{})
	var outcome error
	e.remote.setHook(func(ctx context.Context, c call) error {
		if c.op != op || c.path != path {
			return nil
		}
		select {
		case <-gate:
			return outcome
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	return func(err error) {
		outcome = err
		close(gate)
		e.remote.setHook(nil)
	}
}

// background runs f in a goroutine and returns a channel with its error.
func background(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	return done
}

// pending reports whether nothing has come yet, once all is quiet.
func pending(done <-chan error) bool {
	synctest.Wait()
	select {
	case <-done: //nolint:errcheck // whether, not what
		return false
	default:
		return true
	}
}

// big returns n bytes that differ from block to block.
func big(n int) string {
	data := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{'b', 'i', 'g'}).Read(data)
	return string(data)
}

// onDisk has every operation on the disk ask hook first; nil ends that.
func (e *env) onDisk(hook func(op vfs.Op, name string) error) {
	e.faultsMu.Lock()
	defer e.faultsMu.Unlock()
	e.faults = hook
}

// holdRemoval makes removals of files wait until the function returned is
// called.
func (e *env) holdRemoval() (release func()) {
	gate := make(chan struct{})
	e.onDisk(func(op vfs.Op, _ string) error {
		if op == vfs.OpRemove {
			<-gate
		}
		return nil
	})
	return func() {
		e.onDisk(nil)
		close(gate)
	}
}

// failOn makes an operation on names with a part fail.
func (e *env) failOn(op vfs.Op, part string, err error) {
	e.onDisk(func(o vfs.Op, name string) error {
		if o == op && strings.Contains(name, part) {
			return &fs.PathError{Op: string(op), Path: name, Err: err}
		}
		return nil
	})
}
