package slatedb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"

	"github.com/stardustdb/stardust/slatedb/internal/fb"
	"github.com/stardustdb/stardust/slatedb/internal/fbverify"
)

//go:generate sh -c "cd schema && flatc --go -o ../internal common.fbs sst.fbs manifest.fbs compactions.fbs"

// ErrUnsupportedVersion: the object has a format version that this package does
// not know, or is not SlateDB's at all.
var ErrUnsupportedVersion = errors.New("unsupported format version")

// DecodeError says why bytes are not a manifest or a compactions object.
type DecodeError struct {
	// Object is "manifest" or "compactions".
	Object string
	// Field is the way to what is wrong, such as "ManifestV1.l0[3].id"; empty
	// when the framing is.
	Field string
	// Offset is where it is in the object, in bytes.
	Offset int
	// Err is the reason. It wraps ErrUnsupportedVersion when that is it.
	Err error
}

// Error implements error.
func (e *DecodeError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("decode SlateDB %s: %v", e.Object, e.Err)
	}
	return fmt.Sprintf("decode SlateDB %s: %s at offset %d: %v", e.Object, e.Field, e.Offset, e.Err)
}

// Unwrap returns the reason.
func (e *DecodeError) Unwrap() error { return e.Err }

// versionSize is the length of what precedes the FlatBuffer: the format version
// as a big-endian number.
const versionSize = 2

// frame splits an object into its version and a copy of the buffer after it,
// which decoded values may then keep parts of.
func frame(object string, data []byte) (version uint16, buf []byte, err error) {
	if len(data) < versionSize {
		return 0, nil, &DecodeError{Object: object, Err: fmt.Errorf("%d bytes, too few for a format version", len(data))}
	}
	return binary.BigEndian.Uint16(data), bytes.Clone(data[versionSize:]), nil
}

// unsupported is the error for a version that is not from 1 to highest.
func unsupported(object string, version uint16, highest int) error {
	return &DecodeError{
		Object: object,
		Err:    fmt.Errorf("%w %d: known are 1 to %d", ErrUnsupportedVersion, version, highest),
	}
}

// verify proves that the generated accessors can be used on buf.
func verify(object string, buf []byte, root *fbverify.Table) error {
	err := fbverify.Verify(buf, root)
	if bad, ok := errors.AsType[*fbverify.Error](err); ok {
		return &DecodeError{object, bad.Field, versionSize + bad.Offset, errors.New(bad.Reason)}
	}
	return err
}

// halves is what the Ulid and Uuid tables have in common.
type halves interface {
	High() uint64
	Low() uint64
}

func bytes16(h halves) (id [16]byte) {
	binary.BigEndian.PutUint64(id[:8], h.High())
	binary.BigEndian.PutUint64(id[8:], h.Low())
	return id
}

// ulidOf returns the zero ULID for an absent one.
func ulidOf(t *fb.Ulid) ulid.ULID {
	if t == nil {
		return ulid.ULID{}
	}
	return bytes16(t)
}

// uuidOf returns uuid.Nil for an absent one.
func uuidOf(t *fb.Uuid) uuid.UUID {
	if t == nil {
		return uuid.Nil
	}
	return bytes16(t)
}

// vectorOf decodes a vector of n tables. Item places the table T on element j.
func vectorOf[T, R any](n int, item func(t *T, j int) bool, decode func(*T) R) []R {
	if n == 0 {
		return nil
	}
	out := make([]R, n)
	var t T
	for j := range out {
		item(&t, j)
		out[j] = decode(&t)
	}
	return out
}

// ulids decodes a vector of n ULIDs.
func ulids(n int, item func(t *fb.Ulid, j int) bool) []ulid.ULID {
	return vectorOf(n, item, ulidOf)
}

// numbers decodes a vector of n numbers.
func numbers(n int, item func(j int) uint32) []uint32 {
	if n == 0 {
		return nil
	}
	out := make([]uint32, n)
	for j := range out {
		out[j] = item(j)
	}
	return out
}

// rootOf places a table at the root of a verified buffer.
func rootOf(buf []byte, t flatbuffers.FlatBuffer) {
	flatbuffers.GetRootAs(buf, 0, t)
}
