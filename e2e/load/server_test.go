package load

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Variables of the environment.
const (
	longVariable    = "STARDUST_LONG"
	phaseVariable   = "STARDUST_LOAD"
	libraryVariable = "STARDUST_TEST_LIBRARY"
)

// The key of S3 clients.
const (
	accessKey = "loadkey"
	secretKey = "loadsecret"
)

// phase is how long each measurement takes.
func phase(t *testing.T) time.Duration {
	t.Helper()
	if os.Getenv(longVariable) == "" {
		t.Skip("takes minutes: set " + longVariable + "=1")
	}
	text := os.Getenv(phaseVariable)
	if text == "" {
		return 5 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// server is a real "stardust serve".
type server struct {
	t    *testing.T
	cmd  *exec.Cmd
	base string // its address, with a slash at the end
	db   string

	mu   sync.Mutex
	most int64 // the most memory that it had, in bytes
	stop chan struct{}
	done sync.WaitGroup
}

// start builds the program and serves a new database.
func start(t *testing.T, args ...string) *server {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "stardust")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/stardust").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := &server{t: t, db: filepath.Join(dir, "db"), stop: make(chan struct{})}
	s.cmd = exec.Command(program, append([]string{"serve", s.db, "--listen", "127.0.0.1:0", "--max-connections", "1000"}, args...)...)
	s.cmd.Env = append(os.Environ(), "STARDUST_ACCESS_KEY_ID="+accessKey, "STARDUST_SECRET_ACCESS_KEY="+secretKey)
	said, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	for s.base == "" && lines.Scan() {
		if _, at, ok := strings.Cut(lines.Text(), " at "); ok {
			s.base = at
		}
	}
	if s.base == "" {
		t.Fatalf("serve told no address: %v", s.cmd.Wait())
	}
	go func() { _, _ = io.Copy(io.Discard, said) }() // until it ends
	s.done.Go(s.watch)
	t.Cleanup(s.end)
	return s
}

// watch looks at the server's memory.
func (s *server) watch() {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
		}
		text, err := os.ReadFile("/proc/" + strconv.Itoa(s.cmd.Process.Pid) + "/status")
		if err != nil {
			return
		}
		if m := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(text); m != nil {
			n, _ := strconv.ParseInt(string(m[1]), 10, 64)
			s.mu.Lock()
			s.most = max(s.most, n<<10)
			s.mu.Unlock()
		}
	}
}

// memory returns the most memory that the server had since it was asked last.
func (s *server) memory() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	most := s.most
	s.most = 0
	return most
}

// cpu returns the processor time that the server took so far.
func (s *server) cpu() time.Duration {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(s.cmd.Process.Pid) + "/stat")
	if err != nil {
		s.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	var ticks int64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			s.t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

func (s *server) end() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("serve ended: %v", err)
	}
	close(s.stop)
	s.done.Wait()
}
