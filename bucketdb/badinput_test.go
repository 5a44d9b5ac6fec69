package bucketdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/internal/batch"
	"github.com/stardustdb/stardust/internal/digest"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/storetest"
)

// badBucket is a bucket that somebody did something to, and the files beside it.
type badBucket struct {
	t      *testing.T
	plain  objectstore.Store // as it is
	store  objectstore.Store // as credentials show it
	ahead  *stardust.DB      // has more than the bucket
	behind *stardust.DB      // was cloned before the last pushes
	packs  []objectstore.Path
}

func newBadBucket(t *testing.T) *badBucket {
	store, db := newStore(), newDB(t)
	fill(t, db)
	mustPush(t, db, store)
	b := &badBucket{t: t, plain: store, store: store, ahead: db, behind: mustClone(t, store)}
	before := pathsUnder(t, store, packPrefix)
	for i := range 3 {
		put(t, db, fmt.Sprintf("later %d", i), noise(uint64(10+i), 10<<10))
		mustPush(t, db, store)
	}
	for _, p := range pathsUnder(t, store, packPrefix) {
		if !slices.Contains(before, p) {
			b.packs = append(b.packs, p)
		}
	}
	put(t, db, "not pushed", noise(20, 10<<10))
	return b
}

// fork returns the same in a store of its own.
func (b *badBucket) fork(t *testing.T) *badBucket {
	f := *b
	f.t, f.plain = t, newStore()
	for _, p := range pathsUnder(t, b.plain, "") {
		f.write(p, b.read(p))
	}
	f.store = f.plain
	return &f
}

func (b *badBucket) read(path objectstore.Path) []byte {
	data, _, err := objectstore.ReadAll(b.t.Context(), b.plain, path)
	if err != nil {
		b.t.Fatal(err)
	}
	return data
}

func (b *badBucket) write(path objectstore.Path, data []byte) {
	if _, err := b.plain.Put(b.t.Context(), path, objectstore.Bytes(data), nil); err != nil {
		b.t.Fatal(err)
	}
}

func (b *badBucket) remove(path objectstore.Path) {
	if err := b.plain.Delete(b.t.Context(), path); err != nil {
		b.t.Fatal(err)
	}
}

// edit changes a batch, whose checksum is right again.
func (b *badBucket) edit(n int64, change func(*batch.Batch)) {
	l, err := batch.Decode(b.read(logPath(n)))
	if err != nil {
		b.t.Fatal(err)
	}
	change(l)
	b.write(logPath(n), l.Encode())
}

func (b *badBucket) head() int64 {
	paths := pathsUnder(b.t, b.plain, logPrefix)
	n, _ := logNumber(paths[len(paths)-1])
	return n
}

// denied refuses an operation on what begins with a prefix, as credentials do that
// lack a right.
func (b *badBucket) denied(op, prefix string) {
	b.store = storetest.Faulty(b.store, storetest.FaultyOptions{Script: func(o string, path objectstore.Path) storetest.Fault {
		if o == op && strings.HasPrefix(path.String(), prefix) {
			return storetest.Fault{Before: objectstore.ErrPermissionDenied}
		}
		return storetest.Fault{}
	}})
}

// operations are all that meet a bucket.
func (b *badBucket) operations() map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"push": func(ctx context.Context) error { _, err := Push(ctx, b.ahead, b.store, small()); return err },
		"pull": func(ctx context.Context) error { _, err := Pull(ctx, b.behind, b.store, nil); return err },
		"clone": func(ctx context.Context) error {
			_, err := Clone(ctx, b.store, filepath.Join(fastDir(b.t), "clone"), nil)
			return err
		},
		"fsck": func(ctx context.Context) error {
			r, err := Check(ctx, b.store, &CheckOptions{Read: true})
			if err == nil && r.Damaged > 0 {
				err = errors.Join(r.Problems...)
			}
			return err
		},
		"gc": func(ctx context.Context) error { _, err := GC(ctx, b.store, &GCOptions{Grace: -1}); return err },
	}
}

