package catalog

import (
	"context"
	"crypto/sha256"
	"errors"
	"path/filepath"
	"testing"
)

// A stream or a cache may still know a row by its id when another row comes.
func TestIDsOfRemovedRowsAreNotUsedAgain(t *testing.T) {
	c := openTest(t)
	put := func(name string) (chunk Chunk, payload Payload) {
		t.Helper()
		err := c.Write(context.Background(), func(tx *Tx) error {
			chunk = Chunk{Digest: sha256.Sum256([]byte(name)), Offset: 64, Size: 5, Stored: 5}
			if err := tx.PutChunk(&chunk); err != nil {
				return err
			}
			payload = Payload{Digest: chunk.Digest, Size: 5}
			return tx.PutPayload(&payload, func(yield func(Entry) bool) { yield(Entry{chunk.ID, 5}) })
		})
		if err != nil {
			t.Fatal(err)
		}
		return chunk, payload
	}
	drop := func(chunk, payload int64) {
		t.Helper()
		err := c.Write(context.Background(), func(tx *Tx) error {
			return errors.Join(tx.DropPayload(payload), tx.DropChunk(chunk))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	first, _ := put("first")
	second, pair := put("second")
	drop(second.ID, pair.ID)
	third, threes := put("third")
	if third.ID <= second.ID || threes.ID <= pair.ID {
		t.Errorf("chunk %d and payload %d after %d and %d were removed", third.ID, threes.ID, second.ID, pair.ID)
	}
	drop(third.ID, threes.ID)
	drop(first.ID, 1)
	fourth, fours := put("fourth")
	if fourth.ID <= third.ID || fours.ID <= threes.ID {
		t.Errorf("chunk %d and payload %d after all were removed, the last %d and %d", fourth.ID, fours.ID, third.ID, threes.ID)
	}
}

func TestTablesOfVersion1AreUpgraded(t *testing.T) {
	dsn := "file:" + filepath.Join(t.TempDir(), "c.db")
	c := openDSN(t, dsn, Options{})
	err := c.Write(context.Background(), func(tx *Tx) error {
		return tx.conn.sq.Exec(`DROP TABLE removed; PRAGMA user_version = 1`)
	})
	if err := errors.Join(err, c.Close()); err != nil {
		t.Fatal(err)
	}
	c = openDSN(t, dsn, Options{ReadOnly: true})
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	c = openDSN(t, dsn, Options{})
	err = c.Write(context.Background(), func(tx *Tx) error {
		return tx.PutChunk(&Chunk{Digest: sha256.Sum256([]byte("x")), Offset: 64, Size: 1, Stored: 1})
	})
	if err := errors.Join(err, c.Close()); err != nil {
		t.Error(err)
	}
}

func openDSN(t *testing.T, dsn string, o Options) *Catalog {
	t.Helper()
	c, err := Open(dsn, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
