package main

import (
	"path/filepath"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

// localPolicy is the least that a policy can be: every object is local.
type localPolicy struct{ mirror.BasePolicy }

func (localPolicy) ReadRoute(objectstore.Path, *objectstore.GetOptions) (mirror.ReadRoute, error) {
	return mirror.ReadLocal, nil
}

func (localPolicy) PutRoute(objectstore.Path, *objectstore.PutOptions) (mirror.WriteRoute, error) {
	return mirror.WriteMirror, nil
}

func (localPolicy) MultipartRoute(objectstore.Path, *objectstore.MultipartOptions) (mirror.MultipartRoute, error) {
	return mirror.MultipartMirror, nil
}

// openMirror opens a mirror in a directory of the run.
func (b *bench) openMirror(dir string, remote objectstore.Store, policy mirror.Policy, verify bool) (*mirror.Mirror, error) {
	return mirror.Open(b.ctx, filepath.Join(b.dir, dir), remote, policy, &mirror.Options{WithoutRemoteScan: true, Verify: verify})
}
