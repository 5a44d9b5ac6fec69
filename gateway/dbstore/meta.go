package dbstore

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/objectstore"
)

// etagDigits is how many bytes of its digest an ETag shows.
const etagDigits = 16

// etagOf is the ETag of a version: what it holds, and which commit made it.
func etagOf(r stardust.Record) string {
	return hex.EncodeToString(r.Digest[:etagDigits]) + "-" + strconv.FormatInt(r.Revision, 10)
}

func versionOf(r stardust.Record) string { return strconv.FormatInt(r.Revision, 10) }

// revisionOf returns the revision that an update expects to replace.
func revisionOf(v objectstore.UpdateVersion) (int64, error) {
	text := v.Version
	if v.ETag != "" {
		_, text, _ = strings.Cut(v.ETag, "-")
	}
	revision, err := strconv.ParseInt(text, 10, 64)
	if err != nil || revision <= 0 || v.Version != "" && v.Version != text {
		return 0, fmt.Errorf("%w: no version of this store has ETag %q and version %q", objectstore.ErrPrecondition, v.ETag, v.Version)
	}
	return revision, nil
}

// meta describes a record as an object.
func (s *Store) meta(path objectstore.Path, r stardust.Record) (objectstore.ObjectMeta, error) {
	modified, err := s.times.of(s.db, r.Revision)
	return objectstore.ObjectMeta{Path: path, Size: r.Size, LastModified: modified, ETag: etagOf(r), Version: versionOf(r)}, err
}

// maxTimes bounds how many revisions' times are remembered.
const maxTimes = 1 << 16

// times remembers when revisions were committed, which never changes. It may be
// used concurrently.
type times struct {
	mu    sync.Mutex
	known map[int64]time.Time
}

func (t *times) of(db *stardust.DB, revision int64) (time.Time, error) {
	t.mu.Lock()
	at, ok := t.known[revision]
	t.mu.Unlock()
	if ok {
		return at, nil
	}
	for transaction, err := range db.Transactions(revision) {
		if err != nil {
			return time.Time{}, err
		}
		if transaction.ID == revision {
			at = transaction.Time.UTC()
		}
		break
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil || len(t.known) >= maxTimes {
		t.known = make(map[int64]time.Time)
	}
	t.known[revision] = at
	return at, nil
}
