//go:build linux

package mount

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"syscall"
	"time"

	fusefs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/internal/attributes"
)

// view is a tree that nodes are of.
type view struct {
	*shared
	tree     stardust.Tree
	live     bool // it changes
	writable bool
	revision int64 // of a past one beneath .stardust; otherwise 0
}

// past returns the view of a snapshot.
func (s *shared) past(snapshot *stardust.Snapshot) *view {
	return &view{shared: s, tree: snapshot.Tree(), revision: snapshot.Revision()}
}

// meta is what a node's stat shows.
type meta struct {
	directory bool
	symlink   bool
	size      int64
	mode      uint32 // permissions
	mtime     time.Time
	digest    stardust.Digest
	removed   bool
}

// metaOf returns what the tree has of a node.
func (v *view) metaOf(record *stardust.Record) (meta, error) {
	kept, err := v.tree.FileAttributes(record.Entity)
	return v.metaWith(record, &kept), err
}

// metaWith returns what the tree has of a node whose attributes are known.
func (v *view) metaWith(record *stardust.Record, kept *stardust.FileAttributes) meta {
	m := meta{directory: record.Kind == stardust.KindDirectory, size: record.Size, digest: record.Digest, mode: 0o644, mtime: v.started}
	if m.directory {
		m.mode = 0o755
	}
	if kept.HasMode {
		m.mode = attributes.ModeBits(kept.Mode)
	}
	if !kept.ModTime.IsZero() {
		m.mtime = kept.ModTime
	}
	m.symlink = kept.Symlink && !m.directory
	if m.directory {
		m.mtime = v.movedAt(record.Entity, m.mtime)
	}
	return m
}

// kept returns what the tree is to keep of a node.
func (m *meta) kept() *stardust.FileAttributes {
	return &stardust.FileAttributes{HasMode: !m.symlink, Mode: attributes.FileMode(m.mode), ModTime: m.mtime, Symlink: m.symlink}
}

// stat returns what the tree has of a directory or link.
func (v *view) stat(entity int64) (meta, error) {
	if entity == 0 {
		return meta{directory: true, mode: 0o755, mtime: v.movedAt(0, v.started)}, nil
	}
	record, err := v.tree.Get(entity)
	if err != nil {
		return meta{}, err
	}
	return v.metaOf(&record)
}

// statFile returns what is known of a file: of one that is open what was written to
// it, otherwise what the tree has.
func (v *view) statFile(who *identity) (meta, error) {
	if v.live {
		v.mu.Lock()
		f := v.stateOf(who)
		v.mu.Unlock()
		if f != nil {
			return f.stat(), nil
		}
	}
	entity := who.entity.Load()
	if entity == 0 {
		return meta{}, syscall.ESTALE // it was made, removed and closed
	}
	return v.stat(entity)
}

// openFile returns the state of an entity that has one, or nil.
func (v *view) openFile(entity int64) *file {
	if !v.live {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.files[entity]
}

// number is the inode number of an entity, or of a file that the mount made. Those
// of the past have others, since programs take two directories of one number for a
// loop.
func number(entity, revision int64) uint64 {
	switch {
	case revision == 0 && entity >= 0:
		return uint64(entity) + 1
	case revision == 0:
		return 1<<62 | uint64(-entity)
	}
	h := fnv.New64a()
	for _, n := range []int64{revision, entity} {
		for shift := 0; shift < 64; shift += 8 {
			_, _ = h.Write([]byte{byte(n >> shift)}) // it can't fail
		}
	}
	return h.Sum64() | 1<<63
}

func (m *meta) kind() uint32 {
	switch {
	case m.directory:
		return syscall.S_IFDIR
	case m.symlink:
		return syscall.S_IFLNK
	}
	return syscall.S_IFREG
}

// fill tells the kernel.
func (v *view) fill(entity int64, m *meta, out *fuse.Attr) {
	out.Ino = number(entity, v.revision)
	out.Mode = m.kind() | m.mode
	if m.symlink {
		out.Mode = m.kind() | 0o777
	}
	out.Nlink = 1
	if m.removed {
		out.Nlink = 0
	}
	out.Size = uint64(m.size)
	out.Blocks = (out.Size + 511) / 512
	out.Blksize = 1 << 16
	out.Uid, out.Gid = v.uid, v.gid
	out.SetTimes(&m.mtime, &m.mtime, &m.mtime)
}

// node returns the kernel's node, beneath parent.
func (v *view) node(ctx context.Context, parent *fusefs.Inode, who *identity, m *meta, out *fuse.EntryOut) *fusefs.Inode {
	v.fill(who.number, m, &out.Attr)
	stable := fusefs.StableAttr{Mode: m.kind(), Ino: out.Ino}
	var ops fusefs.InodeEmbedder
	switch {
	case m.directory:
		ops = &directory{view: v, entity: who.number}
	case m.symlink:
		ops = &link{view: v, entity: who.number}
	default:
		ops = &regular{view: v, who: who}
	}
	if !v.live {
		out.SetEntryTimeout(time.Hour)
		out.SetAttrTimeout(time.Hour)
	}
	return parent.NewInode(ctx, ops, stable)
}

// change is what one commit changes of a node. What is nil stays.
type change struct {
	digest *stardust.Digest
	mode   *uint32
	mtime  *time.Time
}

// apply commits a change.
func (v *view) apply(entity int64, c *change) error {
	members := map[string]any{}
	if c.mode != nil {
		members["mode"] = fmt.Sprintf("%04o", *c.mode)
	}
	if c.mtime != nil {
		members["mtime"] = c.mtime.UTC().Format(time.RFC3339Nano)
	}
	patch := map[string]any{attributes.NameFile: members}
	if c.digest != nil {
		patch["stardust/object/digest"] = c.digest
	}
	encoded, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	document, err := stardust.Parse(encoded, stardust.JSON)
	if err != nil {
		return err
	}
	_, err = v.db.Patch(entity, document, 0)
	v.changes.Add(1)
	return err
}
