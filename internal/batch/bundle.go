package batch

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/zstd"
)

// MaxBundle bounds the bytes of the batches in a bundle.
const MaxBundle = 32 << 20

const (
	bundleMagic  = "SDu\x01"
	bundleHeader = len(bundleMagic) + 16 + 8 + 4
	// bundleWindow bounds the memory that a frame asks for.
	bundleWindow = 8 << 20
)

// Bundle is adjacent batches of a log in one object, as they are.
type Bundle struct {
	Identity Identity
	First    int64 // number
	Batches  [][]byte
}

// Encode returns the bundle's bytes.
func (u *Bundle) Encode() ([]byte, error) {
	out := append([]byte(nil), bundleMagic...)
	out = append(out, u.Identity[:]...)
	out = appendInt(out, u.First)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(u.Batches)))
	var plain []byte
	for _, b := range u.Batches {
		plain = binary.AppendUvarint(plain, uint64(len(b)))
		plain = append(plain, b...)
	}
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		return nil, err
	}
	defer e.Close()
	return e.EncodeAll(plain, out), nil
}

// DecodeBundle decodes a Bundle. What its batches say is not looked at.
func DecodeBundle(b []byte) (*Bundle, error) {
	if len(b) < bundleHeader || string(b[:3]) != bundleMagic[:3] {
		return nil, corrupt("no bundle")
	}
	if b[3] != bundleMagic[3] {
		return nil, ErrNewer
	}
	d := decoder{rest: b[len(bundleMagic):bundleHeader]}
	u := new(Bundle)
	copy(u.Identity[:], d.take(16))
	u.First = d.int()
	count := int(binary.LittleEndian.Uint32(d.take(4)))
	if d.bad || u.First < 1 || count < 1 {
		return nil, corrupt("malformed bundle")
	}
	r, err := zstd.NewReader(bytes.NewReader(b[bundleHeader:]), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(bundleWindow))
	if err != nil {
		return nil, corrupt("bundle: %v", err)
	}
	defer r.Close()
	plain, err := io.ReadAll(io.LimitReader(r, MaxBundle+1))
	if err != nil {
		return nil, corrupt("bundle: %v", err)
	}
	if len(plain) > MaxBundle {
		return nil, corrupt("a bundle of more than %d bytes", MaxBundle)
	}
	for d = (decoder{rest: plain}); len(d.rest) > 0 && !d.bad; {
		u.Batches = append(u.Batches, d.take(d.count()))
	}
	if d.bad || len(u.Batches) != count {
		return nil, corrupt("a bundle of %d batches has %d", count, len(u.Batches))
	}
	return u, nil
}
