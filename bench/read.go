package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"

	"github.com/stardustdb/stardust"
)

func read(b *bench) error {
	path := filepath.Join(b.dir, "read.stardust")
	db, err := openDB(path)
	if err != nil {
		return err
	}
	defer os.Remove(path)
	defer db.Close()
	data := random(2, b.size)
	digest, err := uploadBytes(db, data)
	if err != nil {
		return err
	}
	if err := b.readSequential(db, digest, data); err != nil {
		return err
	}
	return b.readRandom(db, digest, path)
}

func (b *bench) readSequential(db *stardust.DB, digest stardust.Digest, data []byte) error {
	var one, ahead, shas []float64
	for range b.rounds {
		sha, err := timed(func() error { sha256.Sum256(data); return nil })
		if err != nil {
			return err
		}
		cores := runtime.GOMAXPROCS(1)
		single, err := timed(func() error { return drain(db, digest) })
		runtime.GOMAXPROCS(cores)
		if err != nil {
			return err
		}
		both, err := timed(func() error { return drain(db, digest) })
		if err != nil {
			return err
		}
		one = append(one, sha.wall.Seconds()/single.wall.Seconds())
		ahead = append(ahead, sha.wall.Seconds()/both.wall.Seconds())
		shas = append(shas, rate(b.size, sha.wall))
	}
	details := fmt.Sprintf("SHA-256 of one core: %.0f MB/s", median(shas))
	b.add(row{what: "sequential verified read on one core, of SHA-256", ratio: median(one), bar: 0.85, details: details})
	b.add(row{what: "the same with read-ahead on all cores", ratio: median(ahead), bar: 1.5, details: details})
	return nil
}

func drain(db *stardust.DB, digest stardust.Digest) error {
	stream, err := db.Tree().Open(digest)
	if err != nil {
		return err
	}
	defer stream.Close()
	_, err = io.Copy(io.Discard, stream)
	return err
}

// readRandom compares random reads of 4 KiB from cached chunks with pread.
func (b *bench) readRandom(db *stardust.DB, digest stardust.Digest, path string) error {
	const reads, window = 200_000, 64 << 20
	stream, err := db.Tree().Open(digest)
	if err != nil {
		return err
	}
	defer stream.Close()
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	span := min(window, b.size) - 4096
	all := func(r io.ReaderAt) func() error {
		return func() error {
			source := rand.New(rand.NewPCG(1, 2))
			p := make([]byte, 4096)
			for range reads {
				if _, err := r.ReadAt(p, source.Int64N(span)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	if err := all(stream)(); err != nil { // fills the cache
		return err
	}
	var ratios, ours []float64
	for range b.rounds {
		pread, err := timed(all(file))
		if err != nil {
			return err
		}
		took, err := timed(all(stream))
		if err != nil {
			return err
		}
		ratios = append(ratios, pread.wall.Seconds()/took.wall.Seconds())
		ours = append(ours, reads/took.wall.Seconds())
	}
	b.add(row{
		what: "random 4 KiB ReadAt, chunk cached, of pread", ratio: median(ratios), bar: 0.3,
		details: fmt.Sprintf("%.0f k reads/s", median(ours)/1e3),
	})
	return nil
}
