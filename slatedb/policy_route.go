package slatedb

import (
	"errors"
	"fmt"
	"strings"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

var (
	// ErrMultipartMetadata refuses to write a manifest or compactions object in
	// parts: a policy has to see them whole.
	ErrMultipartMetadata = errors.New("a SlateDB manifest or compactions object cannot be uploaded in parts through a mirror")
	// ErrMutableSST refuses to update a mirrored SST: they are written once.
	ErrMutableSST = errors.New("a mirrored SST is written once and cannot be updated")
)

// isMetadata reports whether a path ends like a manifest or compactions object.
func isMetadata(path objectstore.Path) bool {
	s := string(path)
	return strings.HasSuffix(s, KindManifest.suffix()) || strings.HasSuffix(s, KindCompactions.suffix())
}

// metadataName takes apart the path of a manifest or compactions object. It
// reports false for every other path, and for a name that SlateDB gives to none.
func metadataName(path objectstore.Path) (Name, bool) {
	if !isMetadata(path) {
		return Name{}, false
	}
	name, ok := ParseName(path)
	return name, ok && (name.Kind == KindManifest || name.Kind == KindCompactions)
}

// ReadRoute implements mirror.Policy (RFC 0034, Routing).
func (p *Policy) ReadRoute(path objectstore.Path, options *objectstore.GetOptions) (mirror.ReadRoute, error) {
	if isMetadata(path) {
		return mirror.ReadObserve, p.state.checkRoot(path)
	}
	tag, tagged := TagOf(options.Extensions)
	switch {
	case p.lost.has(path):
		return mirror.ReadRemote, nil
	case !tagged && p.options.PathTags && p.ownsRead(path):
		return mirror.ReadThrough, nil
	case !tagged || !p.selects(tag):
		return mirror.ReadRemote, nil
	case tag.Retry != NoRetry:
		return mirror.ReadRefetch, nil
	default:
		return mirror.ReadLocal, nil
	}
}

// PutRoute implements mirror.Policy (RFC 0034, Routing). It refuses an update
// of a mirrored SST with ErrMutableSST.
func (p *Policy) PutRoute(path objectstore.Path, options *objectstore.PutOptions) (mirror.WriteRoute, error) {
	if isMetadata(path) {
		return mirror.WriteObserve, p.state.recordRoot(path)
	}
	mirrored, err := p.mirrors(path, options.Mode, options.Extensions)
	if mirrored {
		return mirror.WriteMirror, err
	}
	return mirror.WriteRemote, err
}

// MultipartRoute implements mirror.Policy (RFC 0034, Routing). It refuses
// manifests and compactions objects with ErrMultipartMetadata, and an update of
// a mirrored SST with ErrMutableSST.
func (p *Policy) MultipartRoute(path objectstore.Path, options *objectstore.MultipartOptions) (mirror.MultipartRoute, error) {
	if isMetadata(path) {
		return mirror.MultipartRemote, fmt.Errorf("%w: write %q with a single PUT", ErrMultipartMetadata, string(path))
	}
	mirrored, err := p.mirrors(path, options.Mode, options.Extensions)
	if mirrored {
		return mirror.MultipartMirror, err
	}
	return mirror.MultipartRemote, err
}

// mirrors reports whether a write goes to both stores.
func (p *Policy) mirrors(path objectstore.Path, mode objectstore.PutMode, extensions objectstore.Extensions) (bool, error) {
	tag, tagged := TagOf(extensions)
	mirrored := tagged && p.selects(tag) || !tagged && p.options.PathTags && p.ownsWrite(path)
	if mirrored && mode == objectstore.Update {
		return false, fmt.Errorf("%w: put %q with another mode", ErrMutableSST, string(path))
	}
	return mirrored, nil
}

// selects reports whether a tagged call is for a compacted SST of a selected
// segment. With a predicate, a call without a segment and every call before the
// first manifest is not, since the predicate needs both.
func (p *Policy) selects(tag CallTag) bool {
	if tag.SSTType != TypeCompacted {
		return false
	}
	if p.options.SegmentPredicate == nil {
		return true
	}
	segment, ok := tag.Segment()
	return ok && p.selector(p.state.view().newest)(segment)
}

// ownsWrite reports whether an untagged write is for an SST of the database, as
// far as its path can tell.
func (p *Policy) ownsWrite(path objectstore.Path) bool {
	name, ok := ParseName(path)
	return ok && name.Kind == KindCompacted && p.owns(p.state.view(), name)
}

func (p *Policy) owns(v *policyView, name Name) bool {
	return p.options.SegmentPredicate == nil && (!v.rootKnown || v.root == name.Root)
}

// ownsRead reports whether an untagged read is for an SST of the database or
// one that it borrows.
func (p *Policy) ownsRead(path objectstore.Path) bool {
	name, ok := ParseName(path)
	if !ok || name.Kind != KindCompacted {
		return false
	}
	v := p.state.view()
	if p.owns(v, name) {
		return true
	}
	owner, known := p.state.owners.find(name.Root)
	return known && v.retained.has(newSSTRef(owner, name.SST))
}
