package api_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/client"
	"github.com/stardustdb/stardust/gateway/api"
	"github.com/stardustdb/stardust/gateway/grant"
)

// do makes a request and returns the answer with its body read.
func do(t *testing.T, method, url, body string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return resp, text(t, resp.Body, nil)
}

func TestStoredHTMLNeverRunsInABrowser(t *testing.T) {
	base := serve(t, api.New(openDB(t), nil), nil)
	const script = "<script>alert(1)</script>"
	for _, name := range []string{"x.html", "x.svg", "x.xml", "x.js", "x", "x.pdf", "x.png", "x.xhtml", "x.htm"} {
		do(t, http.MethodPut, base+"/v1/files/"+name, script)
		for _, query := range []string{"", "?inline=true"} {
			resp, _ := do(t, http.MethodGet, base+"/v1/files/"+name+query, "")
			kind, disposition := resp.Header.Get("Content-Type"), resp.Header.Get("Content-Disposition")
			if resp.Header.Get("X-Content-Type-Options") != "nosniff" || !strings.HasPrefix(resp.Header.Get("Content-Security-Policy"), "default-src 'none'") {
				t.Errorf("%s%s: %v", name, query, resp.Header)
			}
			for _, running := range []string{"html", "xml", "svg", "javascript"} {
				if strings.Contains(kind, running) {
					t.Errorf("%s%s is sent as %s", name, query, kind)
				}
			}
			if query == "" && !strings.HasPrefix(disposition, "attachment") {
				t.Errorf("%s: %s", name, disposition)
			}
		}
	}
}

func TestRangesAndConditionsAreThoseOfHTTP(t *testing.T) {
	base := serve(t, api.New(openDB(t), nil), nil)
	resp, _ := do(t, http.MethodPut, base+"/v1/files/f", "0123456789")
	tag := resp.Header.Get("ETag")
	if resp.StatusCode != http.StatusCreated || len(tag) != 66 {
		t.Fatalf("put: %d, %q", resp.StatusCode, tag)
	}
	for _, c := range []struct {
		header, value string
		status        int
		body          string
	}{
		{"Range", "bytes=2-4", 206, "234"},
		{"Range", "bytes=-3", 206, "789"},
		{"Range", "bytes=20-", 416, ""},
		{"If-None-Match", tag, 304, ""},
		{"If-Match", tag, 200, "0123456789"},
		{"If-Match", `"x"`, 412, ""},
	} {
		resp, body := do(t, http.MethodGet, base+"/v1/files/f", "", c.header, c.value)
		if resp.StatusCode != c.status || c.body != "" && body != c.body {
			t.Errorf("%s: %s: %d %q", c.header, c.value, resp.StatusCode, body)
		}
		if c.status == 416 {
			checkProblem(t, resp, body, "invalid_argument")
		}
	}
	resp, body := do(t, http.MethodDelete, base+"/v1/files/f", "", "If-Match", `"x"`)
	if resp.StatusCode != 412 {
		t.Errorf("delete: %d", resp.StatusCode)
	}
	checkProblem(t, resp, body, "conflict")
	resp, _ = do(t, http.MethodGet, base+"/v1/payloads/"+strings.Trim(tag, `"`), "")
	if resp.StatusCode != 200 || !strings.Contains(resp.Header.Get("Cache-Control"), "immutable") || resp.Header.Get("ETag") != tag {
		t.Errorf("payload: %d %v", resp.StatusCode, resp.Header)
	}
}

func checkProblem(t *testing.T, resp *http.Response, body, status string) {
	t.Helper()
	var p struct{ Status, Message, Type, Title, Detail string }
	if err := json.Unmarshal([]byte(body), &p); err != nil || resp.Header.Get("Content-Type") != "application/problem+json" ||
		p.Status != status || p.Message == "" || p.Title == "" || p.Type == "" || p.Detail == "" {
		t.Errorf("%s %s: %d %s is no problem of %s", resp.Request.Method, resp.Request.URL, resp.StatusCode, body, status)
	}
}