// TestBadInputIsNamed has somebody do everything to a bucket that the format, a store
// and credentials allow. Each operation says which object it is and what to do, or
// succeeds where it does not need it; none makes anything worse: afterwards the bucket
// has the bytes that it had, but for what is new, and the files their rows.
func TestBadInputIsNamed(t *testing.T) {
	all := []string{"pull", "clone", "fsck", "gc", "push"}
	base, other := newBadBucket(t), newBadBucket(t)
	for name, test := range map[string]struct {
		do   func(*badBucket) (object string) // what must be named
		want error
		// says is what to do about it.
		says string
		fail []string // the operations that must fail; others may, or succeed
	}{
		"no database": {func(b *badBucket) string {
			for _, p := range pathsUnder(b.t, b.plain, "") {
				b.remove(p)
			}
			return "stardust.json"
		}, ErrNoDatabase, "", []string{"pull", "clone", "gc"}},
		"stardust.json deleted": {func(b *badBucket) string { b.remove(genesisPath); return "stardust.json" }, nil, "", all},
		"stardust.json cut": {func(b *badBucket) string {
			b.write(genesisPath, b.read(genesisPath)[:20])
			return "stardust.json"
		}, ErrDamaged, "from a copy", all},
		"stardust.json of a newer version": {func(b *badBucket) string {
			b.write(genesisPath, []byte(`{"format":2,"identity":"00"}`+"\n"))
			return "stardust.json"
		}, ErrNewer, "use that", all},
		"stardust.json of another database": {func(b *badBucket) string {
			b.write(genesisPath, batch.Genesis{Identity: batch.Identity{1}}.Encode())
			return "belongs to the database"
		}, ErrDamaged, "", []string{"push", "clone", "fsck", "gc"}},
		"a foreign log": {func(b *badBucket) string {
			for _, p := range pathsUnder(b.t, b.plain, logPrefix) {
				b.write(p, other.read(p))
			}
			return logPrefix
		}, ErrDamaged, "from a copy", all},
		"a newer batch": {func(b *badBucket) string {
			data := b.read(logPath(b.head()))
			data[3]++
			b.write(logPath(b.head()), data)
			return string(logPath(b.head()))
		}, ErrNewer, "use that", all},
		"a cut batch": {func(b *badBucket) string {
			data := b.read(logPath(b.head()))
			b.write(logPath(b.head()), data[:len(data)/2])
			return string(logPath(b.head()))
		}, ErrDamaged, "from a copy", all},
		"an edited batch": {func(b *badBucket) string {
			b.edit(b.head()-1, func(l *batch.Batch) { l.Writer[0]++ })
			return string(logPath(b.head()))
		}, ErrDamaged, "from a copy", []string{"pull", "clone", "fsck", "gc"}},
		"an edited digest": {func(b *badBucket) string {
			b.edit(b.head(), func(l *batch.Batch) { l.Rows.Chunks[0].Digest[0]++ })
			return packPrefix
		}, ErrDamaged, "from a copy", []string{"pull", "clone", "fsck"}},
		"an edited tip": {func(b *badBucket) string {
			b.edit(b.head(), func(l *batch.Batch) { l.Tip.Chunk = digest.Of([]byte("x")) })
			return "have diverged"
		}, ErrDiverged, "push to another place", []string{"push"}},
		"a batch in the middle deleted": {func(b *badBucket) string {
			b.remove(logPath(b.head() - 1))
			return string(logPath(b.head() - 1))
		}, ErrDamaged, "from a copy", all},
		"the first batch deleted": {func(b *badBucket) string {
			b.remove(logPath(1))
			return string(logPath(1))
		}, ErrDamaged, "from a copy", all},
		"something else in the log": {func(b *badBucket) string {
			b.write("log/readme.txt", []byte("hello"))
			return "log/readme.txt"
		}, ErrDamaged, "", []string{"push", "pull", "clone", "fsck", "gc"}},
		"a pack deleted": {func(b *badBucket) string { b.remove(b.packs[1]); return string(b.packs[1]) }, ErrDamaged, "from a copy", []string{"pull", "clone", "fsck"}},
		"a pack cut": {func(b *badBucket) string {
			data := b.read(b.packs[1])
			b.write(b.packs[1], data[:len(data)/2])
			return string(b.packs[1])
		}, ErrDamaged, "from a copy", []string{"pull", "clone", "fsck"}},
		"a pack damaged": {func(b *badBucket) string {
			data := b.read(b.packs[1])
			data[100] ^= 1
			b.write(b.packs[1], data)
			return string(b.packs[1])
		}, ErrDamaged, "from a copy", []string{"pull", "clone", "fsck"}},
		"a pack under another's name": {func(b *badBucket) string {
			b.write(b.packs[1], b.read(b.packs[0]))
			return string(b.packs[1])
		}, ErrDamaged, "from a copy", []string{"pull", "clone", "fsck"}},
		"a replica of another database": {func(b *badBucket) string {
			b.behind, b.ahead = other.behind, other.ahead
			return ""
		}, nil, "", []string{"push", "pull"}},
		"no right to read":           {func(b *badBucket) string { b.denied(objectstore.OpGet, ""); return "stardust.json" }, objectstore.ErrPermissionDenied, "needs the rights to read", all},
		"no right to list":           {func(b *badBucket) string { b.denied(objectstore.OpList, ""); return "in memory" }, objectstore.ErrPermissionDenied, "list", all},
		"no right to create":         {func(b *badBucket) string { b.denied(objectstore.OpPut, ""); return "stardust.json" }, objectstore.ErrPermissionDenied, "create", []string{"push", "gc"}},
		"no right to create batches": {func(b *badBucket) string { b.denied(objectstore.OpPut, logPrefix); return logPrefix }, objectstore.ErrPermissionDenied, "create", []string{"push"}},
		"no right to read packs":     {func(b *badBucket) string { b.denied(objectstore.OpGet, packPrefix); return packPrefix }, objectstore.ErrPermissionDenied, "needs the rights to read", []string{"pull", "clone", "fsck"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := base.fork(t)
			if !slices.Contains(test.fail, "pull") { // which may change it
				path := filepath.Join(fastDir(t), "behind")
				if _, err := CloneFile(t.Context(), base.behind, path, nil); err != nil {
					t.Fatal(err)
				}
				b.behind = openDB(t, path)
			}
			object := test.do(b)
			before := make(map[objectstore.Path][]byte)
			for _, p := range pathsUnder(t, b.plain, "") {
				before[p] = b.read(p)
			}
			_, rows := rowsOf(t, b.behind)
			operations := b.operations()
			for _, op := range all {
				err := operations[op](t.Context())
				switch {
				case err == nil && slices.Contains(test.fail, op):
					t.Errorf("%s succeeded", op)
				case err == nil || !slices.Contains(test.fail, op):
				case test.want != nil && !errors.Is(err, test.want):
					t.Errorf("%s: %v; want %v", op, err, test.want)
				case !strings.Contains(err.Error(), object):
					t.Errorf("%s does not name %q: %v", op, object, err)
				case op != "fsck" && !strings.Contains(strings.ToLower(err.Error()), test.says):
					t.Errorf("%s does not say what to do (%q): %v", op, test.says, err)
				}
			}
			if name != "a replica of another database" {
				if _, now := rowsOf(t, b.behind); len(now.Records) < len(rows.Records) || len(now.Chunks) < len(rows.Chunks) {
					t.Error("the file has lost rows")
				}
				mustBeWhole(t, b.behind)
			}
			for p, data := range before {
				if !bytes.Equal(b.read(p), data) {
					t.Errorf("%s was changed", p)
				}
			}
		})
	}
}
