package s3

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Without TLS, a server that does not count bytes cannot tell that a body was
// cut, and some servers store what came. A body that can be read only once has
// no checksum beforehand, so it is sent in chunks, each signed together with
// the one before it, the last one empty ("aws-chunked"). The SDK does not have
// this form of signature version 4.
const (
	chunkedPayload = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
	chunkAlgorithm = "AWS4-HMAC-SHA256-PAYLOAD"
	chunkSignature = ";chunk-signature="
	// chunkSize is a chunk's length in bytes; S3 wants at least 8 KiB.
	chunkSize = 64 << 10
	// emptyHash is the SHA-256 of nothing, part of what is signed.
	emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
)

// signedChunks are the options of a request whose body is sent in chunks.
func signedChunks(size int64, credentials aws.CredentialsProvider) func(*s3.Options) {
	return func(o *s3.Options) {
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			announce := &announceChunks{size}
			if _, err := stack.Finalize.Swap(announce.ID(), announce); err != nil {
				return err
			}
			return stack.Finalize.Insert(&signChunks{credentials}, "Signing", middleware.After)
		})
	}
}

// announceChunks sets the headers of a chunked body, in place of the middleware
// that computes the hash of a body.
type announceChunks struct{ size int64 }

func (*announceChunks) ID() string { return (&v4.ComputePayloadSHA256{}).ID() }

func (a *announceChunks) HandleFinalize(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
	middleware.FinalizeOutput, middleware.Metadata, error,
) {
	req, ok := in.Request.(*smithyhttp.Request)
	if !ok {
		return middleware.FinalizeOutput{}, middleware.Metadata{}, fmt.Errorf("request is a %T", in.Request)
	}
	// The payload hash announces the chunks. Content-Encoding could as well, but
	// some servers then keep that as the object's.
	req.Header.Set("X-Amz-Decoded-Content-Length", strconv.FormatInt(a.size, 10))
	req.ContentLength = chunkedLength(a.size)
	return next.HandleFinalize(v4.SetPayloadHash(ctx, chunkedPayload), in)
}

// chunkedLength returns the length of a body of size bytes in chunks.
func chunkedLength(size int64) int64 {
	one := func(n int64) int64 {
		return int64(len(strconv.FormatInt(n, 16))+len(chunkSignature)+2*sha256.Size) + 2 + n + 2
	}
	length := size/chunkSize*one(chunkSize) + one(0)
	if rest := size % chunkSize; rest > 0 {
		length += one(rest)
	}
	return length
}

// signChunks replaces the body once the request is signed: the first chunk is
// signed together with the request's signature.
type signChunks struct{ credentials aws.CredentialsProvider }

func (*signChunks) ID() string { return "StardustSignChunks" }

func (m *signChunks) HandleFinalize(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
	out middleware.FinalizeOutput, metadata middleware.Metadata, err error,
) {
	req, ok := in.Request.(*smithyhttp.Request)
	if !ok {
		return out, metadata, fmt.Errorf("request is a %T", in.Request)
	}
	credentials, err := m.credentials.Retrieve(ctx)
	if err != nil {
		return out, metadata, err
	}
	signer, err := newChunkSigner(req.Header.Get("Authorization"), req.Header.Get("X-Amz-Date"), credentials)
	if err != nil {
		return out, metadata, err
	}
	stream := req.GetStream()
	if stream == nil {
		stream = bytes.NewReader(nil)
	}
	if in.Request, err = req.SetStream(&chunkReader{source: stream, signer: signer, chunk: make([]byte, chunkSize)}); err != nil {
		return out, metadata, err
	}
	return next.HandleFinalize(ctx, in)
}

// chunkSigner signs one chunk after the other.
type chunkSigner struct {
	key      []byte
	prefix   string // algorithm, date and scope, as each string to sign begins
	previous string // the signature before
}

// newChunkSigner goes on from the signature in a request's Authorization header.
func newChunkSigner(authorization, date string, credentials aws.Credentials) (*chunkSigner, error) {
	fields := map[string]string{}
	_, list, _ := strings.Cut(authorization, " ")
	for field := range strings.SplitSeq(list, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		fields[name] = value
	}
	accessKey, scope, _ := strings.Cut(fields["Credential"], "/")
	parts := strings.Split(scope, "/")
	if len(parts) != 4 || fields["Signature"] == "" {
		return nil, errors.New("the request is not signed in the form that a chunked body needs")
	}
	if accessKey != credentials.AccessKeyID {
		return nil, errors.New("the credentials changed while the request was signed")
	}
	key := []byte("AWS4" + credentials.SecretAccessKey)
	for _, part := range parts {
		key = sign(key, part)
	}
	return &chunkSigner{key, chunkAlgorithm + "\n" + date + "\n" + scope + "\n", fields["Signature"]}, nil
}

// next returns the signature of the chunk that follows.
func (s *chunkSigner) next(chunk []byte) string {
	hash := sha256.Sum256(chunk)
	s.previous = hex.EncodeToString(sign(s.key, s.prefix+s.previous+"\n"+emptyHash+"\n"+hex.EncodeToString(hash[:])))
	return s.previous
}

func sign(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// chunkReader encodes a source in signed chunks.
type chunkReader struct {
	source io.Reader
	signer *chunkSigner
	chunk  []byte
	ready  bytes.Buffer // encoded, not yet read
	err    error
}

func (r *chunkReader) Read(p []byte) (int, error) {
	for r.ready.Len() == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.encode()
	}
	return r.ready.Read(p)
}

// encode makes the next chunk ready, or the last, empty one.
func (r *chunkReader) encode() {
	n, err := io.ReadFull(r.source, r.chunk)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		r.err = err
		return
	}
	if n > 0 {
		r.write(r.chunk[:n])
	}
	if err != nil {
		// ReadFull makes an early end of the plain EOF of a short last chunk;
		// a source's own early end must stay one.
		if _, err := r.source.Read(r.chunk[:1]); !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			r.ready.Reset()
			r.err = fmt.Errorf("body did not end: %w", errors.Join(err, io.ErrUnexpectedEOF))
			return
		}
		r.write(nil)
		r.err = io.EOF
	}
}

func (r *chunkReader) write(chunk []byte) {
	fmt.Fprintf(&r.ready, "%x%s%s\r\n", len(chunk), chunkSignature, r.signer.next(chunk))
	r.ready.Write(chunk)
	r.ready.WriteString("\r\n")
}
