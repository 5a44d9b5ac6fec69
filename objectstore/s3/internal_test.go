package s3

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/internal/wire"
)

// answer is the error that the SDK makes of an answer.
func answer(status int, code string, header http.Header) error {
	err := errors.New("no code")
	if code != "" {
		err = &smithy.GenericAPIError{Code: code, Message: "a message"}
	}
	return &smithy.OperationError{ServiceID: "S3", OperationName: "X", Err: &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status, Header: header}}, Err: err,
	}}
}

func TestAnswersBecomeSentinels(t *testing.T) {
	for _, c := range []struct {
		status int
		code   string
		want   error
	}{
		{404, "NoSuchKey", objectstore.ErrNotFound},
		{404, "NotFound", objectstore.ErrNotFound},
		{404, "", objectstore.ErrNotFound},
		{404, "NoSuchUpload", objectstore.ErrUploadNotFound},
		{400, "InvalidPart", objectstore.ErrInvalidPart},
		{400, "InvalidPartOrder", objectstore.ErrInvalidPart},
		{400, "EntityTooSmall", objectstore.ErrInvalidPart},
		{412, "PreconditionFailed", objectstore.ErrPrecondition},
		{412, "", objectstore.ErrPrecondition},
		{304, "", objectstore.ErrNotModified},
		{416, "InvalidRange", objectstore.ErrInvalidRange},
		{416, "", objectstore.ErrInvalidRange},
		{403, "AccessDenied", objectstore.ErrPermissionDenied},
		{403, "", objectstore.ErrPermissionDenied},
		{403, "SignatureDoesNotMatch", objectstore.ErrUnauthenticated},
		{400, "ExpiredToken", objectstore.ErrUnauthenticated},
		{401, "", objectstore.ErrUnauthenticated},
		{501, "NotImplemented", objectstore.ErrUnsupported},
		{400, "KeyTooLongError", objectstore.ErrInvalidPath},
		{507, "", objectstore.ErrNoSpace},
	} {
		err := classify(answer(c.status, c.code, nil))
		if !errors.Is(err, c.want) || objectstore.IsTransient(err) {
			t.Errorf("%d %s becomes %v, want %v", c.status, c.code, err, c.want)
		}
	}
	for _, c := range []struct {
		status int
		code   string
	}{
		{503, "SlowDown"},
		{503, ""},
		{500, "InternalError"},
		{500, ""},
		{502, ""},
		{429, ""},
		{409, "ConditionalRequestConflict"},
		{409, "OperationAborted"},
		{400, "RequestTimeout"},
		{403, "RequestTimeTooSkewed"},
	} {
		if err := classify(answer(c.status, c.code, nil)); !objectstore.IsTransient(err) {
			t.Errorf("%d %s is not transient: %v", c.status, c.code, err)
		}
	}
	if err := classify(answer(404, "NoSuchBucket", nil)); errors.Is(err, objectstore.ErrNotFound) || objectstore.IsTransient(err) {
		t.Errorf("a missing bucket looks like a missing object: %v", err)
	}
	for _, code := range []string{"InvalidArgument", "MalformedXML"} {
		if err := classify(answer(400, code, nil)); objectstore.IsTransient(err) {
			t.Errorf("%s is transient", code)
		}
	}
	if err := writeError(answer(412, "PreconditionFailed", nil), objectstore.Create); !errors.Is(err, objectstore.ErrAlreadyExists) {
		t.Error(err)
	}
	if err := writeError(answer(404, "NoSuchKey", nil), objectstore.Update); !errors.Is(err, objectstore.ErrPrecondition) {
		t.Error(err)
	}
}

func TestRetryAfterIsReadInBothForms(t *testing.T) {
	date := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"7": 7 * time.Second, date.Add(time.Minute).Format(http.TimeFormat): time.Minute,
		date.Add(-time.Minute).Format(http.TimeFormat): 0, "": 0, "soon": 0, "-5": 0, "99999999999999": 0,
	} {
		header := http.Header{"Retry-After": {value}, "Date": {date.Format(http.TimeFormat)}}
		if got := objectstore.RetryAfter(classify(answer(503, "SlowDown", header))); got != want {
			t.Errorf("%q is %v, want %v", value, got, want)
		}
	}
}

func TestCopySourcesAreEscaped(t *testing.T) {
	s := &Store{bucket: aws.String("bucket")}
	for path, want := range map[objectstore.Path]string{
		"a/b": "bucket/a/b", "a b+c%/é?#": "bucket/a%20b%2Bc%25/%C3%A9%3F%23", "a//b/": "bucket/a//b/",
	} {
		if got := *s.copySource(path); got != want {
			t.Errorf("%q is %q, want %q", path, got, want)
		}
	}
}

