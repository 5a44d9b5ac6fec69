//go:build linux

package mount

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/internal/need"
)

// On a disk that drafts fill up programs get ENOSPC, what was committed stays, and with room
// again everything goes on.
func TestAFullDiskLosesNothing(t *testing.T) {
	need.Ask(t, need.FUSE, need.Mount)
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=24m"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	db, err := stardust.Open(filepath.Join(disk, "db"), &stardust.Options{Plugins: stardust.Plugins{Objects: &stardust.ObjectsPlugin{}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	f := &fixture{t: t, db: db, dir: t.TempDir()}
	f.start(nil)
	t.Cleanup(f.stop)
	f.sh("echo kept >kept")
	if got := f.sh("(head -c 40000000 /dev/urandom >big) 2>&1 || true"); !strings.Contains(got, "No space left") {
		t.Errorf("got %q", got)
	}
	f.sh("rm big; cat kept; echo again >again; cat again")
	if got := f.content("kept") + f.content("again"); got != "kept\nagain\n" {
		t.Errorf("got %q", got)
	}
	f.stop()
	if entries, err := os.ReadDir(disk); err != nil || len(entries) > 3 {
		t.Errorf("left on the disk: %v, %v", entries, err)
	}
	report, err := db.Check(t.Context(), nil)
	if err != nil || report.Damaged > 0 {
		t.Errorf("check: %+v, %v", report, err)
	}
}
