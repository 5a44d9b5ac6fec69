package slatedb_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stardustdb/stardust/internal/s3test"
)

const (
	sidecarAccess = "sidecar-access"
	sidecarSecret = "sidecar-secret"
	bucket        = "upstream"
)

// program builds the command line once for a test.
func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stardust")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, "../../cmd/stardust").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// sidecar is a sidecar process, which can be killed and started again at the same
// address.
type sidecar struct {
	t        *testing.T
	program  string
	upstream *s3test.Server
	address  string
	dir      string
	flags    []string
	process  *exec.Cmd
	log      *bytes.Buffer
}

func startSidecar(t *testing.T, program string, upstream *s3test.Server, dir string, flags ...string) *sidecar {
	t.Helper()
	s := &sidecar{t: t, program: program, upstream: upstream, address: freeAddress(t), dir: dir, flags: flags}
	s.start()
	t.Cleanup(func() {
		s.kill()
		if t.Failed() {
			t.Logf("the sidecar's log ends with:\n%s", tail(s.log.String()))
		}
	})
	return s
}

func (s *sidecar) start() {
	s.t.Helper()
	url := "s3://" + bucket + "?path-style=true&region=" + s3test.Region + "&endpoint=" + s.upstream.Endpoint
	args := append([]string{
		"mirror", "serve", "--upstream", url, "--dir", s.dir, "--policy", "slatedb",
		"--root", "db", "--listen", s.address, "--compactions-poll", "300ms", "--scan-interval", "2s",
	}, s.flags...)
	s.process = exec.CommandContext(s.t.Context(), s.program, args...)
	s.process.Env = append(os.Environ(),
		"AWS_ACCESS_KEY_ID="+s3test.AccessKey, "AWS_SECRET_ACCESS_KEY="+s3test.SecretKey,
		"STARDUST_ACCESS_KEY_ID="+sidecarAccess, "STARDUST_SECRET_ACCESS_KEY="+sidecarSecret)
	if s.log == nil {
		s.log = new(bytes.Buffer)
	}
	s.process.Stderr = s.log
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	eventually(s.t, "the sidecar is ready", func() bool { return s.page("readyz") != "" })
}

// kill is kill -9.
func (s *sidecar) kill() {
	_ = s.process.Process.Kill() // it may have ended
	_ = s.process.Wait()
}

// stop asks the sidecar to finish, which it must do well.
func (s *sidecar) stop() {
	s.t.Helper()
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	if err := s.process.Wait(); err != nil {
		s.t.Errorf("the sidecar did not end well: %v", err)
	}
}

// page returns a page's text, empty when it is not to be had.
func (s *sidecar) page(name string) string {
	ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.address+"/"+name, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return ""
	}
	return string(text)
}

// counters are what the status page counts.
type counters struct {
	State    string `json:"state"`
	Objects  int    `json:"objects"`
	Counters struct {
		Heals       int `json:"heals"`
		NotLocal    int `json:"notLocal"`
		Evictions   int `json:"evictions"`
		ScanRemoved int `json:"scanRemoved"`
	} `json:"counters"`
	Queued  int `json:"queuedDownloads"`
	Pending int `json:"pendingEvictions"`
	Busy    int `json:"busyPaths"`
}

func (s *sidecar) counters() (c counters) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.page("status.json")), &c); err != nil {
		s.t.Fatalf("status: %v", err)
	}
	return c
}

func (s *sidecar) endpoint() string { return "http://" + s.address }

// worker starts a SlateDB whose endpoint is the sidecar.
func (s *sidecar) worker() *worker {
	return newWorker(s.t, s.endpoint(), sidecarAccess, sidecarSecret)
}

// localObjects returns the local copies: file by object path.
func (s *sidecar) localObjects() map[string]string {
	s.t.Helper()
	metas, err := filepath.Glob(filepath.Join(s.dir, "*.obj.meta"))
	if err != nil {
		s.t.Fatal(err)
	}
	objects := make(map[string]string)
	for _, name := range metas {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // evicted meanwhile
		}
		var meta struct{ Path string }
		if err := json.Unmarshal(text, &meta); err != nil || meta.Path == "" {
			s.t.Errorf("%s: no path in it: %v", name, err)
			continue
		}
		objects[meta.Path] = strings.TrimSuffix(name, ".meta")
	}
	return objects
}

// eventually waits until a condition of another process holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), commandLimit)
	defer cancel()
	for tick := time.NewTicker(50 * time.Millisecond); ; {
		if holds() {
			tick.Stop()
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			tick.Stop()
			t.Fatalf("not within %v: %s", commandLimit, what)
		}
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") // for its number only
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

func tail(text string) string {
	if len(text) > 4000 {
		return text[len(text)-4000:]
	}
	return text
}
