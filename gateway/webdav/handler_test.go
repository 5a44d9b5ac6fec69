package webdav_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/grant"
	"github.com/stardustdb/stardust/gateway/webdav"
)

type world struct {
	t    *testing.T
	db   *stardust.DB
	base string
}

func run(t *testing.T, options *webdav.Options, g *grant.Grant) *world {
	t.Helper()
	db, err := stardust.Open(filepath.Join(t.TempDir(), "db"), &stardust.Options{Plugins: stardust.Plugins{Objects: &stardust.ObjectsPlugin{}}})
	if err != nil {
		t.Fatal(err)
	}
	h := webdav.New(db, options)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g != nil {
			r = r.WithContext(grant.With(r.Context(), g))
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.Close()
		_ = db.Close()
	})
	return &world{t, db, server.URL}
}

func (w *world) do(method, path, body string, header ...string) (int, string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.base+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func (w *world) want(status int, method, path, body string, header ...string) string {
	w.t.Helper()
	got, text := w.do(method, path, body, header...)
	if got != status {
		w.t.Errorf("%s %s %q: %d %s, not %d", method, path, header, got, text, status)
	}
	return text
}

func TestFilesAreWrittenReadMovedAndRemoved(t *testing.T) {
	w := run(t, nil, nil)
	w.want(201, "MKCOL", "/d", "")
	w.want(405, "MKCOL", "/d", "")
	w.want(409, "MKCOL", "/no/d", "")
	w.want(201, "PUT", "/d/f", "first")
	w.want(201, "PUT", "/d/empty", "")
	w.want(409, "PUT", "/no/f", "x")
	if got := w.want(200, "GET", "/d/f", ""); got != "first" {
		t.Errorf("read %q", got)
	}
	if got := w.want(206, "GET", "/d/f", "", "Range", "bytes=1-3"); got != "irs" {
		t.Errorf("read %q", got)
	}
	if got := w.want(207, "PROPFIND", "/d", "", "Depth", "1"); !strings.Contains(got, "/d/f") || !strings.Contains(got, "<D:getcontentlength>5<") {
		t.Errorf("properties: %s", got)
	}
	w.want(201, "COPY", "/d", "", "Destination", w.base+"/e")
	if got := w.want(200, "GET", "/e/f", ""); got != "first" {
		t.Errorf("the copy: %q", got)
	}
	w.want(412, "MOVE", "/d/f", "", "Destination", w.base+"/e/f", "Overwrite", "F")
	w.want(204, "MOVE", "/d/empty", "", "Destination", w.base+"/e/f", "Overwrite", "T")
	if got := w.want(200, "GET", "/e/f", ""); got != "" {
		t.Errorf("moved over: %q", got)
	}
	w.want(204, "DELETE", "/e", "")
	w.want(404, "GET", "/e/f", "")
}

func TestARenameThatOnlyChangesCaseKeepsTheFile(t *testing.T) {
	w := run(t, nil, nil)
	w.want(201, "PUT", "/File.txt", "content")
	before, err := w.db.Tree().Resolve("File.txt")
	if err != nil {
		t.Fatal(err)
	}
	w.want(201, "MOVE", "/File.txt", "", "Destination", w.base+"/file.TXT")
	after, err := w.db.Tree().Resolve("file.TXT")
	if err != nil || after.Entity != before.Entity || after.Digest != before.Digest {
		t.Errorf("%+v, %v", after, err)
	}
	w.want(404, "GET", "/File.txt", "")
}

func TestAMoveOverAFileIsOneCommit(t *testing.T) {
	w := run(t, nil, nil)
	w.want(201, "PUT", "/new", "new")
	w.want(201, "PUT", "/old", "old")
	before, err := w.db.Info()
	if err != nil {
		t.Fatal(err)
	}
	w.want(204, "MOVE", "/new", "", "Destination", w.base+"/old")
	commits := 0
	for _, err := range w.db.Transactions(before.LastRevision + 1) {
		if err != nil {
			t.Fatal(err)
		}
		commits++
	}
	if commits != 1 {
		t.Errorf("%d commits", commits)
	}
}

func TestADirectoryGoesInOneCommit(t *testing.T) {
	w := run(t, nil, nil)
	for _, path := range []string{"/d", "/d/e"} {
		w.want(201, "MKCOL", path, "")
	}
	for _, path := range []string{"/d/one", "/d/two", "/d/e/three"} {
		w.want(201, "PUT", path, path)
	}
	before, err := w.db.Info()
	if err != nil {
		t.Fatal(err)
	}
	w.want(201, "MOVE", "/d", "", "Destination", w.base+"/moved")
	w.want(204, "DELETE", "/moved", "")
	commits := 0
	for _, err := range w.db.Transactions(before.LastRevision + 1) {
		if err != nil {
			t.Fatal(err)
		}
		commits++
	}
	if commits != 2 {
		t.Errorf("moving and deleting a directory took %d commits", commits)
	}
}

func TestAPutThatIsCutShortLeavesWhatWasThere(t *testing.T) {
	w := run(t, &webdav.Options{MaxUpload: 1000}, nil)
	w.want(201, "PUT", "/f", "whole")
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := fmt.Fprint(conn, "PUT /f HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf"); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("the answer: %s", resp.Status)
	}
	w.want(413, "PUT", "/f", strings.Repeat("x", 1001))
	if got := w.want(200, "GET", "/f", ""); got != "whole" {
		t.Errorf("the file is %q", got)
	}
}

func TestTimesOfClientsAreKept(t *testing.T) {
	w := run(t, nil, nil)
	w.want(201, "PUT", "/f", "x", "X-OC-Mtime", "1000000000")
	if got := w.want(207, "PROPFIND", "/f", "", "Depth", "0"); !strings.Contains(got, "Sun, 09 Sep 2001 01:46:40 GMT") {
		t.Errorf("properties: %s", got)
	}
	w.want(400, "PUT", "/f", "y", "X-OC-Mtime", "never")
}

func TestALockKeepsOthersOutByWhateverName(t *testing.T) {
	w := run(t, nil, nil)
	w.want(201, "MKCOL", "/team", "")
	w.want(201, "PUT", "/team/f", "x")
	const lock = `<?xml version="1.0"?><lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype><owner>ann</owner></lockinfo>`
	text := w.want(200, "LOCK", "/team/f", lock, "Timeout", "Second-60")
	w.want(423, "PUT", "/team/f", "y")
	_, token, _ := strings.Cut(text, "<D:href>")
	token, _, _ = strings.Cut(token, "<")
	w.want(201, "PUT", "/team/f", "z", "If", "(<"+token+">)")
	w.want(204, "UNLOCK", "/team/f", "", "Lock-Token", "<"+token+">")
	w.want(201, "PUT", "/team/f", "y")
}

func TestAGrantBoundsPathsAndWrites(t *testing.T) {
	w := run(t, nil, &grant.Grant{Root: "team"})
	if _, err := w.db.Tree().Put("team/f", strings.NewReader("x"), &stardust.PutOptions{Parents: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.db.Tree().Put("secret", strings.NewReader("x"), nil); err != nil {
		t.Fatal(err)
	}
	w.want(200, "GET", "/f", "")
	w.want(404, "GET", "/secret", "")
	w.want(403, "PUT", "/f", "y")
	w.want(403, "DELETE", "/f", "")
	if got := w.want(207, "PROPFIND", "/", "", "Depth", "1"); strings.Contains(got, "team") || strings.Contains(got, "secret") {
		t.Errorf("properties: %s", got)
	}
}
