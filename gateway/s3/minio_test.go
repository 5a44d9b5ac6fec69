package s3_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/stardustdb/stardust/gateway/s3"
)

// TestMinIOClient uses minio-go, which signs every chunk of a body over plain
// HTTP and asks for lists with encoding-type=url.
func TestMinIOClient(t *testing.T) {
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			plain := start(t, store, s3.Options{})
			secure, httpClient := startTLS(t, store, s3.Options{})
			for how, e := range map[string]*endpoint{"http": plain, "https": secure} {
				options := &minio.Options{
					Creds:        credentials.NewStaticV4(accessKey, secretKey, ""),
					Secure:       how == "https",
					BucketLookup: minio.BucketLookupPath,
				}
				if options.Secure {
					options.Transport = httpClient.Transport
				}
				// With trailing headers each chunk of a body over plain HTTP is
				// signed and the trailer too.
				for _, options.TrailingHeaders = range []bool{false, true} {
					c, err := minio.New(hostOf(t, e.url), options)
					if err != nil {
						t.Fatal(err)
					}
					minioObjects(t, c, how, name == "file")
					minioMultipart(t, c, how, options.TrailingHeaders)
				}
			}
		})
	}
}

func minioObjects(t *testing.T, c *minio.Client, prefix string, properOnly bool) {
	t.Helper()
	if exists, err := c.BucketExists(t.Context(), testBucket); err != nil || !exists {
		t.Fatalf("bucket exists: %v, %v", exists, err)
	}
	want := map[string]bool{}
	for _, odd := range oddKeys() {
		if properOnly && !odd.proper || strings.Contains(odd.key, "/../") || strings.HasPrefix(odd.key, "./") {
			continue // minio-go itself refuses the latter two
		}
		key := prefix + "/" + odd.key
		data := random(t, len(key)*1000)
		if _, err := c.PutObject(t.Context(), testBucket, key, bytes.NewReader(data), int64(len(data)), minio.PutObjectOptions{
			UserMetadata: map[string]string{"Key": "value"}, ContentType: "text/x",
		}); err != nil {
			t.Errorf("putting %q: %v", key, err)
			continue
		}
		object, err := c.GetObject(t.Context(), testBucket, key, minio.GetObjectOptions{})
		if err != nil {
			t.Errorf("getting %q: %v", key, err)
			continue
		}
		got, err := io.ReadAll(object)
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%q: %d of %d bytes, %v", key, len(got), len(data), err)
		}
		if info, err := object.Stat(); err != nil || info.UserMetadata["Key"] != "value" || info.ContentType != "text/x" {
			t.Errorf("%q: %+v, %v", key, info, err)
		}
		want[key] = true
	}
	for object := range c.ListObjects(t.Context(), testBucket, minio.ListObjectsOptions{Prefix: prefix + "/", Recursive: true, MaxKeys: 3}) {
		if object.Err != nil {
			t.Fatal(object.Err)
		}
		if !want[object.Key] {
			t.Errorf("list has %q, which nobody put", object.Key)
		}
		delete(want, object.Key)
	}
	if len(want) > 0 {
		t.Errorf("list lacks %v", want)
	}
	url, err := c.PresignedGetObject(t.Context(), testBucket, prefix+"/100%", time.Hour, nil)
	if err != nil || !strings.Contains(url.String(), "X-Amz-Signature") {
		t.Errorf("presigned URL: %v, %v", url, err)
	}
	_, err = c.CopyObject(t.Context(), minio.CopyDestOptions{Bucket: testBucket, Object: prefix + "-copy"}, minio.CopySrcOptions{Bucket: testBucket, Object: prefix + "/a+b c"})
	if err != nil {
		t.Errorf("copy: %v", err)
	}
	for e := range c.RemoveObjects(t.Context(), testBucket, c.ListObjects(t.Context(), testBucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}), minio.RemoveObjectsOptions{}) {
		t.Errorf("removing %q: %v", e.ObjectName, e.Err)
	}
	for object := range c.ListObjects(t.Context(), testBucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
		t.Errorf("after removal: %q, %v", object.Key, object.Err)
	}
}

func minioMultipart(t *testing.T, c *minio.Client, prefix string, trailing bool) {
	t.Helper()
	data := random(t, 11<<20)
	key := prefix + "-multipart"
	if _, err := c.PutObject(t.Context(), testBucket, key, bytes.NewReader(data), int64(len(data)), minio.PutObjectOptions{PartSize: 5 << 20}); err != nil {
		t.Fatalf("multipart: %v", err)
	}
	object, err := c.GetObject(t.Context(), testBucket, key, minio.GetObjectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	piece := make([]byte, 1000)
	if _, err := object.ReadAt(piece, 6<<20); err != nil || !bytes.Equal(piece, data[6<<20:6<<20+1000]) {
		t.Errorf("a range: %v", err)
	}
	got, err := io.ReadAll(object)
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d of %d bytes, %v", len(got), len(data), err)
	}
	if !trailing {
		return
	}
	for _, algorithm := range []minio.ChecksumType{minio.ChecksumCRC32, minio.ChecksumCRC32C, minio.ChecksumSHA1, minio.ChecksumSHA256, minio.ChecksumCRC64NVME} {
		small := data[:300_000]
		if _, err := c.PutObject(t.Context(), testBucket, fmt.Sprint(key, algorithm), bytes.NewReader(small), int64(len(small)), minio.PutObjectOptions{Checksum: algorithm}); err != nil {
			t.Errorf("%v: %v", algorithm, err)
		}
	}
}
