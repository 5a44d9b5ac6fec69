package container

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ncruces/go-sqlite3"
)

// A transaction larger than the cache writes pages of the log over again before
// their checksums are right; reading them back must work, and so must everything
// after it.
func TestALargeTransactionReadsItsOwnPages(t *testing.T) {
	c := openTest(t, filepath.Join(t.TempDir(), "db"), Options{Create: true})
	conn, reader := connect(t, c), connect(t, c)
	defer conn.Close()
	defer reader.Close()
	run(t, conn, `PRAGMA cache_size = 5; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB)`)
	for round := range 4 {
		run(t, conn, `BEGIN`)
		run(t, conn, `INSERT INTO t (b) SELECT randomblob(3000) FROM generate_series(1, 100)`)
		run(t, conn, `UPDATE t SET b = zeroblob(2000) WHERE a % 3 = 0`)
		run(t, conn, `UPDATE t SET b = randomblob(2500) WHERE a % 5 = 0`)
		wantText(t, conn, `PRAGMA integrity_check`, "ok")
		if round == 2 {
			run(t, conn, `ROLLBACK`)
		} else {
			run(t, conn, `COMMIT`)
		}
		wantText(t, reader, `PRAGMA integrity_check`, "ok")
	}
	wantText(t, reader, `SELECT count(*) FROM t`, "300")
	if _, _, err := conn.WALCheckpoint("main", sqlite3.CHECKPOINT_RESTART); err != nil {
		t.Fatal(err)
	}
	run(t, conn, `DELETE FROM t WHERE a % 2 = 0`)
	wantText(t, reader, `PRAGMA integrity_check`, "ok")
}

// Damage in the log after it was written must neither be read nor be copied to
// the main database under a fresh checksum.
func TestADamagedLogIsNotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	c := openTest(t, path, Options{Create: true})
	conn, reader := connect(t, c), connect(t, c)
	defer conn.Close()
	defer reader.Close()
	run(t, conn, `CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB)`)
	wantText(t, reader, `SELECT hex(b) FROM t`, "")
	run(t, conn, `INSERT INTO t VALUES (1, zeroblob(20000))`)
	log, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	for n := int64(0); logHeader+n*frameSize < int64(len(log)); n++ {
		log[logHeader+n*frameSize+frameHeader+2000] ^= 1
	}
	if err := os.WriteFile(path+"-wal", log, 0); err != nil {
		t.Fatal(err)
	}
	if got, err := queryText(reader, `SELECT hex(b) FROM t`); !errors.Is(err, sqlite3.IOERR_DATA) {
		t.Errorf("read %d characters: %v", len(got), err)
	}
	if _, _, err := conn.WALCheckpoint("main", sqlite3.CHECKPOINT_FULL); !errors.Is(err, sqlite3.IOERR_DATA) {
		t.Errorf("checkpoint: %v", err)
	}
}
