package s3_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/stardustdb/stardust/gateway/s3"
	"github.com/stardustdb/stardust/objectstore"
)

// oddKeys are keys that clients and servers are known to get wrong. Those that
// a file store cannot hold have proper set to false.
func oddKeys() []struct {
	key    string
	proper bool
} {
	return []struct {
		key    string
		proper bool
	}{
		{"a//b", false},
		{"a/", true},
		{"a/../b", false},
		{"./x", false},
		{"line\nbreak", false},
		{"tab\tkey", false},
		{"100%", true},
		{"100%25", true},
		{"a+b c", true},
		{"ünïcødé/日本語/🎉", true},
		{"a?b=c&d", true},
		{"#hash", true},
		{"quote\"'<>&", true},
		{"~tilde!*'()", true},
		{"semi;colon,comma", true},
		{"back\\slash", true},
		{"e\u0301 nfd", true},
		{"é nfc", true},
		{"$@:=", true},
		{"{brace}[bracket]|^`", true},
	}
}

func codeOf(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode()
	}
	return fmt.Sprint(err)
}

func random(t testing.TB, n int) []byte {
	t.Helper()
	b := make([]byte, n)
	if _, err := rand.Read(b); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAWSSDKGo(t *testing.T) {
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			e := start(t, store, s3.Options{MinPartSize: -1})
			t.Run("every checksum, in header and trailer", func(t *testing.T) { awsChecksums(t, store) })
			t.Run("ranges", func(t *testing.T) { awsRanges(t, e) })
			t.Run("conditions", func(t *testing.T) { awsConditions(t, e) })
			t.Run("attributes", func(t *testing.T) { awsAttributes(t, e) })
			t.Run("multipart", func(t *testing.T) { awsMultipart(t, e) })
			t.Run("copy", func(t *testing.T) { awsCopy(t, e) })
			t.Run("presigned", func(t *testing.T) { awsPresigned(t, e) })
			t.Run("lists in pages", func(t *testing.T) { awsLists(t, e) })
			t.Run("odd keys", func(t *testing.T) { awsOddKeys(t, e, name == "file") })
			t.Run("delete many", func(t *testing.T) { awsDelete(t, e) })
		})
	}
}

func awsPut(t *testing.T, c *awss3.Client, key string, data []byte, options ...func(*awss3.PutObjectInput)) *awss3.PutObjectOutput {
	t.Helper()
	in := &awss3.PutObjectInput{Bucket: aws.String(testBucket), Key: aws.String(key), Body: bytes.NewReader(data)}
	for _, option := range options {
		option(in)
	}
	out, err := c.PutObject(t.Context(), in)
	if err != nil {
		t.Fatalf("putting %q: %v", key, err)
	}
	return out
}

func awsGet(t *testing.T, c *awss3.Client, key string) []byte {
	t.Helper()
	out, err := c.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: aws.String(testBucket), Key: aws.String(key)})
	if err != nil {
		t.Fatalf("getting %q: %v", key, err)
	}
	defer out.Body.Close()
	data, err := io.ReadAll(out.Body)
	if err != nil {
		t.Fatalf("reading %q: %v", key, err)
	}
	return data
}

// awsChecksums sends every checksum that the SDK computes: over plain HTTP it
// comes in a header, over TLS in a trailer; small bodies are buffered and
// large ones streamed.
func awsChecksums(t *testing.T, store objectstore.Store) {
	plain := start(t, store, s3.Options{})
	secure, httpClient := startTLS(t, store, s3.Options{})
	clients := map[string]*awss3.Client{
		"header":  plain.client(),
		"trailer": secure.client(func(o *awss3.Options) { o.HTTPClient = httpClient }),
	}
	for how, client := range clients {
		for _, algorithm := range []types.ChecksumAlgorithm{"CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256", "SHA512"} {
			for _, size := range []int{0, 1, 1000, 300_000} {
				data := random(t, size)
				key := fmt.Sprintf("sum-%s-%s-%d", how, algorithm, size)
				out := awsPut(t, client, key, data, func(in *awss3.PutObjectInput) { in.ChecksumAlgorithm = algorithm })
				if got := awsGet(t, client, key); !bytes.Equal(got, data) {
					t.Fatalf("%s: %d bytes came back for %d", key, len(got), len(data))
				}
				if algorithm == "CRC32" && aws.ToString(out.ChecksumCRC32) == "" {
					t.Errorf("%s: no checksum in the answer", key)
				}
			}
		}
		// A stream of unknown length to the SDK, and an unsigned body.
		data := random(t, 400_000)
		_, err := client.PutObject(t.Context(), &awss3.PutObjectInput{
			Bucket: aws.String(testBucket), Key: aws.String("stream"), Body: io.MultiReader(bytes.NewReader(data)),
			ContentLength: aws.Int64(int64(len(data))),
		})
		if how == "trailer" {
			if err != nil {
				t.Fatalf("streaming: %v", err)
			}
			if got := awsGet(t, client, "stream"); !bytes.Equal(got, data) {
				t.Fatal("streamed body differs")
			}
		}
	}
	// A wrong checksum stores nothing.
	_, err := clients["header"].PutObject(t.Context(), &awss3.PutObjectInput{
		Bucket: aws.String(testBucket), Key: aws.String("wrong-sum"), Body: strings.NewReader("hello"),
		ChecksumCRC32: aws.String("AAAAAA=="),
	})
	if codeOf(err) != "BadDigest" {
		t.Errorf("wrong checksum: %v, want BadDigest", err)
	}
	if _, err := objectstore.Head(t.Context(), store, "wrong-sum"); !errors.Is(err, objectstore.ErrNotFound) {
		t.Errorf("after a wrong checksum the object is there: %v", err)
	}
}

