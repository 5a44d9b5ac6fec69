package local

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/maphash"
	"strconv"
	"strings"
	"sync"

	"github.com/stardustdb/stardust/internal/invariants"
	"github.com/stardustdb/stardust/objectstore"
)

// LockName is the file that tells that a directory is a mirror's (RFC 0034,
// Filesystem layout).
const LockName = "LOCK"

// The other names in the cache root. Only this file knows them.
const (
	indexName     = "INDEX"
	indexTempName = "INDEX.tmp"

	objectSuffix = ".obj"
	metaSuffix   = ".meta"
	// hashedMark begins the base of a local name that carries a hash of the
	// whole path in place of the object's own name.
	hashedMark = "sha256-"

	prefixLength = 2 * md5.Size
	// maxName is the longest name that common file systems take, in bytes.
	maxName = 255
	// maxBase leaves room for everything around an object's name, whatever
	// the counter of a temporary file.
	maxBase = maxName - prefixLength - len(".") - len(objectSuffix+metaSuffix+".") - 20
)

// FileName is the local name of an object's file: prefix, base and ".obj".
type FileName string

func (f FileName) object() string { return string(f) }

// Meta returns the name of the object's meta file.
func (f FileName) Meta() string { return string(f) + metaSuffix }

// Temp returns the name of a temporary file of the object.
func (f FileName) Temp(counter uint64) string { return string(f) + "." + decimal(counter) }

func (f FileName) metaTemp(counter uint64) string {
	return string(f) + metaSuffix + "." + decimal(counter)
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

// FileKind is what a file in the cache root is, by its name alone.
type FileKind int

const (
	foreignFile FileKind = iota // not part of the layout: left alone
	// ObjectFile is an object's content.
	ObjectFile
	// MetaFile is an object's metadata.
	MetaFile
	tempFile
)

// Classify returns what name is, for an object or meta file the fileName that
// it belongs to, and for a temporary file its counter.
func Classify(name string) (kind FileKind, of FileName, counter uint64) {
	if len(name) <= prefixLength || name[prefixLength] != '.' || !isLowerHex(name[:prefixLength]) {
		return foreignFile, "", 0
	}
	if isObjectName(name) {
		return ObjectFile, FileName(name), 0
	}
	if stem, ok := strings.CutSuffix(name, metaSuffix); ok && isObjectName(stem) {
		return MetaFile, FileName(stem), 0
	}
	dot := strings.LastIndexByte(name, '.')
	stem, digits := name[:dot], name[dot+1:]
	if !isObjectName(strings.TrimSuffix(stem, metaSuffix)) || strings.Trim(digits, "0123456789") != "" {
		return foreignFile, "", 0
	}
	counter, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return foreignFile, "", 0
	}
	return tempFile, "", counter
}

// isObjectName reports whether name, which begins with a prefix and a dot, is
// that of an object file.
func isObjectName(name string) bool {
	return len(name) > prefixLength+len(".")+len(objectSuffix) && strings.HasSuffix(name, objectSuffix)
}

func isLowerHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

// Layout gives every path a local name that no other path has, on file
// systems that fold case too, and knows which parent each MD5 prefix stands
// for.
//
// A path in use is claimed: while its local copy is being made, and as long
// as there is one. Claims of one path are counted.
type Layout struct {
	sum         func(string) [md5.Size]byte
	fold, whole maphash.Seed

	mu       sync.Mutex
	byPrefix map[string]*parentDir // by hexadecimal prefix
	byPath   map[string]*parentDir
	claims   int              // of all paths
	folded   map[uint64]claim // plain names, by hash of the name in lower case
}

type parentDir struct {
	path, prefix string
	claims       int
}

type claim struct {
	owner uint64 // hash of the whole path
	count int32
}

func newLayout() *Layout {
	return &Layout{
		sum:      func(s string) [md5.Size]byte { return md5.Sum([]byte(s)) },
		fold:     maphash.MakeSeed(),
		whole:    maphash.MakeSeed(),
		byPrefix: map[string]*parentDir{},
		byPath:   map[string]*parentDir{},
		folded:   map[uint64]claim{},
	}
}

// claim returns the local name for path, and whether it is a hashed one. It
// fails when the path is not valid or its parent's MD5 prefix is in use for
// another parent. Each claim needs a release.
func (l *Layout) claim(path objectstore.Path) (name FileName, hashed bool, err error) {
	if _, err := objectstore.KeyPath(string(path)); err != nil {
		return "", false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	dir, err := l.parent(path.Parent())
	if err != nil {
		return "", false, err
	}
	dir.claims++
	l.claims++
	if !isPlain(path) {
		return hashedName(dir.prefix, path), true, nil
	}
	base := path.Base()
	key, owner := l.foldKey(dir.prefix, base), maphash.String(l.whole, string(path))
	switch held, ok := l.folded[key]; {
	case !ok:
		l.folded[key] = claim{owner, 1}
	case held.owner == owner:
		l.folded[key] = claim{owner, held.count + 1}
	default:
		return hashedName(dir.prefix, path), true, nil
	}
	return plainName(dir.prefix, base), false, nil
}

// release gives a claim back.
func (l *Layout) release(path objectstore.Path, hashed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	dir := l.byPath[path.Parent()]
	invariants.Check(dir != nil && dir.claims > 0 && l.claims > 0, "a claim of %q was given back twice", path)
	if dir == nil {
		return
	}
	if !hashed {
		key := l.foldKey(dir.prefix, path.Base())
		if held := l.folded[key]; held.count > 1 {
			l.folded[key] = claim{held.owner, held.count - 1}
		} else {
			delete(l.folded, key)
		}
	}
	l.claims--
	if dir.claims--; dir.claims == 0 {
		delete(l.byPath, dir.path)
		delete(l.byPrefix, dir.prefix)
	}
}

// Count returns the number of claims.
func (l *Layout) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.claims
}

