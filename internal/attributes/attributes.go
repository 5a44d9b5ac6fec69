// Package attributes encodes what is kept about a file or directory besides its
// name and content; docs/attributes.md describes it.
package attributes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"
)

// The attributes under these names belong to no single plugin: whoever keeps
// files may read and write them, and so may a patch.
const (
	// NameFile is what a file system knows of a file or directory: [File].
	NameFile = "stardust/file"
	// NameHTTP is what clients are told about a file's content: contentType,
	// contentEncoding, contentLanguage, contentDisposition, cacheControl and
	// expires, all text.
	NameHTTP = "stardust/http"
	// NameMetadata is metadata that users of an object store gave, by names.
	NameMetadata = "stardust/metadata"
	// NameTags are tags that users of an object store gave, by names.
	NameTags = "stardust/tags"
	// NameDAV are the properties that WebDAV clients define.
	NameDAV = "stardust/dav"
)

// Shared reports whether an attribute of a reserved name may be patched.
func Shared(name string) bool {
	switch name {
	case NameFile, NameHTTP, NameMetadata, NameTags, NameDAV:
		return true
	}
	return false
}

// Symlink is the Type of a symbolic link, whose content is its target, of 1 to
// MaxTarget bytes.
const (
	Symlink   = "symlink"
	MaxTarget = 4095
)

// File is what a file system knows of a file or directory. The zero value says
// nothing.
type File struct {
	Type    string    // Symlink, or empty for a plain file or a directory
	HasMode bool      // whether Mode is known
	Mode    uint32    // permissions, with 04000 setuid, 02000 setgid, 01000 sticky
	MTime   time.Time // when the content last changed; zero when not known
	Owner   *Owner    // nil when not kept
	Xattrs  map[string][]byte
	Link    string // the same for all names of one file; empty for none
	Sparse  bool   // it had holes
}

// Owner is who a file belongs to. Names are empty when not known.
type Owner struct {
	UID   uint32 `json:"uid"`
	GID   uint32 `json:"gid"`
	User  string `json:"user,omitempty"`
	Group string `json:"group,omitempty"`
}

// wire is the JSON form.
type wire struct {
	Type   string            `json:"type,omitempty"`
	Mode   string            `json:"mode,omitempty"` // octal
	MTime  string            `json:"mtime,omitempty"`
	Owner  *Owner            `json:"owner,omitempty"`
	Xattrs map[string][]byte `json:"xattrs,omitempty"` // base64
	Link   string            `json:"link,omitempty"`
	Sparse bool              `json:"sparse,omitempty"`
}

// maxMode is the greatest mode.
const maxMode = 0o7777

// Encode returns the attribute's value as compact JSON, or nil when it would say
// nothing. A time that RFC 3339 cannot hold, before the year 0 or after 9999, is
// left out.
func (f *File) Encode() ([]byte, error) {
	w := wire{Type: f.Type, Owner: f.Owner, Xattrs: f.Xattrs, Link: f.Link, Sparse: f.Sparse}
	if f.HasMode {
		w.Mode = fmt.Sprintf("%04o", f.Mode&maxMode)
	}
	if utc := f.MTime.UTC(); !f.MTime.IsZero() && utc.Year() >= 0 && utc.Year() <= 9999 {
		w.MTime = utc.Format(time.RFC3339Nano)
	}
	text, err := json.Marshal(&w)
	if err != nil || string(text) == "{}" {
		return nil, err
	}
	return text, nil
}

// Decode reads the attribute's value. Members that it does not know are left
// alone; those that it knows must have the right form.
func Decode(text []byte) (File, error) {
	var w wire
	if err := json.Unmarshal(text, &w); err != nil {
		return File{}, fmt.Errorf("%s: %w", NameFile, err)
	}
	f := File{Type: w.Type, Owner: w.Owner, Xattrs: w.Xattrs, Link: w.Link, Sparse: w.Sparse}
	if w.Type != "" && w.Type != Symlink {
		return File{}, fmt.Errorf("%s: type %q is not known", NameFile, w.Type)
	}
	if w.Mode != "" {
		mode, err := strconv.ParseUint(w.Mode, 8, 32)
		if err != nil || mode > maxMode {
			return File{}, fmt.Errorf("%s: mode %q is not octal up to 7777", NameFile, w.Mode)
		}
		f.HasMode, f.Mode = true, uint32(mode)
	}
	if w.MTime != "" {
		var err error
		if f.MTime, err = time.Parse(time.RFC3339Nano, w.MTime); err != nil {
			return File{}, fmt.Errorf("%s: mtime: %w", NameFile, err)
		}
		f.MTime = f.MTime.UTC()
		if year := f.MTime.Year(); year < 0 || year > 9999 {
			return File{}, errors.New(NameFile + ": mtime: out of range")
		}
	}
	return f, nil
}

// special are the bits of a mode that package io/fs has elsewhere.
var special = [...]struct {
	bit  uint32
	mode fs.FileMode
}{{0o4000, fs.ModeSetuid}, {0o2000, fs.ModeSetgid}, {0o1000, fs.ModeSticky}}

// ModeBits returns the permissions of a mode as chmod has them, with setuid, setgid
// and sticky.
func ModeBits(m fs.FileMode) uint32 {
	bits := uint32(m.Perm())
	for _, s := range special {
		if m&s.mode != 0 {
			bits |= s.bit
		}
	}
	return bits
}

// FileMode returns permissions that chmod has as package io/fs has them.
func FileMode(bits uint32) fs.FileMode {
	m := fs.FileMode(bits & 0o777)
	for _, s := range special {
		if bits&s.bit != 0 {
			m |= s.mode
		}
	}
	return m
}

// SetMode takes over a file's permissions.
func (f *File) SetMode(m fs.FileMode) { f.HasMode, f.Mode = true, ModeBits(m) }

// FileMode returns the permissions as package io/fs has them.
func (f *File) FileMode() fs.FileMode { return FileMode(f.Mode) }
