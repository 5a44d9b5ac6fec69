package checksum

import (
	"crypto/md5"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/stardustdb/stardust/gateway/s3/s3err"
)

// Declared says which checksum a request promises for its body: in a header,
// or in a trailer that comes after it.
type Declared struct {
	Algorithm Algorithm // "" for none
	Value     string    // Base64; "" when it comes in the trailer
	Sum       []byte    // Value decoded
	Trailer   bool
}

// ReadDeclared reads the request's headers. A request may have at most one
// additional checksum.
func ReadDeclared(header func(string) (string, bool)) (Declared, error) {
	var d Declared
	for _, c := range Algorithms() {
		value, ok := header(c.Header())
		if !ok {
			continue
		}
		if d.Algorithm != "" {
			return d, s3err.ChecksumTwice.New()
		}
		d = Declared{Algorithm: c, Value: value}
	}
	if d.Algorithm != "" {
		sum, ok := d.Algorithm.Decode(d.Value)
		if !ok {
			return d, s3err.ChecksumHeaderInvalid.New(d.Algorithm.Header())
		}
		d.Sum = sum
	}
	if trailer, ok := header("X-Amz-Trailer"); ok {
		name, isChecksum := strings.CutPrefix(strings.ToLower(strings.TrimSpace(trailer)), headerPrefix)
		c, known := Parse(name)
		switch {
		case !isChecksum || !known:
			return d, s3err.TrailerUnsupported.New()
		case d.Algorithm != "":
			return d, s3err.ChecksumTwice.New()
		}
		d = Declared{Algorithm: c, Trailer: true}
	}
	if name, ok := header("X-Amz-Sdk-Checksum-Algorithm"); ok {
		c, known := Parse(name)
		switch {
		case !known:
			return d, s3err.ChecksumHeaderInvalid.New("x-amz-sdk-checksum-algorithm")
		case d.Algorithm == "":
			return d, s3err.ChecksumNotSent.New()
		case d.Algorithm != c:
			return d, s3err.ChecksumHeaderInvalid.New("x-amz-sdk-checksum-algorithm")
		}
	}
	return d, nil
}

// ContentMD5 reads the Content-MD5 header, nil when there is none.
func ContentMD5(h http.Header) ([]byte, error) {
	values := h.Values("Content-MD5")
	if len(values) == 0 {
		return nil, nil
	}
	sum, err := base64.StdEncoding.DecodeString(strings.TrimSpace(values[0]))
	if err != nil || len(sum) != md5.Size {
		return nil, s3err.ContentMD5Invalid.New().With("Content-MD5", values[0])
	}
	return sum, nil
}
