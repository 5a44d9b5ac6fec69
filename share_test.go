package stardust_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stardustdb/stardust"
)

// TestAReaderSeesEveryLaterCommit has a read-only database open while another
// writes, through checkpoints and growth of the file.
func TestAReaderSeesEveryLaterCommit(t *testing.T) {
	path := filepath.Join(stardust.FastDir(t), "db")
	db := openAt(t, path, withObjects())
	create(t, db, `[{name first}]`)
	options := withObjects()
	options.ReadOnly = true
	reader := openAt(t, path, options)
	for i := range 40 {
		data := randomBytes(uint64(i), 1<<20)
		digest := upload(t, db, data)
		record := create(t, db, fmt.Sprintf(`[{name n%d digest {#sha256 "%v"}}]`, i, digest))[0]
		got, err := reader.Tree().Lookup(0, record.Name)
		if err != nil || got != record {
			t.Fatalf("%+v, %v", got, err)
		}
		if read, err := download(reader, digest); err != nil || !bytes.Equal(read, data) {
			t.Fatalf("payload %d: %v", i, err)
		}
		before, err := reader.AsOf(record.Revision - 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := before.Objects().Get(record.Entity); !errors.Is(err, stardust.StatusNotFound) {
			t.Fatalf("before it was made: %v", err)
		}
	}
}

// TestLockTimeoutIsHowLongOpenWaits opens a file that another has open: neither
// shorter nor much longer than it was told to.
func TestLockTimeoutIsHowLongOpenWaits(t *testing.T) {
	path := filepath.Join(stardust.FastDir(t), "db")
	openAt(t, path, withObjects())
	options := withObjects()
	options.LockTimeout = 100 * time.Millisecond
	start := time.Now()
	if _, err := stardust.Open(path, options); codeOf(err) != stardust.CodeInUse {
		t.Errorf("%v", err)
	}
	if waited := time.Since(start); waited < options.LockTimeout || waited > 10*time.Second {
		t.Errorf("waited %v", waited)
	}
}
