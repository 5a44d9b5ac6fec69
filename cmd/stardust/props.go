package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// How much the demo copies of a directory, and the disk image that it adds.
const (
	propFiles = 3000
	propBytes = 64 << 20
	imageSize = 16 << 20
	imageName = "disk.img"
	imageCopy = "disk-copy.img"
)

// editLine is what the demo writes at the beginning of the files that it edits.
const editLine = "This line is new in the second version.\n"

// props are the files that the demo plays with: a copy of real ones, in a
// directory of its own.
type props struct {
	dir    string
	origin string   // whose files they are, for a sentence
	files  []string // paths below dir, sorted, without the disk image

	edited  []string
	renamed string
	removed string
}

// newProps copies the files of a directory, or writes some when source is empty.
func newProps(ctx context.Context, dir, source string) (*props, error) {
	p := &props{dir: dir, origin: "the demo's own"}
	if err := os.Mkdir(dir, 0o777); err != nil {
		return nil, err
	}
	if source != "" {
		p.origin = quote(source)
		if err := p.copy(ctx, source); err != nil {
			return nil, err
		}
	}
	if len(p.files) < 8 {
		if err := p.invent(); err != nil {
			return nil, err
		}
	}
	slices.Sort(p.files)
	p.cast()
	return p, p.write(imageName, image())
}

// cast gives files their parts in the demo: spread over the tree.
func (p *props) cast() {
	part := func(i int) string { return p.files[i*len(p.files)/8] }
	p.edited = []string{part(1), part(3), part(5)}
	p.renamed, p.removed = part(2), part(6)
}

// copy copies regular files up to the bounds, but for what programs make.
func (p *props) copy(ctx context.Context, source string) error {
	root, err := openLocalDirectory(source)
	if err != nil {
		return err
	}
	defer root.Close()
	total := int64(0)
	return fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return nil // what can't be read is left out
		case entry.IsDir() && name != "." && (entry.Name()[0] == '.' || entry.Name() == "node_modules" || entry.Name() == "bin"):
			return fs.SkipDir
		case !entry.Type().IsRegular():
			return nil
		}
		info, err := entry.Info()
		if err != nil || info.Size() > propBytes/8 {
			return nil
		}
		if total += info.Size(); total > propBytes || len(p.files) == propFiles {
			return fs.SkipAll
		}
		data, err := root.ReadFile(filepath.FromSlash(name))
		if err != nil {
			return nil
		}
		p.files = append(p.files, name)
		return p.write(name, data)
	})
}

// invent writes files for when there are no others.
func (p *props) invent() error {
	for i := range 24 {
		name := fmt.Sprintf("essays/%d/chapter-%02d.txt", 2024+i/8, i%8+1)
		var text strings.Builder
		for line := range 40 + 7*i {
			fmt.Fprintf(&text, "Line %d of chapter %d, which is about number %d.\n", line+1, i+1, (i+3)*(line+7))
		}
		p.files = append(p.files, name)
		if err := p.write(name, []byte(text.String())); err != nil {
			return err
		}
	}
	return nil
}

// edit makes the second version of the files.
func (p *props) edit() error {
	for _, name := range p.edited {
		data, err := os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(name)))
		if err == nil {
			err = p.write(name, append([]byte(editLine), data...))
		}
		if err != nil {
			return err
		}
	}
	data := image()
	if err := p.write(imageCopy, data); err != nil {
		return err
	}
	data = slices.Insert(data, len(data)/2, bytes.Repeat([]byte("news"), 1<<10)...)
	return errors.Join(p.write(imageName, data), p.write("NEWS", []byte("This file is new.\n")))
}

func (p *props) write(name string, data []byte) error {
	place := filepath.Join(p.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(place), 0o777); err != nil {
		return err
	}
	return os.WriteFile(place, data, 0o666)
}

// bytes returns how many bytes the files have by now.
func (p *props) bytes() (total int64) {
	_ = filepath.WalkDir(p.dir, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			if info, err := entry.Info(); err == nil {
				total += info.Size()
			}
		}
		return nil
	})
	return total
}

// smallDirectory returns the directory that makes the best picture: around ten
// nodes.
func (p *props) smallDirectory() string {
	nodes := make(map[string]int)
	for _, name := range p.files {
		for at := path.Dir(name); at != "."; at = path.Dir(at) {
			nodes[at]++
		}
	}
	best, score := "/", 1<<30
	for name, n := range nodes {
		d := max(n-10, 10-n)
		if d < score || d == score && name < best {
			best, score = name, d
		}
	}
	return best
}

// image returns as many random bytes as the disk image has.
func image() []byte {
	data := make([]byte, imageSize)
	random := rand.NewChaCha8([32]byte([]byte("the disk image of stardust demo.")))
	_, _ = random.Read(data)
	return data
}
