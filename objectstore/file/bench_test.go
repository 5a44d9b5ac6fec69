package file_test

import (
	"io"
	"os"
	"testing"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/file"
)

// BenchmarkRead compares a ranged Get with the system calls that it needs at
// least: open, stat, pread, close.
func BenchmarkRead(b *testing.B) {
	dir := b.TempDir()
	s, err := file.Open(dir, &file.Options{NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Put(b.Context(), "a/b/object", objectstore.Bytes(make([]byte, 1<<20)), nil); err != nil {
		b.Fatal(err)
	}
	buffer := make([]byte, 64<<10)
	b.Run("get", func(b *testing.B) {
		b.SetBytes(int64(len(buffer)))
		for b.Loop() {
			result, err := s.Get(b.Context(), "a/b/object", &objectstore.GetOptions{Range: objectstore.Bounded(1000, 1000+64<<10)})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := io.ReadFull(result.Body, buffer); err != nil {
				b.Fatal(err)
			}
			_ = result.Body.Close()
		}
	})
	b.Run("plain", func(b *testing.B) {
		b.SetBytes(int64(len(buffer)))
		for b.Loop() {
			f, err := os.Open(dir + "/a/b/object")
			if err != nil {
				b.Fatal(err)
			}
			if _, err := f.Stat(); err != nil {
				b.Fatal(err)
			}
			if _, err := f.ReadAt(buffer, 1000); err != nil {
				b.Fatal(err)
			}
			_ = f.Close()
		}
	})
}

// BenchmarkWrite compares a Put with and without durability.
func BenchmarkWrite(b *testing.B) {
	for name, noSync := range map[string]bool{"synced": false, "not synced": true} {
		for size, data := range map[string][]byte{"4KiB": make([]byte, 4<<10), "16MiB": make([]byte, 16<<20)} {
			b.Run(name+"/"+size, func(b *testing.B) {
				s, err := file.Open(b.TempDir(), &file.Options{NoSync: noSync})
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				b.SetBytes(int64(len(data)))
				for b.Loop() {
					if _, err := s.Put(b.Context(), "object", objectstore.Bytes(data), nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
