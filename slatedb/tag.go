package slatedb

import (
	"fmt"

	"github.com/stardustdb/stardust/objectstore"
)

// CallTag says why SlateDB makes a call for an SST. It travels in the call's
// options, as SlateDB's ObjectStoreCallTag does, and is what a [Policy] routes
// by. Calls for manifests, compactions and other coordination have no tag.
//
// A CallTag is a value: it may be copied, compared and shared.
type CallTag struct {
	// Kind is the component that makes the call.
	Kind StoreKind
	// SSTType is the type of the SST. Only compacted SSTs are mirrored.
	SSTType SSTType
	// Retry is why a read is repeated. A read with a reason other than
	// NoRetry must not be served from the same local bytes again.
	Retry RetryReason

	segment    string
	hasSegment bool
}

// StoreKind is a component of SlateDB.
type StoreKind int

const (
	// MainStore is the database itself: foreground reads, memtable flushes.
	MainStore StoreKind = iota
	// ReaderStore is a read-only database.
	ReaderStore
	// CompactorStore reads the inputs of compactions and writes their outputs.
	CompactorStore
	// CollectorStore is the garbage collector.
	CollectorStore
)

// String returns the component's name.
func (k StoreKind) String() string {
	return enumName("StoreKind", int(k), "main", "reader", "compactor", "collector")
}

// RetryReason is why a read is repeated.
type RetryReason int

const (
	// NoRetry is a first read.
	NoRetry RetryReason = iota
	// ChecksumMismatch follows bytes that did not match their checksum.
	ChecksumMismatch
	// InvalidData follows bytes that could not be decoded.
	InvalidData
)

// String returns the reason.
func (r RetryReason) String() string {
	return enumName("RetryReason", int(r), "none", "checksum mismatch", "invalid data")
}

// WithSegment returns the tag with the prefix of the segment that the SST
// belongs to. An empty prefix means the root segment, which is not the same as
// a tag without a segment.
func (t CallTag) WithSegment(prefix []byte) CallTag {
	t.segment, t.hasSegment = string(prefix), true
	return t
}

// Segment returns the prefix of the SST's segment, and whether the tag names
// one.
func (t CallTag) Segment() (prefix []byte, ok bool) { return []byte(t.segment), t.hasSegment }

// String describes the tag for logs.
func (t CallTag) String() string {
	s := fmt.Sprintf("%v %v", t.Kind, t.SSTType)
	if t.hasSegment {
		s += fmt.Sprintf(" segment %q", t.segment)
	}
	if t.Retry != NoRetry {
		s += " retry: " + t.Retry.String()
	}
	return s
}

// Extend returns e with the tag in it, for a call's options.
func (t CallTag) Extend(e objectstore.Extensions) objectstore.Extensions {
	return objectstore.WithExtension(e, t)
}

// TagOf returns the tag that a call's options carry, and whether there is one.
func TagOf(e objectstore.Extensions) (CallTag, bool) { return objectstore.ExtensionOf[CallTag](e) }

// TagFromPath derives a tag from the path of an object, for calls that arrive
// without one, such as over S3: `<root>/compacted/<ulid>.sst` and
// `<root>/wal/<20 digits>.sst` name SSTs. It also returns the root. The path
// tells neither the component, nor a retry, nor the segment.
func TagFromPath(path objectstore.Path) (tag CallTag, root objectstore.Path, ok bool) {
	name, ok := ParseName(path)
	if !ok {
		return CallTag{}, "", false
	}
	switch name.Kind {
	case KindCompacted:
		return CallTag{SSTType: TypeCompacted}, name.Root, true
	case KindWAL:
		return CallTag{SSTType: TypeWAL}, name.Root, true
	default:
		return CallTag{}, "", false
	}
}
