package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stardustdb/stardust"
)

// figures are what a load came to.
type figures struct {
	WriteBytes, ReadBytes     float64 // a second
	WriteSeconds, ReadSeconds float64 // of the processor, a GiB
	Refused, Failed           int64
}

// library measures the library alone in a process of its own, with as many callers.
func library(t *testing.T, d time.Duration) figures {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLibraryAlone$")
	cmd.Env = append(os.Environ(), libraryVariable+"="+d.String())
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var f figures
	if err := json.NewDecoder(bytes.NewReader(out)).Decode(&f); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return f
}

// TestLibraryAlone is the process that library starts.
func TestLibraryAlone(t *testing.T) {
	d, err := time.ParseDuration(os.Getenv(libraryVariable))
	if err != nil {
		t.Skip("runs as a process of another test")
	}
	db, err := stardust.Open(filepath.Join(t.TempDir(), "db"), &stardust.Options{Plugins: stardust.Plugins{Objects: &stardust.ObjectsPlugin{}}})
	if err != nil {
		t.Fatal(err)
	}
	tree := db.Tree()
	f := measure(t, d, &target{
		put: func(name string, body []byte) error {
			_, err := tree.Put(name, bytes.NewReader(body), &stardust.PutOptions{Parents: true})
			return err
		},
		get: func(name string) (int64, error) {
			record, err := tree.Resolve(name)
			if err != nil {
				return 0, err
			}
			r, err := tree.Open(record.Digest)
			if err != nil {
				return 0, err
			}
			defer func() { _ = r.Close() }()
			return io.Copy(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{r})
		},
		cpu: func() time.Duration {
			var u syscall.Rusage
			if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
				t.Fatal(err)
			}
			return time.Duration(u.Utime.Nano() + u.Stime.Nano())
		},
	})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(f); err != nil {
		t.Fatal(err)
	}
	fmt.Println()
}
