package container

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// openTest opens a file in a test's own directory; the test closes it.
func openTest(t testing.TB, path string, o Options) *Container {
	t.Helper()
	c, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// connect opens a connection with the settings that every connection has.
func connect(t testing.TB, c *Container) *sqlite3.Conn {
	t.Helper()
	conn, err := dial(c)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

func dial(c *Container) (*sqlite3.Conn, error) {
	flags := sqlite3.OPEN_READWRITE
	if c.ReadOnly() {
		flags = sqlite3.OPEN_READONLY
	}
	conn, err := sqlite3.OpenFlags(c.DSN(), flags|sqlite3.OPEN_URI)
	if err != nil {
		return nil, err
	}
	// As the catalog has it: a connection that opens may hold a lock for a moment, to
	// recover the log's index.
	err = conn.BusyTimeout(30 * time.Second)
	if err == nil {
		err = conn.Exec(strings.Join(Pragmas(), ";"))
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

func run(t testing.TB, conn *sqlite3.Conn, sql string) {
	t.Helper()
	if err := conn.Exec(sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func queryText(conn *sqlite3.Conn, sql string) (string, error) {
	stmt, _, err := conn.Prepare(sql)
	if err != nil {
		return "", err
	}
	defer stmt.Close()
	var rows []string
	for stmt.Step() {
		rows = append(rows, stmt.ColumnText(0))
	}
	return strings.Join(rows, ","), stmt.Err()
}

func wantText(t testing.TB, conn *sqlite3.Conn, sql, want string) {
	t.Helper()
	got, err := queryText(conn, sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	if got != want {
		t.Fatalf("%s: got %q, want %q", sql, got, want)
	}
}

// names returns what is in a directory.
func names(t testing.TB, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

func TestAtRestTheFileIsAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a database?&%41#.stardust")
	for i := range 3 {
		c := openTest(t, path, Options{Create: true})
		conn := connect(t, c)
		wantText(t, conn, `PRAGMA journal_mode`, "wal")
		wantText(t, conn, `PRAGMA page_size`, "4096")
		wantText(t, conn, `PRAGMA synchronous`, "2")
		run(t, conn, `CREATE TABLE IF NOT EXISTS t (a INTEGER PRIMARY KEY, b BLOB)`)
		run(t, conn, `INSERT INTO t (b) SELECT randomblob(900) FROM generate_series(1, 2000)`)
		wantText(t, conn, `SELECT count(*) FROM t`, []string{"2000", "4000", "6000"}[i])
		wantText(t, conn, `PRAGMA integrity_check`, "ok")
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if got := names(t, dir); got != filepath.Base(path) {
			t.Fatalf("beside the file: %s", got)
		}
	}
}

// SQLite's own backup copies pages between files; each file gives them its own
// checksums.
func TestPagesAreCopiedToAnotherFile(t *testing.T) {
	dir := t.TempDir()
	from := openTest(t, filepath.Join(dir, "from"), Options{Create: true})
	conn := connect(t, from)
	run(t, conn, `CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB)`)
	run(t, conn, `INSERT INTO t (b) SELECT randomblob(3000) FROM generate_series(1, 500)`)
	to := openTest(t, filepath.Join(dir, "to"), Options{Create: true})
	if err := conn.Backup("main", to.DSN()); err != nil {
		t.Fatal(err)
	}
	want, err := queryText(conn, `SELECT hex(b) FROM t`)
	if err != nil {
		t.Fatal(err)
	}
	copied := connect(t, to)
	wantText(t, copied, `SELECT hex(b) FROM t`, want)
	wantText(t, copied, `PRAGMA integrity_check`, "ok")
	for _, c := range []interface{ Close() error }{conn, copied, from, to} {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := names(t, dir); got != "from to" {
		t.Errorf("left behind: %s", got)
	}
}

// Settings that would go round the checksums are refused or have no effect.
func TestTheModeOfTheLogStays(t *testing.T) {
	c := openTest(t, filepath.Join(t.TempDir(), "db"), Options{Create: true})
	conn := connect(t, c)
	defer conn.Close()
	run(t, conn, `CREATE TABLE t (a)`)
	for _, mode := range []string{"DELETE", "TRUNCATE", "MEMORY", "OFF"} {
		_ = conn.Exec(`PRAGMA journal_mode = ` + mode)
		if err := conn.Exec(`INSERT INTO t VALUES (1)`); err == nil {
			wantText(t, conn, `PRAGMA integrity_check`, "ok")
		}
		_ = conn.Exec(`PRAGMA journal_mode = WAL`)
	}
	run(t, conn, `PRAGMA page_size = 8192; VACUUM`)
	wantText(t, conn, `PRAGMA page_size`, "4096")
	wantText(t, conn, `PRAGMA integrity_check`, "ok")
	wantText(t, conn, `PRAGMA journal_mode`, "wal")
}
