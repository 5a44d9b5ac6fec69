package slatedb_test

import (
	"errors"
	"testing"

	"github.com/oklog/ulid/v2"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/slatedb"
)

var (
	compactedTag = slatedb.CallTag{Kind: slatedb.MainStore, SSTType: slatedb.TypeCompacted}
	walTag       = slatedb.CallTag{Kind: slatedb.MainStore, SSTType: slatedb.TypeWAL}
)

func tagged(tag slatedb.CallTag) objectstore.Extensions {
	return tag.Extend(objectstore.Extensions{})
}

func retried(tag slatedb.CallTag) slatedb.CallTag {
	tag.Retry = slatedb.ChecksumMismatch
	return tag
}

func sstPath(root string, n byte) objectstore.Path {
	return slatedb.SSTPath(objectstore.Path(root), ulid.ULID{1, 15: n})
}

// routes is what a policy answers for one path and tag.
type routes struct {
	read      mirror.ReadRoute
	write     mirror.WriteRoute
	multipart mirror.MultipartRoute
}

var (
	remoteOnly = routes{mirror.ReadRemote, mirror.WriteRemote, mirror.MultipartRemote}
	mirrored   = routes{mirror.ReadLocal, mirror.WriteMirror, mirror.MultipartMirror}
	refetched  = routes{mirror.ReadRefetch, mirror.WriteMirror, mirror.MultipartMirror}
	derived    = routes{mirror.ReadThrough, mirror.WriteMirror, mirror.MultipartMirror}
	borrowed   = routes{mirror.ReadThrough, mirror.WriteRemote, mirror.MultipartRemote}
)

func requireRoutes(t *testing.T, p *slatedb.Policy, path objectstore.Path, e objectstore.Extensions, want routes) {
	t.Helper()
	var got routes
	var errs [3]error
	got.read, errs[0] = p.ReadRoute(path, &objectstore.GetOptions{Extensions: e})
	got.write, errs[1] = p.PutRoute(path, &objectstore.PutOptions{Extensions: e})
	got.multipart, errs[2] = p.MultipartRoute(path, &objectstore.MultipartOptions{Extensions: e})
	if err := errors.Join(errs[:]...); err != nil || got != want {
		t.Errorf("%q: %v, %v; want %v", path, got, err, want)
	}
}

func TestTaggedCompactedSSTsAreLocalForReadsAndMirroredForWrites(t *testing.T) {
	p := slatedb.NewPolicy(nil)
	requireRoutes(t, p, sstPath("db", 1), tagged(compactedTag), mirrored)
}

func TestEveryKindOfStoreIsRoutedAlike(t *testing.T) {
	p := slatedb.NewPolicy(nil)
	for _, kind := range []slatedb.StoreKind{slatedb.MainStore, slatedb.ReaderStore, slatedb.CompactorStore, slatedb.CollectorStore} {
		requireRoutes(t, p, sstPath("db", 1), tagged(slatedb.CallTag{Kind: kind}), mirrored)
	}
}

func TestARetriedReadIsRefetched(t *testing.T) {
	p := slatedb.NewPolicy(nil)
	requireRoutes(t, p, sstPath("db", 1), tagged(retried(compactedTag)), refetched)
}

func TestEverythingElseIsRemote(t *testing.T) {
	p := slatedb.NewPolicy(nil)
	requireRoutes(t, p, sstPath("db", 1), objectstore.Extensions{}, remoteOnly)
	requireRoutes(t, p, slatedb.WALPath("db", 1), tagged(walTag), remoteOnly)
	requireRoutes(t, p, slatedb.WALPath("db", 1), tagged(retried(walTag)), remoteOnly)
	for _, path := range []objectstore.Path{"db/manifest/boundary", "db/gc/x", "manifest", "db/manifest/1.manifest.bak"} {
		requireRoutes(t, p, path, objectstore.Extensions{}, remoteOnly)
	}
}

func TestManifestsAndCompactionsAreObserved(t *testing.T) {
	for _, path := range []objectstore.Path{slatedb.ManifestPath("db", 1), slatedb.CompactionsPath("db", 1)} {
		p := slatedb.NewPolicy(nil)
		if route, err := p.ReadRoute(path, &objectstore.GetOptions{}); route != mirror.ReadObserve || err != nil {
			t.Errorf("read %q: %v, %v", path, route, err)
		}
		if route, err := p.PutRoute(path, &objectstore.PutOptions{Mode: objectstore.Create}); route != mirror.WriteObserve || err != nil {
			t.Errorf("put %q: %v, %v", path, route, err)
		}
	}
}

