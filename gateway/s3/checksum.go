package s3

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"hash"
	"hash/crc32"
	"net/http"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/minio/crc64nvme"
	"github.com/zeebo/xxh3"
)

const checksumPrefix = "x-amz-checksum-"

// checksum is one of the additional checksums of S3, such as CRC32: its
// upper-case name.
type checksum string

// checksums lists all that clients send.
func checksums() []checksum {
	return []checksum{
		"CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256", "SHA512",
		"MD5", "XXHASH64", "XXHASH3", "XXHASH128",
	}
}

// parseChecksum returns the checksum of that name in any case.
func parseChecksum(name string) (checksum, bool) {
	name = strings.ToUpper(name)
	for _, c := range checksums() {
		if string(c) == name {
			return c, true
		}
	}
	return "", false
}

// header returns the name of the header and trailer that carries the checksum.
func (c checksum) header() string { return checksumPrefix + strings.ToLower(string(c)) }

// element returns the name of the XML element that carries the checksum.
func (c checksum) element() string { return "Checksum" + string(c) }

// newHash returns a hash whose Sum is the checksum's bytes.
func (c checksum) newHash() hash.Hash {
	switch c {
	case "CRC32":
		return crc32.NewIEEE()
	case "CRC32C":
		return crc32.New(crc32.MakeTable(crc32.Castagnoli))
	case "CRC64NVME":
		return crc64nvme.New()
	case "SHA1":
		return sha1.New()
	case "SHA512":
		return sha512.New()
	case "MD5":
		return md5.New()
	case "XXHASH64":
		return xxhash.New()
	case "XXHASH3":
		return xxh3.New()
	case "XXHASH128":
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

// decode returns the bytes of a checksum in Base64, or false when it is not
// one of this kind.
func (c checksum) decode(value string) ([]byte, bool) {
	sum, err := base64.StdEncoding.DecodeString(strings.TrimSpace(value))
	return sum, err == nil && len(sum) == c.newHash().Size()
}

// declared says which checksum a request promises for its body: in a header,
// or in a trailer that comes after it.
type declared struct {
	checksum checksum // "" for none
	value    string   // Base64; "" when it comes in the trailer
	sum      []byte   // value decoded
	trailer  bool
}

// declaredChecksum reads the request's headers. A request may have at most one
// additional checksum.
func declaredChecksum(header func(string) (string, bool)) (declared, error) {
	var d declared
	for _, c := range checksums() {
		value, ok := header(c.header())
		if !ok {
			continue
		}
		if d.checksum != "" {
			return d, fail("InvalidRequest", "Expecting a single %s header. Multiple checksum Types are not allowed.", checksumPrefix)
		}
		sum, ok := c.decode(value)
		if !ok {
			return d, fail("InvalidRequest", "Value for %s header is invalid.", c.header())
		}
		d = declared{checksum: c, value: value, sum: sum}
	}
	if trailer, ok := header("X-Amz-Trailer"); ok {
		name, isChecksum := strings.CutPrefix(strings.ToLower(strings.TrimSpace(trailer)), checksumPrefix)
		c, known := parseChecksum(name)
		switch {
		case !isChecksum || !known:
			return d, fail("InvalidRequest", "The value specified in the x-amz-trailer header is not supported")
		case d.checksum != "":
			return d, fail("InvalidRequest", "Expecting a single %s header. Multiple checksum Types are not allowed.", checksumPrefix)
		}
		d = declared{checksum: c, trailer: true}
	}
	if name, ok := header("X-Amz-Sdk-Checksum-Algorithm"); ok {
		c, known := parseChecksum(name)
		switch {
		case !known:
			return d, fail("InvalidRequest", "Value for x-amz-sdk-checksum-algorithm header is invalid.")
		case d.checksum == "":
			return d, fail("InvalidRequest", "x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or x-amz-trailer headers were found.")
		case d.checksum != c:
			return d, fail("InvalidRequest", "Value for x-amz-sdk-checksum-algorithm header is invalid.")
		}
	}
	return d, nil
}

// contentMD5 reads the Content-MD5 header, nil when there is none.
func contentMD5(h http.Header) ([]byte, error) {
	values := h.Values("Content-MD5")
	if len(values) == 0 {
		return nil, nil
	}
	sum, err := base64.StdEncoding.DecodeString(strings.TrimSpace(values[0]))
	if err != nil || len(sum) != md5.Size {
		return nil, fail("InvalidDigest", "The Content-Md5 you specified is not valid.")
	}
	return sum, nil
}
