package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ncruces/go-sqlite3"

	"github.com/stardustdb/stardust"
)

// lookupFiles is how many files the directory of the look-up case has.
const lookupFiles = 16_384

func lookupName(i int) string { return fmt.Sprintf("file-%06d", i%lookupFiles) }

// lookup compares look-ups with the bare SQLite statement that each needs, on a
// plain SQLite file with the same rows.
func lookup(b *bench) error {
	path := filepath.Join(b.dir, "lookup.stardust")
	db, err := openDB(path)
	if err != nil {
		return err
	}
	defer os.Remove(path)
	defer db.Close()
	entities, err := makeFiles(db, lookupFiles)
	if err != nil {
		return err
	}
	bare, err := openBare(filepath.Join(b.dir, "bare.db"), entities)
	if err != nil {
		return err
	}
	defer bare.sq.Close()
	const calls = 50_000
	pairs := []struct {
		what       string
		ours, bare func(i int) error
		calls      int
	}{
		{"look-up by parent and name", func(i int) error {
			d, err := db.Objects().Lookup(0, lookupName(i*7919))
			if err == nil {
				err = d.Close()
			}
			return err
		}, func(i int) error { return bare.child(lookupName(i * 7919)) }, calls},
		{"Get", func(i int) error {
			d, err := db.Objects().Get(entities[i*7919%lookupFiles])
			if err == nil {
				err = d.Close()
			}
			return err
		}, func(i int) error { return bare.get(entities[i*7919%lookupFiles]) }, calls},
		{"Children", func(int) error {
			d, err := db.Objects().Children(0)
			if err == nil {
				err = d.Close()
			}
			return err
		}, func(int) error { return bare.children() }, 10},
	}
	for _, p := range pairs {
		if err := b.compare(p.what+", of the bare SQLite statement", 0.4, p.calls, p.ours, p.bare); err != nil {
			return err
		}
	}
	return nil
}

// compare adds a row with the ratio of two rates.
func (b *bench) compare(what string, bar float64, calls int, ours, limit func(i int) error) error {
	repeat := func(fn func(i int) error) func() error {
		return func() error {
			for i := range calls {
				if err := fn(i); err != nil {
					return err
				}
			}
			return nil
		}
	}
	var ratios, times []float64
	for range b.rounds {
		best, err := timed(repeat(limit))
		if err != nil {
			return err
		}
		took, err := timed(repeat(ours))
		if err != nil {
			return err
		}
		ratios = append(ratios, best.wall.Seconds()/took.wall.Seconds())
		times = append(times, took.wall.Seconds()*1e6/float64(calls))
	}
	b.add(row{what: what, ratio: median(ratios), bar: bar, details: fmt.Sprintf("%.1f µs a call", median(times))})
	return nil
}

// makeFiles creates files in the root, in full commits, and returns their
// entities.
func makeFiles(db *stardust.DB, count int) (entities []int64, err error) {
	digest, err := uploadBytes(db, []byte("bench"))
	if err != nil {
		return nil, err
	}
	for made := 0; made < count; {
		nodes := make([]stardust.NewNode, min(stardust.MaxNodes, count-made))
		for i := range nodes {
			nodes[i] = stardust.NewNode{Name: lookupName(made), Digest: &digest}
			made++
		}
		records, err := db.Tree().Create(nodes...)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			entities = append(entities, r.Entity)
		}
	}
	return entities, nil
}

// bareSQLite is a plain SQLite file with the statements that look-ups need.
type bareSQLite struct {
	sq                       *sqlite3.Conn
	byName, byEntity, listed *sqlite3.Stmt
	row                      [6]any
}

const bareColumns = `SELECT n.entity, n.parent, n.revision, n.name, p.digest, p.size
	FROM node n LEFT JOIN payload p ON p.id = n.payload `

func openBare(path string, entities []int64) (*bareSQLite, error) {
	sq, err := sqlite3.Open("file:" + path)
	if err != nil {
		return nil, err
	}
	s := &bareSQLite{sq: sq}
	err = sq.Exec(`PRAGMA journal_mode = wal; PRAGMA synchronous = full;
		CREATE TABLE payload(id INTEGER PRIMARY KEY, digest BLOB, size INTEGER) STRICT;
		CREATE TABLE node(entity INTEGER PRIMARY KEY, parent INTEGER, name BLOB, payload INTEGER, revision INTEGER) STRICT;
		CREATE UNIQUE INDEX node_child ON node(parent, name);
		INSERT INTO payload VALUES(1, randomblob(32), 5);
		BEGIN`)
	for i := 0; i < lookupFiles && err == nil; i++ {
		err = sq.Exec(fmt.Sprintf(`INSERT INTO node VALUES(%d, 0, CAST('%s' AS BLOB), 1, 9)`, entities[i], lookupName(i)))
	}
	if err == nil {
		err = sq.Exec(`COMMIT`)
	}
	for query, to := range map[string]**sqlite3.Stmt{
		`WHERE n.parent = 0 AND n.name = ?`: &s.byName, `WHERE n.entity = ?`: &s.byEntity,
		`WHERE n.parent = 0 ORDER BY n.name`: &s.listed,
	} {
		if err == nil {
			*to, _, err = sq.Prepare(bareColumns + query)
		}
	}
	return s, err
}

// take reads a row's columns, as any caller of SQLite must.
func (s *bareSQLite) take(stmt *sqlite3.Stmt) {
	s.row = [6]any{
		stmt.ColumnInt64(0), stmt.ColumnInt64(1), stmt.ColumnInt64(2),
		string(stmt.ColumnRawBlob(3)), string(stmt.ColumnRawBlob(4)), stmt.ColumnInt64(5),
	}
}

func (s *bareSQLite) one(stmt *sqlite3.Stmt) error {
	if stmt.Step() {
		s.take(stmt)
	}
	return stmt.Reset()
}

func (s *bareSQLite) child(name string) error {
	if err := s.byName.BindBlob(1, []byte(name)); err != nil {
		return err
	}
	return s.one(s.byName)
}

func (s *bareSQLite) get(entity int64) error {
	if err := s.byEntity.BindInt64(1, entity); err != nil {
		return err
	}
	return s.one(s.byEntity)
}

func (s *bareSQLite) children() error {
	for s.listed.Step() {
		s.take(s.listed)
	}
	return s.listed.Reset()
}
