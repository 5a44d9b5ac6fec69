package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/internal/chunk"
)

func openDB(path string) (*stardust.DB, error) {
	return stardust.Open(path, &stardust.Options{Plugins: stardust.Plugins{Objects: &stardust.ObjectsPlugin{}}})
}

// uploadBytes uploads a payload in writes of 1 MiB, as a caller that streams
// does, and returns its digest.
func uploadBytes(db *stardust.DB, data []byte) (stardust.Digest, error) {
	stream, err := db.Tree().Upload()
	if err != nil {
		return stardust.Digest{}, err
	}
	defer stream.Close()
	for rest := data; len(rest) > 0; {
		n := min(1<<20, len(rest))
		if _, err := stream.Write(rest[:n]); err != nil {
			return stardust.Digest{}, err
		}
		rest = rest[n:]
	}
	published, err := stream.Finish()
	return published.Digest, err
}

// hashLimit is the least that an upload must compute: the payload's hash on one
// goroutine; cutting and the chunks' hashes on another.
func hashLimit(data []byte) error {
	var group errgroup.Group
	group.Go(func() error {
		sha256.Sum256(data)
		return nil
	})
	group.Go(func() error {
		for rest := data; len(rest) > 0; {
			n := chunk.Cut(rest[:min(len(rest), chunk.Max)], true)
			sha256.Sum256(rest[:n])
			rest = rest[n:]
		}
		return nil
	})
	return group.Wait()
}

// appendLimit is the least that an upload must write.
func appendLimit(path string, data []byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for rest := data; len(rest) > 0; {
		n := min(1<<20, len(rest))
		if _, err := f.Write(rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return f.Sync()
}

func upload(b *bench) error {
	data := random(1, b.size)
	var ratios, cpus, hashes, appends, ours []float64
	for round := range b.rounds {
		hash, err := timed(func() error { return hashLimit(data) })
		if err != nil {
			return err
		}
		raw := filepath.Join(b.dir, "raw")
		written, err := timed(func() error { return appendLimit(raw, data) })
		if err != nil {
			return err
		}
		if err := dropFile(raw); err != nil {
			return err
		}
		took, err := b.uploadOnce(data, round == b.rounds-1)
		if err != nil {
			return err
		}
		ratios = append(ratios, max(hash.wall, written.wall).Seconds()/took.wall.Seconds())
		cpus = append(cpus, took.cpu.Seconds())
		hashes = append(hashes, rate(b.size, hash.wall))
		appends = append(appends, rate(b.size, written.wall))
		ours = append(ours, rate(b.size, took.wall))
	}
	cpu := median(cpus)
	b.add(row{
		what: "upload, of the lower limit", ratio: median(ratios), bar: 0.8,
		details: fmt.Sprintf("%.0f MB/s; hashing and cutting %.0f, append and fsync %.0f", median(ours), median(hashes), median(appends)),
	})
	return b.uploadPeers(data, cpu)
}

// uploadOnce uploads to a new database and, in the last round, measures what an
// insertion in the middle stores anew.
func (b *bench) uploadOnce(data []byte, insert bool) (took cost, err error) {
	path := filepath.Join(b.dir, "upload.stardust")
	db, err := openDB(path)
	if err != nil {
		return took, err
	}
	defer func() {
		if closed := db.Close(); err == nil {
			err = closed
		}
		if gone := dropFile(path); err == nil {
			err = gone
		}
	}()
	took, err = timed(func() error {
		_, err := uploadBytes(db, data)
		return err
	})
	if err != nil || !insert {
		return took, err
	}
	before, err := db.Info()
	if err != nil {
		return took, err
	}
	middle := len(data) / 2
	edited := bytes.Join([][]byte{data[:middle], random(9, 4096), data[middle:]}, nil)
	again, err := timed(func() error {
		_, err := uploadBytes(db, edited)
		return err
	})
	if err != nil {
		return took, err
	}
	after, err := db.Info()
	b.add(row{
		what: "4 KiB inserted in the middle: new chunks", ratio: float64(after.Chunks - before.Chunks), bar: 3, atMost: true,
		details: fmt.Sprintf("%d chunks before; %.0f MB/s", before.Chunks, rate(b.size, again.wall)),
	})
	return took, err
}

// uploadPeers stores the same bytes with borg and restic and compares CPU time.
func (b *bench) uploadPeers(data []byte, cpu float64) error {
	file := filepath.Join(b.dir, "payload")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return err
	}
	defer os.Remove(file)
	for _, p := range []struct {
		peer peer
		bar  float64
	}{{borg, 0.5}, {restic, 0.25}} {
		s, err := p.peer.store(b, file)
		if err != nil {
			return err
		}
		if s == nil {
			continue
		}
		s.remove()
		b.add(row{
			what: "upload, CPU of " + p.peer.name, ratio: cpu / s.took.cpu.Seconds(), bar: p.bar, atMost: true,
			details: fmt.Sprintf("%.1f s and %.1f s", cpu, s.took.cpu.Seconds()),
		})
	}
	return nil
}

// peer is a program that stores files.
type peer struct {
	name string
	init func(repository string) []string
	add  func(repository, source string) []string
	env  []string
}

var (
	borg = peer{
		name: "borg",
		init: func(r string) []string { return []string{"init", "--encryption=none", r} },
		add: func(r, source string) []string {
			return []string{"create", "--compression=none", r + "::a", source}
		},
		env: []string{"BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK=yes"},
	}
	restic = peer{
		name: "restic",
		init: func(r string) []string { return []string{"-q", "-r", r, "init"} },
		add:  func(r, source string) []string { return []string{"-q", "-r", r, "backup", source} },
		env:  []string{"RESTIC_PASSWORD=bench"},
	}
)

// stored is a file or tree that a peer has stored.
type stored struct {
	peer                      peer
	program, repository, home string
	took                      cost
}

// store puts a file or tree into a new repository, until it is removed; nil when the
// program is not installed.
func (p peer) store(b *bench, source string) (*stored, error) {
	program, err := exec.LookPath(p.name)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s is not installed and takes no part\n", p.name)
		return nil, nil
	}
	s := &stored{peer: p, program: program, repository: filepath.Join(b.dir, p.name), home: filepath.Join(b.dir, p.name+"-home")}
	err = os.MkdirAll(s.home, 0o700)
	if err == nil {
		_, err = timedCommand(s.command(b, p.init(s.repository)))
	}
	if err == nil {
		s.took, err = timedCommand(s.command(b, p.add(s.repository, source)))
	}
	if err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

func (s *stored) command(b *bench, args []string) *exec.Cmd {
	cmd := exec.CommandContext(b.ctx, s.program, args...)
	cmd.Env = append(append(os.Environ(), "HOME="+s.home, "XDG_CACHE_HOME="+s.home), s.peer.env...)
	return cmd
}

func (s *stored) remove() {
	_ = os.RemoveAll(s.repository) // what is left lies in the run's own directory
	_ = os.RemoveAll(s.home)
}