func awsRanges(t *testing.T, e *endpoint) {
	c := e.client()
	data := random(t, 200_000)
	awsPut(t, c, "ranged", data)
	for _, test := range []struct {
		header     string
		start, end int // of the bytes that come; -1 for InvalidRange
	}{
		{"bytes=0-0", 0, 1},
		{"bytes=10-99", 10, 100},
		{"bytes=199999-", 199_999, 200_000},
		{"bytes=-5", 199_995, 200_000},
		{"bytes=-300000", 0, 200_000},
		{"bytes=5-999999", 5, 200_000},
		{"bytes=200000-", -1, -1},
		{"bytes=-0", -1, -1},
		{"bytes=0-1,5-6", 0, 200_000},
		{"bytes=9-3", 0, 200_000},
		{"lines=1-2", 0, 200_000},
	} {
		out, err := c.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: aws.String(testBucket), Key: aws.String("ranged"), Range: aws.String(test.header)})
		if test.start < 0 {
			if codeOf(err) != "InvalidRange" {
				t.Errorf("%s: %v, want InvalidRange", test.header, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.header, err)
			continue
		}
		got, err := io.ReadAll(out.Body)
		if err != nil || !bytes.Equal(got, data[test.start:test.end]) {
			t.Errorf("%s: %d bytes, %v", test.header, len(got), err)
		}
		whole := test.end-test.start == len(data) && test.header != "bytes=-300000"
		if want := fmt.Sprintf("bytes %d-%d/%d", test.start, test.end-1, len(data)); !whole && aws.ToString(out.ContentRange) != want {
			t.Errorf("%s: Content-Range %q, want %q", test.header, aws.ToString(out.ContentRange), want)
		}
	}
	head, err := c.HeadObject(t.Context(), &awss3.HeadObjectInput{Bucket: aws.String(testBucket), Key: aws.String("ranged"), Range: aws.String("bytes=10-19")})
	if err != nil || aws.ToInt64(head.ContentLength) != 10 {
		t.Errorf("HEAD of a range: %v, %v", head, err)
	}
}

