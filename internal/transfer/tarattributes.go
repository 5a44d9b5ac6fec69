package transfer

import (
	"archive/tar"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/stardustdb/stardust/internal/attributes"
)

// paxXattr begins the names of the records that hold extended attributes.
const paxXattr = "SCHILY.xattr."

// describe sets what an archive knows of an entry.
func (t *tarImport) describe(item *Item, h *tar.Header) {
	p := t.o.Preserve
	f := attributes.File{MTime: h.ModTime, Sparse: h.Typeflag == tar.TypeGNUSparse}
	if h.Typeflag == tar.TypeSymlink {
		f.Type = attributes.Symlink
	} else {
		f.SetMode(h.FileInfo().Mode() &^ fs.ModeType)
	}
	if p.Xattrs {
		var err error
		if f.Xattrs, err = tarXattrs(h, p.wantsXattr); err != nil {
			t.fail(item.path, err)
		}
	}
	if p.Owner {
		f.Owner = &attributes.Owner{UID: uint32(h.Uid), GID: uint32(h.Gid), User: ownersName(h.Uname), Group: ownersName(h.Gname)}
	}
	text, err := f.Encode()
	if err != nil {
		return // of nothing that a header holds
	}
	// What an archive names no link of may be linked by a later entry.
	item.Attributes, item.Speaks = text, p.members()&^attributes.MemberLink
}

// tarXattrs returns the extended attributes that a header holds.
func tarXattrs(h *tar.Header, want func(string) bool) (map[string][]byte, error) {
	found := make(map[string][]byte)
	size := 0
	for record, value := range h.PAXRecords {
		name, ok := strings.CutPrefix(record, paxXattr)
		if !ok || !want(name) {
			continue
		}
		if size += len(name) + len(value); size > maxXattrs {
			return nil, fmt.Errorf("its extended attributes are not kept: they have more than %d bytes", maxXattrs)
		}
		if !utf8.ValidString(name) {
			return nil, fmt.Errorf("its extended attributes are not kept: the name %q is not UTF-8", name)
		}
		found[name] = []byte(value)
	}
	return found, nil
}

// tarDescribe makes a header say what is kept of a node. It leaves out what a
// header cannot hold, of which a database from elsewhere may have anything.
func tarDescribe(h *tar.Header, kept *attributes.File) {
	if kept.HasMode {
		h.Mode = int64(kept.Mode)
	}
	if o := kept.Owner; o != nil {
		h.Uid, h.Gid, h.Uname, h.Gname = int(o.UID), int(o.GID), ownersName(o.User), ownersName(o.Group)
	}
	size := 0
	for name, value := range kept.Xattrs {
		size += len(name) + len(value)
		if name == "" || strings.ContainsAny(name, "=\x00") || size > maxXattrs {
			continue
		}
		if h.PAXRecords == nil {
			h.PAXRecords = make(map[string]string)
		}
		h.PAXRecords[paxXattr+name] = string(value)
	}
}
