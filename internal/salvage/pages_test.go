package salvage_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/stardustdb/stardust/internal/btree"
)

// database makes a database with SQLite and returns its pages.
func database(t testing.TB) btree.Reader {
	t.Helper()
	path := filepath.Join(t.TempDir(), "db")
	conn, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	err = conn.Exec(`CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER NOT NULL, b BLOB);
		CREATE TABLE w (k BLOB, v BLOB, PRIMARY KEY (k)) WITHOUT ROWID;
		INSERT INTO t SELECT value * 7, value * value * value * value * value - 5000000, zeroblob(value * value / 10) FROM generate_series(1, 400);
		INSERT INTO w SELECT CAST(value AS BLOB), zeroblob(value * 20) FROM generate_series(1, 400);
		DELETE FROM t WHERE id % 2 = 0 AND id > 1400;`)
	if err == nil {
		err = conn.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return func(n uint32) ([]byte, bool) {
		if n == 0 || int(n)*4096 > len(data) {
			return nil, false
		}
		return data[(n-1)*4096 : n*4096], true
	}
}

// TestEveryRowIsFoundWithoutItsTable reads pages one by one, and finds the rows
// that SQLite wrote, also those that reach over several pages.
func TestEveryRowIsFoundWithoutItsTable(t *testing.T) {
	read := database(t)
	first, _ := read(1)
	free, whole := btree.FreePages(first, 4096, read)
	if !whole || len(free) == 0 {
		t.Fatalf("the free list has %d pages, whole: %v", len(free), whole)
	}
	tables, keys := 0, 0
	for n := uint32(1); ; n++ {
		data, ok := read(n)
		if !ok {
			break
		}
		page, ok := btree.Parse(n, data, 0)
		if !ok || free[n] {
			continue
		}
		for c := range page.Cells(read) {
			switch {
			case page.Kind == btree.TableLeaf && len(c.Values) == 3:
				tables++
				i := c.Row / 7
				if a := c.Values[1].Int; c.Values[0].Type != btree.Null || a != i*i*i*i*i-5000000 || len(c.Values[2].Blob) != int(i*i/10) {
					t.Errorf("row %d: %d, %d bytes", c.Row, a, len(c.Values[2].Blob))
				}
			case page.Kind != btree.TableLeaf && len(c.Values) == 2:
				keys++
				if k := c.Values[0].Blob; len(k) == 0 || c.Values[1].Type != btree.Blob {
					t.Errorf("key %q: %v", k, c.Values[1].Type)
				}
			}
		}
	}
	if tables != 300 || keys != 400 {
		t.Errorf("%d rows of 300, %d keys of 400", tables, keys)
	}
}