func awsConditions(t *testing.T, e *endpoint) {
	c := e.client()
	put := func(key, ifMatch, ifNoneMatch string) error {
		in := &awss3.PutObjectInput{Bucket: aws.String(testBucket), Key: aws.String(key), Body: strings.NewReader(key)}
		if ifMatch != "" {
			in.IfMatch = aws.String(ifMatch)
		}
		if ifNoneMatch != "" {
			in.IfNoneMatch = aws.String(ifNoneMatch)
		}
		_, err := c.PutObject(t.Context(), in)
		return err
	}
	if err := put("cond", "", "*"); err != nil {
		t.Fatalf("create: %v", err)
	}
	if err := put("cond", "", "*"); codeOf(err) != "PreconditionFailed" {
		t.Errorf("second create: %v, want PreconditionFailed", err)
	}
	head, err := c.HeadObject(t.Context(), &awss3.HeadObjectInput{Bucket: aws.String(testBucket), Key: aws.String("cond")})
	if err != nil {
		t.Fatal(err)
	}
	etag := aws.ToString(head.ETag)
	if !strings.HasPrefix(etag, `"`) {
		t.Errorf("ETag %s has no quotes", etag)
	}
	if err := put("cond", `"other"`, ""); codeOf(err) != "PreconditionFailed" {
		t.Errorf("update of another version: %v, want PreconditionFailed", err)
	}
	if err := put("cond-missing", etag, ""); codeOf(err) != "NoSuchKey" {
		t.Errorf("update of a missing object: %v, want NoSuchKey", err)
	}
	if err := put("cond", etag, ""); err != nil {
		t.Errorf("update: %v", err)
	}
	get := func(change func(*awss3.GetObjectInput)) string {
		in := &awss3.GetObjectInput{Bucket: aws.String(testBucket), Key: aws.String("cond")}
		change(in)
		out, err := c.GetObject(t.Context(), in)
		if err != nil {
			var response interface{ HTTPStatusCode() int }
			if errors.As(err, &response) {
				return fmt.Sprint(response.HTTPStatusCode())
			}
			return codeOf(err)
		}
		_ = out.Body.Close()
		return "200"
	}
	head, err = c.HeadObject(t.Context(), &awss3.HeadObjectInput{Bucket: aws.String(testBucket), Key: aws.String("cond")})
	if err != nil {
		t.Fatal(err)
	}
	etag, modified := aws.ToString(head.ETag), aws.ToTime(head.LastModified)
	for _, test := range []struct {
		name, want string
		change     func(*awss3.GetObjectInput)
	}{
		{"if-match", "200", func(in *awss3.GetObjectInput) { in.IfMatch = &etag }},
		{"if-match without quotes", "200", func(in *awss3.GetObjectInput) { in.IfMatch = aws.String(strings.Trim(etag, `"`)) }},
		{"if-match of another", "412", func(in *awss3.GetObjectInput) { in.IfMatch = aws.String(`"no"`) }},
		{"if-match weak", "412", func(in *awss3.GetObjectInput) { in.IfMatch = aws.String("W/" + etag) }},
		{"if-none-match", "304", func(in *awss3.GetObjectInput) { in.IfNoneMatch = &etag }},
		{"if-none-match weak, in a list", "304", func(in *awss3.GetObjectInput) { in.IfNoneMatch = aws.String(`"no", W/` + etag) }},
		{"if-none-match of another", "200", func(in *awss3.GetObjectInput) { in.IfNoneMatch = aws.String(`"no"`) }},
		{"if-modified-since its date", "304", func(in *awss3.GetObjectInput) { in.IfModifiedSince = &modified }},
		{"if-modified-since before", "200", func(in *awss3.GetObjectInput) { in.IfModifiedSince = aws.Time(modified.Add(-time.Hour)) }},
		{"if-unmodified-since its date", "200", func(in *awss3.GetObjectInput) { in.IfUnmodifiedSince = &modified }},
		{"if-unmodified-since before", "412", func(in *awss3.GetObjectInput) { in.IfUnmodifiedSince = aws.Time(modified.Add(-time.Hour)) }},
		{"if-match wins over if-unmodified-since", "200", func(in *awss3.GetObjectInput) {
			in.IfMatch, in.IfUnmodifiedSince = &etag, aws.Time(modified.Add(-time.Hour))
		}},
		{"if-none-match wins over if-modified-since", "200", func(in *awss3.GetObjectInput) {
			in.IfNoneMatch, in.IfModifiedSince = aws.String(`"no"`), &modified
		}},
	} {
		if got := get(test.change); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func awsAttributes(t *testing.T, e *endpoint) {
	c := e.client()
	expires := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	awsPut(t, c, "attributes", []byte("x"), func(in *awss3.PutObjectInput) {
		in.ContentType, in.ContentLanguage = aws.String("text/plain"), aws.String("de")
		in.ContentEncoding, in.ContentDisposition = aws.String("gzip"), aws.String("attachment")
		in.CacheControl, in.Expires = aws.String("no-store"), &expires
		in.StorageClass = types.StorageClassStandardIa
		in.Metadata = map[string]string{"Colour": "blue", "empty": ""}
	})
	head, err := c.HeadObject(t.Context(), &awss3.HeadObjectInput{Bucket: aws.String(testBucket), Key: aws.String("attributes")})
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(aws.ToString(head.ContentType), aws.ToString(head.ContentLanguage), aws.ToString(head.ContentEncoding),
		aws.ToString(head.ContentDisposition), aws.ToString(head.CacheControl), aws.ToString(head.ExpiresString), head.StorageClass, head.Metadata)
	want := fmt.Sprint("text/plain", "de", "gzip", "attachment", "no-store", "Wed, 02 Jan 2030 03:04:05 GMT", types.StorageClassStandardIa, map[string]string{"colour": "blue", "empty": ""})
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	_, err = c.PutObject(t.Context(), &awss3.PutObjectInput{
		Bucket: aws.String(testBucket), Key: aws.String("reserved"), Body: strings.NewReader(""),
		Metadata: map[string]string{"stardust-s3-expires": "x"},
	})
	if codeOf(err) != "InvalidArgument" {
		t.Errorf("a reserved metadata key: %v, want InvalidArgument", err)
	}
}
