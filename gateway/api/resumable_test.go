package api_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/client"
	"github.com/stardustdb/stardust/gateway/api"
	"github.com/stardustdb/stardust/gateway/grant"
)

// tus makes a request of the protocol and returns the answer, whose body it reads.
func tus(t *testing.T, method, url string, header http.Header, body io.Reader) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Tus-Resumable", "1.0.0")
	maps.Copy(r.Header, header)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(got)
}

func creation(path string, size int) http.Header {
	return http.Header{"Upload-Length": {strconv.Itoa(size)}, "Upload-Metadata": {"path " + base64.StdEncoding.EncodeToString([]byte(path))}}
}

func addition(offset int) http.Header {
	return http.Header{"Upload-Offset": {strconv.Itoa(offset)}, "Content-Type": {"application/offset+octet-stream"}}
}

// begin begins an upload and returns its address.
func begin(t *testing.T, base, path string, size int, more http.Header) string {
	t.Helper()
	header := creation(path, size)
	maps.Copy(header, more)
	resp, text := tus(t, "POST", base+"/v1/uploads", header, nil)
	if resp.StatusCode != http.StatusCreated {
		t.Fatalf("begin: %s %s", resp.Status, text)
	}
	location, err := resp.Location()
	if err != nil || resp.Header.Get("Upload-Expires") == "" {
		t.Fatalf("begin: %v, %v", resp.Header, err)
	}
	return location.String()
}

// A connection that breaks, a server that is started again: the upload goes on where
// it was, and the file appears once, whole, in one commit.
func TestAnUploadGoesOnWhereItsConnectionBroke(t *testing.T) {
	db := openDB(t)
	dir := filepath.Join(t.TempDir(), "uploads")
	base := serve(t, api.New(db, &api.Options{Uploads: dir}), nil)
	content := bytes.Repeat([]byte("0123456789abcdef"), 200_000)
	at := begin(t, base, "a/b.bin", len(content), nil)

	// The client sends a third of what it promises and goes.
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	third := len(content) / 3
	head := "PATCH " + strings.TrimPrefix(at, base) + " HTTP/1.1\r\nHost: x\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\n" +
		"Content-Type: application/offset+octet-stream\r\nContent-Length: " + strconv.Itoa(len(content)) + "\r\n\r\n"
	if _, err := conn.Write(append([]byte(head), content[:third]...)); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(base, nil)
	if err != nil {
		t.Fatal(err)
	}
	for gone := false; !gone; { // until the server has noticed
		list, err := c.Uploads(t.Context())
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		gone = list[0].Offset > 0 && !list[0].Active
	}
	resp, _ := tus(t, "HEAD", at, nil, nil)
	if got := resp.Header.Get("Upload-Offset"); got != strconv.Itoa(third) {
		t.Fatalf("after the break: %s, want %d", got, third)
	}
	if _, err := db.Tree().Resolve("a"); !errors.Is(err, stardust.StatusNotFound) {
		t.Errorf("something is there already: %v", err)
	}

	again := serve(t, api.New(db, &api.Options{Uploads: dir}), nil)
	at = again + strings.TrimPrefix(at, base)
	if resp, text := tus(t, "PATCH", at, addition(7), strings.NewReader("x")); resp.StatusCode != http.StatusConflict || !strings.Contains(text, `"status":"conflict"`) {
		t.Errorf("another offset: %s %s", resp.Status, text)
	}
	before, err := db.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	resp, text := tus(t, "PATCH", at, addition(third), bytes.NewReader(content[third:]))
	if resp.StatusCode != http.StatusNoContent || resp.Header.Get("Upload-Offset") != strconv.Itoa(len(content)) {
		t.Fatalf("the rest: %s %s %v", resp.Status, text, resp.Header)
	}
	record, err := db.Tree().Resolve("a/b.bin")
	if err != nil || record.Digest != stardust.Digest(sha256.Sum256(content)) || resp.Header.Get("ETag") != `"`+record.Digest.String()+`"` {
		t.Errorf("the file: %+v, %v, %v", record, err, resp.Header)
	}
	// Directory, file and commit.
	if record.Revision != before.Revision()+3 {
		t.Errorf("the file's revision is %d, and the last before it %d", record.Revision, before.Revision())
	}
	// Who lost the answer asks, and is told that all is there.
	if resp, _ := tus(t, "HEAD", at, nil, nil); resp.Header.Get("Upload-Offset") != strconv.Itoa(len(content)) {
		t.Errorf("after the end: %v", resp.Header)
	}
	if parts, err := filepath.Glob(filepath.Join(dir, "*.part")); err != nil || len(parts) != 0 {
		t.Errorf("bytes are left: %v, %v", parts, err)
	}
}

