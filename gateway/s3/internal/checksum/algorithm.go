package checksum

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"hash"
	"hash/crc32"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/minio/crc64nvme"
	"github.com/zeebo/xxh3"
)

// headerPrefix begins the headers and trailers that carry checksums.
const headerPrefix = "x-amz-checksum-"

// Algorithm is one of the additional checksums of S3 by its name, in upper case. ""
// is none.
type Algorithm string

// The algorithms that clients send.
const (
	CRC32     Algorithm = "CRC32"
	CRC32C    Algorithm = "CRC32C"
	CRC64NVME Algorithm = "CRC64NVME"
	SHA1      Algorithm = "SHA1"
	SHA256    Algorithm = "SHA256"
	SHA512    Algorithm = "SHA512"
	MD5       Algorithm = "MD5"
	XXHASH64  Algorithm = "XXHASH64"
	XXHASH3   Algorithm = "XXHASH3"
	XXHASH128 Algorithm = "XXHASH128"
)

// Algorithms returns all of them.
func Algorithms() []Algorithm {
	return []Algorithm{CRC32, CRC32C, CRC64NVME, SHA1, SHA256, SHA512, MD5, XXHASH64, XXHASH3, XXHASH128}
}

// Parse returns the algorithm of that name in any case.
func Parse(name string) (Algorithm, bool) {
	name = strings.ToUpper(name)
	for _, a := range Algorithms() {
		if string(a) == name {
			return a, true
		}
	}
	return "", false
}

// Header returns the name of the header and trailer that carries the checksum.
func (a Algorithm) Header() string { return headerPrefix + strings.ToLower(string(a)) }

// Element returns the name of the XML element that carries the checksum.
func (a Algorithm) Element() string { return "Checksum" + string(a) }

// New returns a hash whose Sum is the checksum's bytes.
func (a Algorithm) New() hash.Hash {
	switch a {
	case CRC32:
		return crc32.NewIEEE()
	case CRC32C:
		return crc32.New(crc32.MakeTable(crc32.Castagnoli))
	case CRC64NVME:
		return crc64nvme.New()
	case SHA1:
		return sha1.New()
	case SHA512:
		return sha512.New()
	case MD5:
		return md5.New()
	case XXHASH64:
		return xxhash.New()
	case XXHASH3:
		return xxh3.New()
	case XXHASH128:
		return xxh3Wide{xxh3.New()}
	default:
		return sha256.New()
	}
}

// xxh3Wide is XXH3 with its 128-bit sum.
type xxh3Wide struct{ *xxh3.Hasher }

// Size implements hash.Hash.
func (x xxh3Wide) Size() int { return 16 }

// Sum implements hash.Hash.
func (x xxh3Wide) Sum(b []byte) []byte {
	sum := x.Sum128().Bytes()
	return append(b, sum[:]...)
}

// Decode returns the bytes of a checksum in Base64, or false when it is not
// one of this kind.
func (a Algorithm) Decode(value string) ([]byte, bool) {
	sum, err := base64.StdEncoding.DecodeString(strings.TrimSpace(value))
	return sum, err == nil && len(sum) == a.New().Size()
}
