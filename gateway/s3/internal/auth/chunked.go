package auth

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"strconv"
	"strings"

	"github.com/stardustdb/stardust/gateway/s3/s3err"
)

const (
	// maxChunkLine bounds the line before a chunk and each line of a trailer.
	maxChunkLine = 4 << 10
	// maxTrailerLines bounds the trailer.
	maxTrailerLines = 16
	// maxChunkSize bounds a chunk: S3's greatest object, 5 TiB, in one piece.
	maxChunkSize = 5 << 40
)

// chunkSigner holds what the signatures of a body's chunks are made of. Each
// signature covers the one before it, the first that of the request.
type chunkSigner struct {
	key      *signingKey
	timeText string
	scope    scope
	previous string
}

// chunk returns the signature of the next chunk with this digest.
func (s *chunkSigner) chunk(digest []byte) string {
	b := s.head("AWS4-HMAC-SHA256-PAYLOAD")
	b = append(b, emptySHA256+"\n"...)
	return s.next(hex.AppendEncode(b, digest))
}

// trailer returns the signature of the trailer in its canonical form.
func (s *chunkSigner) trailer(canonical []byte) string {
	digest := sha256.Sum256(canonical)
	return s.next(hex.AppendEncode(s.head("AWS4-HMAC-SHA256-TRAILER"), digest[:]))
}

func (s *chunkSigner) head(kind string) []byte {
	return append(make([]byte, 0, 320), kind+"\n"+s.timeText+"\n"+s.scope.String()+"\n"+s.previous+"\n"...)
}

func (s *chunkSigner) next(text []byte) string {
	s.previous = s.key.sign(text)
	return s.previous
}

// chunkedReader decodes a body in the aws-chunked encoding:
//
//	5;chunk-signature=<64 hex>\r\n hello \r\n 0;chunk-signature=<64 hex>\r\n [trailer] \r\n
//
// It passes bytes on before the signature of their chunk is checked; its
// error, instead of io.EOF, tells of a wrong one. Chunk signatures are absent
// when signer is nil. It is not safe for concurrent use.
type chunkedReader struct {
	r      *bufio.Reader
	signer *chunkSigner
	digest hash.Hash // of the current chunk; nil without a signer
	want   string    // the signature of the current chunk
	left   int64     // bytes of the current chunk not yet read
	begun  bool      // inside a chunk's data or at its end
	// signedTrailer says that a signature of the trailer follows the chunks'.
	signedTrailer bool
	trailer       string // the name of the one trailer that may come, or ""
	trailers      map[string]string
	err           error
}

// newChunkedReader decodes r. trailer says that the encoding is one with a
// trailer, name which header it is; "" for none.
func newChunkedReader(r io.Reader, signer *chunkSigner, trailer bool, name string) *chunkedReader {
	c := &chunkedReader{
		r: bufio.NewReaderSize(r, maxChunkLine), signer: signer,
		signedTrailer: trailer && signer != nil, trailer: name,
	}
	if signer != nil {
		c.digest = sha256.New()
	}
	return c
}

// Read implements io.Reader.
func (c *chunkedReader) Read(p []byte) (int, error) {
	for c.err == nil && c.left == 0 {
		c.err = c.advance()
	}
	if c.err != nil || len(p) == 0 {
		return 0, c.err
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	if c.digest != nil {
		c.digest.Write(p[:n])
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	c.err = err
	return n, err
}

// advance ends the current chunk, if any, and begins the next. After the last
// one it reads the trailer and returns io.EOF.
func (c *chunkedReader) advance() error {
	if c.begun {
		if err := c.endOfChunk(); err != nil {
			return err
		}
		if err := c.checkChunk(); err != nil {
			return err
		}
	}
	line, err := c.chunkLine()
	if err != nil {
		return err
	}
	size, extension, _ := strings.Cut(line, ";")
	c.left, err = parseChunkSize(size)
	if err != nil {
		return err
	}
	if c.signer != nil {
		signature, ok := strings.CutPrefix(extension, "chunk-signature=")
		if !ok {
			return s3err.ChunksCut.New()
		}
		c.want = signature
		c.digest.Reset()
	}
	c.begun = true
	if c.left > 0 {
		return nil
	}
	if err := c.checkChunk(); err != nil {
		return err
	}
	return c.finish()
}

// endOfChunk reads the line end after a chunk's data.
func (c *chunkedReader) endOfChunk() error {
	line, err := c.chunkLine()
	if err != nil {
		return err
	}
	if line != "" {
		return s3err.ChunksCut.New()
	}
	return nil
}

func (c *chunkedReader) checkChunk() error {
	if c.signer != nil && !equalSignatures(c.signer.chunk(c.digest.Sum(nil)), c.want) {
		return s3err.SignatureDoesNotMatch.New()
	}
	return nil
}

// finish reads what follows the last chunk: the trailer, when there is one,
// and an empty line, which some clients leave out. Nothing may follow.
//
// Some clients end the lines of a signed trailer with a line feed, some put
// another empty line before its signature; both are accepted.
func (c *chunkedReader) finish() error {
	var canonical bytes.Buffer
	signature := ""
	for range maxTrailerLines {
		line, _, err := c.line()
		if errors.Is(err, io.EOF) {
			return c.finishTrailer(canonical.Bytes(), signature)
		}
		if err != nil {
			return err
		}
		if line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		switch {
		case c.signedTrailer && name == "x-amz-trailer-signature":
			signature = value
			continue
		case !ok || name != c.trailer || c.trailers != nil:
			return s3err.TrailerMalformed.New()
		}
		c.trailers = map[string]string{name: value}
		canonical.WriteString(name + ":" + value + "\n")
	}
	return s3err.TrailerMalformed.New()
}

func (c *chunkedReader) finishTrailer(canonical []byte, signature string) error {
	if c.signedTrailer && !equalSignatures(c.signer.trailer(canonical), signature) {
		return s3err.SignatureDoesNotMatch.New()
	}
	return io.EOF
}

// chunkLine reads a line of the chunks, which must end in "\r\n".
func (c *chunkedReader) chunkLine() (string, error) {
	line, proper, err := c.line()
	switch {
	case errors.Is(err, io.EOF):
		return "", io.ErrUnexpectedEOF
	case err == nil && !proper:
		return "", s3err.ChunksCut.New()
	}
	return line, err
}

// line reads one line and strips its end; proper says that it was "\r\n". At
// the very end it returns io.EOF.
func (c *chunkedReader) line() (text string, proper bool, err error) {
	b, err := c.r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return "", false, s3err.ChunkLineTooLong.New(maxChunkLine)
	case errors.Is(err, io.EOF) && len(b) > 0:
		return "", false, io.ErrUnexpectedEOF
	case err != nil:
		return "", false, err
	}
	b, proper = bytes.CutSuffix(b[:len(b)-1], []byte("\r"))
	return string(b), proper, nil
}

// parseChunkSize parses the hexadecimal size before a chunk.
func parseChunkSize(s string) (int64, error) {
	n, err := strconv.ParseUint(s, 16, 63)
	if err != nil || s[0] == '+' || n > maxChunkSize {
		return 0, s3err.ChunksCut.New()
	}
	return int64(n), nil
}