// A file that cannot be written when all bytes are here is told to the client, whose
// last byte does not count until it can.
func TestTheLastByteCountsOnceTheFileIsStored(t *testing.T) {
	db := openDB(t)
	base := serve(t, api.New(db, &api.Options{Uploads: filepath.Join(t.TempDir(), "uploads")}), nil)
	at := begin(t, base, "a", 5, nil)
	release, err := db.HoldWrites(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if resp, text := tus(t, "PATCH", at, addition(0), strings.NewReader("12345")); resp.StatusCode != http.StatusConflict || !strings.Contains(text, stardust.CodeWritesHeld) {
		t.Errorf("while writes are held: %s %s", resp.Status, text)
	}
	release()
	if resp, _ := tus(t, "HEAD", at, nil, nil); resp.Header.Get("Upload-Offset") != "4" {
		t.Errorf("the offset: %v", resp.Header)
	}
	if resp, text := tus(t, "PATCH", at, addition(4), strings.NewReader("5")); resp.StatusCode != http.StatusNoContent {
		t.Errorf("the last byte again: %s %s", resp.Status, text)
	}
	if got, err := db.Tree().Resolve("a"); err != nil || got.Size != 5 {
		t.Errorf("the file: %+v, %v", got, err)
	}
}

func TestConditionsOfAnUploadHoldAtItsEnd(t *testing.T) {
	db := openDB(t)
	base := serve(t, api.New(db, &api.Options{Uploads: filepath.Join(t.TempDir(), "uploads")}), nil)
	put := func(path, content string) stardust.Record {
		t.Helper()
		record, err := db.Tree().Put(path, strings.NewReader(content), nil)
		if err != nil {
			t.Fatal(err)
		}
		return record
	}
	first := put("a", "first")
	replaces := begin(t, base, "a", 5, http.Header{"If-Match": {`"` + first.Digest.String() + `"`}})
	isNew := begin(t, base, "b", 5, http.Header{"If-None-Match": {"*"}})
	wrong := sha256.Sum256([]byte("other"))
	promised := begin(t, base, "c", 5, http.Header{"Content-Digest": {"sha-256=:" + base64.StdEncoding.EncodeToString(wrong[:]) + ":"}})
	put("a", "second")
	put("b", "there")
	for at, status := range map[string]int{replaces: http.StatusPreconditionFailed, isNew: http.StatusPreconditionFailed, promised: http.StatusBadRequest} {
		if resp, text := tus(t, "PATCH", at, addition(0), strings.NewReader("12345")); resp.StatusCode != status {
			t.Errorf("%s: %s %s", at, resp.Status, text)
		}
	}
	for name, want := range map[string]int64{"a": 6, "b": 5} {
		if got, err := db.Tree().Resolve(name); err != nil || got.Size != want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	// What fails at once needs no bytes.
	for header, value := range map[string]string{"If-None-Match": "*", "If-Match": `"` + first.Digest.String() + `"`} {
		header := http.Header{header: {value}}
		maps.Copy(header, creation("a", 5))
		if resp, text := tus(t, "POST", base+"/v1/uploads", header, nil); resp.StatusCode != http.StatusPreconditionFailed {
			t.Errorf("%v: %s %s", header, resp.Status, text)
		}
	}
}

// dripping is a body whose client is slow, but not so slow that it has to give way.
type dripping struct{ end <-chan struct{} }

func (d dripping) Read(p []byte) (int, error) {
	select {
	case <-d.end:
		return 0, io.EOF
	case <-time.After(100 * time.Millisecond):
		return copy(p, make([]byte, 8<<10)), nil
	}
}

// An upload that is whole waits for its turn like all others, and its client is told
// that the server is busy.
func TestAnUploadThatIsWholeWaitsForItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := api.New(openDB(t), &api.Options{Uploads: filepath.Join(t.TempDir(), "uploads")})
		ask := func(method, target string, header http.Header, body io.Reader) *httptest.ResponseRecorder {
			ctx, cancel := context.WithCancel(t.Context()) // as a server ends a request's
			defer cancel()
			r := httptest.NewRequestWithContext(ctx, method, target, body)
			r.Header = http.Header{"Tus-Resumable": {"1.0.0"}}
			maps.Copy(r.Header, header)
			answer := httptest.NewRecorder()
			h.ServeHTTP(answer, r)
			return answer
		}
		end := make(chan struct{})
		var others sync.WaitGroup
		for i := range 12 {
			others.Go(func() {
				body := io.MultiReader(bytes.NewReader(make([]byte, 300<<10)), dripping{end})
				if answer := ask(http.MethodPut, "/v1/files/"+strconv.Itoa(i), nil, body); answer.Code != http.StatusCreated {
					t.Errorf("another: %d %s", answer.Code, answer.Body)
				}
			})
		}
		synctest.Wait()
		content := bytes.NewReader(make([]byte, 1<<20))
		at := "/v1/" + ask(http.MethodPost, "/v1/uploads", creation("a", content.Len()), nil).Header().Get("Location")
		answer := ask(http.MethodPatch, at, addition(0), content)
		if answer.Code != http.StatusServiceUnavailable || !strings.Contains(answer.Body.String(), `"busy"`) {
			t.Errorf("%d %s", answer.Code, answer.Body)
		}
		close(end)
		others.Wait()
		if answer := ask(http.MethodPatch, at, addition(1<<20-1), bytes.NewReader(make([]byte, 1))); answer.Code != http.StatusNoContent {
			t.Errorf("then: %d %s", answer.Code, answer.Body)
		}
		<-time.After(time.Second) // what belongs to a request outlasts it a little
	})
}