// RFC 0034's table routes *.manifest and *.compactions, whatever their names.
func TestMetadataWithAnyNameIsObservedUnderTheRootOnly(t *testing.T) {
	for _, path := range []objectstore.Path{"db/manifest/1.manifest", "db/x.manifest", "db/compactions/1.compactions", "db/.manifest", "notes.manifest"} {
		p := slatedb.NewPolicy(nil)
		if route, err := p.ReadRoute(path, &objectstore.GetOptions{}); route != mirror.ReadObserve || err != nil {
			t.Errorf("read %q: %v, %v", path, route, err)
		}
		if route, err := p.PutRoute(path, &objectstore.PutOptions{}); route != mirror.WriteObserve || err != nil {
			t.Errorf("put %q: %v, %v", path, route, err)
		}
		if _, err := p.MultipartRoute(path, &objectstore.MultipartOptions{}); !errors.Is(err, slatedb.ErrMultipartMetadata) {
			t.Errorf("multipart %q: %v", path, err)
		}
		// It says nothing of the database, not even what its bytes are.
		if err := p.Observe(t.Context(), path, []byte("any bytes"), mirror.Handle{}); err != nil {
			t.Errorf("observe %q: %v", path, err)
		}
		if p.Status().RootKnown {
			t.Errorf("%q made a root known", path)
		}
		for root, refused := range map[objectstore.Path]bool{"": false, "db": path == "notes.manifest", "other": true, "d": true} {
			p := slatedb.NewPolicy(&slatedb.PolicyOptions{Root: &root})
			_, err := p.ReadRoute(path, &objectstore.GetOptions{})
			if errors.Is(err, slatedb.ErrOtherRoot) != refused {
				t.Errorf("read %q under %q: %v", path, root, err)
			}
		}
	}
}

func TestAMultipartUploadOfMetadataIsRefused(t *testing.T) {
	p := slatedb.NewPolicy(nil)
	for _, path := range []objectstore.Path{slatedb.ManifestPath("db", 1), slatedb.CompactionsPath("db", 1)} {
		if _, err := p.MultipartRoute(path, &objectstore.MultipartOptions{}); !errors.Is(err, slatedb.ErrMultipartMetadata) {
			t.Errorf("%q: %v", path, err)
		}
	}
}

func TestAnUpdateOfAMirroredSSTIsRefused(t *testing.T) {
	p := slatedb.NewPolicy(&slatedb.PolicyOptions{PathTags: true})
	path := sstPath("db", 1)
	for _, e := range []objectstore.Extensions{tagged(compactedTag), {}} {
		if _, err := p.PutRoute(path, &objectstore.PutOptions{Mode: objectstore.Update, Extensions: e}); !errors.Is(err, slatedb.ErrMutableSST) {
			t.Error(err)
		}
		if _, err := p.MultipartRoute(path, &objectstore.MultipartOptions{Mode: objectstore.Update, Extensions: e}); !errors.Is(err, slatedb.ErrMutableSST) {
			t.Error(err)
		}
	}
	// Of anything else it is the remote's business.
	for _, path := range []objectstore.Path{slatedb.WALPath("db", 1), slatedb.ManifestPath("db", 1), "other"} {
		if _, err := p.PutRoute(path, &objectstore.PutOptions{Mode: objectstore.Update}); err != nil {
			t.Errorf("%q: %v", path, err)
		}
	}
}

func TestOtherRootsAreRefusedOnceAWriteHasNamedOne(t *testing.T) {
	for _, first := range []objectstore.Path{slatedb.ManifestPath("db", 1), slatedb.CompactionsPath("db", 1)} {
		p := slatedb.NewPolicy(nil)
		if _, err := p.PutRoute(first, &objectstore.PutOptions{}); err != nil {
			t.Fatal(err)
		}
		status := p.Status()
		equal(t, "root", status.Root, "db")
		equal(t, "root known", status.RootKnown, true)
		requireOtherRootRefused(t, p)
	}
}

