package s3_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/stardustdb/stardust/gateway/s3"
	"github.com/stardustdb/stardust/objectstore/memory"
)

func awsMultipart(t *testing.T, e *endpoint) {
	c := e.client()
	bucket, key := aws.String(testBucket), aws.String("dir/multipart")
	created, err := c.CreateMultipartUpload(t.Context(), &awss3.CreateMultipartUploadInput{
		Bucket: bucket, Key: key, ContentType: aws.String("text/x"), Metadata: map[string]string{"a": "b"},
	})
	if err != nil {
		t.Fatal(err)
	}
	id := created.UploadId
	pieces := [][]byte{random(t, 300_000), random(t, 10), random(t, 5000)}
	var parts []types.CompletedPart
	for _, i := range []int{2, 0, 1} {
		out, err := c.UploadPart(t.Context(), &awss3.UploadPartInput{
			Bucket: bucket, Key: key, UploadId: id, PartNumber: aws.Int32(int32(i + 1)), Body: bytes.NewReader(pieces[i]),
		})
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, types.CompletedPart{PartNumber: aws.Int32(int32(i + 1)), ETag: out.ETag, ChecksumCRC32: out.ChecksumCRC32})
	}
	parts = []types.CompletedPart{parts[1], parts[2], parts[0]}
	listed, err := c.ListParts(t.Context(), &awss3.ListPartsInput{Bucket: bucket, Key: key, UploadId: id, MaxParts: aws.Int32(2)})
	if err != nil || len(listed.Parts) != 2 || !aws.ToBool(listed.IsTruncated) || aws.ToInt64(listed.Parts[0].Size) != 300_000 {
		t.Errorf("first page of parts: %+v, %v", listed, err)
	}
	listed, err = c.ListParts(t.Context(), &awss3.ListPartsInput{Bucket: bucket, Key: key, UploadId: id, PartNumberMarker: listed.NextPartNumberMarker})
	if err != nil || len(listed.Parts) != 1 || aws.ToBool(listed.IsTruncated) {
		t.Errorf("second page of parts: %+v, %v", listed, err)
	}
	uploads, err := c.ListMultipartUploads(t.Context(), &awss3.ListMultipartUploadsInput{Bucket: bucket, Prefix: aws.String("dir/")})
	if err != nil || len(uploads.Uploads) != 1 || aws.ToString(uploads.Uploads[0].UploadId) != aws.ToString(id) {
		t.Errorf("uploads: %+v, %v", uploads, err)
	}
	complete := func(parts []types.CompletedPart) error {
		_, err := c.CompleteMultipartUpload(t.Context(), &awss3.CompleteMultipartUploadInput{
			Bucket: bucket, Key: key, UploadId: id, MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
		})
		return err
	}
	if err := complete([]types.CompletedPart{parts[1], parts[0]}); codeOf(err) != "InvalidPartOrder" {
		t.Errorf("wrong order: %v, want InvalidPartOrder", err)
	}
	wrong := types.CompletedPart{PartNumber: aws.Int32(1), ETag: aws.String(`"nothing"`)}
	if err := complete([]types.CompletedPart{wrong}); codeOf(err) != "InvalidPart" {
		t.Errorf("wrong ETag: %v, want InvalidPart", err)
	}
	if err := complete(parts); err != nil {
		t.Fatalf("complete: %v", err)
	}
	if err := complete(parts); err != nil {
		t.Errorf("complete again, as after a lost answer: %v", err)
	}
	if got := awsGet(t, c, *key); !bytes.Equal(got, bytes.Join(pieces, nil)) {
		t.Errorf("%d bytes came back", len(got))
	}
	head, err := c.HeadObject(t.Context(), &awss3.HeadObjectInput{Bucket: bucket, Key: key})
	if err != nil || aws.ToString(head.ContentType) != "text/x" || head.Metadata["a"] != "b" {
		t.Errorf("attributes of the object: %+v, %v", head, err)
	}
	awsAbort(t, c)
}

