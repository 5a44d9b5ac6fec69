package objectstore

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxPathLength is the greatest length of a Path in bytes, S3's limit for keys.
const MaxPathLength = 1024

// Path is the validated name of an object: segments divided by "/". Make one
// with [ParsePath] or, for a key that a foreign client chose, [KeyPath]. The
// zero value names nothing. Paths compare and sort as their bytes do.
type Path string

// ParsePath validates s by the rules of Rust's object_store: segments are not
// empty, not "." or "..", and hold no ASCII control characters; the path has no
// leading or trailing "/". It also refuses invalid UTF-8 and more than
// [MaxPathLength] bytes. The error wraps ErrInvalidPath.
func ParsePath(s string) (Path, error) {
	if _, err := KeyPath(s); err != nil {
		return "", err
	}
	for segment := range strings.SplitSeq(s, "/") {
		switch segment {
		case "":
			return "", pathError(s, "an empty segment")
		case ".", "..":
			return "", pathError(s, "the segment "+segment)
		}
		for i := range len(segment) {
			if c := segment[i]; c < 0x20 || c == 0x7f {
				return "", pathError(s, "a control character")
			}
		}
	}
	return Path(s), nil
}

// KeyPath validates s as S3 does a key, so that a gateway can carry what any
// client wrote: valid UTF-8 without NUL, 1 to [MaxPathLength] bytes. A Store
// that can't hold such a path (file) refuses it with ErrInvalidPath.
func KeyPath(s string) (Path, error) {
	switch {
	case s == "":
		return "", pathError(s, "no bytes")
	case len(s) > MaxPathLength:
		return "", pathError(s[:64]+"…", fmt.Sprintf("%d bytes, more than %d", len(s), MaxPathLength))
	case !utf8.ValidString(s):
		return "", pathError(s, "invalid UTF-8")
	case strings.IndexByte(s, 0) >= 0:
		return "", pathError(s, "a NUL byte")
	}
	return Path(s), nil
}

// CheckDots returns ErrInvalidPath when a segment of path is "." or "..". A store
// must call it before it hands a path to anything that resolves such segments,
// such as a file system or a server that keeps objects as files: "a/../../b"
// would name an object outside of the store.
func CheckDots(path Path) error {
	for segment := range strings.SplitSeq(string(path), "/") {
		if segment == "." || segment == ".." {
			return pathError(string(path), "the segment "+segment)
		}
	}
	return nil
}

// OnlyDots reports whether every path with this prefix is one that [CheckDots]
// refuses, because the prefix has a whole segment "." or "..".
func OnlyDots(prefix string) bool {
	slash := strings.LastIndexByte(prefix, '/')
	return slash >= 0 && CheckDots(Path(prefix[:slash])) != nil
}

// CheckPaths is the first check of every call: it returns ctx's error if ctx
// has ended, or else the error of the first path that isn't a [KeyPath] or that
// the Store's own rule, if not nil, refuses.
func CheckPaths(ctx context.Context, rule func(Path) error, paths ...Path) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, path := range paths {
		if _, err := KeyPath(string(path)); err != nil {
			return err
		}
		if rule == nil {
			continue
		}
		if err := rule(path); err != nil {
			return err
		}
	}
	return nil
}

func pathError(s, what string) error {
	return fmt.Errorf("%w: %q has %s", ErrInvalidPath, s, what)
}

// String returns the path as a plain string.
func (p Path) String() string { return string(p) }

// Base returns what follows the last "/".
func (p Path) Base() string {
	return string(p[strings.LastIndexByte(string(p), '/')+1:])
}

// Parent returns what precedes the last "/", or "" when there is none.
func (p Path) Parent() string {
	i := strings.LastIndexByte(string(p), '/')
	if i < 0 {
		return ""
	}
	return string(p[:i])
}

// Join returns the path with a segment, or several, appended; it validates the
// whole as [ParsePath] does.
func (p Path) Join(segments string) (Path, error) {
	if p == "" {
		return ParsePath(segments)
	}
	return ParsePath(string(p) + "/" + segments)
}