func TestARootGivenIsTheRootFromTheStart(t *testing.T) {
	requireOtherRootRefused(t, slatedb.NewPolicy(&slatedb.PolicyOptions{Root: new(objectstore.Path("db"))}))

	whole := slatedb.NewPolicy(&slatedb.PolicyOptions{Root: new(objectstore.Path(""))})
	if _, err := whole.ReadRoute(slatedb.ManifestPath("", 1), &objectstore.GetOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := whole.ReadRoute(slatedb.ManifestPath("db", 1), &objectstore.GetOptions{}); !errors.Is(err, slatedb.ErrOtherRoot) {
		t.Error(err)
	}
}

// requireOtherRootRefused checks a policy whose root is "db".
func requireOtherRootRefused(t *testing.T, p *slatedb.Policy) {
	t.Helper()
	for _, root := range []objectstore.Path{"other", "db2", "db/nested", ""} {
		for _, path := range []objectstore.Path{slatedb.ManifestPath(root, 1), slatedb.CompactionsPath(root, 1)} {
			if _, err := p.ReadRoute(path, &objectstore.GetOptions{}); !errors.Is(err, slatedb.ErrOtherRoot) {
				t.Errorf("read %q: %v", path, err)
			}
			if _, err := p.PutRoute(path, &objectstore.PutOptions{}); !errors.Is(err, slatedb.ErrOtherRoot) {
				t.Errorf("put %q: %v", path, err)
			}
		}
	}
	if _, err := p.ReadRoute(slatedb.ManifestPath("db", 9), &objectstore.GetOptions{}); err != nil {
		t.Error(err)
	}
}

func TestAReadOfNothingRecordsNoRoot(t *testing.T) {
	p := slatedb.NewPolicy(nil)
	if _, err := p.ReadRoute(slatedb.ManifestPath("typo", 1), &objectstore.GetOptions{}); err != nil {
		t.Fatal(err)
	}
	equal(t, "root known", p.Status().RootKnown, false)
}

func TestBeforeTheFirstManifestAPredicateSelectsNothing(t *testing.T) {
	p := slatedb.NewPolicy(&slatedb.PolicyOptions{SegmentPredicate: func(*slatedb.Manifest, []byte) bool {
		t.Error("the predicate needs a manifest")
		return true
	}})
	requireRoutes(t, p, sstPath("db", 1), tagged(compactedTag.WithSegment(nil)), remoteOnly)
	requireRoutes(t, p, sstPath("db", 1), tagged(retried(compactedTag).WithSegment([]byte("a"))), remoteOnly)
	requireRoutes(t, p, sstPath("db", 1), tagged(compactedTag), remoteOnly)
}

func TestPathsStandInForTags(t *testing.T) {
	p := slatedb.NewPolicy(&slatedb.PolicyOptions{PathTags: true})
	// Before the root is known every compacted SST counts as the database's.
	requireRoutes(t, p, sstPath("db", 1), objectstore.Extensions{}, derived)
	requireRoutes(t, p, sstPath("other", 1), objectstore.Extensions{}, derived)

	p = slatedb.NewPolicy(&slatedb.PolicyOptions{PathTags: true, Root: new(objectstore.Path("db"))})
	requireRoutes(t, p, sstPath("db", 1), objectstore.Extensions{}, derived)
	requireRoutes(t, p, sstPath("other", 1), objectstore.Extensions{}, remoteOnly)
	requireRoutes(t, p, slatedb.WALPath("db", 1), objectstore.Extensions{}, remoteOnly)
	requireRoutes(t, p, "db/compacted/notes.sst", objectstore.Extensions{}, remoteOnly)
	// A tag that is there is believed.
	requireRoutes(t, p, sstPath("db", 1), tagged(walTag), remoteOnly)
	requireRoutes(t, p, sstPath("db", 1), tagged(compactedTag), mirrored)
}

func TestTagsTravelInExtensions(t *testing.T) {
	tag := slatedb.CallTag{Kind: slatedb.CompactorStore, SSTType: slatedb.TypeCompacted, Retry: slatedb.InvalidData}.WithSegment([]byte("s"))
	got, ok := slatedb.TagOf(tagged(tag))
	if !ok || got != tag {
		t.Errorf("%v, %v", got, ok)
	}
	segment, ok := got.Segment()
	equal(t, "segment", string(segment), "s")
	equal(t, "has a segment", ok, true)
	equal(t, "text", got.String(), `compactor Compacted segment "s" retry: invalid data`)

	_, ok = compactedTag.Segment()
	equal(t, "has a segment", ok, false)
	_, ok = compactedTag.WithSegment(nil).Segment()
	equal(t, "has the root segment", ok, true)
	_, ok = slatedb.TagOf(objectstore.Extensions{})
	equal(t, "has a tag", ok, false)
}

func TestTagsAreDerivedFromThePathsOfSSTsOnly(t *testing.T) {
	tag, root, ok := slatedb.TagFromPath(sstPath("a/b", 1))
	if !ok || tag.SSTType != slatedb.TypeCompacted || root != "a/b" {
		t.Error(tag, root, ok)
	}
	tag, root, ok = slatedb.TagFromPath(slatedb.WALPath("", 1))
	if !ok || tag.SSTType != slatedb.TypeWAL || root != "" {
		t.Error(tag, root, ok)
	}
	for _, path := range []objectstore.Path{slatedb.ManifestPath("db", 1), "db/compacted/x.sst", "x"} {
		if _, _, ok := slatedb.TagFromPath(path); ok {
			t.Errorf("%q has a tag", path)
		}
	}
}

func BenchmarkRouteOfALocalRead(b *testing.B) {
	path := sstPath("db", 1)
	for name, bench := range map[string]struct {
		policy *slatedb.Policy
		e      objectstore.Extensions
	}{
		"tagged":  {slatedb.NewPolicy(nil), tagged(compactedTag)},
		"derived": {slatedb.NewPolicy(&slatedb.PolicyOptions{PathTags: true}), objectstore.Extensions{}},
	} {
		b.Run(name, func(b *testing.B) {
			options := &objectstore.GetOptions{Extensions: bench.e}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bench.policy.ReadRoute(path, options); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
