package s3_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stardustdb/stardust/gateway/s3"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/documents.txt again")

// TestDocumentsKeepTheirBytes compares what the endpoint answers with what it
// answered before: parsers of clients that nobody here knows live on it.
func TestDocumentsKeepTheirBytes(t *testing.T) {
	at := time.Date(2026, 12, 3, 4, 5, 6, 789e6, time.UTC)
	clock := func() time.Time { return at }
	store := memory.New(&memory.Options{Now: clock})
	h := newHandler(t, store, s3.Options{
		Anonymous: true, Clock: clock, MinPartSize: -1,
		CreateBucket: func(context.Context, string) (objectstore.Store, error) { return memory.New(nil), nil },
	})
	var out bytes.Buffer
	ids := regexp.MustCompile(`<(RequestId|HostId)>[0-9A-F]{16}<`)
	send := func(method, target, body string, headers ...string) {
		r := httptest.NewRequest(method, target, strings.NewReader(body))
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		fmt.Fprintf(&out, "%s %s %s\n%d %s\n%s\n\n", method, target, body, w.Code, w.Header().Get("Content-Type"), ids.ReplaceAll(w.Body.Bytes(), []byte("<$1>ID<")))
	}
	const b = "/" + testBucket
	send("PUT", b+"/a%20%26%3C%3E%22'key", "one", "X-Amz-Checksum-Crc32", "emyG8Q==", "X-Amz-Tagging", "k=v+1&a=b", "X-Amz-Storage-Class", "GLACIER")
	send("PUT", b+"/dir/b", "two")
	send("PUT", b+"/dir/c", "three")
	send("PUT", b+"/%01%0A%7F%EF%BF%BE", "odd")
	send("PUT", b+"/%C3%A9", "")
	for _, query := range []string{
		"", "?delimiter=/", "?delimiter=/&encoding-type=url&marker=a", "?max-keys=1", "?prefix=dir/&max-keys=1", "?max-keys=-1",
		"?list-type=2", "?list-type=2&delimiter=/&fetch-owner=true&max-keys=2", "?list-type=2&start-after=dir/b&continuation-token=ZGlyL2I",
		"?list-type=2&max-keys=0", "?list-type=2&encoding-type=url", "?list-type=2&encoding-type=x", "?versions", "?versions&max-keys=1&delimiter=/&encoding-type=url",
		"?location", "?acl", "?versioning", "?accelerate", "?logging", "?notification", "?requestPayment", "?ownershipControls", "?policy", "?tagging", "?inventory&id=1",
	} {
		send("GET", b+query, "")
	}
	const odd = b + "/a%20%26%3C%3E%22'key"
	send("GET", "/", "")
	send("GET", "/?max-buckets=1&prefix=t", "")
	send("GET", odd+"?acl", "")
	send("GET", odd+"?tagging", "")
	send("GET", odd+"?attributes", "", "X-Amz-Object-Attributes", "ETag,Checksum,StorageClass,ObjectSize,ObjectParts")
	send("GET", b+"/none%01", "")
	send("HEAD", b+"/none", "")
	send("PUT", b+"/copy", "", "X-Amz-Copy-Source", odd)
	send("POST", b+"/up%22?uploads", "")
	send("PUT", b+"/up%22?uploadId=upload-1&partNumber=1", "part")
	send("PUT", b+"/up%22?uploadId=upload-1&partNumber=2", "", "X-Amz-Copy-Source", b+"/dir/b")
	send("GET", b+"/up%22?uploadId=upload-1", "")
	send("GET", b+"/up%22?uploadId=upload-1&max-parts=1&encoding-type=url", "")
	send("GET", b+"?uploads", "")
	send("GET", b+"?uploads&delimiter=u&encoding-type=url&max-uploads=1", "")
	send("POST", b+"/up%22?uploadId=upload-1", `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"`+fmt.Sprintf("%x", md5.Sum([]byte("part")))+`"</ETag></Part></CompleteMultipartUpload>`)
	send("POST", b+"?delete", `<Delete><Object><Key>dir/b</Key></Object><Object><Key>dir/c</Key><VersionId>5</VersionId></Object></Delete>`, "Content-Md5", "Z9QUScpKH8aJS0cvoMgwDg==")
	send("PUT", b+"/x", "", "X-Amz-Acl", "public-read")
	send("PUT", "/"+testBucket, "")
	path := filepath.Join("testdata", "documents.txt")
	if *rewrite {
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, wanted := strings.Split(out.String(), "\n\n"), strings.Split(string(want), "\n\n")
	if len(got) != len(wanted) {
		t.Fatalf("%d answers, want %d", len(got), len(wanted))
	}
	for i := range got {
		if got[i] != wanted[i] {
			t.Errorf("got\n%s\nwant\n%s", got[i], wanted[i])
		}
	}
}
