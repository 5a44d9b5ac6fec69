package catalog

import (
	"context"
	"errors"
	"fmt"

	"github.com/ncruces/go-sqlite3"
)

// Counts are how many rows of each kind a check saw.
type Counts struct {
	Payloads, Nodes, Versions, Transactions int64
}

// Check verifies every row's checksum, and the rows against each other. It
// calls problem for everything that is wrong and goes on if it can; the error
// says what kept the check itself from going on, such as the end of ctx.
func (v *View) Check(ctx context.Context, problem func(error)) (Counts, error) {
	c := checker{view: v, problem: problem}
	before := v.conn.sq.SetInterrupt(ctx) // a check of large tables is long
	defer v.conn.sq.SetInterrupt(before)
	steps := []func() error{
		c.integrity, c.payloads, c.nodes, c.tree, c.versions, c.attributes, c.log, c.forgotten, c.settings,
	}
	for _, step := range steps {
		err := step()
		if err != nil && ctx.Err() != nil {
			return c.counts, ctx.Err()
		}
		if errors.Is(err, ErrCorrupt) {
			problem(err)
			continue
		}
		if err != nil {
			return c.counts, err
		}
	}
	return c.counts, nil
}

type checker struct {
	view    *View
	problem func(error)
	counts  Counts
}

// note reports an error of one row and lets the scan go on.
func (c *checker) note(err error) (bool, error) {
	if err != nil {
		c.problem(err)
	}
	return true, nil
}

// integrity is SQLite's own check, which reads every page.
func (c *checker) integrity() error {
	return c.view.conn.query(`PRAGMA integrity_check(100)`, func(s *sqlite3.Stmt) (bool, error) {
		if text := s.ColumnText(0); text != "ok" {
			c.problem(corrupt("tables: %s", text))
		}
		return true, nil
	})
}

func (c *checker) payloads() error {
	var all []Payload
	for after := int64(0); ; {
		all = all[:0]
		err := c.view.conn.query(`SELECT `+payloadColumns+` FROM payload WHERE id > ? ORDER BY id LIMIT 1000`,
			func(s *sqlite3.Stmt) (bool, error) {
				p := Payload{ID: s.ColumnInt64(5)}
				after = p.ID
				if err := scanPayload(s, &p, 0); err != nil {
					return c.note(err)
				}
				all = append(all, p)
				c.counts.Payloads++
				return true, nil
			}, after)
		if err != nil {
			return err
		}
		for i := range all {
			if err := c.payload(&all[i]); err != nil {
				if !errors.Is(err, ErrCorrupt) {
					return err
				}
				c.problem(fmt.Errorf("payload %x: %w", all[i].Digest, err))
			}
		}
		if len(all) == 0 {
			return nil
		}
	}
}

// payload checks that a manifest's chunks exist and add up.
func (c *checker) payload(p *Payload) error {
	chunks := int64(0)
	for at := int64(0); at < p.Size; {
		segment, err := c.view.Segment(p, at)
		if err != nil {
			return err
		}
		if segment.Start != at {
			return corrupt("manifest runs overlap at byte %d", at)
		}
		for _, e := range segment.Entries {
			chunk, err := c.view.Chunk(e.Chunk)
			if err != nil {
				return err
			}
			if chunk.Size != e.Size {
				return corrupt("chunk row %d has %d bytes, the manifest says %d", e.Chunk, chunk.Size, e.Size)
			}
		}
		chunks += int64(len(segment.Entries))
		at = segment.End()
	}
	if chunks != p.Chunks {
		return corrupt("%d chunks, not %d", chunks, p.Chunks)
	}
	return nil
}

func (c *checker) nodes() error {
	return c.view.conn.query(`SELECT `+nodeColumns+nodeJoin+`ORDER BY n.entity`,
		func(s *sqlite3.Stmt) (bool, error) {
			var n Node
			c.counts.Nodes++
			return c.note(scanNode(s, &n))
		})
}

// tree checks that every node is connected to the root by directories that
// exist.
func (c *checker) tree() error {
	complain := func(format string) func(*sqlite3.Stmt) (bool, error) {
		return func(s *sqlite3.Stmt) (bool, error) {
			return c.note(corrupt(format, s.ColumnInt64(0), s.ColumnInt64(1)))
		}
	}
	err := c.view.conn.query(`SELECT n.entity, n.parent FROM node n LEFT JOIN node d ON d.entity = n.parent
		WHERE n.parent <> 0 AND (d.entity IS NULL OR d.payload IS NOT NULL) LIMIT 100`,
		complain("node %d: its parent %d is not a directory"))
	if err != nil {
		return err
	}
	err = c.view.conn.query(`SELECT n.entity, n.revision FROM node n LEFT JOIN log l ON l.id = n.revision
		WHERE l.id IS NULL LIMIT 100`, complain("node %d: its revision %d is not in the log"))
	if err != nil {
		return err
	}
	return c.view.conn.query(`WITH RECURSIVE reached(entity) AS (
			SELECT entity FROM node WHERE parent = 0
			UNION ALL SELECT n.entity FROM reached r JOIN node n ON n.parent = r.entity)
		SELECT (SELECT count(*) FROM node), count(*) FROM reached`,
		func(s *sqlite3.Stmt) (bool, error) {
			if all, reached := s.ColumnInt64(0), s.ColumnInt64(1); all != reached {
				c.problem(corrupt("of %d nodes, %d hang on the root", all, reached))
			}
			return true, nil
		})
}

func (c *checker) versions() error {
	return c.view.conn.query(`SELECT `+versionColumns+versionJoin+`ORDER BY n.entity, n.revision`,
		func(s *sqlite3.Stmt) (bool, error) {
			var old Version
			c.counts.Versions++
			if err := scanVersion(s, &old); err != nil {
				return c.note(err)
			}
			if old.Until <= old.Revision {
				return c.note(corrupt("version %d of node %d ends at %d", old.Revision, old.Entity, old.Until))
			}
			return true, nil
		})
}

func (c *checker) attributes() error {
	return c.view.conn.query(`SELECT `+attributeColumns+`, entity FROM attribute`,
		func(s *sqlite3.Stmt) (bool, error) {
			_, err := scanAttribute(s, s.ColumnInt64(5))
			return c.note(err)
		})
}

func (c *checker) log() error {
	last := int64(0)
	return c.view.conn.query(`SELECT `+logColumns+` FROM log ORDER BY id`,
		func(s *sqlite3.Stmt) (bool, error) {
			c.counts.Transactions++
			id, record, err := c.view.conn.scanLog(s)
			if err != nil {
				return c.note(err)
			}
			t, err := DecodeRecord(record)
			if err != nil {
				return c.note(fmt.Errorf("transaction %d: %w", id, err))
			}
			if t.ID != id || id <= last {
				return c.note(corrupt("transaction %d: its record says %d, after %d", id, t.ID, last))
			}
			last = id
			return true, nil
		})
}

// forgotten checks that the ranges of forgotten revisions lie apart from each
// other, each before one that is kept.
func (c *checker) forgotten() error {
	all, err := c.view.Gaps()
	if err != nil {
		return err
	}
	last := int64(0)
	for _, g := range all {
		record, found, err := c.view.RecordDigest(g.last + 1)
		switch {
		case err != nil:
			return err
		case g.first <= last:
			c.problem(corrupt("forgotten revisions from %d begin before %d", g.first, last))
		case !found:
			c.problem(corrupt("forgotten revisions from %d: revision %d after them is not in the log (%v)", g.first, g.last+1, record))
		}
		last = g.last + 1
	}
	return nil
}
