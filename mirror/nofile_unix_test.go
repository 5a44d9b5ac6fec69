//go:build unix

package mirror_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

// TestSixtyFourOpenFilesAreEnough runs itself in a process of its own, since
// the limit is the process's.
func TestSixtyFourOpenFilesAreEnough(t *testing.T) {
	const child = "MIRROR_TEST_NOFILE"
	if os.Getenv(child) == "" {
		command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSixtyFourOpenFilesAreEnough$", "-test.v")
		command.Env = append(os.Environ(), child+"=1")
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 64, Max: 64}); err != nil {
		t.Fatal(err)
	}
	m, err := mirror.Open(t.Context(), t.TempDir(), newHookStore(), &hookPolicy{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const objects = 200
	path := func(i int) objectstore.Path { return objectstore.Path(fmt.Sprint("a/", i%objects)) }
	for i := range objects {
		if _, err := m.Put(t.Context(), path(i), objectstore.Bytes([]byte(path(i))), nil); err != nil {
			t.Fatal(err)
		}
	}
	// More readers at once than files may be open: some wait for others.
	var wg sync.WaitGroup
	for w := range 100 {
		wg.Go(func() {
			for i := range 20 {
				p := path(w*37 + i)
				result, err := m.Get(t.Context(), p, nil)
				if err != nil {
					t.Errorf("%s: %v", p, err)
					return
				}
				got, err := io.ReadAll(result.Body)
				if err != nil || string(got) != string(p) {
					t.Errorf("%s: %q, %v", p, got, err)
				}
				if err := result.Body.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := m.Handle().Stats().OpenFiles; n > 16 {
		t.Errorf("%d files are kept open", n)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}