func testSigner(t *testing.T) *chunkSigner {
	t.Helper()
	signer, err := newChunkSigner(
		"AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"+
			"SignedHeaders=content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;x-amz-storage-class,"+
			"Signature=4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9", "20130524T000000Z",
		aws.Credentials{AccessKeyID: "AKIAIOSFODNN7EXAMPLE", SecretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"})
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

// TestChunksAreSignedAsDocumented has the example of Amazon's documentation of
// signature version 4 for chunked uploads: 65 KiB of "a" after that request.
func TestChunksAreSignedAsDocumented(t *testing.T) {
	encoded, err := io.ReadAll(&chunkReader{
		source: strings.NewReader(strings.Repeat("a", 66560)), signer: testSigner(t), chunk: make([]byte, chunkSize),
	})
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(encoded)) != chunkedLength(66560) || len(encoded) != 66824 {
		t.Errorf("encoded in %d bytes, announced %d, documented 66824", len(encoded), chunkedLength(66560))
	}
	for _, header := range []string{
		"10000;chunk-signature=ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648\r\n",
		"400;chunk-signature=0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497\r\n",
		"0;chunk-signature=b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9\r\n",
	} {
		if !bytes.Contains(encoded, []byte(header)) {
			t.Errorf("no chunk begins %q", header)
		}
	}
}

func TestChunkedBodiesDoNotEndWhenTheirSourceFails(t *testing.T) {
	failed := errors.New("failed")
	for name, source := range map[string]objectstore.Body{
		"short":  objectstore.Stream(strings.NewReader("12345"), 10),
		"failed": objectstore.Stream(io.MultiReader(strings.NewReader("1234567890"), errorReader{failed}), 10),
		"long":   objectstore.Stream(strings.NewReader("12345678901"), 10),
	} {
		reader, _ := wire.NewSource(context.Background(), source)
		encoded, err := io.ReadAll(&chunkReader{source: reader, signer: testSigner(t), chunk: make([]byte, chunkSize)})
		if err == nil || bytes.Contains(encoded, []byte("0;chunk-signature=")) {
			t.Errorf("%s: %q, %v", name, encoded, err)
		}
	}
}

type errorReader struct{ err error }

func (e errorReader) Read([]byte) (int, error) { return 0, e.err }

func FuzzChunkedBodiesDecode(f *testing.F) {
	f.Add([]byte(""), uint32(1))
	f.Add(bytes.Repeat([]byte("x"), chunkSize), uint32(7))
	f.Add(bytes.Repeat([]byte("0\r\n"), 50_000), uint32(1<<20))
	f.Fuzz(func(t *testing.T, data []byte, step uint32) {
		encoded := &chunkReader{source: bytes.NewReader(data), signer: testSigner(t), chunk: make([]byte, chunkSize)}
		// Read in steps of any size, and decode.
		all, err := io.ReadAll(struct{ io.Reader }{&stepped{encoded, int(step%100_000) + 1}})
		if err != nil || int64(len(all)) != chunkedLength(int64(len(data))) {
			t.Fatalf("%d bytes, announced %d, %v", len(all), chunkedLength(int64(len(data))), err)
		}
		reader, decoded, signer := bufio.NewReader(bytes.NewReader(all)), []byte{}, testSigner(t)
		for {
			var size int
			var signature string
			if _, err := fmt.Fscanf(reader, "%x;chunk-signature=%64s\r\n", &size, &signature); err != nil {
				t.Fatal(err)
			}
			chunk := make([]byte, size+2)
			if _, err := io.ReadFull(reader, chunk); err != nil || !bytes.HasSuffix(chunk, []byte("\r\n")) {
				t.Fatalf("chunk of %d: %v", size, err)
			}
			if want := signer.next(chunk[:size]); signature != want {
				t.Fatalf("signature %s, want %s", signature, want)
			}
			if size == 0 {
				break
			}
			decoded = append(decoded, chunk[:size]...)
		}
		if !bytes.Equal(decoded, data) || reader.Buffered() > 0 {
			t.Fatalf("decoded %d of %d bytes", len(decoded), len(data))
		}
	})
}

type stepped struct {
	io.Reader
	step int
}

func (s *stepped) Read(p []byte) (int, error) { return s.Reader.Read(p[:min(len(p), s.step)]) }

func TestEmptyHashIsThatOfNothing(t *testing.T) {
	if sum := sha256.Sum256(nil); hex.EncodeToString(sum[:]) != emptyHash {
		t.Fatal(emptyHash)
	}
}

// SetMaxCopy makes the store copy larger objects by ranges, for tests.
func (s *Store) SetMaxCopy(bytes int64) { s.maxCopy = bytes }