// Name returns the local name of a path that is claimed in the given form.
func (l *Layout) Name(path objectstore.Path, hashed bool) FileName {
	l.mu.Lock()
	dir := l.byPath[path.Parent()]
	l.mu.Unlock()
	var prefix string
	if dir != nil {
		prefix = dir.prefix
	} else {
		prefix = l.prefix(path.Parent())
	}
	if hashed {
		return hashedName(prefix, path)
	}
	return plainName(prefix, path.Base())
}

// adopt claims path for a file found in the directory. It fails when the file
// does not have the name that the path would get, or a conflicting prefix.
func (l *Layout) adopt(path objectstore.Path, found FileName) (hashed bool, err error) {
	name, hashed, err := l.claim(path)
	switch {
	case err != nil:
		return false, err
	case name == found:
		return hashed, nil
	case !hashed && found == l.Name(path, true):
		// It got the hashed name while a twin had the plain one.
		l.mu.Lock()
		defer l.mu.Unlock()
		key := l.foldKey(string(found[:prefixLength]), path.Base())
		if held := l.folded[key]; held.count > 1 {
			l.folded[key] = claim{held.owner, held.count - 1}
		} else {
			delete(l.folded, key)
		}
		return true, nil
	}
	l.release(path, hashed)
	return false, fmt.Errorf("%q has the local name %q, not %q", string(path), name, found)
}

// PathOf returns the path of a plain local name whose prefix is known.
func (l *Layout) PathOf(name FileName) (objectstore.Path, bool) {
	base := strings.TrimSuffix(string(name[prefixLength+1:]), objectSuffix)
	if isHashedBase(base) {
		return "", false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	dir := l.byPrefix[string(name[:prefixLength])]
	switch {
	case dir == nil:
		return "", false
	case dir.path == "":
		return objectstore.Path(base), true
	}
	return objectstore.Path(dir.path + "/" + base), true
}

// parent returns the entry of a parent path, made if there is none. l.mu is
// held.
func (l *Layout) parent(path string) (*parentDir, error) {
	if dir := l.byPath[path]; dir != nil {
		return dir, nil
	}
	prefix := l.prefix(path)
	if other := l.byPrefix[prefix]; other != nil {
		return nil, fmt.Errorf("MD5 prefix %s stands for %q already, so it can't for %q", prefix, other.path, path)
	}
	// A copy, so that the entry does not keep a longer string alive.
	dir := &parentDir{path: strings.Clone(path), prefix: prefix}
	l.byPath[dir.path], l.byPrefix[prefix] = dir, dir
	return dir, nil
}

// prefix returns the MD5 prefix of a parent path. The sum is over the path
// with a leading slash, as in the examples of RFC 0034.
func (l *Layout) prefix(parent string) string {
	sum := l.sum("/" + parent)
	return hex.EncodeToString(sum[:])
}

func (l *Layout) foldKey(prefix, base string) uint64 {
	var h maphash.Hash
	h.SetSeed(l.fold)
	_, _ = h.WriteString(prefix)
	for i := range len(base) {
		c := base[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		_ = h.WriteByte(c)
	}
	return h.Sum64()
}

func plainName(prefix, base string) FileName { return FileName(prefix + "." + base + objectSuffix) }

func hashedName(prefix string, path objectstore.Path) FileName {
	sum := sha256.Sum256([]byte(path))
	return plainName(prefix, hashedMark+hex.EncodeToString(sum[:]))
}

// isPlain reports whether every file system can hold the object's own name.
func isPlain(path objectstore.Path) bool {
	if _, err := objectstore.ParsePath(string(path)); err != nil {
		return false
	}
	base := path.Base()
	if len(base) > maxBase || isHashedBase(base) {
		return false
	}
	for i := range len(base) {
		// Bytes beyond ASCII are normalized by some file systems.
		if c := base[i]; c < ' ' || c > '~' || strings.IndexByte(`\:*?"<>|`, c) >= 0 {
			return false
		}
	}
	return true
}

// isHashedBase reports whether an object's own name looks like a hashed one,
// in any case; such an object gets a hashed name itself.
func isHashedBase(base string) bool {
	return len(base) == len(hashedMark)+2*sha256.Size &&
		strings.EqualFold(base[:len(hashedMark)], hashedMark) &&
		isLowerHex(strings.ToLower(base[len(hashedMark):]))
}
