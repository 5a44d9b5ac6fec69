//go:build linux

package mount

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stardustdb/stardust"
)

func TestWhatTheDatabaseHasIsRead(t *testing.T) {
	f := mounted(t, &Options{ReadOnly: true})
	big := strings.Repeat("stardust ", 700_000)
	for path, content := range map[string]string{"a": "", "d/e/b": "hello\n", "d/big": big} {
		if _, err := f.db.Tree().Put(path, strings.NewReader(content), &stardust.PutOptions{Parents: true}); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := f.sh("find . | sort; cat d/e/b; cat a; wc -c <d/big; cmp d/big d/big; stat -c %s,%a d/e/b"),
		".\n./a\n./d\n./d/big\n./d/e\n./d/e/b\nhello\n6300000\n6,644\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := f.sh("cat d/big"); got != big {
		t.Error("another content")
	}
	if got := f.sh("(echo x >new) 2>&1 || true; rm a 2>&1 || true"); strings.Count(got, "Read-only") != 2 {
		t.Error(got)
	}
}

func TestEveryRevisionIsThere(t *testing.T) {
	f := mounted(t, nil)
	f.sh("echo one >a")
	then := f.revision()
	f.sh("echo two >a; mkdir d")
	now := f.revision()
	script := strings.NewReplacer("THEN", itoa(then), "NOW", itoa(now)).Replace(
		"cat .stardust/THEN/a .stardust/NOW/a a; ls -A .; ls .stardust; ls .stardust/THEN; ls .stardust/0 .stardust/x .stardust/01 2>&1 | wc -l; (echo x >.stardust/THEN/a) 2>&1 | grep -c Read-only; find . >/dev/null")
	if got, want := f.sh(script), "one\ntwo\ntwo\na\nd\n"+itoa(now)+"\na\n3\n1\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	f.stop()
	snapshot, err := f.db.AsOf(then)
	if err != nil {
		t.Fatal(err)
	}
	f.start(&Options{Snapshot: snapshot})
	if got := f.sh("cat a; ls"); got != "one\na\n" {
		t.Error(got)
	}
}

func TestWhatAProgramWroteIsOneCommitAtItsClose(t *testing.T) {
	f := mounted(t, nil)
	f.sh("echo first >a")
	if got := f.content("a"); got != "first\n" {
		t.Error(got)
	}
	before := f.revision()
	f.sh("for i in 1 2 3 4 5; do echo $i; done >a")
	if got := f.content("a"); got != "1\n2\n3\n4\n5\n" {
		t.Error(got)
	}
	if got := f.revision(); got != before+1 {
		t.Errorf("%d commits", got-before)
	}
}

func TestModesTimesAndLinksAreKept(t *testing.T) {
	f := mounted(t, nil)
	const look = "stat -c %a,%y a d; readlink l; cat l"
	f.sh("echo x >a; chmod 640 a; mkdir -m 750 d; ln -s a l; touch -d 2001-02-03T04:05:06.789012345Z a d")
	before := f.sh(look)
	f.stop()
	f.start(nil)
	if after := f.sh(look); after != before || !strings.Contains(after, "640,2001-02-03 04:05:06.789012345") || !strings.Contains(after, "750,2001") {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
}

func TestAFileWithoutANameLastsUntilItIsClosed(t *testing.T) {
	f := mounted(t, nil)
	got := f.sh(`echo old >a; echo b >b
		exec 3<>a; rm a; echo new >&3; test ! -e a; cat /proc/self/fd/3; exec 3>&-; ls
		exec 3<>b; mv b c; echo more >>c; printf X >&3; exec 3>&-; cat c
		echo r >r; exec 3<c; mv r c; cat <&3; exec 3>&-; cat c; ls`)
	if !strings.HasSuffix(got, "X\nmore\nX\nmore\nr\nc\n") || !strings.HasPrefix(got, "new\nb\n") {
		t.Errorf("got %q", got)
	}
}

func TestAHeldDatabaseLosesNothing(t *testing.T) {
	f := mounted(t, nil)
	f.sh("echo old >a")
	release, err := f.db.HoldWrites(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := f.sh("(echo new >a) 2>&1 || true; cat a; cp a b 2>&1 || true; mkdir d 2>&1 || true; rm a 2>&1 || true")
	if strings.Count(got, "busy") < 3 {
		t.Errorf("got %q", got)
	}
	release()
	f.stop()
	if got := f.content("a"); got != "new\n" {
		t.Errorf("the database has %q", got)
	}
}

func TestOddNamesGetTheRightErrors(t *testing.T) {
	f := mounted(t, nil)
	long := strings.Repeat("n", maxName+1)
	for _, c := range []struct {
		name string
		want error
	}{{long, syscall.ENAMETOOLONG}, {"\xff\xfe", syscall.EILSEQ}} {
		if err := syscall.Mkdir(f.path(c.name), 0o755); err != c.want {
			t.Errorf("mkdir %.10q: %v, want %v", c.name, err, c.want)
		}
	}
	f.sh("mkdir -- 'a b' '*' '-x' ' ' '\\' 'ä' ./--; touch './ /x'; ls -A | wc -l; rmdir ./--")
	for script, want := range map[string]string{
		"mkdir ä": "exists", "rmdir ' '": "not empty", "ln ' /x' y": "not permitted", "mkfifo p": "not permitted", "chown 12345 ' /x'": "not permitted",
		"mv -T ' /x' ä": "irectory", "mv ' ' ' /y'": "subdirectory", "rmdir ' /x'": "Not a directory", "setfattr -n user.a -v b ' /x'": "not supported",
	} {
		if got := f.sh("(" + script + ") 2>&1 || true"); !strings.Contains(got, want) && !strings.Contains(got, "not found") {
			t.Errorf("%s: got %q, want %q", script, got, want)
		}
	}
}

func TestALargeDirectoryIsListedWhole(t *testing.T) {
	f := mounted(t, nil)
	nodes := []stardust.NewNode{{Name: strings.Repeat("too long", 200)}}
	for i := range 1500 {
		nodes = append(nodes, stardust.NewNode{Name: "directory-with-a-name-" + itoa(int64(i))})
	}
	if _, err := f.db.Tree().Create(nodes...); err != nil {
		t.Fatal(err)
	}
	if got := f.sh("ls -f | sort | uniq | wc -l; ls | wc -l; rm -rf ./*11*; ls | wc -l; df -P . | wc -l"); got != "1500\n1500\n1377\n2\n" {
		t.Errorf("got %q", got)
	}
}

func TestAChangeInALargeFileCostsItsChunks(t *testing.T) {
	f := mounted(t, nil)
	f.sh("head -c 30000000 /dev/urandom >big; cp big copy")
	before, err := f.db.Info()
	if err != nil {
		t.Fatal(err)
	}
	f.sh("printf changed | dd of=big bs=1 seek=15000000 conv=notrunc 2>/dev/null; cmp -l big copy | wc -l")
	after, err := f.db.Info()
	if err != nil {
		t.Fatal(err)
	}
	if grown := after.ChunkBytes - before.ChunkBytes; grown < 1 || grown > 9_000_000 {
		t.Errorf("%d bytes for a change of 7", grown)
	}
	if got := f.content("big")[15_000_000:15_000_007]; got != "changed" {
		t.Errorf("got %q", got)
	}
}
