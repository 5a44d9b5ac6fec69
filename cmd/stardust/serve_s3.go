package main

import (
	"context"
	"os"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/accounts"
	"github.com/stardustdb/stardust/gateway/dbstore"
	"github.com/stardustdb/stardust/gateway/s3"
)

// s3Handler returns the S3 endpoint of a database, nil when there are no keys that
// clients could sign with.
func (e *env) s3Handler(db *stardust.DB, f *databaseServeFlags, people *accounts.File) (*s3.Handler, error) {
	options := s3.Options{Region: f.region, CORSOrigins: f.origins, MaxPutSize: int64(f.maxUpload), Clock: e.now, Logger: e.logger()}
	if people == nil {
		access, secret := os.Getenv(envAccessKey), os.Getenv(envSecretKey)
		if access == "" || secret == "" {
			return nil, nil
		}
		options.Credentials = map[string]string{access: secret}
		return dbstore.NewHandler(db, options)
	}
	keys := people.Keys()
	if len(keys) == 0 {
		return nil, nil
	}
	options.Credentials = keys
	options.Authorize = func(_ context.Context, a s3.Access) bool {
		path := ""
		if a.Bucket != "" {
			path = a.Bucket + "/" + a.Key
		}
		return people.Allows(a.AccessKey, keys[a.AccessKey], path, a.Write, e.now())
	}
	return dbstore.NewHandler(db, options)
}
