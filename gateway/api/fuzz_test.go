package api_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stardustdb/stardust/gateway/api"
)

// Whatever a client says in the headers that are parsed here, the answer is the
// client's fault or a success, and no panic.
func FuzzHeaders(f *testing.F) {
	f.Add("path YS9i", "5", `"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"`, "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:", "0", "limit=1&after=a&at=0")
	f.Add("filename Li4=,x", "-1", "*", "md5=:x:, sha-256", "9223372036854775807", "limit=0&at=-1&format=zip&only=..")
	f.Add("path", "99999999999999999999", `W/"x"`, "sha-256=::", "x", "times=true&inline=1")
	h := api.New(openDB(f), &api.Options{Uploads: filepath.Join(f.TempDir(), "uploads"), MaxUpload: 1 << 20})
	f.Fuzz(func(t *testing.T, metadata, length, match, digest, offset, query string) {
		for _, request := range []struct{ method, path string }{
			{"POST", "/v1/uploads"},
			{"PATCH", "/v1/uploads/00112233445566778899aabbccddeeff"},
			{"HEAD", "/v1/uploads/x"},
			{"PUT", "/v1/files/fuzzed"},
			{"GET", "/v1/files/"},
			{"GET", "/v1/outline/"},
			{"GET", "/v1/largest/"},
			{"GET", "/v1/commits/"},
			{"GET", "/v1/history/fuzzed"},
		} {
			r := httptest.NewRequestWithContext(t.Context(), request.method, request.path, strings.NewReader("body"))
			r.URL.RawQuery = query
			r.Header = http.Header{
				"Tus-Resumable": {"1.0.0"}, "Upload-Metadata": {metadata}, "Upload-Length": {length}, "Upload-Offset": {offset},
				"If-Match": {match}, "Content-Digest": {digest}, "Content-Type": {"application/offset+octet-stream"}, "Range": {offset},
			}
			answer := httptest.NewRecorder()
			h.ServeHTTP(answer, r)
			if answer.Code >= http.StatusInternalServerError {
				t.Errorf("%s %s: %d %s", request.method, request.path, answer.Code, answer.Body)
			}
		}
	})
}
