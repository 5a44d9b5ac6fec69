package gcs

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stardustdb/stardust/objectstore"
)

// Reserved begins the names of objects that are parts of multipart uploads. For
// each upload there is, in the folder of its id, an object "begun", which
// describes it, and one object per part.
const Reserved = ".stardust-uploads/"

const (
	begun     = "begun"
	partDigit = 5 // "00001" to "10000"
	idBytes   = 16
)

func isReserved(name string) bool { return strings.HasPrefix(name, Reserved) }

// description is what is kept of an upload while it goes on.
type description struct {
	Path       objectstore.Path       `json:"path"`
	Initiated  time.Time              `json:"initiated"`
	Attributes objectstore.Attributes `json:"attributes"`
}

func newID() string {
	var id [idBytes]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

// checkID refuses what cannot be an upload's id before it becomes part of a
// name.
func checkID(id string) error {
	if raw, err := hex.DecodeString(id); err != nil || len(raw) != idBytes {
		return fmt.Errorf("%w: %q", objectstore.ErrUploadNotFound, id)
	}
	return nil
}

func folder(id string) string { return Reserved + id + "/" }

func partName(id string, number int) string {
	return fmt.Sprintf("%s%0*d", folder(id), partDigit, number)
}

// partNumber returns the number that a part's name ends in, zero when it is the
// name of something else.
func partNumber(id, name string) int {
	text, ok := strings.CutPrefix(name, folder(id))
	if !ok || len(text) != partDigit {
		return 0
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 || number > objectstore.MaxParts {
		return 0
	}
	return number
}

// begin writes the description of an upload.
func (s *Store) begin(ctx context.Context, id string, d *description) error {
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	_, err = s.put(ctx, objectstore.Path(folder(id)+begun), objectstore.Bytes(text), &objectstore.PutOptions{Mode: objectstore.Create})
	return err
}

// ongoing returns the description of an upload of an object.
func (s *Store) ongoing(ctx context.Context, path objectstore.Path, id string) (*description, error) {
	if err := errors.Join(check(ctx, path), checkID(id)); err != nil {
		return nil, err
	}
	d, err := s.describeUpload(ctx, id)
	if err != nil {
		return nil, err
	}
	if d.Path != path {
		return nil, fmt.Errorf("%w: %q is of another object", objectstore.ErrUploadNotFound, id)
	}
	return d, nil
}

func (s *Store) describeUpload(ctx context.Context, id string) (*description, error) {
	result, err := s.read(ctx, objectstore.Path(folder(id)+begun), &objectstore.GetOptions{})
	if err = classify(err); errors.Is(err, objectstore.ErrNotFound) {
		return nil, fmt.Errorf("%w: %q", objectstore.ErrUploadNotFound, id)
	}
	if err != nil {
		return nil, err
	}
	defer result.Body.Close()
	d := &description{}
	if err := json.NewDecoder(result.Body).Decode(d); err != nil {
		return nil, fmt.Errorf("the description of upload %s: %w", id, err)
	}
	return d, nil
}

// ListParts implements objectstore.MultipartStore.
func (s *Store) ListParts(ctx context.Context, path objectstore.Path, id string) iter.Seq2[objectstore.Part, error] {
	return func(yield func(objectstore.Part, error) bool) {
		if _, err := s.ongoing(ctx, path, id); err != nil {
			yield(objectstore.Part{}, s.fail(objectstore.OpListParts, path, err))
			return
		}
		for found, err := range s.objects(ctx, folder(id), "") {
			if err != nil {
				yield(objectstore.Part{}, s.fail(objectstore.OpListParts, path, err))
				return
			}
			number := partNumber(id, found.Name)
			if number == 0 {
				continue
			}
			if !yield(objectstore.Part{Number: number, ETag: found.Generation, Size: found.Size, LastModified: found.Updated}, nil) {
				return
			}
		}
	}
}

// ListMultiparts implements objectstore.MultipartStore. It reads one
// description per upload in progress.
func (s *Store) ListMultiparts(ctx context.Context, prefix string) iter.Seq2[objectstore.MultipartUpload, error] {
	return func(yield func(objectstore.MultipartUpload, error) bool) {
		uploads, err := s.multiparts(ctx, prefix)
		if err != nil {
			yield(objectstore.MultipartUpload{}, s.fail(objectstore.OpListMultiparts, objectstore.Path(prefix), err))
			return
		}
		for _, upload := range uploads {
			if !yield(upload, nil) {
				return
			}
		}
	}
}

func (s *Store) multiparts(ctx context.Context, prefix string) ([]objectstore.MultipartUpload, error) {
	var uploads []objectstore.MultipartUpload
	for page, err := range s.pages(ctx, Reserved, url.Values{"delimiter": {"/"}}) {
		if err != nil {
			return nil, err
		}
		for _, folder := range page.Prefixes {
			id := strings.TrimSuffix(strings.TrimPrefix(folder, Reserved), "/")
			if checkID(id) != nil {
				continue
			}
			d, err := s.describeUpload(ctx, id)
			if errors.Is(err, objectstore.ErrUploadNotFound) {
				continue // it has ended meanwhile, or left parts behind
			}
			if err != nil {
				return nil, err
			}
			if strings.HasPrefix(string(d.Path), prefix) {
				uploads = append(uploads, objectstore.MultipartUpload{Path: d.Path, ID: id, Initiated: d.Initiated})
			}
		}
	}
	slices.SortFunc(uploads, objectstore.MultipartUpload.Compare)
	return uploads, nil
}
