//go:build linux

package mount

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stardustdb/stardust/internal/need"
)

// sources is a tree of source files that is on every machine with Go.
func sources(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("no Go toolchain: %v", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "src", "net")
}

func TestATreeIsTheSameAfterItWentInAndOut(t *testing.T) {
	source := sources(t)
	if testing.Short() {
		source = filepath.Join(source, "http")
	}
	f := mounted(t, nil)
	out := t.TempDir()
	f.sh("cp -a " + source + " tree; diff -r " + source + " tree; cp -a tree " + out + "/tree; diff -r tree " + out + "/tree")
	const list = ` && find . -type f -printf "%p %m %s %T@\n" | sort`
	if a, b := f.sh("cd "+source+list), f.sh("cd "+out+"/tree"+list); a != b {
		t.Error("permissions or times differ")
	}
	f.stop()
	f.start(nil)
	f.sh("diff -r " + source + " tree; tar cf - tree | tar tf - | wc -l")
}

func TestGoBuildsOnTheMount(t *testing.T) {
	f := mounted(t, nil)
	f.sh(`mkdir p; cd p; go mod init example.com/p 2>/dev/null
		printf 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println("built") }\n' >main.go`)
	if got := f.sh("cd p; go build -o p . && ./p && go vet ."); got != "built\n" {
		t.Errorf("got %q", got)
	}
}

func TestGitClonesOntoTheMount(t *testing.T) {
	need.Ask(t, need.Git)
	f := mounted(t, nil)
	got := f.sh(`export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
		git init -q first; cd first; git config user.name a; git config user.email a@example.com
		cp -r ` + filepath.Join(sources(t), "url") + ` .; git add .; git commit -qm one; echo x >>url/url.go; git commit -qam two; cd ..
		git clone -q first second 2>&1; cd second; git fsck --full --strict 2>&1; git status --porcelain; git gc -q; git fsck 2>&1; git log --oneline | wc -l`)
	if !strings.HasSuffix(got, "2\n") || strings.Contains(got, "error") {
		t.Errorf("got %q", got)
	}
}

func TestSQLiteKeepsItsPromisesOnTheMount(t *testing.T) {
	need.Ask(t, need.SQLite3)
	f := mounted(t, nil)
	got := f.sh(`sqlite3 a.db 'create table t(n integer, s text); begin; with recursive c(n) as (select 1 union all select n+1 from c where n<5000) insert into t select n, hex(randomblob(50)) from c; commit;'
		for i in 1 2 3 4 5; do sqlite3 a.db "update t set s='x' where n%7=$i; delete from t where n=$i"; done
		sqlite3 a.db 'pragma integrity_check; select count(*) from t; vacuum; pragma integrity_check;'; ls`)
	if got != "ok\n4995\nok\na.db\n" {
		t.Errorf("got %q", got)
	}
}

func TestRsyncFindsNothingToDoTheSecondTime(t *testing.T) {
	need.Ask(t, need.Rsync)
	f := mounted(t, nil)
	source := filepath.Join(sources(t), "http")
	f.sh("rsync -rlpt " + source + " .; diff -r " + source + " http")
	before := f.revision()
	if got := f.sh("rsync -rlpti " + source + " . | grep '^>f' || true"); got != "" {
		t.Errorf("sent again: %s", got)
	}
	if got := f.revision(); got != before {
		t.Errorf("%d commits", got-before)
	}
	f.sh("rsync -rlpt --inplace -c " + source + "/ http; rsync -rlpt --delete " + source + "/cgi/ http; diff -r http " + source + "/cgi")
}