func TestBadRequestsGetAProblemAndStoreNothing(t *testing.T) {
	db := openDB(t)
	base := serve(t, api.New(db, &api.Options{MaxUpload: 10, MaxDocument: 200}), nil)
	const object, jsonType, digest = "/v1/objects/", "application/json", "0000000000000000000000000000000000000000000000000000000000000000"
	for _, c := range []struct {
		method, path, body, kind string
		status                   int
		word                     string
	}{
		{"GET", "/", "", "", 404, "not_found"},
		{"GET", "/v1/nothing", "", "", 404, "not_found"},
		{"GET", "/v1/files/nothing", "", "", 404, "not_found"},
		{"GET", "/v1/files/?at=-1", "", "", 400, "invalid_argument"},
		{"GET", "/v1/files/?at=99", "", "", 404, "not_found"},
		{"GET", "/v1/files/?format=rar", "", "", 400, "invalid_argument"},
		{"GET", "/v1/files/?limit=1000000000", "", "", 400, "invalid_argument"},
		{"GET", "/v1/files/%2e%2e/x", "", "", 400, "invalid_argument"},
		{"PUT", "/v1/files/a%00b", "x", "", 400, "invalid_argument"},
		{"PUT", "/v1/files/a%ff", "x", "", 400, "invalid_argument"},
		{"PUT", "/v1/files/", "x", "", 400, "invalid_argument"},
		{"PUT", "/v1/files/large", "12345678901", "", 413, "invalid_argument"},
		{"POST", "/v1/payloads", "12345678901", "", 413, "invalid_argument"},
		{"GET", "/v1/payloads/" + digest, "", "", 404, "not_found"},
		{"GET", "/v1/payloads/zz", "", "", 400, "invalid_argument"},
		{"DELETE", "/v1/files/", "", "", 400, "invalid_argument"},
		{"DELETE", "/v1/files/?recursive=true", "", "", 400, "invalid_argument"},
		{"POST", object + "get", `{"entity":`, jsonType, 400, "invalid_argument"},
		{"POST", object + "get", `{"entity":1,"x":2}`, jsonType, 400, "invalid_argument"},
		{"POST", object + "get", `{"entity":1e999}`, jsonType, 400, "invalid_argument"},
		{"POST", object + "get", `entity 1`, "application/dust", 404, "not_found"},
		{"POST", object + "get", `<x/>`, "text/xml", 415, "invalid_argument"},
		{"POST", object + "get", strings.Repeat(" ", 300), jsonType, 413, "invalid_argument"},
		{"POST", object + "get", strings.Repeat("[", 199), jsonType, 400, "invalid_argument"},
		{"POST", "/v1/move", `{"from":7}`, jsonType, 422, "invalid_argument"},
		{"POST", "/v1/move", `{"from":"","to":"x"}`, jsonType, 400, "invalid_argument"},
		{"POST", "/v1/copy", `{"from":"nothing","to":"x"}`, jsonType, 404, "not_found"},
		{"GET", "/v1/history/", "", "", 400, "invalid_argument"},
		{"GET", "/v1/search/", "", "", 400, "invalid_argument"},
		{"GET", "/v1/transactions?from=x", "", "", 422, "invalid_argument"},
	} {
		resp, body := do(t, c.method, base+c.path, c.body, "Content-Type", c.kind)
		if resp.StatusCode != c.status {
			t.Errorf("%s %s: %d %s, not %d", c.method, c.path, resp.StatusCode, body, c.status)
		}
		checkProblem(t, resp, body, c.word)
	}
	info, err := db.Info()
	if err != nil || info.LastRevision != 0 || info.Payloads != 0 {
		t.Errorf("something was stored: %+v, %v", info, err)
	}
}

func TestABodyThatIsCutShortStoresNothing(t *testing.T) {
	db := openDB(t)
	base := serve(t, api.New(db, nil), nil)
	host, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	for _, request := range []string{"PUT /v1/files/f", "POST /v1/payloads"} {
		conn, err := net.Dial("tcp", host.Host)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf", request); err != nil {
			t.Fatal(err)
		}
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %s", request, resp.Status)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		_ = conn.Close()
	}
	resp, _ := do(t, http.MethodPut, base+"/v1/files/f", "x", "Content-Digest", "sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:")
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("another digest than promised: %s", resp.Status)
	}
	info, err := db.Info()
	if err != nil || info.Payloads != 0 || info.LastRevision != 0 {
		t.Errorf("something was stored: %+v, %v", info, err)
	}
}

