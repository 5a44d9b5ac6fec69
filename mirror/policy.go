package mirror

import (
	"context"
	"fmt"

	"github.com/stardustdb/stardust/objectstore"
)

// ReadRoute says where a Get is answered from.
type ReadRoute int

const (
	// ReadRemote reads from the remote only.
	ReadRemote ReadRoute = iota
	// ReadObserve reads from the remote; the whole object goes to
	// Policy.Observe before the caller gets a result. The object is held in
	// memory meanwhile, so use it for small objects only.
	ReadObserve
	// ReadLocal reads the local copy only. A miss is [NotLocal].
	ReadLocal
	// ReadRefetch downloads the whole object again, replaces the local copy,
	// and serves the call from it.
	ReadRefetch
	// ReadThrough reads the local copy, after downloading it when it is not
	// there. It is not part of RFC 0034, which leaves it an open question.
	ReadThrough
)

// String returns the route's name.
func (r ReadRoute) String() string {
	switch r {
	case ReadRemote:
		return "remote"
	case ReadObserve:
		return "observe"
	case ReadLocal:
		return "local"
	case ReadRefetch:
		return "refetch"
	case ReadThrough:
		return "read-through"
	default:
		return fmt.Sprintf("ReadRoute(%d)", int(r))
	}
}

// WriteRoute says where a Put goes.
type WriteRoute int

const (
	// WriteRemote writes to the remote only.
	WriteRemote WriteRoute = iota
	// WriteObserve writes to the remote, then the payload goes to
	// Policy.Observe.
	WriteObserve
	// WriteMirror writes to both. The call returns after the upload has
	// succeeded and the local file is in place.
	WriteMirror
)

// String returns the route's name.
func (r WriteRoute) String() string {
	switch r {
	case WriteRemote:
		return "remote"
	case WriteObserve:
		return "observe"
	case WriteMirror:
		return "mirror"
	default:
		return fmt.Sprintf("WriteRoute(%d)", int(r))
	}
}

// MultipartRoute says where a multipart upload goes.
type MultipartRoute int

const (
	// MultipartRemote writes to the remote only.
	MultipartRemote MultipartRoute = iota
	// MultipartMirror writes to both. Complete returns after the upload has
	// completed and the local file is in place.
	MultipartMirror
)

// String returns the route's name.
func (r MultipartRoute) String() string {
	switch r {
	case MultipartRemote:
		return "remote"
	case MultipartMirror:
		return "mirror"
	default:
		return fmt.Sprintf("MultipartRoute(%d)", int(r))
	}
}

// A Policy decides which objects a Mirror keeps. Its methods are called
// concurrently. Embed [BasePolicy] for the methods that a policy doesn't need.
//
// An error from a route or Observe reaches the caller as a [PolicyError], or as
// a [WriteCommitted] if the write was done already.
type Policy interface {
	// ReadRoute runs on every Get; options.Head tells a HEAD. The options are
	// never nil and must not be changed. It must be cheap.
	ReadRoute(path objectstore.Path, options *objectstore.GetOptions) (ReadRoute, error)

	// PutRoute runs on every Put. The options are never nil and must not be
	// changed. It must be cheap.
	PutRoute(path objectstore.Path, options *objectstore.PutOptions) (WriteRoute, error)

	// MultipartRoute runs on every multipart upload. The options are never nil and
	// must not be changed. It must be cheap. When an upload that an earlier
	// process began is completed by its id, it runs again, with only the
	// conditions and extensions of the completion.
	MultipartRoute(path objectstore.Path, options *objectstore.MultipartOptions) (MultipartRoute, error)

	// Observe runs for the Observe routes, after the remote call has
	// succeeded and before the caller gets the result. data is the whole
	// object and must not be changed or kept.
	Observe(ctx context.Context, path objectstore.Path, data []byte, mirror Handle) error

	// Run is the policy's background work. Open starts it; Close cancels
	// ctx and waits for it to return. An error other than ctx's is logged.
	Run(ctx context.Context, mirror Handle) error
}

// A LocalWatcher is an optional interface of a [Policy] that wants to know
// which objects are local, such as one that bounds their size. Its methods run
// while the mirror installs or removes the copy, so they must be cheap, and
// may call Handle.Evict and Handle.Prefetch but never wait.
type LocalWatcher interface {
	// Installed runs after a local copy of size bytes appeared at path or replaced
	// another, and in Open for every copy found in the directory.
	Installed(path objectstore.Path, size int64, mirror Handle)
	// Removed runs after the local copy at path went away.
	Removed(path objectstore.Path)
}

// An Admitter is an optional interface of a [Policy] that keeps some objects
// from becoming local by a [ReadThrough], such as those beyond a size.
type Admitter interface {
	// Admit runs when the remote has told the size of an object that is about to
	// be downloaded. False gives up the download: the read is answered by the
	// remote, and a Fetch of the path fails with [NotLocal]. It must be cheap and
	// never wait.
	Admit(path objectstore.Path, size int64) bool
}

// BasePolicy has the optional methods of [Policy] as no-ops, to be embedded.
type BasePolicy struct{}

// Observe implements Policy; it does nothing.
func (BasePolicy) Observe(context.Context, objectstore.Path, []byte, Handle) error { return nil }

// Run implements Policy; it returns at once.
func (BasePolicy) Run(context.Context, Handle) error { return nil }
