package s3

import (
	"crypto/md5"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// payloadKind says how a request protects its body, by the value of its
// x-amz-content-sha256.
type payloadKind int

const (
	unsignedPayload payloadKind = iota // UNSIGNED-PAYLOAD: not at all
	hashedPayload                      // the SHA-256 of the whole
	signedChunks                       // STREAMING-AWS4-HMAC-SHA256-PAYLOAD
	signedChunksTrailer
	unsignedChunksTrailer // STREAMING-UNSIGNED-PAYLOAD-TRAILER
)

func (k payloadKind) chunked() bool { return k >= signedChunks }
func (k payloadKind) trailer() bool { return k >= signedChunksTrailer }

// parsePayload parses the value of x-amz-content-sha256. The digest is set for
// hashedPayload only.
func parsePayload(value string) (kind payloadKind, digest []byte, err error) {
	switch value {
	case "UNSIGNED-PAYLOAD":
		return unsignedPayload, nil, nil
	case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD":
		return signedChunks, nil, nil
	case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER":
		return signedChunksTrailer, nil, nil
	case "STREAMING-UNSIGNED-PAYLOAD-TRAILER":
		return unsignedChunksTrailer, nil, nil
	case "":
		return 0, nil, fail("InvalidRequest", "Missing required header for this request: x-amz-content-sha256")
	}
	if strings.HasPrefix(value, "STREAMING-AWS4-ECDSA-") {
		return 0, nil, fail("NotImplemented", "Signature Version 4A is not supported.")
	}
	digest, err = hex.DecodeString(value)
	if err != nil || len(digest) != sha256.Size {
		return 0, nil, argument("x-amz-content-sha256", value, "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-UNSIGNED-PAYLOAD-TRAILER, STREAMING-AWS4-HMAC-SHA256-PAYLOAD, STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER, STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD, STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER or a valid sha256 value.")
	}
	return hashedPayload, digest, nil
}

// payload is the body of a request: decoded, and verified as it is read. Its
// Read returns io.EOF only when the length, and every digest, checksum and
// signature that the request promised, are right. It is not safe for
// concurrent use.
type payload struct {
	r        io.Reader
	size     int64
	read     int64
	checks   []check
	declared declared
	chunks   *chunkedReader // nil unless aws-chunked
	err      error          // what Read returned last, io.EOF at a good end
}

// check is one digest of the body.
type check struct {
	hash    hash.Hash
	want    []byte // nil when it comes in the trailer, or is only computed
	failure func(want, got []byte) *Failure
	// additional says that it is an x-amz-checksum- one.
	additional bool
	// computed says that it is not compared with anything.
	computed bool
}

// compute has a checksum computed that the request did not promise.
func (p *payload) compute(c checksum) {
	p.checks = append(p.checks, check{additional: true, computed: true, hash: c.newHash()})
}

// additional returns the additional checksum of a body that was read to its end,
// promised or computed; nil when there is none.
func (p *payload) additional() []byte {
	for _, c := range p.checks {
		if c.additional {
			return c.hash.Sum(nil)
		}
	}
	return nil
}

func sha256Mismatch(want, got []byte) *Failure {
	failure := fail("XAmzContentSHA256Mismatch", "The provided 'x-amz-content-sha256' header does not match what was computed.")
	failure.Fields = map[string]string{
		"ClientComputedContentSHA256": hex.EncodeToString(want),
		"S3ComputedContentSHA256":     hex.EncodeToString(got),
	}
	return failure
}

func md5Mismatch(want, got []byte) *Failure {
	failure := fail("BadDigest", "The Content-MD5 you specified did not match what we received.")
	failure.Fields = map[string]string{
		"ExpectedDigest":   base64.StdEncoding.EncodeToString(want),
		"CalculatedDigest": base64.StdEncoding.EncodeToString(got),
	}
	return failure
}

// newPayload prepares the body of a request, to be read from raw. signer is nil
// when the request is not signed. Nothing is read yet.
func newPayload(r *http.Request, raw io.Reader, header func(string) (string, bool), kind payloadKind, digest []byte, signer *chunkSigner) (*payload, error) {
	p := &payload{r: raw, size: r.ContentLength}
	var err error
	if p.declared, err = declaredChecksum(header); err != nil {
		return nil, err
	}
	if kind.chunked() {
		if err := p.decodeChunks(r, kind, signer); err != nil {
			return nil, err
		}
	}
	switch {
	case p.size < 0:
		return nil, fail("MissingContentLength", "You must provide the Content-Length HTTP header.")
	case p.declared.trailer && !kind.trailer():
		return nil, fail("InvalidRequest", "The x-amz-trailer header needs an x-amz-content-sha256 that ends in -TRAILER.")
	}
	if kind == hashedPayload {
		p.checks = append(p.checks, check{hash: sha256.New(), want: digest, failure: sha256Mismatch})
	}
	sum, err := contentMD5(r.Header)
	if err != nil {
		return nil, err
	}
	if sum != nil {
		p.checks = append(p.checks, check{hash: md5.New(), want: sum, failure: md5Mismatch})
	}
	if c := p.declared.checksum; c != "" {
		p.checks = append(p.checks, check{additional: true, hash: c.newHash(), want: p.declared.sum, failure: func(_, _ []byte) *Failure {
			return fail("BadDigest", "The %s you specified did not match the calculated checksum.", c)
		}})
	}
	return p, nil
}

func (p *payload) decodeChunks(r *http.Request, kind payloadKind, signer *chunkSigner) error {
	length := r.Header.Get("X-Amz-Decoded-Content-Length")
	if length == "" {
		return fail("MissingContentLength", "You must provide the Content-Length HTTP header.")
	}
	n, err := strconv.ParseUint(length, 10, 63)
	if err != nil {
		return fail("InvalidArgument", "x-amz-decoded-content-length is not a number of bytes.")
	}
	p.size = int64(n)
	if kind == unsignedChunksTrailer {
		signer = nil
	} else if signer == nil {
		return fail("AccessDenied", "A body of signed chunks needs a signed request.")
	}
	trailer := ""
	if p.declared.trailer && kind.trailer() {
		trailer = p.declared.checksum.header()
	}
	p.chunks = newChunkedReader(p.r, signer, kind.trailer(), trailer)
	p.r = p.chunks
	return nil
}

// Read implements io.Reader.
func (p *payload) Read(b []byte) (int, error) {
	if p.err != nil {
		return 0, p.err
	}
	n, err := p.r.Read(b)
	p.read += int64(n)
	for _, c := range p.checks {
		c.hash.Write(b[:n])
	}
	switch {
	case p.read > p.size:
		p.err = fail("IncompleteBody", "The body is longer than its %d bytes.", p.size)
		return 0, p.err
	case errors.Is(err, io.EOF):
		err = p.verify()
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = &Failure{Code: "IncompleteBody", Message: incompleteBodyMessage, Err: err}
	}
	p.err = err
	return n, err
}

// verify checks the whole body and returns io.EOF when it is as promised.
func (p *payload) verify() error {
	if p.read != p.size {
		return fail("IncompleteBody", incompleteBodyMessage)
	}
	for i := range p.checks {
		c := &p.checks[i]
		if c.computed {
			continue
		}
		if c.want == nil {
			var err error
			if c.want, err = p.fromTrailer(); err != nil {
				return err
			}
		}
		if got := c.hash.Sum(nil); subtle.ConstantTimeCompare(got, c.want) != 1 {
			return c.failure(c.want, got)
		}
	}
	return io.EOF
}

// fromTrailer reads the checksum that the trailer carries.
func (p *payload) fromTrailer() ([]byte, error) {
	name := p.declared.checksum.header()
	value, ok := p.chunks.trailers[name]
	if !ok {
		return nil, fail("MalformedTrailerError", trailerMessage)
	}
	sum, ok := p.declared.checksum.decode(value)
	if !ok {
		return nil, fail("InvalidRequest", "Value for %s trailing header is invalid.", name)
	}
	p.declared.value, p.declared.sum = value, sum
	return sum, nil
}

// failure returns the error with which reading the body ended, nil when it
// ended well or has not ended.
func (p *payload) failure() error {
	if p.err == nil || errors.Is(p.err, io.EOF) {
		return nil
	}
	return p.err
}
