package auth

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

	"github.com/stardustdb/stardust/gateway/s3/internal/checksum"
	"github.com/stardustdb/stardust/gateway/s3/s3err"
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
		return 0, nil, s3err.ContentSHA256Missing.New()
	}
	if strings.HasPrefix(value, "STREAMING-AWS4-ECDSA-") {
		return 0, nil, s3err.Signature4ANotImplemented.New(value, signAlgorithm)
	}
	digest, err = hex.DecodeString(value)
	if err != nil || len(digest) != sha256.Size {
		return 0, nil, s3err.ContentSHA256Invalid.New().Argument("x-amz-content-sha256", value)
	}
	return hashedPayload, digest, nil
}

// Payload is the body of a request: decoded, and verified as it is read. Its
// Read returns io.EOF only when the length, and every digest, checksum and
// signature that the request promised, are right. It is not safe for
// concurrent use.
type Payload struct {
	r        io.Reader
	size     int64 // less than 0 of a form's file
	read     int64
	checks   []check
	declared checksum.Declared
	chunks   *chunkedReader // nil unless aws-chunked
	err      error          // what Read returned last, io.EOF at a good end
}

// check is one digest of the body.
type check struct {
	hash    hash.Hash
	want    []byte // nil when it comes in the trailer, or is only computed
	failure func(want, got []byte) *s3err.Failure
	// additional says that it is an x-amz-checksum- one.
	additional bool
	// computed says that it is not compared with anything.
	computed bool
}

// Compute has a checksum computed that the request did not promise.
func (p *Payload) Compute(c checksum.Algorithm) {
	p.checks = append(p.checks, check{additional: true, computed: true, hash: c.New()})
}

// Checksum returns the additional checksum of a body that was read to its end,
// promised or computed; nil when there is none.
func (p *Payload) Checksum() []byte {
	for _, c := range p.checks {
		if c.additional {
			return c.hash.Sum(nil)
		}
	}
	return nil
}

func sha256Mismatch(want, got []byte) *s3err.Failure {
	return s3err.ContentSHA256Mismatch.New().With("ClientComputedContentSHA256", hex.EncodeToString(want)).
		With("S3ComputedContentSHA256", hex.EncodeToString(got))
}

func md5Mismatch(want, got []byte) *s3err.Failure {
	return s3err.ContentMD5Mismatch.New().With("ExpectedDigest", hex.EncodeToString(want)).
		With("CalculatedDigest", base64.StdEncoding.EncodeToString(got))
}

// Payload prepares the body of the request that the identity is of, to be read from
// raw. header returns the values of headers that tell of checksums. Nothing is read
// yet.
func (id Identity) Payload(r *http.Request, raw io.Reader, header func(string) (string, bool)) (*Payload, error) {
	kind := id.payload
	p := &Payload{r: raw, size: r.ContentLength}
	var err error
	if p.declared, err = checksum.ReadDeclared(header); err != nil {
		return nil, err
	}
	if kind.chunked() {
		if err := p.decodeChunks(r, kind, id.signer); err != nil {
			return nil, err
		}
	}
	switch {
	case p.size < 0:
		return nil, s3err.ContentLengthMissing.New()
	case p.declared.Trailer && !kind.trailer():
		return nil, s3err.TrailerUnannounced.New()
	}
	if kind == hashedPayload {
		p.checks = append(p.checks, check{hash: sha256.New(), want: id.digest, failure: sha256Mismatch})
	}
	if err := p.expect(r.Header); err != nil {
		return nil, err
	}
	return p, nil
}

// FormFile prepares the file of a form, to be read from raw, which ends where the file
// does. h are the form's fields as headers, and header returns those that tell of
// checksums.
func FormFile(raw io.Reader, h http.Header, header func(string) (string, bool)) (*Payload, error) {
	p := &Payload{r: raw, size: -1}
	var err error
	if p.declared, err = checksum.ReadDeclared(header); err != nil {
		return nil, err
	}
	if p.declared.Trailer {
		return nil, s3err.TrailerUnannounced.New()
	}
	if err := p.expect(h); err != nil {
		return nil, err
	}
	return p, nil
}

// expect has the body compared with the digests that the headers promise.
func (p *Payload) expect(h http.Header) error {
	sum, err := checksum.ContentMD5(h)
	if err != nil {
		return err
	}
	if sum != nil {
		p.checks = append(p.checks, check{hash: md5.New(), want: sum, failure: md5Mismatch})
	}
	if c := p.declared.Algorithm; c != "" {
		p.checks = append(p.checks, check{additional: true, hash: c.New(), want: p.declared.Sum, failure: func(_, _ []byte) *s3err.Failure {
			return s3err.ChecksumMismatch.New(c)
		}})
	}
	return nil
}

func (p *Payload) decodeChunks(r *http.Request, kind payloadKind, signer *chunkSigner) error {
	length := r.Header.Get("X-Amz-Decoded-Content-Length")
	if length == "" {
		return s3err.ContentLengthMissing.New()
	}
	n, err := strconv.ParseUint(length, 10, 63)
	if err != nil {
		return s3err.ContentLengthMissing.New()
	}
	p.size = int64(n)
	if kind == unsignedChunksTrailer {
		signer = nil
	} else if signer == nil {
		return s3err.SignedChunksUnsigned.New()
	}
	trailer := ""
	if p.declared.Trailer && kind.trailer() {
		trailer = p.declared.Algorithm.Header()
	}
	p.chunks = newChunkedReader(p.r, signer, kind.trailer(), trailer)
	p.r = p.chunks
	return nil
}

// Size returns the length of the body, decoded, in bytes; less than 0 of the file of a
// form.
func (p *Payload) Size() int64 { return p.size }

// Received returns how many bytes of it were read.
func (p *Payload) Received() int64 { return p.read }

// Declared returns the checksum that the request promises. Its value is known once
// the body was read when it comes in the trailer.
func (p *Payload) Declared() checksum.Declared { return p.declared }

// Read implements io.Reader.
func (p *Payload) Read(b []byte) (int, error) {
	if p.err != nil {
		return 0, p.err
	}
	n, err := p.r.Read(b)
	p.read += int64(n)
	for _, c := range p.checks {
		c.hash.Write(b[:n])
	}
	switch {
	case p.size >= 0 && p.read > p.size:
		p.err = s3err.IncompleteBody.New()
		return 0, p.err
	case errors.Is(err, io.EOF):
		err = p.verify()
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = p.cut().Wrap(err)
	}
	p.err = err
	return n, err
}

// cut is the row of a body that ends too early.
func (p *Payload) cut() s3err.Row {
	switch {
	case p.chunks != nil:
		return s3err.ChunksCut
	case p.size < 0:
		return s3err.FormMalformed
	}
	return s3err.IncompleteBody
}

// verify checks the whole body and returns io.EOF when it is as promised.
func (p *Payload) verify() error {
	if p.size >= 0 && p.read != p.size {
		return s3err.IncompleteBody.New()
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
func (p *Payload) fromTrailer() ([]byte, error) {
	name := p.declared.Algorithm.Header()
	value, ok := p.chunks.trailers[name]
	if !ok {
		return nil, s3err.TrailerMalformed.New()
	}
	sum, ok := p.declared.Algorithm.Decode(value)
	if !ok {
		return nil, s3err.ChecksumTrailerInvalid.New(name)
	}
	p.declared.Value, p.declared.Sum = value, sum
	return sum, nil
}

// Failure returns the error with which reading the body ended, nil when it
// ended well or has not ended.
func (p *Payload) Failure() error {
	if p.err == nil || errors.Is(p.err, io.EOF) {
		return nil
	}
	return p.err
}
