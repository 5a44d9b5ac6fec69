package file

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/stardustdb/stardust/objectstore"
)

// details are what a plain file cannot tell about the version of an object with
// this ETag.
type details struct {
	ETag       string                 `json:"etag"`
	Attributes objectstore.Attributes `json:"attributes"`
	Tags       map[string]string      `json:"tags,omitempty"`
}

func (d details) empty() bool {
	a := d.Attributes
	return len(d.Tags) == 0 && len(a.Metadata) == 0 && a.ContentType == "" && a.ContentEncoding == "" &&
		a.ContentDisposition == "" && a.ContentLanguage == "" && a.CacheControl == ""
}

// detailsFile is the content of a file of details: those of the object's
// current version and, while it is being replaced, of the next one.
type detailsFile struct {
	Path     objectstore.Path `json:"path"`
	Versions []details        `json:"versions"`
}

// detailsName returns the name of a path's file of details.
func detailsName(path objectstore.Path) (dir, name string) {
	sum := sha256.Sum256([]byte(path))
	text := hex.EncodeToString(sum[:])
	dir = metaDir + "/" + text[:2]
	return dir, dir + "/" + text[2:] + ".json"
}

// readDetails returns the details kept for path, none when it never had any.
func (s *Store) readDetails(path objectstore.Path) ([]details, error) {
	_, name := detailsName(path)
	data, err := s.root.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var file detailsFile
	if err := json.Unmarshal(data, &file); err != nil || file.Path != path {
		return nil, fmt.Errorf("attributes in %s are damaged (%w): write the object again", name, errors.Join(err, errForeign(file.Path, path)))
	}
	return file.Versions, nil
}

func errForeign(got, want objectstore.Path) error {
	if got == want {
		return nil
	}
	return fmt.Errorf("they name %q", got)
}

// writeDetails keeps d beside those of the current version. The path is locked.
func (s *Store) writeDetails(path objectstore.Path, d details, current *objectstore.ObjectMeta) error {
	file := detailsFile{Path: path, Versions: []details{d}}
	if current != nil {
		// Damaged ones are replaced.
		versions, _ := s.readDetails(path)
		for _, v := range versions {
			if v.ETag == current.ETag && v.ETag != d.ETag {
				file.Versions = append(file.Versions, v)
			}
		}
	}
	data, err := json.Marshal(file)
	if err != nil {
		return err
	}
	t, err := s.writeTemp(false, func(f *os.File) error { _, err := f.Write(data); return err })
	if err != nil {
		return err
	}
	defer s.removeTemp(t)
	dir, name := detailsName(path)
	if err := s.root.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := s.root.Rename(t.name, name); err != nil {
		return err
	}
	return s.syncDirs([]string{dir})
}

// removeDetails is best effort: details of a version that is gone are never
// found again.
func (s *Store) removeDetails(path objectstore.Path) {
	_, name := detailsName(path)
	_ = s.root.Remove(name)
}

// Tags implements objectstore.TagReader.
func (s *Store) Tags(ctx context.Context, path objectstore.Path) (map[string]string, error) {
	if err := check(ctx, path); err != nil {
		return nil, s.fail(objectstore.OpTags, path, err)
	}
	for {
		current, err := s.stat(path)
		if err == nil && current == nil {
			err = objectstore.ErrNotFound
		}
		if err != nil {
			return nil, s.fail(objectstore.OpTags, path, err)
		}
		details, stale, err := s.details(*current)
		if err != nil {
			return nil, s.fail(objectstore.OpTags, path, err)
		}
		if !stale {
			return details.Tags, nil
		}
	}
}
