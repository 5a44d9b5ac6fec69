package simtest

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/stardustdb/stardust/objectstore"
)

// rest lets everything come to its end without faults, and checks it.
func (s *simulation) rest() {
	if s.drain() {
		s.check(false)
	}
}

// drain lets all that is in progress come to its end, without faults. It
// returns false when the run has failed, or does not come to rest.
func (s *simulation) drain() bool {
	s.calm, s.fuse = true, fuse{}
	s.setFull(false)
	advances := 0
	for s.wait() {
		sleepers, others := s.sched.gates()
		others = s.idle(others)
		switch {
		case len(others) > 0:
			s.release(s.sched.choose(s.random, s.config.uniform, others))
		case !s.busy() && s.life.mirror.Handle().Stats().BusyPaths == 0:
			return true
		case len(sleepers) > 0 && advances < maxAdvances:
			advances++
			s.advance(sleepers[0])
		default:
			s.stuck()
			return false
		}
	}
	return false
}

// idle leaves out the clients that wait for their next operation.
func (s *simulation) idle(gates []*gate) []*gate {
	left := s.left
	s.left = 0
	defer func() { s.left = left }()
	return s.useful(gates)
}

// localFile is a file in the mirror's directory.
type localFile struct {
	size int64
	path objectstore.Path // of a .meta file that can be read
}

// directory returns the files in the mirror's directory by name, and the names
// of object files by the path in their .meta file.
func (s *simulation) directory() (files map[string]localFile, names map[objectstore.Path]string) {
	files, names = map[string]localFile{}, map[objectstore.Path]string{}
	for entry, err := range s.disk.List(root) {
		if err != nil {
			s.failf("list of %s: %v", root, err)
			break
		}
		file := localFile{size: entry.Size}
		if object, ok := strings.CutSuffix(entry.Name, ".meta"); ok {
			data, _ := s.disk.ReadFile(filepath.Join(root, entry.Name))
			var meta struct{ Path objectstore.Path }
			if json.Unmarshal(data, &meta) == nil {
				file.path = meta.Path
				names[meta.Path] = object
			}
		}
		files[entry.Name] = file
	}
	return files, names
}

// localNames returns the names that the object file of a path may have: the
// plain one, and the one with a hash of the path.
func localNames(path objectstore.Path) [2]string {
	parent := md5.Sum([]byte("/" + path.Parent()))
	prefix := hex.EncodeToString(parent[:]) + "."
	whole := sha256.Sum256([]byte(path))
	return [2]string{prefix + path.Base() + ".obj", prefix + "sha256-" + hex.EncodeToString(whole[:]) + ".obj"}
}

// localName returns the name of the object file of a path that is local, and
// whether it is there. Where both names are, because one could not be removed,
// it is the one with a .meta file.
func localName(files map[string]localFile, path objectstore.Path) (name string, ok bool) {
	names := localNames(path)
	for _, name := range names {
		_, object := files[name]
		if _, meta := files[name+".meta"]; object && meta {
			return name, true
		}
	}
	for _, name = range names {
		if _, ok = files[name]; ok {
			break
		}
	}
	return name, ok
}

// isTemporary reports whether a local name is one of the mirror's temporary
// files. INDEX.tmp is not: the next save of the startup index overwrites it.
func isTemporary(name string) bool {
	return !strings.HasSuffix(name, ".obj") && !strings.HasSuffix(name, ".meta") && name != "LOCK" && !strings.HasPrefix(name, "INDEX")
}
