package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"golang.org/x/sync/errgroup"
)

// readConnections is how many connections read at a time.
const readConnections = 4

// readClient reads one URL. It is as small as can be, because client and server
// share the cores: what the client costs hides what the server does. Its
// requests are ready but for the range, which the signature leaves out.
type readClient struct {
	ctx     context.Context //nolint:containedctx // the run's
	address string
	request []byte // without a Range and the empty line
}

func newReadClient(ctx context.Context, url string, signed bool) (*readClient, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if signed {
		empty := sha256.Sum256(nil)
		hash := hex.EncodeToString(empty[:])
		request.Header.Set("X-Amz-Content-Sha256", hash)
		signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
		err := signer.SignHTTP(ctx, aws.Credentials{AccessKeyID: benchAccess, SecretAccessKey: benchSecret},
			request, hash, "s3", benchRegion, time.Now())
		if err != nil {
			return nil, err
		}
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "GET %s HTTP/1.1\r\nHost: %s\r\n", request.URL.Path, request.URL.Host)
	if err := request.Header.Write(&text); err != nil {
		return nil, err
	}
	return &readClient{ctx, request.URL.Host, text.Bytes()}, nil
}

// reads makes so many requests for ranges of a length at random places of an
// object, over a few connections; one of the whole size is for all of it.
func (c *readClient) reads(requests int, length, size int64) error {
	connections := min(requests, readConnections)
	var group errgroup.Group
	for n := range connections {
		group.Go(func() error { return c.connection(uint64(n), requests/connections, length, size) })
	}
	return group.Wait()
}

func (c *readClient) connection(seed uint64, requests int, length, size int64) error {
	conn, err := (&net.Dialer{}).DialContext(c.ctx, "tcp", c.address)
	if err != nil {
		return err
	}
	defer conn.Close()
	in, buffer := bufio.NewReaderSize(conn, 4<<10), make([]byte, 256<<10)
	source := rand.New(rand.NewPCG(seed, 2))
	var request []byte
	for range requests {
		request = append(request[:0], c.request...)
		if length < size {
			at := source.Int64N(size - length)
			request = fmt.Appendf(request, "Range: bytes=%d-%d\r\n", at, at+length-1)
		}
		if _, err := conn.Write(append(request, "\r\n"...)); err != nil {
			return err
		}
		got, err := readHeader(in)
		if err != nil {
			return err
		}
		if got != length {
			return fmt.Errorf("%s answered with %d bytes, want %d", c.address, got, length)
		}
		for got > 0 {
			n, err := in.Read(buffer[:min(got, int64(len(buffer)))])
			if got -= int64(n); err != nil {
				return err
			}
		}
	}
	return nil
}

// readHeader reads a successful response's header and returns the length of its
// body.
func readHeader(in *bufio.Reader) (length int64, err error) {
	status, err := in.ReadString('\n')
	if err != nil {
		return 0, err
	}
	if len(status) < 12 || status[9:11] != "20" {
		rest, _ := io.ReadAll(io.LimitReader(in, int64(in.Buffered())))
		return 0, fmt.Errorf("%s%s", status, rest)
	}
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			return length, nil
		}
		if name, value, ok := bytes.Cut(line, []byte(": ")); ok && bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.ParseInt(string(value), 10, 64); err != nil {
				return 0, err
			}
		}
	}
}
