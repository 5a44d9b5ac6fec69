//go:build linux

package mount

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// commits returns how many revisions a script makes.
func (f *fixture) commits(script string) int64 {
	f.t.Helper()
	before := f.revision()
	f.sh(script)
	return f.since(before)
}

// since counts the commits after a revision; the numbers of new nodes come between.
func (f *fixture) since(revision int64) (n int64) {
	f.t.Helper()
	for _, err := range f.db.Transactions(revision + 1) {
		if err != nil {
			f.t.Fatal(err)
		}
		n++
	}
	return n
}

func TestWhatAProgramMakesIsOneCommit(t *testing.T) {
	f := mounted(t, nil)
	source := filepath.Join(t.TempDir(), "source")
	if err := os.WriteFile(source, []byte(strings.Repeat("content", 100_000)), 0o640); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		script string
		want   int64
	}{
		{"echo x >a", 1},
		{"touch b", 1},
		{": >c", 1},
		{"cp " + source + " d", 1},
		{"cp -p " + source + " e", 1}, // with its mode and time
		{"mkdir f", 1},
		{"ln -s a g", 1},
		{"exec 3>h; rm h; echo x >&3; exec 3>&-", 0},
		{"(exec 3>i; rm i)", 0},
		{"{ echo 1; echo 2; } >j", 1},
		{": >a", 1},
		{"tar cf - -C " + filepath.Dir(source) + " source | tar xf -", 1},
		{"chmod 600 a", 1},
	} {
		if got := f.commits(c.script); got != c.want {
			t.Errorf("%s: %d commits, want %d", c.script, got, c.want)
		}
	}
	if got := f.sh("stat -c %a e; cmp d " + source + "; cmp e " + source + "; ls"); got != "640\na\nb\nc\nd\ne\nf\ng\nj\nsource\n" {
		t.Errorf("got %q", got)
	}
}

