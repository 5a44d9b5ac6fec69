package stardust

import (
	"io"
	"strings"

	"github.com/stardustdb/stardust/internal/attributes"
	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/commit"
	"github.com/stardustdb/stardust/internal/dust"
	"github.com/stardustdb/stardust/internal/payload"
	"github.com/stardustdb/stardust/internal/tree"
)

// PutOptions are the options of [Tree.Put]. A nil pointer means the zero value.
type PutOptions struct {
	// Parents makes missing directories on the way, at most MaxNodes.
	Parents bool
	// New refuses to replace a file that exists already.
	New bool
	// ExpectedRevision refuses the write unless the file is there and has this
	// revision. Zero skips the check.
	ExpectedRevision int64
	// File, if not nil, is kept with the file in the same commit.
	File *FileAttributes
	// Attributes are given to the file in the same commit: an object whose members
	// replace the file's attributes of these names; null removes one. Others stay.
	// Names and sizes are bounded as by [DB.Patch]; StatusInvalidArgument says
	// which is wrong. Nil changes none.
	Attributes *Document
}

// Put stores everything that a reader yields as the file at a path of names
// divided by "/", and returns the file's record. It makes the file or replaces
// its content; a file that has the content already keeps its revision. Payload
// and name become visible in one commit: after an error neither is there,
// though the reader may have been read.
//
// It returns StatusInvalidArgument when the path has a part that is not a name,
// leads through a file, ends in "/" or is a directory's; StatusNotFound when a
// directory on the way is missing and Parents is not set, or ExpectedRevision is
// and the file is not there; StatusConflict with CodeNameTaken when New is set
// and the file is there, with CodeStaleRevision when ExpectedRevision is stale;
// and what [Tree.Upload] and its methods return. An error of the reader is
// returned as it is.
func (v Tree) Put(path string, from io.Reader, options *PutOptions) (Record, error) {
	const op = "objects.put"
	file, err := v.newFile(path, options)
	if err == nil {
		err = v.read(file.Check) // before anything is read for nothing
	}
	if err != nil {
		return Record{}, withOp(op, err)
	}
	stream, err := v.upload()
	if err != nil {
		return Record{}, withOp(op, err)
	}
	defer func() { _ = stream.Close() }() // always nil
	if _, err := stream.ReadFrom(from); err != nil {
		return Record{}, err
	}
	return v.finishAs(op, stream, file)
}

// CheckPut returns the error that [Tree.Put] would return before it reads anything:
// that the path cannot be a file's, or a condition does not hold.
func (v Tree) CheckPut(path string, options *PutOptions) error {
	const op = "objects.put"
	file, err := v.newFile(path, options)
	if err == nil {
		err = v.read(file.Check)
	}
	return withOp(op, err)
}

// PutUpload finishes an upload as the file at a path, as [Tree.Put] does with what a
// reader yields: payload and name become visible in one commit. For callers who
// write the bytes themselves, to wait when the memory budget has no room. After
// StatusOutOfMemory or StatusConflict with CodeWritesHeld it may be called again;
// after it succeeded the upload can only be closed.
func (v Tree) PutUpload(path string, upload *Upload, options *PutOptions) (Record, error) {
	const op = "objects.put"
	file, err := v.newFile(path, options)
	if err != nil {
		return Record{}, withOp(op, err)
	}
	stream := upload.plugin()
	if stream == nil || stream.db != v.db {
		return Record{}, withOp(op, invalid("upload: it is none of this database's"))
	}
	return v.finishAs(op, stream, file)
}

// finishAs publishes what was written and names it, in one commit.
func (v Tree) finishAs(op string, stream *PluginStream, file *commit.File) (Record, error) {
	var n catalog.Node
	err := stream.write(op, func(u *payload.Upload) error {
		d, err := u.Detach(stream.ctx)
		if err != nil {
			return err
		}
		n, err = v.db.put(stream, d, file)
		return err
	})
	if err != nil {
		return Record{}, err
	}
	return newRecord(&n), nil
}

