package file

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stardustdb/stardust/objectstore"
)

// upload is what is kept about a multipart upload in progress, beside its
// parts.
type upload struct {
	Path       objectstore.Path       `json:"path"`
	Initiated  time.Time              `json:"initiated"`
	Attributes objectstore.Attributes `json:"attributes"`
	Tags       map[string]string      `json:"tags,omitempty"`
}

// uploadFile is the file in an upload's folder that describes it.
const uploadFile = "/upload.json"

func uploadDir(id string) string { return uploadsDir + "/" + id }

// newUpload makes an upload's folder, whole: it is filled before it gets its
// name.
func (s *Store) newUpload(u upload) (id string, err error) {
	data, err := json.Marshal(u)
	if err != nil {
		return "", err
	}
	id = rand.Text()
	if err := s.root.MkdirAll(uploadsDir, 0o777); err != nil {
		return "", err
	}
	t, err := s.writeTemp(false, func(file *os.File) error { _, err := file.Write(data); return err })
	if err != nil {
		return "", err
	}
	defer s.removeTemp(t)
	if err := s.root.Mkdir(uploadDir(id), 0o777); err != nil {
		return "", err
	}
	if err := s.root.Rename(t.name, uploadDir(id)+uploadFile); err != nil {
		return "", err
	}
	return id, s.syncDirs([]string{uploadDir(id), uploadsDir})
}

// readUpload returns ErrUploadNotFound unless the id is that of an upload to
// path.
func (s *Store) readUpload(path objectstore.Path, id string) (upload, error) {
	unknown := fmt.Errorf("%w: %q", objectstore.ErrUploadNotFound, id)
	if !validID(id) {
		return upload{}, unknown
	}
	data, err := s.root.ReadFile(uploadDir(id) + uploadFile)
	if errors.Is(err, fs.ErrNotExist) {
		return upload{}, unknown
	}
	if err != nil {
		return upload{}, err
	}
	var u upload
	if err := json.Unmarshal(data, &u); err != nil {
		return upload{}, fmt.Errorf("%s is damaged: %w", uploadDir(id)+uploadFile, err)
	}
	if u.Path != path && path != "" {
		return upload{}, unknown
	}
	return u, nil
}

// validID reports whether rand.Text may have made id: no other id may reach a
// file.
func validID(id string) bool {
	if len(id) < 26 || len(id) > 64 {
		return false
	}
	return strings.IndexFunc(id, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '2' || r > '7') }) < 0
}

// takeUpload ends an upload: it moves its folder among the temporary files and
// returns its name there, for the caller to remove. The id is locked, so that
// of several calls that complete or abort an upload all but one find it gone.
func (s *Store) takeUpload(id string) (name string, err error) {
	name = tempDir + "/" + id
	if err := s.root.MkdirAll(tempDir, 0o777); err != nil {
		return "", err
	}
	err = s.root.Rename(uploadDir(id), name)
	if errors.Is(err, fs.ErrNotExist) {
		err = objectstore.ErrUploadNotFound
	}
	return name, err
}

// ListParts implements objectstore.MultipartStore.
func (s *Store) ListParts(ctx context.Context, path objectstore.Path, id string) iter.Seq2[objectstore.Part, error] {
	return func(yield func(objectstore.Part, error) bool) {
		err := check(ctx, path)
		if err == nil {
			_, err = s.readUpload(path, id)
		}
		var parts []objectstore.Part
		if err == nil {
			parts, err = s.listParts(id)
		}
		if err != nil {
			yield(objectstore.Part{}, s.fail(objectstore.OpListParts, path, err))
			return
		}
		for _, part := range parts {
			if !yield(part, nil) {
				return
			}
		}
	}
}

func (s *Store) listParts(id string) ([]objectstore.Part, error) {
	names, err := s.names(uploadDir(id))
	if err != nil {
		return nil, err
	}
	var parts []objectstore.Part
	for _, name := range names {
		text, ok := strings.CutPrefix(name, "part-")
		number, err := strconv.Atoi(text)
		if !ok || err != nil {
			continue
		}
		info, err := s.root.Stat(uploadDir(id) + "/" + name)
		if err != nil {
			return nil, err
		}
		parts = append(parts, objectstore.Part{Number: number, ETag: etag(info), Size: info.Size(), LastModified: info.ModTime()})
	}
	slices.SortFunc(parts, func(a, b objectstore.Part) int { return a.Number - b.Number })
	return parts, nil
}

// ListMultiparts implements objectstore.MultipartStore.
func (s *Store) ListMultiparts(ctx context.Context, prefix string) iter.Seq2[objectstore.MultipartUpload, error] {
	return func(yield func(objectstore.MultipartUpload, error) bool) {
		uploads, err := s.listMultiparts(ctx, prefix)
		if err != nil {
			yield(objectstore.MultipartUpload{}, s.fail(objectstore.OpListMultiparts, objectstore.Path(prefix), err))
			return
		}
		for _, u := range uploads {
			if !yield(u, nil) {
				return
			}
		}
	}
}

func (s *Store) listMultiparts(ctx context.Context, prefix string) ([]objectstore.MultipartUpload, error) {
	names, err := s.names(uploadsDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var uploads []objectstore.MultipartUpload
	for _, id := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		u, err := s.readUpload("", id)
		if errors.Is(err, objectstore.ErrUploadNotFound) {
			continue // being made, completed or aborted
		}
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(string(u.Path), prefix) {
			uploads = append(uploads, objectstore.MultipartUpload{Path: u.Path, ID: id, Initiated: u.Initiated})
		}
	}
	slices.SortFunc(uploads, objectstore.MultipartUpload.Compare)
	return uploads, nil
}

// names returns the names in a directory.
func (s *Store) names(dir string) ([]string, error) {
	file, err := s.root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return file.Readdirnames(-1)
}
