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

// smallDisk returns a file system of 24 MiB, or skips where none can be made.
func smallDisk(t *testing.T) string {
	t.Helper()
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
	return disk
}

// mountedOn mounts a database that lies on a disk.
func mountedOn(t *testing.T, disk string, options *Options) (*fixture, *stardust.DB) {
	t.Helper()
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
	f.start(options)
	t.Cleanup(f.stop)
	return f, db
}

// Where the database's own disk is full, the programs that wrote learn it at their
// close or fsync, what was there before stays, and other files go on, without an end
// of the mount.
func TestACommitThatFillsTheDiskBlocksNobody(t *testing.T) {
	disk := smallDisk(t)
	f, db := mountedOn(t, disk, &Options{Drafts: t.TempDir()})
	big := filepath.Join(t.TempDir(), "big")
	f.sh("head -c 40000000 /dev/urandom >" + big + "; echo old >old; echo kept >kept")
	for _, script := range []string{"cp " + big + " new", "cp " + big + " old", "dd if=" + big + " of=new bs=1M conv=fsync", "dd if=" + big + " of=old bs=1M conv=fsync,notrunc"} {
		if got := f.sh("(" + script + ") 2>&1 || true"); !strings.Contains(got, "No space left") {
			t.Errorf("%s: %q", script, got)
		}
		if got, want := f.sh("cat old kept; ls; echo more >more; cat more; rm more; mkdir d; mv kept d/kept; mv d/kept kept; rmdir d"), "old\nkept\nkept\nold\nmore\n"; got != want {
			t.Errorf("after %s: %q, want %q", script, got, want)
		}
	}
	// What is still open may be tried again.
	got := f.sh(`exec 3<>old; cat ` + big + ` >&3 || true; sync old 2>&1 || true; head -c 20 ` + big + ` >` + f.path("other") + `
		truncate -s 4 old; exec 3>&-; wc -c <old; wc -c <other`)
	if !strings.Contains(got, "No space left") || !strings.HasSuffix(got, "4\n20\n") {
		t.Errorf("got %q", got)
	}
	f.stop()
	report, err := db.Check(t.Context(), nil)
	if err != nil || report.Damaged > 0 {
		t.Errorf("check: %+v, %v", report, err)
	}
}

// On a disk that drafts fill up programs get ENOSPC, what was committed stays, and with room
// again everything goes on.
func TestAFullDiskLosesNothing(t *testing.T) {
	disk := smallDisk(t)
	f, db := mountedOn(t, disk, nil)
	f.sh("echo kept >kept")
	if got := f.sh("(head -c 40000000 /dev/urandom >big) 2>&1 || true"); !strings.Contains(got, "No space left") {
		t.Errorf("got %q", got)
	}
	f.sh("rm -f big; cat kept; echo again >again; cat again")
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