// A file that isn't committed yet is there for all programs, as any other.
func TestAFileThatIsNotCommittedIsThere(t *testing.T) {
	f := mounted(t, nil)
	f.sh("mkdir d; echo old >d/z")
	before := f.revision()
	made, err := os.OpenFile(f.path("d/a"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := made.WriteString("written"); err != nil {
		t.Fatal(err)
	}
	if got := f.sh("ls d; cat d/a; stat -c ' %a %s' d/a; find d -type f | wc -l"); got != "a\nz\nwritten 600 7\n2\n" {
		t.Errorf("got %q", got)
	}
	for what, err := range map[string]error{
		"make it again": second(os.OpenFile(f.path("d/a"), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)),
		"mkdir":         os.Mkdir(f.path("d/a"), 0o700),
		"symlink":       os.Symlink("x", f.path("d/a")),
	} {
		if !errors.Is(err, syscall.EEXIST) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := syscall.Rmdir(f.path("d/a")); err != syscall.ENOTDIR {
		t.Errorf("rmdir of the file: %v", err)
	}
	f.sh("mkdir e; rm d/z")
	if err := syscall.Rmdir(f.path("d")); err != syscall.ENOTEMPTY {
		t.Errorf("rmdir: %v", err)
	}
	if err := syscall.Rename(f.path("e"), f.path("d")); err != syscall.ENOTEMPTY {
		t.Errorf("rename of a directory over it: %v", err)
	}
	if err := syscall.Rename(f.path("e"), f.path("d/a")); err != syscall.ENOTDIR {
		t.Errorf("rename of a directory over the file: %v", err)
	}
	if got := f.since(before); got != 2 {
		t.Errorf("%d commits", got)
	}
	number := inode(t, f.path("d/a"))
	if err := made.Close(); err != nil {
		t.Fatal(err)
	}
	if got := f.since(before); got != 3 || f.content("d/a") != "written" {
		t.Errorf("%d commits, content %q", got, f.content("d/a"))
	}
	if got := inode(t, f.path("d/a")); got != number {
		t.Errorf("the inode number was %d and is %d", number, got)
	}
}

func second(_ *os.File, err error) error { return err }

func inode(t *testing.T, path string) uint64 {
	t.Helper()
	var stat syscall.Stat_t
	if err := syscall.Stat(path, &stat); err != nil {
		t.Fatal(err)
	}
	return stat.Ino
}

func TestFilesThatAreNotCommittedAreRenamedAndReplaced(t *testing.T) {
	f := mounted(t, nil)
	f.sh("echo target >b; echo over >d")
	got := f.sh(`exec 3>a; echo one >&3; mv a b; echo two >&3; exec 3>&-; cat b
		exec 3>c; echo gone >&3; mv d c; echo more >&3; exec 3>&-; cat c
		exec 3>e; mv e f; exec 3>&-; ls
		exec 3<>g; echo x >&3; mv b g; cat /proc/self/fd/3; exec 3>&-; cat g`)
	if got != "one\ntwo\nover\nc\nf\nx\none\ntwo\n" && got != "one\ntwo\nover\nb\nc\nf\nx\none\ntwo\n" {
		t.Errorf("got %q", got)
	}
	f.stop()
	if got := f.content("g") + f.content("c"); got != "one\ntwo\nover\n" {
		t.Errorf("the database has %q", got)
	}
}

// fsync of a directory brings the names in it into the database.
func TestAnFsyncOfADirectoryCommitsItsNewNames(t *testing.T) {
	f := mounted(t, nil)
	f.sh("mkdir d; exec 3>d/a; sync d")
	file, err := os.Create(f.path("d/b"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := f.db.Tree().Resolve("d/b"); err == nil {
		t.Error("it was there before")
	}
	f.sh("sync d")
	if got := f.content("d/b"); got != "" {
		t.Errorf("got %q", got)
	}
}

// A file that lost its name while a program reads it keeps its mode and time.
func TestAFileWithoutANameKeepsItsMode(t *testing.T) {
	f := mounted(t, nil)
	got := f.sh(`echo a >a; chmod 640 a; touch -d @1000000000 a; cp -p a b; echo c >c
		exec 3<a 4<b; rm a; mv c b; stat -Lc '%a %Y' /proc/self/fd/3 /proc/self/fd/4; cat <&3; cat <&4`)
	if want := "640 1000000000\n640 1000000000\na\na\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What a close can't commit it reports, also of a file to which nothing was written.
func TestAnEmptyFilesFailedCommitIsReported(t *testing.T) {
	f := mounted(t, nil)
	f.sh("echo old >old")
	release, err := f.db.HoldWrites(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"old", "new"} {
		file, err := os.Create(f.path(name))
		if err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); !errors.Is(err, syscall.EBUSY) {
			t.Errorf("close of the empty %s: %v", name, err)
		}
	}
	if got := f.sh("ls; wc -c <old; wc -c <new"); got != "new\nold\n0\n0\n" {
		t.Errorf("got %q", got)
	}
	release()
	f.stop()
	if got := f.content("old") + f.content("new"); got != "" {
		t.Errorf("the database has %q", got)
	}
}

// A list that began before a file was committed has it once, as one that began later.
func TestAFileIsListedOnceWhileItIsCommitted(t *testing.T) {
	f := mounted(t, nil)
	f.sh("mkdir d; for i in 1 2 3 4 5 6 7 8 9; do echo $i >d/$i; done")
	file, err := os.Create(f.path("d/5a"))
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.Open(f.path("d"))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	seen := map[string]int{}
	for {
		names, err := dir.Readdirnames(3)
		if err != nil {
			break
		}
		for _, name := range names {
			seen[name]++
		}
		if len(seen) == 3 {
			if err := file.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(seen) != 10 || seen["5a"] != 1 {
		t.Errorf("seen %v", seen)
	}
	if got := f.sh("ls d | wc -l"); got != "10\n" {
		t.Errorf("got %q", got)
	}
}

// A directory's time moves when its entries change, and stays when the mount ends.
func TestADirectorysTimeMovesWithItsEntries(t *testing.T) {
	f := mounted(t, nil)
	const past = "1000000000"
	for what, script := range map[string]string{
		"a file is made": "echo x >d/x", "one goes": "rm d/a", "one is renamed": "mv d/a d/b", "one comes": "mv c d/c", "a directory is made": "mkdir d/e", "a link is made": "ln -s x d/l",
	} {
		f.sh("rm -rf d c; mkdir d; echo a >d/a; echo c >c; touch -d @" + past + " d")
		if got := f.sh("stat -c %Y d"); got != past+"\n" {
			t.Fatalf("got %q", got)
		}
		f.sh("cat d/a; echo more >>d/a; chmod 600 d/a")
		if got := f.sh("stat -c %Y d"); got != past+"\n" {
			t.Errorf("without a change of entries: %q", got)
		}
		f.sh(script)
		moved := f.sh("stat -c %y d")
		if f.sh("stat -c %Y d") == past+"\n" {
			t.Errorf("%s: the time stays", what)
		}
		f.stop()
		f.start(nil)
		if got := f.sh("stat -c %y d"); got != moved {
			t.Errorf("%s: the time was %q, and after the mount %q", what, moved, got)
		}
	}
}
