package stardust_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stardustdb/stardust"
)

// TestBackupsNeverTouchWhatIsThere takes backups to paths that are occupied, by
// files and by other backups, and cancels some.
func TestBackupsNeverTouchWhatIsThere(t *testing.T) {
	dir := stardust.FastDir(t)
	db := openAt(t, filepath.Join(dir, "db"), withObjects())
	digest := upload(t, db, randomBytes(1, 3<<20))
	none := func(path string) {
		t.Helper()
		if left, _ := filepath.Glob(path + ".partial*"); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	}

	there := filepath.Join(dir, "there")
	if err := os.WriteFile(there, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := db.Backup(t.Context(), there, nil); !errors.Is(err, stardust.StatusConflict) {
		t.Errorf("to a file that exists: %v", err)
	}
	if data, _ := os.ReadFile(there); string(data) != "mine" {
		t.Errorf("the file holds %q now", data)
	}
	none(there)

	other := filepath.Join(dir, "other")
	if err := os.WriteFile(other+".partial", []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := db.Backup(t.Context(), other, nil); !errors.Is(err, stardust.StatusInvalidArgument) {
		t.Errorf("beside somebody's .partial: %v", err)
	}
	if data, _ := os.ReadFile(other + ".partial"); string(data) != "mine" {
		t.Errorf("the .partial holds %q now", data)
	}

	theirs := filepath.Join(dir, "theirs")
	if err := openAt(t, theirs+".partial", withObjects()).Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Backup(t.Context(), theirs, nil); !errors.Is(err, stardust.StatusConflict) {
		t.Errorf("beside a database called .partial: %v", err)
	}
	if err := openAt(t, theirs+".partial", withObjects()).Close(); err != nil {
		t.Errorf("the database called .partial: %v", err)
	}

	canceled := filepath.Join(dir, "canceled")
	ctx, cancel := context.WithCancel(t.Context())
	err := db.Backup(ctx, canceled, &stardust.BackupOptions{Progress: func(stardust.BackupProgress) { cancel() }})
	if !errors.Is(err, stardust.StatusCanceled) {
		t.Errorf("a canceled backup: %v", err)
	}
	none(canceled)
	if err := db.Backup(ctx, canceled, nil); !errors.Is(err, stardust.StatusCanceled) {
		t.Errorf("a backup canceled before: %v", err)
	}
	none(canceled)
	if _, err := os.Lstat(canceled); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a file: %v", err)
	}

	// A second backup to the path of one that is under way, and one after a
	// backup that was killed.
	twice := filepath.Join(dir, "twice")
	var once sync.Once
	err = db.Backup(t.Context(), twice, &stardust.BackupOptions{Progress: func(stardust.BackupProgress) {
		once.Do(func() {
			if err := db.Backup(t.Context(), twice, nil); codeOf(err) != stardust.CodeInUse {
				t.Errorf("a second backup: %v", err)
			}
			for _, suffix := range []string{"", "-wal"} {
				data, err := os.ReadFile(twice + ".partial" + suffix)
				if suffix != "" && errors.Is(err, fs.ErrNotExist) {
					continue
				}
				if err != nil {
					t.Error(err)
				}
				if err := os.WriteFile(filepath.Join(dir, "killed.partial"+suffix), data, 0o666); err != nil {
					t.Error(err)
				}
			}
		})
	}})
	if err != nil {
		t.Errorf("the first backup: %v", err)
	}
	killed := filepath.Join(dir, "killed")
	if err := db.Backup(t.Context(), killed, nil); err != nil {
		t.Errorf("after one that was killed: %v", err)
	}
	for _, path := range []string{twice, killed} {
		none(path)
		copied := openAt(t, path, withObjects())
		if report, err := copied.Check(t.Context(), nil); err != nil || report.Damaged != 0 {
			t.Errorf("%+v, %v", report, err)
		}
		if _, err := download(copied, digest); err != nil {
			t.Error(err)
		}
	}
}

// TestABackupUnderLoadIsWhole copies while others write, and compares the copy
// with the state that it must show.
func TestABackupUnderLoadIsWhole(t *testing.T) {
	dir := stardust.FastDir(t)
	db := openAt(t, filepath.Join(dir, "db"), withObjects())
	upload(t, db, randomBytes(1, 9<<20))
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for w := range 3 {
		writers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				published, err := tryUpload(db, randomBytes(uint64(w*1000+i), 1000))
				if err == nil {
					_, err = tryCreate(t, db, fmt.Sprintf(`[{name "%d-%d" digest {#sha256 "%v"}}]`, w, i, published.Digest))
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 5 {
		path := filepath.Join(dir, fmt.Sprintf("copy%d", i))
		if err := db.Backup(t.Context(), path, nil); err != nil {
			t.Error(err)
			continue
		}
		copied := openAt(t, path, withObjects())
		report, err := copied.Check(t.Context(), nil)
		if err != nil || report.Damaged != 0 {
			t.Errorf("%+v, %v", report, err)
		}
		last, err := copied.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		then, err := db.AsOf(last.Revision())
		if err != nil {
			t.Fatal(err)
		}
		want, got := childrenJSON(t, then.Objects()), childrenJSON(t, copied.Objects())
		if want != got {
			t.Errorf("the copy of revision %d differs", last.Revision())
		}
		copied.Close()
	}
	close(stop)
	writers.Wait()
}

func childrenJSON(t *testing.T, objects stardust.Objects) string {
	t.Helper()
	children, err := objects.Children(0)
	if err != nil {
		t.Fatal(err)
	}
	return children.String()
}
