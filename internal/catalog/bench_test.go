package catalog

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
)

func openBench(b *testing.B) *Catalog {
	dsn := "file:" + filepath.Join(b.TempDir(), "c.db")
	c, err := Open(dsn, Options{Pragmas: []string{"PRAGMA journal_mode=wal", "PRAGMA synchronous=full", "PRAGMA mmap_size=0"}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	return c
}

func fill(b *testing.B, c *Catalog, n int) {
	err := c.Write(context.Background(), func(t *Tx) error {
		ch := Chunk{Digest: [32]byte{1}, Offset: 4096, Size: 5, Stored: 5}
		if err := t.PutChunk(&ch); err != nil {
			return err
		}
		p := Payload{Digest: [32]byte{1}, Size: 5}
		if err := t.PutPayload(&p, func(yield func(Entry) bool) { yield(Entry{ch.ID, 5}) }); err != nil {
			return err
		}
		tr := Transaction{ID: int64(n) + 1, Time: time.Now()}
		for i := range n {
			e := int64(i + 1)
			tr.Facts = append(tr.Facts, Int64(e, AttributeParent, 0), String(e, AttributeName, fmt.Sprintf("file-%07d", i)), Digest(e, AttributeDigest, p.Digest))
		}
		return t.Apply(&tr)
	})
	if err != nil {
		b.Fatal(err)
	}
}

func BenchmarkLookup(b *testing.B) {
	c := openBench(b)
	fill(b, c, 20000)
	b.Run("child", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			name := fmt.Sprintf("file-%07d", i%20000)
			_ = c.ReadOne(context.Background(), Live, func(v *View) error {
				_, found, err := v.Child(0, name)
				if !found || err != nil {
					b.Fatal(found, err)
				}
				return nil
			})
		}
	})
	b.Run("bare", func(b *testing.B) {
		sq, _ := sqlite3.Open(c.dsn)
		defer sq.Close()
		st, _, err := sq.Prepare("SELECT n.entity,n.parent,n.revision,n.name,p.digest,p.size FROM node n LEFT JOIN payload p ON p.id=n.payload WHERE n.parent=? AND n.name=?")
		if err != nil {
			b.Fatal(err)
		}
		for i := 0; b.Loop(); i++ {
			name := fmt.Sprintf("file-%07d", i%20000)
			_ = st.BindInt64(1, 0)
			_ = st.BindBlob(2, []byte(name))
			if !st.Step() {
				b.Fatal("miss")
			}
			_ = st.ColumnInt64(0)
			_ = st.ColumnInt64(1)
			_ = st.ColumnInt64(2)
			_ = string(st.ColumnRawBlob(3))
			_ = st.ColumnRawBlob(4)
			_ = st.ColumnInt64(5)
			_ = st.Reset()
		}
	})
	b.Run("children", func(b *testing.B) {
		for b.Loop() {
			k := 0
			_ = c.ReadOne(context.Background(), Live, func(v *View) error {
				return v.Children(0, "", func(*Node) bool { k++; return true })
			})
			if k != 20000 {
				b.Fatal(k)
			}
		}
	})
}
