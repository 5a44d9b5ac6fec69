package auth

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stardustdb/stardust/gateway/s3/s3err"
)

// The example of Amazon's documentation "Signature Calculations for the
// Authorization Header: Transferring Payload in Multiple Chunks": 66,560 bytes
// of "a" in chunks of 64 KiB and 1 KiB.
func exampleChunks() (body string, signer func() *chunkSigner) {
	body = "10000;chunk-signature=ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648\r\n" + strings.Repeat("a", 65536) + "\r\n" +
		"400;chunk-signature=0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497\r\n" + strings.Repeat("a", 1024) + "\r\n" +
		"0;chunk-signature=b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9\r\n\r\n"
	return body, func() *chunkSigner {
		s := scope{exampleAccess, "20130524", "us-east-1", "s3"}
		return &chunkSigner{
			key: deriveKey(exampleSecret, s), scope: s, timeText: "20130524T000000Z",
			previous: "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9",
		}
	}
}

func readChunks(t *testing.T, body string, size int, kind payloadKind, signer *chunkSigner, trailer string) (string, error) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPut, "/b/k", nil)
	r.Header.Set("X-Amz-Decoded-Content-Length", strconv.Itoa(size))
	if trailer != "" {
		r.Header.Set("X-Amz-Trailer", trailer)
	}
	header := func(name string) (string, bool) {
		values := r.Header.Values(name)
		return strings.Join(values, ","), len(values) > 0
	}
	p, err := Identity{payload: kind, signer: signer}.Payload(r, iotest.HalfReader(strings.NewReader(body)), header)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(p)
	return string(got), err
}

func TestSignedChunksOfTheDocumentation(t *testing.T) {
	body, signer := exampleChunks()
	got, err := readChunks(t, body, 66560, signedChunks, signer(), "")
	if err != nil || got != strings.Repeat("a", 66560) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	for name, change := range map[string]func(string) string{
		"data":           func(s string) string { return strings.Replace(s, "aaaa", "aaab", 1) },
		"signature":      func(s string) string { return strings.Replace(s, "ad80", "ad81", 1) },
		"last signature": func(s string) string { return strings.Replace(s, "b6c6", "b6c7", 1) },
		"no signature":   func(s string) string { return strings.Replace(s, ";chunk-signature=ad80", ";x=ad80", 1) },
		"a chunk left out": func(s string) string {
			return s[:strings.Index(s, "400;")] + s[strings.Index(s, "0;chunk-signature=b6"):]
		},
		"cut":      func(s string) string { return s[:len(s)-100] },
		"appended": func(s string) string { return s + "400;chunk-signature=00\r\n" },
	} {
		_, err := readChunks(t, change(body), 66560, signedChunks, signer(), "")
		if _, ok := errors.AsType[*s3err.Failure](err); !ok {
			t.Errorf("%s changed: %v, want a Failure", name, err)
		}
	}
	if _, err := readChunks(t, body, 66559, signedChunks, signer(), ""); codeOf(err) != "IncompleteBody" {
		t.Errorf("a wrong decoded length: %v, want IncompleteBody", err)
	}
}

// TestSignedTrailerOfTheDocumentation is the example of "Including Trailing
// Headers": the same bytes with a trailing CRC32C.
func TestSignedTrailerOfTheDocumentation(t *testing.T) {
	s := scope{exampleAccess, "20130524", "us-east-1", "s3"}
	signer := func() *chunkSigner {
		return &chunkSigner{
			key: deriveKey(exampleSecret, s), scope: s, timeText: "20130524T000000Z",
			previous: "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e",
		}
	}
	chunks := "10000;chunk-signature=b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2\r\n" + strings.Repeat("a", 65536) + "\r\n" +
		"400;chunk-signature=1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7\r\n" + strings.Repeat("a", 1024) + "\r\n" +
		"0;chunk-signature=2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992\r\n"
	const sum, signature = "x-amz-checksum-crc32c:sOO8/Q==", "x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435"
	for name, trailer := range map[string]string{
		"as SDKs write it":         sum + "\r\n" + signature + "\r\n\r\n",
		"as the documentation has": sum + "\n\r\n" + signature + "\r\n\r\n",
		"without the last line":    sum + "\r\n" + signature + "\r\n",
	} {
		got, err := readChunks(t, chunks+trailer, 66560, signedChunksTrailer, signer(), "x-amz-checksum-crc32c")
		if err != nil || len(got) != 66560 {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	for name, test := range map[string]struct{ trailer, code string }{
		"another checksum": {"x-amz-checksum-crc32c:AAAAAA==\r\n" + signature + "\r\n\r\n", "SignatureDoesNotMatch"},
		"no signature":     {sum + "\r\n\r\n", "SignatureDoesNotMatch"},
		"no trailer":       {"\r\n", "SignatureDoesNotMatch"},
		"undeclared":       {"x-amz-meta-a:b\r\n" + signature + "\r\n\r\n", "MalformedTrailerError"},
		"twice":            {sum + "\r\n" + sum + "\r\n" + signature + "\r\n\r\n", "MalformedTrailerError"},
	} {
		_, err := readChunks(t, chunks+test.trailer, 66560, signedChunksTrailer, signer(), "x-amz-checksum-crc32c")
		if err == nil || codeOf(err) != test.code {
			t.Errorf("%s: %v, want %s", name, err, test.code)
		}
	}
}

func TestUnsignedTrailerIsChecked(t *testing.T) {
	for _, test := range []struct{ name, body, code string }{
		{"right", "5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n", ""},
		{"wrong", "5\r\nhello\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n", "BadDigest"},
		{"not Base64", "5\r\nhello\r\n0\r\nx-amz-checksum-crc32:!\r\n\r\n", "InvalidRequest"},
		{"missing", "5\r\nhello\r\n0\r\n\r\n", "MalformedTrailerError"},
		{"chunk too short", "6\r\nhello\r\n0\r\n\r\n", "IncompleteBody"},
		{"chunk too long", "4\r\nhello\r\n0\r\n\r\n", "IncompleteBody"},
		{"no end", "5\r\nhello\r\n", "IncompleteBody"},
		{"no chunk", "", "IncompleteBody"},
		{"a size too great", "ffffffffffffffff\r\nhello\r\n", "IncompleteBody"},
		{"a negative size", "-5\r\nhello\r\n", "IncompleteBody"},
		{"an endless line", strings.Repeat("0", 100_000), "InvalidRequest"},
		{"an endless trailer", "5\r\nhello\r\n0\r\n" + strings.Repeat("\r\n", 1000), "MalformedTrailerError"},
	} {
		got, err := readChunks(t, test.body, 5, unsignedChunksTrailer, nil, "x-amz-checksum-crc32")
		switch {
		case test.code == "" && (err != nil || got != "hello"):
			t.Errorf("%s: %q, %v", test.name, got, err)
		case test.code != "" && (err == nil || codeOf(err) != test.code):
			t.Errorf("%s: %v, want %s", test.name, err, test.code)
		}
	}
}
