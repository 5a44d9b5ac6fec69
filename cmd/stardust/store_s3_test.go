package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/stardustdb/stardust/internal/s3test"
)

// The store and mirror commands on a real S3 server. $S3 is the beginning of a
// bucket's URL and $Q its end; each script has a bucket of its own.
func TestS3Scripts(t *testing.T) {
	server := s3test.Start(t, nil)
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/s3",
		Cmds:               map[string]func(*testscript.TestScript, bool, []string){"status": status},
		RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			bucket := server.Bucket(t, filepath.Base(env.WorkDir))
			for name, value := range map[string]string{
				"TMPDIR": env.WorkDir, "GORACE": os.Getenv("GORACE"),
				"AWS_ACCESS_KEY_ID": s3test.AccessKey, "AWS_SECRET_ACCESS_KEY": s3test.SecretKey,
				"AWS_REGION": s3test.Region, "AWS_EC2_METADATA_DISABLED": "true",
				"S3": "s3://" + bucket, "Q": "?endpoint=" + server.Endpoint + "&path-style=true",
				"BUCKET_DIR": filepath.Join(server.Dir, bucket),
			} {
				env.Setenv(name, value)
			}
			return nil
		},
	})
}
