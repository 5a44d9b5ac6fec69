package catalog

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/stardustdb/stardust/internal/digest"
)

func openTest(t *testing.T) *Catalog {
	t.Helper()
	dsn := "file:" + filepath.Join(t.TempDir(), "c.db")
	c, err := Open(dsn, Options{Readers: 2, Pragmas: []string{"PRAGMA journal_mode=wal", "PRAGMA synchronous=off", "PRAGMA mmap_size=0"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func write(t *testing.T, c *Catalog, fn func(*Tx) error) {
	t.Helper()
	if err := c.Write(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// apply commits a transaction of the given facts.
func apply(t *testing.T, c *Catalog, id int64, facts ...Fact) {
	t.Helper()
	write(t, c, func(tx *Tx) error {
		return tx.Apply(&Transaction{ID: id, Time: time.Unix(id, 0), Facts: facts})
	})
}

func read(t *testing.T, c *Catalog, at int64, fn func(*View) error) {
	t.Helper()
	if err := c.Read(t.Context(), at, fn); err != nil {
		t.Fatal(err)
	}
}

// publish publishes a payload of one chunk, whose digest begins with n.
func publish(t *testing.T, c *Catalog, n byte) digest.Digest {
	t.Helper()
	digest := digest.Digest{n}
	write(t, c, func(tx *Tx) error {
		chunk := Chunk{Digest: digest, Offset: int64(n) * 64, Size: 10, Stored: 10}
		if err := tx.PutChunk(&chunk); err != nil {
			return err
		}
		return tx.PutPayload(&Payload{Digest: digest, Size: 10}, func(yield func(Entry) bool) {
			yield(Entry{chunk.ID, 10})
		})
	})
	return digest
}

func node(entity, parent int64, name string) []Fact {
	return []Fact{Int64(entity, AttributeParent, parent), String(entity, AttributeName, name)}
}

// TestAViewOfThePastPagesThroughWhatWasThere lists a directory page by page as
// of every revision, with nodes that were renamed, moved away, removed and made
// anew under an old name.
func TestAViewOfThePastPagesThroughWhatWasThere(t *testing.T) {
	c := openTest(t)
	want := map[int64][]string{0: nil}
	apply(t, c, 4, append(append(node(1, 0, "a"), node(2, 0, "b")...), node(3, 0, "c")...)...)
	want[4] = []string{"1a", "2b", "3c"}
	apply(t, c, 5, String(2, AttributeName, "d"))
	want[5] = []string{"1a", "3c", "2d"}
	apply(t, c, 6, Retract(1, AttributeParent), Retract(1, AttributeName))
	want[6] = []string{"3c", "2d"}
	apply(t, c, 8, node(7, 0, "a")...)
	want[8] = []string{"7a", "3c", "2d"}
	apply(t, c, 9, Int64(3, AttributeParent, 7))
	want[9] = []string{"7a", "2d"}
	apply(t, c, 10, Retract(2, AttributeParent), Retract(2, AttributeName), String(3, AttributeName, "d"), Int64(3, AttributeParent, 0))
	want[10] = []string{"7a", "3d"}
	want[7], want[Live] = want[6], want[10] // a node's id shows the state before its commit
	for at, names := range want {
		read(t, c, at, func(v *View) error {
			var got []string
			for after, more := "", true; more; {
				more = false
				err := v.Children(Root, after, func(n *Node) bool { // a page of one
					got = append(got, fmt.Sprint(n.Entity, n.Name))
					after, more = n.Name, true
					return false
				})
				if err != nil {
					return err
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(names) {
				t.Errorf("as of %d: %v, want %v", at, got, names)
			}
			for _, text := range names {
				var entity int64
				var name string
				if _, err := fmt.Sscanf(text, "%d%s", &entity, &name); err != nil {
					return err
				}
				n, found, err := v.Child(Root, name)
				byEntity, also, err2 := v.Node(entity)
				if !found || !also || n != byEntity || n.Entity != entity || errors.Join(err, err2) != nil {
					t.Errorf("as of %d, %s: %+v and %+v", at, text, n, byEntity)
				}
			}
			return nil
		})
	}
}

func TestHistoryEndsAtTheView(t *testing.T) {
	c := openTest(t)
	one, two := publish(t, c, 1), publish(t, c, 2)
	apply(t, c, 2, append(node(1, 0, "f"), Digest(1, AttributeDigest, one))...)
	apply(t, c, 3, Digest(1, AttributeDigest, two))
	apply(t, c, 4, Retract(1, AttributeParent), Retract(1, AttributeName), Retract(1, AttributeDigest))
	for at, want := range map[int64]string{
		1: "[]", 2: "[2-0 false 1]", 3: "[2-3 false 1 3-0 false 2]", 4: "[2-3 false 1 3-4 true 2]", Live: "[2-3 false 1 3-4 true 2]",
	} {
		read(t, c, at, func(v *View) error {
			got := []string{}
			err := v.History(1, func(n *Version) bool {
				got = append(got, fmt.Sprintf("%d-%d %v %d", n.Revision, n.Until, n.Removed, n.Digest[0]))
				return true
			})
			if fmt.Sprint(got) != want {
				t.Errorf("as of %d: %v, want %v", at, got, want)
			}
			var ids []int64
			err = errors.Join(err, v.Transactions(0, func(tr *Transaction) bool { ids = append(ids, tr.ID); return true }))
			if n := min(at, 4) - 1; int64(len(ids)) != n {
				t.Errorf("as of %d: transactions %v", at, ids)
			}
			return err
		})
	}
}

func TestAttributesHaveVersionsAndGoWithTheirNode(t *testing.T) {
	c := openTest(t)
	apply(t, c, 2, node(1, 0, "d")...)
	apply(t, c, 3, Raw(1, "b", []byte(`1`)), Raw(1, "a", []byte(`"x"`)))
	apply(t, c, 4, Raw(1, "b", []byte(`2`)))
	apply(t, c, 5, Retract(1, "b"))
	for at, want := range map[int64]string{2: "", 3: `a="x" b=1 `, 4: `a="x" b=2 `, 5: `a="x" `, Live: `a="x" `} {
		read(t, c, at, func(v *View) error {
			got := ""
			err := v.Attributes(1, func(name string, value []byte) bool {
				got += name + "=" + string(value) + " "
				return true
			})
			if got != want {
				t.Errorf("as of %d: %s, want %s", at, got, want)
			}
			n, _, err2 := v.Node(1)
			if at != Live && n.Revision != at {
				t.Errorf("as of %d the node's revision is %d", at, n.Revision)
			}
			return errors.Join(err, err2)
		})
	}
}

// TestLongManifestsAreReadInRuns stores a manifest of several rows and finds every
// byte of it.
func TestLongManifestsAreReadInRuns(t *testing.T) {
	c := openTest(t)
	const count = 2*segmentEntries + 7
	p := Payload{Digest: digest.Digest{1}, Size: 0}
	for i := range int64(count) {
		p.Size += i%5 + 1
	}
	write(t, c, func(tx *Tx) error {
		return tx.PutPayload(&p, func(yield func(Entry) bool) {
			for i := range int64(count) {
				yield(Entry{i + 1, i%5 + 1})
			}
		})
	})
	read(t, c, Live, func(v *View) error {
		next := int64(1)
		for at := int64(0); at < p.Size; {
			s, err := v.Segment(&p, at)
			if err != nil || s.Start != at {
				t.Fatal(s, err)
			}
			for _, e := range s.Entries {
				if e.Chunk != next || e.Size != (next-1)%5+1 {
					t.Fatalf("entry %+v, want chunk %d", e, next)
				}
				next++
			}
			if inside, err := v.Segment(&p, s.End()-1); err != nil || inside.Start != s.Start {
				t.Errorf("the run of byte %d: %+v, %v", s.End()-1, inside, err)
			}
			at = s.End()
		}
		if _, err := v.Segment(&p, p.Size); !errors.Is(err, ErrCorrupt) {
			t.Errorf("behind the end: %v", err)
		}
		return nil
	})
}

func TestARefusedWriteWritesNothing(t *testing.T) {
	c := openTest(t)
	refused := errors.New("refused")
	err := c.Write(t.Context(), func(tx *Tx) error {
		return errors.Join(tx.Apply(&Transaction{ID: 2, Facts: node(1, 0, "x")}), refused)
	})
	if !errors.Is(err, refused) {
		t.Errorf("%v", err)
	}
	read(t, c, Live, func(v *View) error {
		if _, found, err := v.Node(1); found || err != nil {
			t.Errorf("found %v, %v", found, err)
		}
		last, err := v.LastRevision()
		if last != 0 {
			t.Errorf("last revision %d", last)
		}
		return err
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Write(ctx, func(*Tx) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("write after the end of its context: %v", err)
	}
}

func TestFactsThatContradictTheTablesAreRefused(t *testing.T) {
	c := openTest(t)
	for what, fact := range map[string]Fact{
		"a parent that is text":          String(1, AttributeParent, "0"),
		"a name that is a number":        Int64(1, AttributeName, 5),
		"a payload that is not there":    Digest(1, AttributeDigest, digest.Digest{9}),
		"a removal of what is not there": Retract(7, AttributeParent),
		"an attribute that is a number":  Int64(1, "color", 5),
	} {
		err := c.Write(t.Context(), func(tx *Tx) error {
			return tx.Apply(&Transaction{ID: 2, Facts: []Fact{fact}})
		})
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestEveryRowIsCheckedAgainstItsChecksum changes one column of one row of each
// table behind the catalog's back: who reads the row is told, and so is a check.
func TestEveryRowIsCheckedAgainstItsChecksum(t *testing.T) {
	for _, spoil := range []string{
		`UPDATE chunk SET offset = offset + 64`,
		`UPDATE chunk SET size = size + 1`,
		`UPDATE payload SET size = size + 1`,
		`UPDATE payload SET chunks = 2`,
		`UPDATE payload SET digest = x'00' WHERE id = 1`,
		`UPDATE manifest SET entries = x'0105'`,
		`UPDATE manifest SET start = start + 1`,
		`UPDATE node SET name = CAST('other' AS BLOB) WHERE entity = 1`,
		`UPDATE node SET parent = 1 WHERE entity = 2`,
		`UPDATE node SET payload = NULL WHERE entity = 2`,
		`UPDATE node SET revision = 9 WHERE entity = 2`,
		`UPDATE version SET until = until + 1`,
		`UPDATE version SET removed = 1`,
		`UPDATE attribute SET value = CAST('2' AS BLOB)`,
		`UPDATE attribute SET name = CAST('zz' AS BLOB)`,
		`UPDATE log SET record = x'01'`,
		`UPDATE log SET id = id + 100`,
		`DELETE FROM payload`,
		`DELETE FROM chunk`,
		`DELETE FROM node WHERE entity = 1`, // the parent of another
	} {
		t.Run(spoil, func(t *testing.T) {
			c := openTest(t)
			one := publish(t, c, 1)
			write(t, c, func(tx *Tx) error {
				return tx.PutPayload(&Payload{Digest: digest.Digest{5}, Size: 20}, func(yield func(Entry) bool) {
					for range 2 {
						if !yield(Entry{1, 10}) {
							return
						}
					}
				})
			})
			apply(t, c, 4, append(append(append(node(1, 0, "d"), node(2, 0, "f")...), Digest(2, AttributeDigest, one)), node(3, 1, "in")...)...)
			apply(t, c, 5, String(2, AttributeName, "g"))
			apply(t, c, 6, Raw(1, "color", []byte(`1`)))
			problems := check(t, c)
			if len(problems) != 0 {
				t.Fatalf("before the damage: %v", problems)
			}
			sq, err := sqlite3.Open(c.dsn)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(sq.Exec(spoil), sq.Close()); err != nil {
				t.Fatal(err)
			}
			problems = check(t, c)
			if len(problems) == 0 {
				t.Error("the check finds nothing")
			}
			for _, problem := range problems {
				if !errors.Is(problem, ErrCorrupt) {
					t.Errorf("%v", problem)
				}
			}
		})
	}
}

func check(t *testing.T, c *Catalog) (problems []error) {
	t.Helper()
	read(t, c, Live, func(v *View) error {
		_, err := v.Check(t.Context(), func(err error) { problems = append(problems, err) })
		return err
	})
	return problems
}

func TestTablesOfAnotherVersionAreRefused(t *testing.T) {
	c := openTest(t)
	sq, err := sqlite3.Open(c.dsn)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(sq.Exec(`PRAGMA user_version = 99`), sq.Close()); err != nil {
		t.Fatal(err)
	}
	for _, readOnly := range []bool{false, true} {
		if _, err := Open(c.dsn, Options{ReadOnly: readOnly}); !errors.Is(err, ErrNewer) || errors.Is(err, ErrCorrupt) {
			t.Errorf("read-only %v: %v", readOnly, err)
		}
	}
}
