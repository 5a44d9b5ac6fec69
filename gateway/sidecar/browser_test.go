package sidecar

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stardustdb/stardust/internal/need"
	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

// browserLimit bounds one start of a browser; the machine may be busy.
const browserLimit = 90 * time.Second

// browser runs a headless Chromium with more flags and returns what it prints.
// Without one the test is skipped.
func browser(t *testing.T, flags ...string) string {
	t.Helper()
	program := need.Program(t, need.Chromium)
	profile := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), browserLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--disable-dev-shm-usage", "--user-data-dir=" + filepath.Join(profile, "data"),
	}, flags...)...)
	cmd.Env = append(os.Environ(), "HOME="+profile, "TMPDIR="+profile)
	cmd.WaitDelay = 5 * time.Second
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, complaints.String())
	}
	return string(out)
}

// field returns the text that an element shows.
func field(t *testing.T, dom, id string) string {
	t.Helper()
	m := regexp.MustCompile(`id="` + id + `"[^>]*>([^<]*)<`).FindStringSubmatch(dom)
	if m == nil {
		t.Fatalf("the page has no element %q:\n%s", id, dom)
	}
	return m[1]
}

// heldStore lets reads of one object stop halfway until they are released.
type heldStore struct {
	objectstore.Store
	path    objectstore.Path
	reached chan struct{}
	release chan struct{}
}

func (h *heldStore) Get(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	result, err := h.Store.Get(ctx, path, options)
	if err == nil && path == h.path && (options == nil || !options.Head) {
		result.Body = &heldBody{ReadCloser: result.Body, left: result.Meta.Size / 4, held: h, end: ctx.Done()}
	}
	return result, err
}

type heldBody struct {
	io.ReadCloser
	left int64
	held *heldStore
	end  <-chan struct{}
}

func (b *heldBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		select {
		case b.held.reached <- struct{}{}:
		default:
		}
		select {
		case <-b.held.release:
		case <-b.end:
			return 0, context.Canceled
		}
		return b.ReadCloser.Read(p)
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// A browser shows the state, local bytes, hits, misses and heals, and while a
// download is under way its progress.
func TestABrowserShowsTheStatusPage(t *testing.T) {
	u := newUpstream(t)
	data := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // 1 MiB
	for _, key := range []objectstore.Path{"keep/a", "keep/b", "keep/<b>&amp;"} {
		if _, err := u.Put(t.Context(), key, objectstore.Bytes(data), nil); err != nil {
			t.Fatal(err)
		}
	}
	held := &heldStore{Store: u, path: "keep/<b>&amp;", reached: make(chan struct{}, 1), release: make(chan struct{})}
	o := options(t, u)
	o.Upstream, o.Database = held, nil
	o.Policy, o.Warm, o.WarmPrefix = &mirror.KeepAll{Prefix: "keep/", WithoutWarming: true}, true, "keep/"
	s, client, url := serve(t, o)
	t.Cleanup(func() { // before the sidecar closes
		select {
		case <-held.release:
		default:
			close(held.release)
		}
	})
	<-held.reached

	dom := browser(t, "--dump-dom", url+"/status")
	if state := field(t, dom, "state"); state != "warming" {
		t.Errorf("while a download is held the state is %q", state)
	}
	if !strings.Contains(dom, `<td class="path">keep/&lt;b&gt;&amp;amp;</td><td class="n">1.0 MiB</td>`) {
		t.Errorf("no download is shown, or its name is not escaped:\n%s", dom)
	}
	if !regexp.MustCompile(`<progress max="100" value="2\d"`).MatchString(dom) {
		t.Errorf("the download's progress is not about a quarter:\n%s", dom)
	}
	if shots := os.Getenv("STARDUST_SCREENSHOTS"); shots != "" {
		browser(t, "--window-size=1100,900", "--screenshot="+filepath.Join(shots, "warming.png"), url+"/status")
	}

	close(held.release)
	<-s.Ready()
	for range 3 {
		if got, err := get(t, client, "keep/a"); err != nil || !bytes.Equal(got, data) {
			t.Fatalf("get: %d bytes, %v", len(got), err)
		}
	}
	damageLocal(t, o.Dir, "a.obj")
	if got, err := get(t, client, "keep/a"); err != nil || !bytes.Equal(got, data) {
		t.Fatalf("get of the damaged copy: %d bytes, %v", len(got), err)
	}
	dom = browser(t, "--dump-dom", url+"/status")
	counters := s.Status().Counters
	for id, want := range map[string]string{
		"state": "warm", "objects": "3", "bytes": "3.0 MiB", "misses": "0", "share": "100 %", "queued": "0",
		"upstream": u.String(),
	} {
		if got := field(t, dom, id); got != want {
			t.Errorf("%s shows %q, want %q", id, got, want)
		}
	}
	if counters.Hits < 4 || counters.Heals == 0 {
		t.Errorf("counters: %+v", counters)
	}
	for id, want := range map[string]int64{"hits": counters.Hits, "heals": counters.Heals} {
		if got := field(t, dom, id); got != strconv.FormatInt(want, 10) {
			t.Errorf("%s shows %q, want %d", id, got, want)
		}
	}
	if shots := os.Getenv("STARDUST_SCREENSHOTS"); shots != "" {
		browser(t, "--window-size=1100,900", "--screenshot="+filepath.Join(shots, "warm.png"), url+"/status")
	}
}

// The status page is for everybody: axe finds nothing in it, in both themes and at
// three widths, and it renews itself in place: see e2e/page/sidecar.mjs.
func TestTheStatusPageIsForEverybody(t *testing.T) {
	need.Ask(t, need.Playwright)
	node, chromium := need.Program(t, need.Node), need.Program(t, need.Chromium)
	u := newUpstream(t)
	for i := range 3 {
		if _, err := u.Put(t.Context(), objectstore.Path("keep/"+strconv.Itoa(i)), objectstore.Bytes(make([]byte, 1<<20)), nil); err != nil {
			t.Fatal(err)
		}
	}
	held := &heldStore{Store: u, path: "keep/2", reached: make(chan struct{}, 1), release: make(chan struct{})}
	release := sync.OnceFunc(func() { close(held.release) })
	o := options(t, u)
	o.Upstream, o.Database = held, nil
	o.Policy, o.Warm, o.WarmPrefix = &mirror.KeepAll{Prefix: "keep/", WithoutWarming: true}, true, "keep/"
	_, _, url := serve(t, o)
	t.Cleanup(release) // before the sidecar closes
	<-held.reached
	cmd := exec.CommandContext(t.Context(), node, "sidecar.mjs", url+"/status", chromium, os.Getenv("STARDUST_SCREENSHOTS"))
	cmd.Dir = filepath.Join("..", "..", "e2e", "page")
	said, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(said); lines.Scan(); {
		t.Log(lines.Text())
		if lines.Text() == "warm it" {
			release()
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// damageLocal flips a bit in the middle of the local copy whose name ends so.
func damageLocal(t *testing.T, dir, end string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"+end))
	if err != nil || len(files) != 1 {
		t.Fatalf("local files that end in %s: %v, %v", end, files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(files[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
}
