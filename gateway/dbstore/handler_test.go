package dbstore_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/dbstore"
	"github.com/stardustdb/stardust/gateway/s3"
)

// serve serves a database and returns a client of it.
func serve(t *testing.T, db *stardust.DB, options s3.Options) *awss3.Client {
	t.Helper()
	options.Credentials = map[string]string{"access": "secret", "reader": "secret"}
	handler, err := dbstore.NewHandler(db, options)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.Close()
		if err := handler.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return client(server.URL, "access")
}

func client(url, access string) *awss3.Client {
	return awss3.New(awss3.Options{
		BaseEndpoint: aws.String(url), Region: "us-east-1", UsePathStyle: true, Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider(access, "secret", ""),
	})
}

// pattern returns n bytes that differ everywhere and by seed.
func pattern(seed uint64, n int) []byte {
	data := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(seed)}).Read(data) // never fails
	return data
}

func codeOf(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode()
	}
	return ""
}

func put(t *testing.T, c *awss3.Client, key, data string) *awss3.PutObjectOutput {
	t.Helper()
	out, err := c.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: aws.String("data"), Key: aws.String(key), Body: strings.NewReader(data)})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func get(t *testing.T, c *awss3.Client, in *awss3.GetObjectInput) string {
	t.Helper()
	in.Bucket = aws.String("data")
	out, err := c.GetObject(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Body.Close()
	text, err := io.ReadAll(out.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What one view of the database writes, the other reads, under the same name.
func TestObjectsAreFilesAndFilesAreObjects(t *testing.T) {
	db := openDB(t)
	c := serve(t, db, s3.Options{})
	if _, err := c.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: aws.String("data")}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.PutObject(t.Context(), &awss3.PutObjectInput{
		Bucket: aws.String("data"), Key: aws.String("dir/a.txt"), Body: strings.NewReader("from S3"),
		ContentType: aws.String("text/plain"), Metadata: map[string]string{"who": "me"}, Tagging: aws.String("k=v"),
	}); err != nil {
		t.Fatal(err)
	}
	record, err := db.Tree().Resolve("data/dir/a.txt")
	if err != nil || record.Size != 7 {
		t.Fatalf("%+v, %v", record, err)
	}
	d, err := db.Attributes(record.Entity)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"contentType":"text/plain"`, `"who":"me"`, `"stardust/tags":{"k":"v"}`} {
		if text, _ := d.JSON(); !strings.Contains(string(text), want) {
			t.Errorf("the attributes %s have no %s", text, want)
		}
	}
	// A directory that another program makes is a bucket at once.
	if _, err := db.Tree().Put("other/b.txt", strings.NewReader("from the tree"), &stardust.PutOptions{Parents: true}); err != nil {
		t.Fatal(err)
	}
	buckets, err := c.ListBuckets(t.Context(), &awss3.ListBucketsInput{})
	if err != nil || len(buckets.Buckets) != 2 || *buckets.Buckets[1].Name != "other" {
		t.Errorf("%+v, %v", buckets, err)
	}
	out, err := c.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: aws.String("other"), Key: aws.String("b.txt"), Range: aws.String("bytes=5-7")})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(out.Body); err != nil || string(text) != "the" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := c.DeleteBucket(t.Context(), &awss3.DeleteBucketInput{Bucket: aws.String("other")}); codeOf(err) != "BucketNotEmpty" {
		t.Error(err)
	}
	if _, err := c.HeadBucket(t.Context(), &awss3.HeadBucketInput{Bucket: aws.String("missing")}); codeOf(err) != "NotFound" {
		t.Error(err)
	}
	if _, err := c.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: aws.String("other")}); codeOf(err) != "BucketAlreadyOwnedByYou" {
		t.Error(err)
	}
	// A copy moves no bytes and keeps what describes the object.
	if _, err := c.CopyObject(t.Context(), &awss3.CopyObjectInput{Bucket: aws.String("data"), Key: aws.String("copy"), CopySource: aws.String("data/dir/a.txt")}); err != nil {
		t.Fatal(err)
	}
	head, err := c.HeadObject(t.Context(), &awss3.HeadObjectInput{Bucket: aws.String("data"), Key: aws.String("copy")})
	if err != nil || *head.ContentType != "text/plain" || head.Metadata["who"] != "me" {
		t.Errorf("%+v, %v", head, err)
	}
	if copied, err := db.Tree().Resolve("data/copy"); err != nil || copied.Digest != record.Digest {
		t.Errorf("%+v, %v", copied, err)
	}
}

func TestEveryVersionIsListedAndRead(t *testing.T) {
	db := openDB(t)
	makeBucket(t, db, "data")
	c := serve(t, db, s3.Options{})
	var ids []string
	for _, text := range []string{"one", "two", "three"} {
		ids = append(ids, aws.ToString(put(t, c, "key", text).VersionId))
	}
	put(t, c, "other", "x")
	var seen []string
	in := &awss3.ListObjectVersionsInput{Bucket: aws.String("data"), MaxKeys: aws.Int32(1)}
	for range 10 {
		page, err := c.ListObjectVersions(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range page.Versions {
			seen = append(seen, *v.Key+" "+*v.VersionId)
			if want := len(seen) == 1 || len(seen) == 4; *v.IsLatest != want {
				t.Errorf("%s: latest %v", seen, *v.IsLatest)
			}
		}
		if !*page.IsTruncated {
			break
		}
		in.KeyMarker, in.VersionIdMarker = page.NextKeyMarker, page.NextVersionIdMarker
	}
	if len(seen) != 4 || seen[0] != "key "+ids[2] || seen[1] != "key "+ids[1] || seen[2] != "key "+ids[0] {
		t.Errorf("listed %q, want the versions %q", seen, ids)
	}
	for i, want := range []string{"one", "two", "three"} {
		if got := get(t, c, &awss3.GetObjectInput{Key: aws.String("key"), VersionId: &ids[i]}); got != want {
			t.Errorf("version %s is %q", ids[i], got)
		}
	}
	if _, err := c.DeleteObject(t.Context(), &awss3.DeleteObjectInput{Bucket: aws.String("data"), Key: aws.String("key")}); err != nil {
		t.Fatal(err)
	}
	if got := get(t, c, &awss3.GetObjectInput{Key: aws.String("key"), VersionId: &ids[0]}); got != "one" {
		t.Errorf("after the delete, the first version is %q", got)
	}
	_, err := c.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: aws.String("data"), Key: aws.String("key"), VersionId: aws.String("999999")})
	if codeOf(err) != "NoSuchVersion" {
		t.Error(err)
	}
}

func TestConditionsAreCheckedWithinTheCommit(t *testing.T) {
	db := openDB(t)
	makeBucket(t, db, "data")
	c := serve(t, db, s3.Options{})
	first := put(t, c, "key", "one")
	second := put(t, c, "key", "two")
	for name, err := range map[string]error{
		"put over an older ETag": func() error {
			_, err := c.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: aws.String("data"), Key: aws.String("key"), Body: strings.NewReader("x"), IfMatch: first.ETag})
			return err
		}(),
		"create over an object": func() error {
			_, err := c.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: aws.String("data"), Key: aws.String("key"), Body: strings.NewReader("x"), IfNoneMatch: aws.String("*")})
			return err
		}(),
		"delete of an older ETag": func() error {
			_, err := c.DeleteObject(t.Context(), &awss3.DeleteObjectInput{Bucket: aws.String("data"), Key: aws.String("key"), IfMatch: first.ETag})
			return err
		}(),
	} {
		if codeOf(err) != "PreconditionFailed" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := get(t, c, &awss3.GetObjectInput{Key: aws.String("key")}); got != "two" {
		t.Errorf("the object is %q", got)
	}
	if _, err := c.DeleteObject(t.Context(), &awss3.DeleteObjectInput{Bucket: aws.String("data"), Key: aws.String("key"), IfMatch: second.ETag}); err != nil {
		t.Error(err)
	}
}

func TestFoldersStayUntilTheyAreDeleted(t *testing.T) {
	db := openDB(t)
	makeBucket(t, db, "data")
	c := serve(t, db, s3.Options{})
	list := func() (keys []string) {
		t.Helper()
		out, err := c.ListObjectsV2(t.Context(), &awss3.ListObjectsV2Input{Bucket: aws.String("data")})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range out.Contents {
			keys = append(keys, *o.Key)
		}
		return keys
	}
	remove := func(key string) {
		t.Helper()
		if _, err := c.DeleteObject(t.Context(), &awss3.DeleteObjectInput{Bucket: aws.String("data"), Key: aws.String(key)}); err != nil {
			t.Fatal(err)
		}
	}
	put(t, c, "folder/", "")
	put(t, c, "folder/file", "x")
	put(t, c, "made/on/the/way", "x")
	remove("made/on/the/way")
	remove("folder/file")
	if got := list(); len(got) != 1 || got[0] != "folder/" {
		t.Errorf("listed %q", got)
	}
	remove("folder/")
	if got := list(); len(got) != 0 {
		t.Errorf("listed %q", got)
	}
	_, err := c.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: aws.String("data"), Key: aws.String("folder/"), Body: strings.NewReader("bytes")})
	if codeOf(err) != "InvalidArgument" {
		t.Error(err)
	}
}

func TestPartsBecomeOnePayloadWhoseChunksAreStoredOnce(t *testing.T) {
	db := openDB(t)
	makeBucket(t, db, "data")
	c := serve(t, db, s3.Options{})
	created, err := c.CreateMultipartUpload(t.Context(), &awss3.CreateMultipartUploadInput{Bucket: aws.String("data"), Key: aws.String("big"), ContentType: aws.String("x/y")})
	if err != nil {
		t.Fatal(err)
	}
	var parts []types.CompletedPart
	var want bytes.Buffer
	for number := int32(1); number <= 3; number++ {
		data := pattern(uint64(number), 6<<20)
		want.Write(data)
		part, err := c.UploadPart(t.Context(), &awss3.UploadPartInput{
			Bucket: aws.String("data"), Key: aws.String("big"), UploadId: created.UploadId, PartNumber: aws.Int32(number), Body: bytes.NewReader(data),
		})
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, types.CompletedPart{PartNumber: aws.Int32(number), ETag: part.ETag})
	}
	before, err := db.Info()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CompleteMultipartUpload(t.Context(), &awss3.CompleteMultipartUploadInput{
		Bucket: aws.String("data"), Key: aws.String("big"), UploadId: created.UploadId, MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
	}); err != nil {
		t.Fatal(err)
	}
	after, err := db.Info()
	if err != nil {
		t.Fatal(err)
	}
	if got := get(t, c, &awss3.GetObjectInput{Key: aws.String("big")}); got != want.String() {
		t.Errorf("%d bytes came back, want %d", len(got), want.Len())
	}
	if more := after.ChunkBytes - before.ChunkBytes; more > int64(want.Len())/2 {
		t.Errorf("completing stored %d more bytes of %d", more, want.Len())
	}
}

func TestKeysDoWhatAuthorizeAllows(t *testing.T) {
	db := openDB(t)
	makeBucket(t, db, "data")
	options := s3.Options{
		Credentials: map[string]string{"access": "secret", "reader": "secret"},
		Authorize: func(_ context.Context, a s3.Access) bool {
			return a.AccessKey == "access" || !a.Write && (a.Bucket == "" || strings.HasPrefix(a.Key, "public/"))
		},
	}
	handler, err := dbstore.NewHandler(db, options)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	owner, reader := client(server.URL, "access"), client(server.URL, "reader")
	put(t, owner, "public/a", "open")
	put(t, owner, "private/a", "secret")
	if got := get(t, reader, &awss3.GetObjectInput{Key: aws.String("public/a")}); got != "open" {
		t.Errorf("%q", got)
	}
	bucket := aws.String("data")
	for name, call := range map[string]func() error{
		"read": func() error {
			_, err := reader.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: bucket, Key: aws.String("private/a")})
			return err
		},
		"write": func() error {
			_, err := reader.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: bucket, Key: aws.String("public/a"), Body: strings.NewReader("x")})
			return err
		},
		"list": func() error {
			_, err := reader.ListObjectsV2(t.Context(), &awss3.ListObjectsV2Input{Bucket: bucket})
			return err
		},
		"copy": func() error {
			_, err := reader.CopyObject(t.Context(), &awss3.CopyObjectInput{Bucket: bucket, Key: aws.String("public/b"), CopySource: aws.String("data/private/a")})
			return err
		},
	} {
		if err := call(); codeOf(err) != "AccessDenied" {
			t.Errorf("%s: %v", name, err)
		}
	}
	deleted, err := reader.DeleteObjects(t.Context(), &awss3.DeleteObjectsInput{Bucket: bucket, Delete: &types.Delete{Objects: []types.ObjectIdentifier{{Key: aws.String("public/a")}}}})
	if err != nil || len(deleted.Errors) != 1 || *deleted.Errors[0].Code != "AccessDenied" {
		t.Errorf("%+v, %v", deleted, err)
	}
	if got := get(t, owner, &awss3.GetObjectInput{Key: aws.String("public/a")}); got != "open" {
		t.Errorf("%q", got)
	}
}
