package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	flag.Bool(updateFlag, false, "rewrite docs/cli.md with what the commands print")
	// Under the race detector each process would sleep a second before it ends.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE")); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){"stardust": main})
}

// The scripts are what the command line promises; each file has one subject.
func TestScripts(t *testing.T) {
	caches := t.TempDir()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"damage": damage,
			"status": status,
		},
		RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("TMPDIR", env.WorkDir)
			env.Setenv("XDG_CACHE_HOME", caches)
			env.Setenv("GORACE", os.Getenv("GORACE"))
			fixtures, err := filepath.Abs("../../slatedb/testdata")
			env.Setenv("SLATEDB", fixtures)
			return err
		},
	})
}

// damage FILE TEXT overwrites a text in a file.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	file := ts.MkAbs(args[0])
	data, err := os.ReadFile(file)
	ts.Check(err)
	i := bytes.Index(data, []byte(args[1]))
	if i < 0 {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	ts.Check(err)
	_, err = f.WriteAt([]byte{data[i] ^ 1}, int64(i))
	ts.Check(err)
	ts.Check(f.Close())
}

// status CODE COMMAND... runs a command that must exit with that code.
func status(ts *testscript.TestScript, _ bool, args []string) {
	want := args[0]
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = err.Error()
	}
	if got != "exit status "+want {
		ts.Fatalf("%v: %s, want exit status %s", args[1:], got, want)
	}
}