func TestABoundedGrantSeesNothingElse(t *testing.T) {
	db := openDB(t)
	tree := db.Tree()
	for _, path := range []string{"mine/in", "mine/sub/deep", "other/secret"} {
		if _, err := tree.Put(path, strings.NewReader("content of "+strings.Replace(path, "mine", "m", 1)), &stardust.PutOptions{Parents: true}); err != nil {
			t.Fatal(err)
		}
	}
	secret, err := tree.Resolve("other/secret")
	if err != nil {
		t.Fatal(err)
	}
	h := api.New(db, nil)
	base := serve(t, h, &grant.Grant{Root: "mine", Write: true})
	if resp, body := do(t, "GET", base+"/v1/files/in", ""); resp.StatusCode != 200 || body != "content of m/in" {
		t.Errorf("in: %d %s", resp.StatusCode, body)
	}
	for _, c := range [][3]string{
		{"GET", "/v1/files/other/secret", ""},
		{"GET", "/v1/files/%2e%2e%2fother/secret", ""},
		{"GET", "/v1/files/../other/secret", ""},
		{"GET", "/v1/payloads/" + secret.Digest.String(), ""},
		{"POST", "/v1/payloads", "x"},
		{"GET", "/v1/transactions", ""},
		{"POST", "/v1/objects/get", `{"entity":` + fmt.Sprint(secret.Entity) + `}`},
		{"POST", "/v1/objects/children", `{"parent":0}`},
		{"POST", "/v1/copy", `{"from":"../other/secret","to":"x"}`},
		{"POST", "/v1/move", `{"from":"in","to":"../other/x"}`},
	} {
		resp, body := do(t, c[0], base+c[1], c[2], "Content-Type", "application/json")
		if resp.StatusCode < 400 || strings.Contains(body, "content of other") {
			t.Errorf("%s %s: %d %s", c[0], c[1], resp.StatusCode, body)
		}
	}
	for _, path := range []string{"/v1/commits/", "/v1/search/?name=e", "/v1/info", "/v1/files/?format=tar"} {
		if _, body := do(t, "GET", base+path, ""); strings.Contains(body, "secret") || strings.Contains(body, "other") || strings.Contains(body, "mine") {
			t.Errorf("%s tells: %s", path, body)
		}
	}
}

func TestAReadOnlyGrantChangesNothing(t *testing.T) {
	db := openDB(t)
	if _, err := db.Tree().Put("f", strings.NewReader("x"), nil); err != nil {
		t.Fatal(err)
	}
	before, err := db.Info()
	if err != nil {
		t.Fatal(err)
	}
	base := serve(t, api.New(db, nil), &grant.Grant{})
	for _, c := range [][3]string{
		{"PUT", "/v1/files/f", "y"},
		{"DELETE", "/v1/files/f", ""},
		{"PUT", "/v1/directories/d", ""},
		{"POST", "/v1/payloads", "y"},
		{"POST", "/v1/move", `{"from":"f","to":"g"}`},
		{"POST", "/v1/copy", `{"from":"f","to":"g"}`},
		{"POST", "/v1/objects/create", `{"nodes":[{"name":"d"}]}`},
		{"POST", "/v1/objects/remove", `{"entity":1,"expectedRevision":0}`},
		{"POST", "/v1/objects/move", `{"entity":1,"parent":0,"name":"g","expectedRevision":0,"replace":false}`},
		{"POST", "/v1/objects/update", `{"entity":1,"digest":"` + strings.Repeat("0", 64) + `","expectedRevision":0}`},
	} {
		resp, body := do(t, c[0], base+c[1], c[2], "Content-Type", "application/json")
		if resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s %s: %d %s", c[0], c[1], resp.StatusCode, body)
		}
		checkProblem(t, resp, body, "unavailable")
	}
	if after, err := db.Info(); err != nil || after.LastRevision != before.LastRevision || after.Payloads != before.Payloads {
		t.Errorf("something changed: %+v, %v", after, err)
	}
}

func TestAListingGoesOnWhereAPageEnds(t *testing.T) {
	h := api.New(openDB(t), nil)
	base := serve(t, h, nil)
	for i := range 7 {
		do(t, http.MethodPut, fmt.Sprintf("%s/v1/files/d/%d", base, i), "x")
	}
	var names []string
	next := "?limit=3"
	for next != "" {
		resp, body := do(t, http.MethodGet, base+"/v1/files/d"+next, "")
		var page []client.Version
		if err := json.Unmarshal([]byte(body), &page); err != nil {
			t.Fatal(err)
		}
		for _, r := range page {
			names = append(names, r.Name)
		}
		link := resp.Header.Get("Link")
		next = strings.TrimSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)
	}
	if got := strings.Join(names, ""); got != "0123456" {
		t.Errorf("listed %q", got)
	}
}
