package container

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/ncruces/go-sqlite3"
)

// rows reads all rows; damage is an error.
func rows(path string, readOnly bool) (text string, err error) {
	c, err := Open(path, Options{ReadOnly: readOnly})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	conn, err := dial(c)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	text, err = queryText(conn, `SELECT a || hex(b) FROM t`)
	if err != nil {
		return "", err
	}
	// The same by looking up each row: a damaged tree must not hide one.
	one, err := queryText(conn, `SELECT count(*) FROM generate_series(1, 100) AS s WHERE EXISTS (SELECT 1 FROM t WHERE a = s.value)`)
	if err == nil && one != "100" {
		return "", fmt.Errorf("rows are silently gone: %s of 100", one)
	}
	return text, err
}

func isClean(err error) bool {
	for _, clean := range []error{
		ErrPage, ErrDamaged, ErrTruncated, ErrNotDatabase, ErrEmpty, ErrNewer,
		sqlite3.CORRUPT, sqlite3.NOTADB, sqlite3.IOERR_DATA,
	} {
		if errors.Is(err, clean) {
			return true
		}
	}
	return false
}

func TestAPageCopiedOverAnotherIsDetected(t *testing.T) {
	good, other := sample(t), sample(t)
	path := filepath.Join(t.TempDir(), "db")
	for _, test := range []struct {
		name string
		from []byte
		page int
	}{{"of this file", good, 5}, {"of another file", other, 6}} {
		data := edit(good, func(p []byte) {
			copy(p[headSize+6*PageSize:headSize+7*PageSize], test.from[headSize+test.page*PageSize:])
		})
		if bytes.Equal(data, good) {
			t.Fatal("the pages are alike")
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := rows(path, true); !errors.Is(err, sqlite3.IOERR_DATA) {
			t.Errorf("a page %s: %v", test.name, err)
		}
	}
}

// Whatever happens to the file at rest, reading gives the right rows or a clean
// error.
func TestDamageIsNeverReadAsData(t *testing.T) {
	good := sample(t)
	path := filepath.Join(t.TempDir(), "db")
	if err := os.WriteFile(path, good, 0o644); err != nil {
		t.Fatal(err)
	}
	want, err := rows(path, true)
	if err != nil {
		t.Fatal(err)
	}
	used := headSize + 20*PageSize
	rng := rand.New(rand.NewPCG(1, 2))
	trials, found := 240, 0
	if os.Getenv("STARDUST_LONG") != "" {
		trials = 20_000
	}
	for trial := range trials {
		data := edit(good, func(p []byte) {
			switch trial % 4 {
			case 0: // one bit
				p[rng.IntN(used)] ^= 1 << rng.IntN(8)
			case 1: // bytes anywhere
				for range 64 {
					p[rng.IntN(used)] = byte(rng.Uint32())
				}
			case 2: // a sector of zeros, as a power cut leaves it
				at := rng.IntN(used/512) * 512
				clear(p[at : at+512])
			case 3: // pages swapped
				a, b := rng.IntN(used/PageSize)*PageSize, rng.IntN(used/PageSize)*PageSize
				page := bytes.Clone(p[a : a+PageSize])
				copy(p[a:a+PageSize], p[b:b+PageSize])
				copy(p[b:b+PageSize], page)
			}
		})
		if trial%10 == 9 {
			data = data[:rng.IntN(len(data))]
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := rows(path, trial%2 == 0)
		switch {
		case err == nil && got != want:
			t.Fatalf("trial %d: wrong rows, no error", trial)
		case err != nil && !isClean(err):
			t.Fatalf("trial %d: %v", trial, err)
		case err != nil:
			found++
		}
	}
	t.Logf("%d trials: %d clean errors, the others read the right rows", trials, found)
	if found < trials/4 {
		t.Errorf("only %d of %d trials met the damage", found, trials)
	}
}

// An extent that the list lacks must not read as zeros.
func TestAMissingExtentIsDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	c := openTest(t, path, Options{Create: true})
	conn := connect(t, c)
	run(t, conn, `CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB)`)
	run(t, conn, `INSERT INTO t VALUES (1, zeroblob(900000))`)
	if err := errors.Join(conn.Close(), c.Close()); err != nil {
		t.Fatal(err)
	}
	if len(c.super.extents) < 1 || c.super.extents.capacity() <= minExtent {
		t.Fatal("the file did not grow")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	short := c.super
	short.extents = extents{{headSize, minExtent}}
	for i := range slots {
		copy(data[i*PageSize:], short.encode())
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := rows(path, true); !errors.Is(err, sqlite3.IOERR_DATA) {
		t.Errorf("got %v", err)
	}
}
