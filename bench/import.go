package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// importTree compares an import of Go's own source tree with peers that store
// the same tree.
func importTree(b *bench) error {
	source, err := b.goSource()
	if err != nil {
		return err
	}
	var ours []cost
	var report string
	for range b.rounds {
		took, files, err := b.importOnce(source)
		if err != nil {
			return err
		}
		ours = append(ours, took)
		report = fmt.Sprintf("%d files", files)
	}
	var wall, cpu []float64
	for _, c := range ours {
		wall = append(wall, c.wall.Seconds())
		cpu = append(cpu, c.cpu.Seconds())
	}
	for _, p := range []peer{restic, borg} {
		s, err := p.store(b, source)
		if err != nil {
			return err
		}
		if s == nil {
			continue
		}
		s.remove()
		took := s.took
		b.add(row{
			what: "import of Go's source tree, time of " + p.name, ratio: median(wall) / took.wall.Seconds(), bar: 1, atMost: true,
			details: fmt.Sprintf("%s; %.2f s and %.2f s", report, median(wall), took.wall.Seconds()),
		})
		b.add(row{
			what: "import of Go's source tree, CPU of " + p.name, ratio: median(cpu) / took.cpu.Seconds(), bar: 1, atMost: true,
			details: fmt.Sprintf("%.2f s and %.2f s", median(cpu), took.cpu.Seconds()),
		})
	}
	return nil
}

// goSource returns the directory of Go's own source.
func (b *bench) goSource() (string, error) {
	root, err := exec.CommandContext(b.ctx, "go", "env", "GOROOT").Output()
	return filepath.Join(strings.TrimSpace(string(root)), "src"), err
}

func (b *bench) importOnce(source string) (took cost, files int64, err error) {
	path := filepath.Join(b.dir, "import.stardust")
	defer os.Remove(path)
	took, err = timed(func() error {
		db, err := openDB(path)
		if err != nil {
			return err
		}
		report, err := db.Tree().Import(b.ctx, os.DirFS(source), 0, nil)
		if err == nil && report.Failed > 0 {
			err = report.Problems[0].Err
		}
		files = report.Files
		if closed := db.Close(); err == nil {
			err = closed
		}
		return err
	})
	return took, files, err
}
