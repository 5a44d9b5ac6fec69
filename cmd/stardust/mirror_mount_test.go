//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stardustdb/stardust/internal/need"
	"github.com/stardustdb/stardust/internal/s3test"
)

// A bucket of a real S3 server is a directory through its mirror, is read from the
// local copies once it was read, and ends on a signal, also while it is in use.
func TestABucketIsMountedThroughItsMirror(t *testing.T) {
	need.Ask(t, need.FUSE)
	server := s3test.Start(t, nil)
	bucket := server.Bucket(t, "mounted")
	t.Setenv("AWS_ACCESS_KEY_ID", s3test.AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", s3test.SecretKey)
	t.Setenv("AWS_REGION", s3test.Region)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	url := "s3://" + bucket + "?endpoint=" + server.Endpoint + "&path-style=true"
	for _, policy := range [][]string{{"--policy", "lru", "--limit", "10MiB"}, {"--policy", "all"}, {"--policy", "rules", "--keep", "**/*.sst"}} {
		t.Run(policy[1], func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "b"), 0o755); err != nil {
				t.Fatal(err)
			}
			big := bytes.Repeat([]byte("0123456789"), 300_000)
			for key, content := range map[string][]byte{"tree/a.sst": []byte("first\n"), "tree/deep/b": []byte("second\n"), "big": big} {
				if err := os.WriteFile(filepath.Join(dir, "upload"), content, 0o600); err != nil {
					t.Fatal(err)
				}
				if code, _, stderr := stardustCommand(t, dir, "store", "put", "upload", "s3://"+bucket+"/"+key+"?endpoint="+server.Endpoint+"&path-style=true"); code != 0 {
					t.Fatal(stderr)
				}
			}
			p := start(t, dir, append([]string{"mirror", "mount", "--upstream", url, "--dir", "m", "b"}, policy...)...)
			p.expect(t, "mounted s3://"+bucket)
			out, err := scriptOutput(t, dir, "cat b/tree/a.sst b/tree/deep/b; find b -type f | wc -l; wc -c <b/big; tail -c 3 b/big; (echo x >b/new) 2>&1 | grep -c Read-only")
			if want := "first\nsecond\n3\n3000000\n7891\n"; err != nil || out != want {
				t.Errorf("%v, got %q, want %q", err, out, want)
			}
			held, err := os.Open(filepath.Join(dir, "b", "big"))
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if code, stderr := p.end(t); code != 0 {
				t.Errorf("exit code %d: %s", code, stderr)
			}
			_ = held.Close()
			if mounts, err := os.ReadFile("/proc/mounts"); err != nil || bytes.Contains(mounts, []byte(dir)) {
				t.Errorf("still mounted: %v", err)
			}
		})
	}
}