func TestAnUploadIsThereForItsOwnerAlone(t *testing.T) {
	db := openDB(t)
	h := api.New(db, &api.Options{Uploads: filepath.Join(t.TempDir(), "uploads"), MaxUpload: 10})
	ann := serve(t, h, &grant.Grant{Name: "ann", Write: true, Root: "team"})
	others := map[string]string{
		"another user":      serve(t, h, &grant.Grant{Name: "bob", Write: true, Root: "team"}),
		"another directory": serve(t, h, &grant.Grant{Name: "ann", Write: true, Root: "other"}),
		"reading only":      serve(t, h, &grant.Grant{Name: "ann", Root: "team"}),
	}
	at := begin(t, ann, "file", 5, nil)
	for who, base := range others {
		theirs := base + strings.TrimPrefix(at, ann)
		for _, method := range []string{"HEAD", "PATCH", "DELETE"} {
			if resp, _ := tus(t, method, theirs, addition(0), strings.NewReader("x")); resp.StatusCode != http.StatusNotFound {
				t.Errorf("%s %s: %s", who, method, resp.Status)
			}
		}
		if _, text := tus(t, "GET", base+"/v1/uploads", nil, nil); strings.Contains(text, "file") {
			t.Errorf("%s sees %s", who, text)
		}
	}
	if resp, _ := tus(t, "POST", others["reading only"]+"/v1/uploads", creation("x", 1), nil); resp.StatusCode != http.StatusForbidden {
		t.Errorf("who may only read begins one: %s", resp.Status)
	}
	var list []api.Unfinished
	if _, text := tus(t, "GET", ann+"/v1/uploads", nil, nil); json.Unmarshal([]byte(text), &list) != nil || len(list) != 1 || list[0].Path != "file" {
		t.Errorf("its owner sees %s", text)
	}
	if resp, _ := tus(t, "PATCH", at, addition(0), strings.NewReader("12345")); resp.StatusCode != http.StatusNoContent {
		t.Errorf("its owner: %s", resp.Status)
	}
	if _, err := db.Tree().Resolve("team/file"); err != nil {
		t.Error(err)
	}
}

func TestBadUploadsAreRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "uploads")
	db := openDB(t)
	if _, err := db.Tree().Put("dir/file", strings.NewReader("x"), &stardust.PutOptions{Parents: true}); err != nil {
		t.Fatal(err)
	}
	base := serve(t, api.New(db, &api.Options{Uploads: dir, MaxUpload: 10}), nil)
	for what, header := range map[string]http.Header{
		"too large":        creation("a", 11),
		"no size":          {"Upload-Metadata": {"path YQ=="}},
		"a negative size":  creation("a", -1),
		"no path":          {"Upload-Length": {"5"}},
		"no base64":        {"Upload-Length": {"5"}, "Upload-Metadata": {"path ?"}},
		"a path that ends": creation("a/../b", 5),
		"a directory":      creation("dir", 5),
		"a bad condition":  {"Upload-Length": {"5"}, "Upload-Metadata": {"path YQ=="}, "If-Match": {"x"}},
		"a bad digest":     {"Upload-Length": {"5"}, "Upload-Metadata": {"path YQ=="}, "Content-Digest": {"md5=:x:"}},
		"another version":  {"Upload-Length": {"5"}, "Upload-Metadata": {"path YQ=="}, "Tus-Resumable": {"0.2"}},
	} {
		resp, text := tus(t, "POST", base+"/v1/uploads", header, nil)
		var problem api.Problem
		if err := json.Unmarshal([]byte(text), &problem); resp.StatusCode < 400 || resp.StatusCode >= 500 || err != nil || problem.Status == "" || problem.Message == "" {
			t.Errorf("%s: %s %s", what, resp.Status, text)
		}
	}
	if left, err := os.ReadDir(dir); err == nil && len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	at := begin(t, base, "a", 5, nil)
	if resp, text := tus(t, "PATCH", at, addition(0), strings.NewReader("123456")); resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("more than promised: %s %s", resp.Status, text)
	}
	// A body of unknown length is held to the size, too.
	if resp, text := tus(t, "PATCH", at, addition(0), io.MultiReader(strings.NewReader("123456789"))); resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("more than promised, piece by piece: %s %s", resp.Status, text)
	}
	if _, err := db.Tree().Resolve("a"); !errors.Is(err, stardust.StatusNotFound) {
		t.Errorf("something is stored: %v", err)
	}
	if resp, _ := tus(t, "DELETE", at, nil, nil); resp.StatusCode != http.StatusNoContent {
		t.Errorf("canceled: %s", resp.Status)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the directory is still there: %v", err)
	}
}

func TestAnEmptyUploadIsAnEmptyFile(t *testing.T) {
	db := openDB(t)
	c, err := client.New(serve(t, api.New(db, &api.Options{Uploads: filepath.Join(t.TempDir(), "uploads")}), nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	id, err := c.BeginUpload(context.Background(), "empty", 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.ContinueUpload(t.Context(), id, strings.NewReader("")); err != nil {
		t.Error(err)
	}
	if got, err := db.Tree().Resolve("empty"); err != nil || got.Size != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}
