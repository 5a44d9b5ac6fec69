package dbstore

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

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
	modified, err := s.times.Of(s.db, r.Revision)
	return objectstore.ObjectMeta{Path: path, Size: r.Size, LastModified: modified, ETag: etagOf(r), Version: versionOf(r)}, err
}
