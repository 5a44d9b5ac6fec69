package s3_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stardustdb/stardust/gateway/s3"
	"github.com/stardustdb/stardust/internal/need"
	"github.com/stardustdb/stardust/objectstore"
)

// programLimit ends a client program that hangs.
const programLimit = time.Minute

// TestJavaScriptSDK runs tools/s3conformance/js/client.mjs, which uses the
// AWS SDK for JavaScript.
func TestJavaScriptSDK(t *testing.T) {
	need.Ask(t, need.AWSJavaScript)
	node := need.Program(t, need.Node)
	dir, err := filepath.Abs(filepath.Join("..", "..", "tools", "s3conformance", "js"))
	if err != nil {
		t.Fatal(err)
	}
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			e := start(t, store, s3.Options{MinPartSize: -1})
			env := []string{"ENDPOINT=" + e.url, "BUCKET=" + testBucket, "AWS_ACCESS_KEY_ID=" + accessKey, "AWS_SECRET_ACCESS_KEY=" + secretKey}
			if name == "file" {
				env = append(env, "PROPER_KEYS_ONLY=1")
			}
			if out, err := program(t, programLimit, env, node, filepath.Join(dir, "client.mjs")); err != nil || !strings.HasSuffix(out, "all good\n") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// tree writes files of different sizes and odd names, and returns the folder.
func tree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, size := range map[string]int{
		"empty": 0, "small": 100, "with space+plus%percent": 5000, "sub/ünïcødé 日本": 70_000, "sub/deep/large": 9 << 20,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, random(t, size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// sameTree fails unless both folders hold the same files.
func sameTree(t *testing.T, want, got string) {
	t.Helper()
	files := 0
	err := filepath.Walk(want, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		files++
		name, err := filepath.Rel(want, path)
		if err != nil {
			return err
		}
		a, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(filepath.Join(got, name))
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: %d bytes became %d, %v", name, len(a), len(b), err)
		}
		return nil
	})
	if err != nil || files == 0 {
		t.Errorf("comparing %d files: %v", files, err)
	}
}

// TestAWSCommand runs Debian's awscli.
func TestAWSCommand(t *testing.T) {
	command := need.Program(t, need.AWS)
	all := stores(t)
	delete(all, "plain") // each of its many runs takes about a second
	for name, store := range all {
		t.Run(name, func(t *testing.T) {
			e := start(t, store, s3.Options{})
			env := []string{
				"AWS_ACCESS_KEY_ID=" + accessKey, "AWS_SECRET_ACCESS_KEY=" + secretKey, "AWS_DEFAULT_REGION=us-east-1",
				"AWS_EC2_METADATA_DISABLED=true", "AWS_PAGER=",
			}
			aws := func(args ...string) string {
				t.Helper()
				out, err := program(t, programLimit, env, command, append([]string{"--endpoint-url", e.url}, args...)...)
				if err != nil {
					t.Fatalf("aws %v: %v\n%s", args, err, out)
				}
				return out
			}
			dir, back, bucket := tree(t), t.TempDir(), "s3://"+testBucket
			aws("s3", "cp", "--recursive", dir, bucket+"/up/") // the large one in parts
			aws("s3", "sync", bucket+"/up/", back)
			sameTree(t, dir, back)
			if out := aws("s3", "ls", "--recursive", bucket+"/up/"); strings.Count(out, "\n") != 5 || !strings.Contains(out, "with space+plus%percent") {
				t.Errorf("ls:\n%s", out)
			}
			aws("s3", "cp", bucket+"/up/sub/deep/large", bucket+"/copied") // UploadPartCopy
			aws("s3", "mv", bucket+"/copied", bucket+"/moved")
			aws("s3api", "put-object", "--bucket", testBucket, "--key", "folder/") // as "create folder" does
			if out := aws("s3", "ls", bucket+"/"); !strings.Contains(out, "PRE folder/") {
				t.Errorf("a folder:\n%s", out)
			}
			aws("s3api", "delete-object", "--bucket", testBucket, "--key", "folder/")
			part := filepath.Join(back, "part")
			aws("s3api", "get-object", "--bucket", testBucket, "--key", "moved", "--range", "bytes=100-199", part)
			whole, err := os.ReadFile(filepath.Join(dir, "sub/deep/large"))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(part); err != nil || !bytes.Equal(got, whole[100:200]) {
				t.Errorf("a range: %d bytes, %v", len(got), err)
			}
			if out := aws("s3api", "list-objects-v2", "--bucket", testBucket, "--page-size", "2", "--query", "length(Contents)"); strings.TrimSpace(out) != "6" {
				t.Errorf("in pages of two: %s keys, want 6", out)
			}
			if out, err := program(t, programLimit, env, command, "--endpoint-url", e.url, "s3api", "get-object", "--bucket", testBucket, "--key", "moved", "--if-match", "no", part); err == nil || !strings.Contains(out, "412") && !strings.Contains(out, "PreconditionFailed") {
				t.Errorf("a condition: %v\n%s", err, out)
			}
			if url := strings.TrimSpace(aws("s3", "presign", bucket+"/up/small")); !strings.Contains(url, "X-Amz-Signature") {
				t.Errorf("presigned: %s", url)
			}
			aws("s3", "rm", "--recursive", bucket)
			if out := aws("s3", "ls", "--recursive", bucket); out != "" {
				t.Errorf("after rm:\n%s", out)
			}
		})
	}
}

// TestS3cmd runs Debian's s3cmd.
func TestS3cmd(t *testing.T) {
	command := need.Program(t, need.S3cmd)
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			e := start(t, store, s3.Options{})
			config := filepath.Join(t.TempDir(), "s3cfg")
			host := hostOf(t, e.url)
			if err := os.WriteFile(config, []byte(strings.Join([]string{
				"[default]", "access_key = " + accessKey, "secret_key = " + secretKey, "host_base = " + host, "host_bucket = " + host,
				"use_https = False", "signature_v2 = False", "bucket_location = us-east-1", "multipart_chunk_size_mb = 5", "",
			}, "\n")), 0o600); err != nil {
				t.Fatal(err)
			}
			s3cmd := func(args ...string) string {
				t.Helper()
				out, err := program(t, programLimit, nil, command, append([]string{"--config", config, "--no-progress"}, args...)...)
				if err != nil {
					t.Fatalf("s3cmd %v: %v\n%s", args, err, out)
				}
				return out
			}
			dir, back, bucket := tree(t), t.TempDir(), "s3://"+testBucket
			if out := s3cmd("put", "--recursive", dir+"/", bucket+"/up/"); strings.Contains(out, "WARNING") {
				t.Errorf("put:\n%s", out)
			}
			s3cmd("get", "--recursive", bucket+"/up/", back)
			sameTree(t, dir, back)
			if out := s3cmd("ls", "--recursive", bucket+"/up/"); strings.Count(out, "\n") != 5 {
				t.Errorf("ls:\n%s", out)
			}
			s3cmd("cp", bucket+"/up/small", bucket+"/copied +")
			s3cmd("modify", "--add-header=x-amz-meta-colour:blue", bucket+"/copied +")
			if out := s3cmd("info", bucket+"/copied +"); !strings.Contains(out, "blue") {
				t.Errorf("info:\n%s", out)
			}
			if url := s3cmd("signurl", bucket+"/up/small", "+3600"); !strings.Contains(url, "Signature") {
				t.Errorf("signurl: %s", url)
			}
			s3cmd("sync", dir+"/", bucket+"/up/")
			s3cmd("del", "--recursive", "--force", bucket)
			for object, err := range store.List(t.Context(), &objectstore.ListOptions{}) {
				t.Errorf("after del: %q, %v", object.Path, err)
			}
		})
	}
}
