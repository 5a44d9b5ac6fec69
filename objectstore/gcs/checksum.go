package gcs

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"

	"github.com/stardustdb/stardust/objectstore"
)

func newCRC32C() hash.Hash32 { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) }

// encode returns a sum as the service writes it.
func encode(sum uint32) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, sum))
}

// sumOf returns the checksum of a body that can be read twice, empty for others,
// whose sum is compared with that of the stored object instead.
func sumOf(body objectstore.Body) (string, error) {
	if !body.Replayable() {
		return "", nil
	}
	crc := newCRC32C()
	if _, err := io.Copy(crc, body.Open()); err != nil {
		return "", err
	}
	return encode(crc.Sum32()), nil
}

// verified compares the bytes of a whole object with its checksum.
type verified struct {
	io.ReadCloser
	crc  hash.Hash32
	want string
}

func (v *verified) Read(p []byte) (int, error) {
	n, err := v.ReadCloser.Read(p)
	_, _ = v.crc.Write(p[:n]) // a hash never fails
	if errors.Is(err, io.EOF) {
		if got := encode(v.crc.Sum32()); got != v.want {
			return n, objectstore.Transient(fmt.Errorf("the bytes have the CRC32C %s, the object has %s: damaged on the way", got, v.want), 0)
		}
	}
	return n, err
}