// Attributes is [DB.Attributes] of a file or directory at the tree's revision:
// a snapshot has those of its time.
func (v Tree) Attributes(entity int64) (*Document, error) {
	const op = "objects.attributes"
	if err := checkEntity("entity", entity); err != nil {
		return nil, withOp(op, err)
	}
	var value dust.Value
	err := v.read(func(view *catalog.View) error {
		n, err := tree.Node(view, entity)
		if err != nil {
			return err
		}
		written, err := tree.Attributes(view, entity)
		value = attributesValue(&n, written)
		return err
	})
	if err != nil {
		return nil, withOp(op, err)
	}
	return newDocument(value), nil
}

// newFile returns what a write of the file at a path is to do, if the database can be
// written.
func (v Tree) newFile(path string, options *PutOptions) (*commit.File, error) {
	if err := v.writable(); err != nil {
		return nil, err
	}
	if options == nil {
		options = new(PutOptions)
	}
	names, err := tree.SplitPath(path)
	switch {
	case err != nil:
		return nil, err
	case len(names) == 0 || strings.HasSuffix(path, "/"):
		return nil, invalid("path %s: names a directory; the path of a file ends in its name", tree.Quote(path))
	case options.ExpectedRevision < 0:
		return nil, invalid("ExpectedRevision: %d is negative; 0 skips the check", options.ExpectedRevision)
	case options.New && options.ExpectedRevision != 0:
		return nil, invalid("New: stands beside ExpectedRevision; give one of them")
	}
	value, speaks, err := options.File.encode()
	if err != nil {
		return nil, err
	}
	var changes []commit.Change
	if options.Attributes != nil {
		value, err := options.Attributes.value()
		if err != nil {
			return nil, err
		}
		if value.Kind() != dust.Object {
			return nil, invalid("Attributes: %v, want an object", value.Kind())
		}
		for _, m := range value.Members() {
			switch {
			case m.Name == catalog.AttributeDigest:
				return nil, invalid("Attributes: %s is what Put itself writes", m.Name)
			case m.Name == attributes.NameFile && options.File != nil:
				return nil, invalid("Attributes: %s stands beside File; give one of them", m.Name)
			}
		}
		if changes, err = v.db.changes(value.Members()); err != nil {
			return nil, tree.Within("Attributes", err)
		}
	}
	return &commit.File{
		Attributes: value, Speaks: speaks, Changes: changes,
		Path: path, Names: names, Parents: options.Parents, MaxParents: MaxNodes - 1,
		New: options.New, Expected: options.ExpectedRevision,
	}, nil
}

// PutPublished names a payload that is published already, as [Tree.Put] does
// with what it stores. It also returns StatusNotFound when the payload does not
// exist.
func (v Tree) PutPublished(path string, digest Digest, options *PutOptions) (Record, error) {
	const op = "objects.put"
	file, err := v.newFile(path, options)
	if err != nil {
		return Record{}, withOp(op, err)
	}
	var n catalog.Node
	revision, err := v.commit(func(p *commit.Plan) error {
		payload, err := tree.Payload(&p.Tx().View, "digest", digest)
		if err != nil {
			return err
		}
		file.Digest, file.Size = digest, payload.Size
		n, err = p.Put(file)
		return err
	})
	if err != nil {
		return Record{}, withOp(op, err)
	}
	if revision != 0 {
		n.Revision = revision
	}
	return newRecord(&n), nil
}

// put publishes a draft and names it in one commit.
func (db *DB) put(stream *PluginStream, d *payload.Draft, file *commit.File) (n catalog.Node, err error) {
	file.Digest, file.Size = d.Digest(), d.Size()
	revision, err := db.commit(stream.ctx, commit.Write{Chunks: true, Plan: func(p *commit.Plan) (err error) {
		if n, err = p.Put(file); err != nil {
			return err
		}
		return d.Publish(p.Tx())
	}})
	settle(d, err)
	if revision != 0 {
		n.Revision = revision
	}
	return n, err
}
