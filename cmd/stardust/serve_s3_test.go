package main

import (
	"bytes"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

func TestAFilePutByS3IsThereForAll(t *testing.T) {
	dir := t.TempDir()
	people := filepath.Join(dir, "accounts")
	secret := func(args ...string) string {
		t.Helper()
		e := newEnv()
		var out, said bytes.Buffer
		e.out.Reset(&out)
		e.err = &said
		if code := run(t.Context(), e, append([]string{"token", "add", people}, args...)); code != exitOK {
			t.Fatalf("token: %s", said.String())
		}
		return strings.TrimSpace(out.String())
	}
	whole, bounded, plain := secret("whole", "--s3"), secret("bounded", "--s3", "--read-only", "--root", "/bucket/a"), secret("plain")
	c := serveSocket(t, filepath.Join(dir, "db"), "--users", people)
	connect := func(access, secret string) *minio.Client {
		t.Helper()
		client, err := minio.New("localhost", &minio.Options{Creds: credentials.NewStaticV4(access, secret, ""), Transport: c.Transport, Region: "us-east-1"})
		if err != nil {
			t.Fatal(err)
		}
		return client
	}
	all := connect("whole", whole)
	if err := all.MakeBucket(t.Context(), "bucket", minio.MakeBucketOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"a/f", "b/f"} {
		if _, err := all.PutObject(t.Context(), "bucket", key, strings.NewReader("content"), 7, minio.PutObjectOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/v1/files/bucket/a/f", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+plain)
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || string(text) != "content" {
		t.Errorf("by path: %s %s, %v", resp.Status, text, err)
	}
	some := connect("bounded", bounded)
	if _, err := some.StatObject(t.Context(), "bucket", "a/f", minio.StatObjectOptions{}); err != nil {
		t.Errorf("a bounded key: %v", err)
	}
	if _, err := some.StatObject(t.Context(), "bucket", "b/f", minio.StatObjectOptions{}); err == nil {
		t.Error("a bounded key reads elsewhere")
	}
	if _, err := some.PutObject(t.Context(), "bucket", "a/g", strings.NewReader("x"), 1, minio.PutObjectOptions{}); err == nil {
		t.Error("a read-only key writes")
	}
	if _, err := connect("plain", plain).StatObject(t.Context(), "bucket", "a/f", minio.StatObjectOptions{}); err == nil {
		t.Error("a token that is none of S3 signs")
	}
}
