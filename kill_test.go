package stardust

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// killedFile names the variable that makes a test binary the process to kill.
const killedFile = "STARDUST_TEST_KILLED_FILE"

// killedPayload is the payload of the nth file of a worker in a round.
func killedPayload(name string) []byte {
	sum := digestOf([]byte(name))
	size := []int{0, 1, 100, 5000, 300 << 10, 1500 << 10}[int(sum[0])%6]
	data := make([]byte, size)
	_, _ = rand.NewChaCha8(sum).Read(data) // it never fails
	if sum[1]%2 == 0 {                     // every other one gets smaller when it is compressed
		copy(data[size/2:], data)
	}
	return data
}

// TestKilledProcess is the process that gets killed: it uploads and commits for
// as long as it lives, and says what was acknowledged.
func TestKilledProcess(t *testing.T) {
	path := os.Getenv(killedFile)
	if path == "" {
		t.Skip("runs within TestKilledProcessLosesNothingAcknowledged")
	}
	db, err := Open(path, &Options{Plugins: Plugins{Objects: &ObjectsPlugin{}}})
	if err != nil {
		t.Fatal(err)
	}
	var out sync.Mutex
	var work sync.WaitGroup
	for worker := range 4 {
		work.Go(func() {
			for n := 0; ; n++ {
				name := fmt.Sprintf("%d-%d-%d", os.Getpid(), worker, n)
				if err := putFile(db, name, killedPayload(name)); err != nil {
					t.Error(err)
					return
				}
				out.Lock()
				fmt.Println("acknowledged", name)
				out.Unlock()
			}
		})
	}
	work.Wait()
}

func putFile(db *DB, name string, data []byte) error {
	published, err := store(db, data)
	if err != nil {
		return err
	}
	nodes, err := Parse(fmt.Appendf(nil, `[{name %q digest {#sha256 %q}}]`, name, published.Digest), DUST)
	if err != nil {
		return err
	}
	_, err = db.Objects().Create(nodes)
	return err
}

// TestKilledProcessLosesNothingAcknowledged kills a process in the middle of
// uploads and commits, again and again on one file: after each time the file
// opens, is found clean, and has everything that the process acknowledged.
func TestKilledProcessLosesNothingAcknowledged(t *testing.T) {
	rounds := 6
	if LongTests() {
		rounds = 200
	}
	path := filepath.Join(FastDir(t), "db")
	random := rand.New(rand.NewPCG(3, 4))
	var acknowledged []string
	for round := range rounds {
		names := killOne(t, path, 1+random.IntN(40))
		acknowledged = append(acknowledged, names...)
		if err := verifyKilled(path, acknowledged); err != nil {
			t.Fatalf("round %d, after %d acknowledged files: %v", round, len(acknowledged), err)
		}
	}
	t.Logf("%d rounds, %d files acknowledged", rounds, len(acknowledged))
}

// killOne starts a process on the file and kills it once it has acknowledged n
// files. It returns the names of all that it acknowledged.
func killOne(t *testing.T, path string, n int) (names []string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledProcess$", "-test.timeout=5m")
	command.Env = append(os.Environ(), killedFile+"="+path)
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	killed := false
	var other []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		name, ok := strings.CutPrefix(lines.Text(), "acknowledged ")
		if !ok {
			other = append(other, lines.Text())
			continue
		}
		if names = append(names, name); len(names) == n {
			killed = true
			if err := command.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	err = command.Wait()
	if !killed {
		t.Fatalf("the process ended by itself after %d files: %v: %q", len(names), err, other)
	}
	return names
}

// verifyKilled opens what a killed process left.
func verifyKilled(path string, acknowledged []string) error {
	s := newSession(path)
	if err := s.open(); err != nil {
		return err
	}
	defer s.close()
	if err := checkClean(s.db); err != nil {
		return err
	}
	found := make(map[string]Digest)
	for record, err := range s.db.Tree().Children(0) {
		if err != nil {
			return err
		}
		found[record.Name] = record.Digest
	}
	for _, name := range acknowledged {
		if _, ok := found[name]; !ok {
			return fmt.Errorf("file %s was acknowledged and is gone", name)
		}
	}
	for name, digest := range found { // those that were not acknowledged, too, are whole
		if strings.Count(name, "-") != 2 || digest != digestOf(killedPayload(name)) {
			return fmt.Errorf("file %s: another payload", strconv.Quote(name))
		}
		if got, err := load(s.db, digest); err != nil || !bytes.Equal(got, killedPayload(name)) {
			return fmt.Errorf("file %s: %d bytes, %w", name, len(got), err)
		}
	}
	if err := s.close(); err != nil {
		return err
	}
	return alone(path)
}
