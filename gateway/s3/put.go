package s3

import (
	"errors"
	"strconv"

	"github.com/stardustdb/stardust/gateway/s3/internal/checksum"
	"github.com/stardustdb/stardust/gateway/s3/internal/document"
	"github.com/stardustdb/stardust/gateway/s3/s3err"
	"github.com/stardustdb/stardust/objectstore"
)

// put serves PutObject.
func (x objects) put() error {
	if err := x.refuseUnsupported(); err != nil {
		return err
	}
	mode, version, err := x.putCondition()
	if err != nil {
		return err
	}
	attributes, err := x.givenAttributes()
	if err != nil {
		return err
	}
	tags, err := x.headerTags()
	if err != nil {
		return err
	}
	p, err := x.openPayload(x.options.MaxPutSize)
	if err != nil {
		return err
	}
	body, release, err := x.body(p)
	if err != nil {
		return err
	}
	defer release()
	reserveChecksum(&attributes, p.Declared())
	result, err := x.bucket.store.Put(x.r.Context(), x.path, body, &objectstore.PutOptions{
		Mode: mode, UpdateVersion: version, Attributes: attributes, Tags: tags, Extensions: x.extensions(),
	})
	if err != nil {
		return x.writeError(err, mode)
	}
	x.setWritten(result, p.Declared())
	x.w.Header().Set("X-Amz-Object-Size", strconv.FormatInt(p.Size(), 10))
	x.writeEmpty()
	return nil
}

// setWritten sets the headers that describe an object that was just written.
func (w *response) setWritten(result *objectstore.PutResult, declared checksum.Declared) {
	h := w.w.Header()
	if result.ETag != "" {
		h["ETag"] = []string{document.ETag(result.ETag)}
	}
	if result.Version != "" {
		h.Set("X-Amz-Version-Id", result.Version)
	}
	if declared.Value != "" {
		h.Set(declared.Algorithm.Header(), declared.Value)
		h.Set("X-Amz-Checksum-Type", fullObject)
	}
}

// writeError turns a failed write into S3's answer: an update of a missing
// object gets NoSuchKey.
func (x *exchange) writeError(err error, mode objectstore.PutMode) error {
	if mode == objectstore.Update && errors.Is(err, objectstore.ErrPrecondition) {
		if _, headErr := x.stat(); errors.Is(headErr, objectstore.ErrNotFound) {
			return s3err.NoSuchKey.Wrap(err)
		}
	}
	return err
}