func awsAbort(t *testing.T, c *awss3.Client) {
	bucket, key := aws.String(testBucket), aws.String("aborted")
	created, err := c.CreateMultipartUpload(t.Context(), &awss3.CreateMultipartUploadInput{Bucket: bucket, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.AbortMultipartUpload(t.Context(), &awss3.AbortMultipartUploadInput{Bucket: bucket, Key: key, UploadId: created.UploadId}); err != nil {
		t.Errorf("abort: %v", err)
	}
	_, err = c.UploadPart(t.Context(), &awss3.UploadPartInput{
		Bucket: bucket, Key: key, UploadId: created.UploadId, PartNumber: aws.Int32(1), Body: strings.NewReader("x"),
	})
	if codeOf(err) != "NoSuchUpload" {
		t.Errorf("part after abort: %v, want NoSuchUpload", err)
	}
}

func awsCopy(t *testing.T, e *endpoint) {
	c := e.client()
	bucket := aws.String(testBucket)
	data := random(t, 100_000)
	put := awsPut(t, c, "copy/source +%", data, func(in *awss3.PutObjectInput) { in.Metadata = map[string]string{"a": "1"} })
	source := aws.String(testBucket + "/copy/source%20%2B%25")
	if _, err := c.CopyObject(t.Context(), &awss3.CopyObjectInput{Bucket: bucket, Key: aws.String("copy/to"), CopySource: source}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(awsGet(t, c, "copy/to"), data) {
		t.Error("the copy differs")
	}
	if _, err := c.CopyObject(t.Context(), &awss3.CopyObjectInput{
		Bucket: bucket, Key: aws.String("copy/replaced"), CopySource: source, CopySourceIfMatch: put.ETag,
		MetadataDirective: types.MetadataDirectiveReplace, Metadata: map[string]string{"b": "2"},
	}); err != nil {
		t.Fatal(err)
	}
	head, err := c.HeadObject(t.Context(), &awss3.HeadObjectInput{Bucket: bucket, Key: aws.String("copy/replaced")})
	if err != nil || len(head.Metadata) != 1 || head.Metadata["b"] != "2" {
		t.Errorf("replaced metadata: %v, %v", head.Metadata, err)
	}
	for name, in := range map[string]*awss3.CopyObjectInput{
		"PreconditionFailed": {CopySource: source, CopySourceIfMatch: aws.String(`"other"`)},
		"NoSuchKey":          {CopySource: aws.String(testBucket + "/nothing")},
		"NoSuchBucket":       {CopySource: aws.String("no-such-bucket/key")},
	} {
		in.Bucket, in.Key = bucket, aws.String("copy/never")
		if _, err := c.CopyObject(t.Context(), in); codeOf(err) != name {
			t.Errorf("copy: %v, want %s", err, name)
		}
	}
	created, err := c.CreateMultipartUpload(t.Context(), &awss3.CreateMultipartUploadInput{Bucket: bucket, Key: aws.String("copy/parts")})
	if err != nil {
		t.Fatal(err)
	}
	part, err := c.UploadPartCopy(t.Context(), &awss3.UploadPartCopyInput{
		Bucket: bucket, Key: aws.String("copy/parts"), UploadId: created.UploadId, PartNumber: aws.Int32(1),
		CopySource: source, CopySourceRange: aws.String("bytes=10-99"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CompleteMultipartUpload(t.Context(), &awss3.CompleteMultipartUploadInput{
		Bucket: bucket, Key: aws.String("copy/parts"), UploadId: created.UploadId,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: []types.CompletedPart{{PartNumber: aws.Int32(1), ETag: part.CopyPartResult.ETag}}},
	}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(awsGet(t, c, "copy/parts"), data[10:100]) {
		t.Error("the copied part differs")
	}
}

func awsPresigned(t *testing.T, e *endpoint) {
	c := e.client()
	presign := awss3.NewPresignClient(c)
	data := random(t, 1000)
	put, err := presign.PresignPutObject(t.Context(), &awss3.PutObjectInput{Bucket: aws.String(testBucket), Key: aws.String("pre signed+")})
	if err != nil {
		t.Fatal(err)
	}
	do := func(method, url string, header http.Header, body io.Reader) (*http.Response, []byte) {
		r, err := http.NewRequestWithContext(t.Context(), method, url, body)
		if err != nil {
			t.Fatal(err)
		}
		for name, values := range header {
			if name != "Host" {
				r.Header[name] = values
			}
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		got, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response, got
	}
	if response, body := do(put.Method, put.URL, put.SignedHeader, bytes.NewReader(data)); response.StatusCode != http.StatusOK {
		t.Fatalf("presigned PUT: %s\n%s", response.Status, body)
	}
	get, err := presign.PresignGetObject(t.Context(), &awss3.GetObjectInput{
		Bucket: aws.String(testBucket), Key: aws.String("pre signed+"), ResponseContentType: aws.String("text/x-shown"),
	})
	if err != nil {
		t.Fatal(err)
	}
	response, body := do(get.Method, get.URL, get.SignedHeader, nil)
	if response.StatusCode != http.StatusOK || !bytes.Equal(body, data) || response.Header.Get("Content-Type") != "text/x-shown" {
		t.Errorf("presigned GET: %s %v", response.Status, response.Header)
	}
	if response, _ := do(http.MethodGet, get.URL+"&extra=1", get.SignedHeader, nil); response.StatusCode != http.StatusForbidden {
		t.Errorf("a changed presigned URL: %s, want 403", response.Status)
	}
	if response, _ := do(http.MethodPut, get.URL, get.SignedHeader, nil); response.StatusCode != http.StatusForbidden {
		t.Errorf("another method on a presigned URL: %s, want 403", response.Status)
	}
}

func awsLists(t *testing.T, e *endpoint) {
	c := e.client()
	var want []string
	for i := range 25 {
		key := fmt.Sprintf("list/%02d", i)
		if i%5 == 0 {
			key = fmt.Sprintf("list/%02d/sub", i)
		}
		awsPut(t, c, key, nil)
		want = append(want, key)
	}
	var v2, v1 []string
	pages := awss3.NewListObjectsV2Paginator(c, &awss3.ListObjectsV2Input{Bucket: aws.String(testBucket), Prefix: aws.String("list/"), MaxKeys: aws.Int32(7)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range page.Contents {
			v2 = append(v2, aws.ToString(object.Key))
		}
	}
	if fmt.Sprint(v2) != fmt.Sprint(want) {
		t.Errorf("V2: %v", v2)
	}
	for marker, more := (*string)(nil), true; more; {
		page, err := c.ListObjects(t.Context(), &awss3.ListObjectsInput{
			Bucket: aws.String(testBucket), Prefix: aws.String("list/"), Delimiter: aws.String("/"), MaxKeys: aws.Int32(4), Marker: marker,
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range page.Contents {
			v1 = append(v1, aws.ToString(object.Key))
		}
		for _, prefix := range page.CommonPrefixes {
			v1 = append(v1, aws.ToString(prefix.Prefix))
		}
		marker, more = page.NextMarker, aws.ToBool(page.IsTruncated)
	}
	if len(v1) != 25 {
		t.Errorf("V1 with a delimiter: %d entries: %v", len(v1), v1)
	}
}

func awsOddKeys(t *testing.T, e *endpoint, properOnly bool) {
	c := e.client()
	want := map[string]bool{}
	for _, odd := range oddKeys() {
		key := "odd/" + odd.key
		if properOnly && !odd.proper {
			_, err := c.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: aws.String(testBucket), Key: aws.String(key), Body: strings.NewReader(key)})
			if codeOf(err) != "InvalidArgument" {
				t.Errorf("%q, which a file store cannot hold: %v, want InvalidArgument", key, err)
			}
			continue
		}
		awsPut(t, c, key, []byte(key))
		if got := awsGet(t, c, key); string(got) != key {
			t.Errorf("%q came back as %q", key, got)
		}
		want[key] = true
	}
	for _, encoding := range []types.EncodingType{"", types.EncodingTypeUrl} {
		out, err := c.ListObjectsV2(t.Context(), &awss3.ListObjectsV2Input{Bucket: aws.String(testBucket), Prefix: aws.String("odd/"), EncodingType: encoding})
		if err != nil {
			t.Errorf("list with encoding %q: %v", encoding, err)
			continue
		}
		if len(out.Contents) != len(want) {
			t.Errorf("list with encoding %q: %d keys, want %d", encoding, len(out.Contents), len(want))
		}
		for _, object := range out.Contents {
			if encoding == "" && !want[aws.ToString(object.Key)] {
				t.Errorf("list has %q, which nobody put", aws.ToString(object.Key))
			}
		}
	}
}

func awsDelete(t *testing.T, e *endpoint) {
	c := e.client()
	var ids []types.ObjectIdentifier
	for _, odd := range oddKeys() {
		if odd.proper {
			awsPut(t, c, "del/"+odd.key, []byte("x"))
			ids = append(ids, types.ObjectIdentifier{Key: aws.String("del/" + odd.key)})
		}
	}
	ids = append(ids, types.ObjectIdentifier{Key: aws.String("del/missing")})
	out, err := c.DeleteObjects(t.Context(), &awss3.DeleteObjectsInput{Bucket: aws.String(testBucket), Delete: &types.Delete{Objects: ids}})
	if err != nil || len(out.Errors) > 0 || len(out.Deleted) != len(ids) {
		t.Errorf("deleting many: %d deleted of %d, %+v, %v", len(out.Deleted), len(ids), out.Errors, err)
	}
	list, err := c.ListObjectsV2(t.Context(), &awss3.ListObjectsV2Input{Bucket: aws.String(testBucket), Prefix: aws.String("del/")})
	if err != nil || len(list.Contents) != 0 {
		t.Errorf("after deleting: %+v, %v", list.Contents, err)
	}
	if _, err := c.DeleteObject(t.Context(), &awss3.DeleteObjectInput{Bucket: aws.String(testBucket), Key: aws.String("del/missing")}); err != nil {
		t.Errorf("deleting what is not there: %v", err)
	}
}

func TestEntityTooSmallOfParts(t *testing.T) {
	c := start(t, memory.New(nil), s3.Options{}).client()
	created, err := c.CreateMultipartUpload(t.Context(), &awss3.CreateMultipartUploadInput{Bucket: aws.String(testBucket), Key: aws.String("k")})
	if err != nil {
		t.Fatal(err)
	}
	var parts []types.CompletedPart
	for i := range int32(2) {
		out, err := c.UploadPart(t.Context(), &awss3.UploadPartInput{
			Bucket: aws.String(testBucket), Key: aws.String("k"), UploadId: created.UploadId, PartNumber: aws.Int32(i + 1), Body: strings.NewReader("small"),
		})
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, types.CompletedPart{PartNumber: aws.Int32(i + 1), ETag: out.ETag})
	}
	_, err = c.CompleteMultipartUpload(t.Context(), &awss3.CompleteMultipartUploadInput{
		Bucket: aws.String(testBucket), Key: aws.String("k"), UploadId: created.UploadId,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
	})
	if codeOf(err) != "EntityTooSmall" {
		t.Errorf("parts of 5 bytes: %v, want EntityTooSmall", err)
	}
}

func TestConditionalDeletes(t *testing.T) {
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			e := start(t, store, s3.Options{})
			c := e.client()
			put := func() *awss3.HeadObjectOutput {
				key := &awss3.PutObjectInput{Bucket: aws.String(testBucket), Key: aws.String("key"), Body: strings.NewReader("dummy")}
				if _, err := c.PutObject(t.Context(), key); err != nil {
					t.Fatal(err)
				}
				head, err := c.HeadObject(t.Context(), &awss3.HeadObjectInput{Bucket: key.Bucket, Key: key.Key})
				if err != nil {
					t.Fatal(err)
				}
				return head
			}
			known := put()
			wrong := aws.Time(known.LastModified.Add(-time.Hour))
			for i, test := range []struct {
				etag     *string
				size     *int64
				modified *time.Time
				code     string
			}{
				{known.ETag, nil, nil, ""},
				{nil, aws.Int64(5), nil, ""},
				{aws.String(`"other"`), nil, nil, "PreconditionFailed"},
				{nil, aws.Int64(6), nil, "PreconditionFailed"},
				{nil, nil, wrong, "PreconditionFailed"},
				{aws.String("*"), aws.Int64(5), wrong, "PreconditionFailed"},
			} {
				head := put()
				if test.etag == known.ETag {
					test.etag = head.ETag
				}
				want := test.code
				if name == "plain" {
					want = "NotImplemented"
				}
				_, err := c.DeleteObject(t.Context(), &awss3.DeleteObjectInput{
					Bucket: aws.String(testBucket), Key: aws.String("key"),
					IfMatch: test.etag, IfMatchSize: test.size, IfMatchLastModifiedTime: test.modified,
				})
				if (err != nil || want != "") && codeOf(err) != want {
					t.Errorf("case %d: %v, want %q", i, err, want)
				}
			}
			head := put()
			out, err := c.DeleteObjects(t.Context(), &awss3.DeleteObjectsInput{Bucket: aws.String(testBucket), Delete: &types.Delete{Objects: []types.ObjectIdentifier{
				{Key: aws.String("key"), ETag: aws.String("other")}, {Key: aws.String("none")},
			}}})
			if err != nil || len(out.Deleted) != 1 || len(out.Errors) != 1 || aws.ToString(out.Errors[0].Key) != "key" {
				t.Fatalf("%+v, %v", out, err)
			}
			if name == "plain" {
				return
			}
			out, err = c.DeleteObjects(t.Context(), &awss3.DeleteObjectsInput{Bucket: aws.String(testBucket), Delete: &types.Delete{Objects: []types.ObjectIdentifier{
				{Key: aws.String("key"), ETag: head.ETag, Size: aws.Int64(5)},
			}}})
			if err != nil || len(out.Deleted) != 1 {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
}
