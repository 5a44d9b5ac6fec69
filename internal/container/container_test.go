package container

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	if err := conn.Exec(strings.Join(Pragmas(), ";")); err != nil {
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
