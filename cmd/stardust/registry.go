package main

import (
	"github.com/stardustdb/stardust/objectstore/azure"
	"github.com/stardustdb/stardust/objectstore/file"
	"github.com/stardustdb/stardust/objectstore/gcs"
	"github.com/stardustdb/stardust/objectstore/memory"
	"github.com/stardustdb/stardust/objectstore/s3"
	"github.com/stardustdb/stardust/objectstore/storeurl"
)

// registry returns the stores that commands take URLs of.
func registry(files file.Options) *storeurl.Registry {
	r := &storeurl.Registry{}
	r.Register("s3", s3.Opener(s3.Options{}))
	r.Register("gs", gcs.Opener(gcs.Options{}))
	r.Register("az", azure.Opener(azure.Options{}))
	r.Register("file", file.Opener(files))
	r.Register("memory", memory.Opener(memory.Options{}))
	return r
}
