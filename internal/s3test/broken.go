package s3test

import (
	"crypto/tls"
	"encoding/base64"
	bigendian "encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// A Breakage is a way in which a network or a server fails and then works. Every
// one is delivered as a real client meets it: by a listener, a connection, a
// stream or the client's own time-outs.
type Breakage struct {
	Name string
	// Start serves an object of the given bytes under every key, after a
	// failure, until the test ends. The client is the one to use.
	Start func(t *testing.T, data []byte) (endpoint string, client *http.Client)
}

// Breakages returns all of them.
func Breakages() []Breakage {
	return []Breakage{
		{"a dial times out", dialTimeout},
		{"the headers time out", func(t *testing.T, data []byte) (string, *http.Client) {
			return silent(t, data, &http.Client{Transport: &http.Transport{ResponseHeaderTimeout: shortly}})
		}},
		{"the client's request times out", func(t *testing.T, data []byte) (string, *http.Client) {
			return silent(t, data, &http.Client{Transport: &http.Transport{}, Timeout: time.Second})
		}},
		{"the connection is refused", refused},
		{"the connection is closed before the answer", func(t *testing.T, data []byte) (string, *http.Client) {
			return serve(t, data, false, func(w http.ResponseWriter) { hangUp(w, nil, false) })
		}},
		{"the connection is closed within the body", func(t *testing.T, data []byte) (string, *http.Client) {
			return serve(t, data, false, func(w http.ResponseWriter) { hangUp(w, data, false) })
		}},
		{"the connection is reset within the body", func(t *testing.T, data []byte) (string, *http.Client) {
			return serve(t, data, false, func(w http.ResponseWriter) { hangUp(w, data, true) })
		}},
		{"the stream is reset before the answer", func(t *testing.T, data []byte) (string, *http.Client) {
			return serve(t, data, true, func(http.ResponseWriter) { panic(http.ErrAbortHandler) })
		}},
		{"the stream is reset within the body", func(t *testing.T, data []byte) (string, *http.Client) {
			return serve(t, data, true, func(w http.ResponseWriter) {
				head(w, data)
				_, _ = w.Write(data[:len(data)/2])
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			})
		}},
		{"the server goes away", goAway},
		{"a byte of the body is damaged", func(t *testing.T, data []byte) (string, *http.Client) {
			return serve(t, data, false, func(w http.ResponseWriter) {
				head(w, data)
				damaged := append([]byte(nil), data...)
				damaged[len(damaged)/2] ^= 1
				_, _ = w.Write(damaged)
			})
		}},
		{"the server asks to slow down", func(t *testing.T, data []byte) (string, *http.Client) {
			return serve(t, data, false, func(w http.ResponseWriter) {
				w.WriteHeader(http.StatusServiceUnavailable)
				_, _ = io.WriteString(w, "<Error><Code>SlowDown</Code></Error>")
			})
		}},
	}
}

// shortly is how long the clients wait for what never comes.
const shortly = 50 * time.Millisecond

// head writes the headers of a whole answer.
func head(w http.ResponseWriter, data []byte) {
	h := w.Header()
	h.Set("ETag", `"etag"`)
	h.Set("Content-Length", fmt.Sprint(len(data)))
	h.Set("Last-Modified", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Format(http.TimeFormat))
	sum := bigendian.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(data))
	h.Set("X-Amz-Checksum-Crc32", base64.StdEncoding.EncodeToString(sum))
}

// answer answers as S3 does.
func answer(w http.ResponseWriter, r *http.Request, data []byte) {
	from, to := 0, len(data)
	head(w, data)
	if n, _ := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to); n == 2 {
		to++
		w.Header().Del("X-Amz-Checksum-Crc32")
		w.Header().Set("Content-Length", fmt.Sprint(to-from))
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to-1, len(data)))
		w.WriteHeader(http.StatusPartialContent)
	}
	if r.Method != http.MethodHead {
		_, _ = w.Write(data[from:to])
	}
}

// serve runs a server whose first answer is broken, unless that is nil.
func serve(t *testing.T, data []byte, http2 bool, broken func(http.ResponseWriter)) (string, *http.Client) {
	var requests atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 1 && broken != nil {
			broken(w)
			return
		}
		answer(w, r, data)
	}))
	server.EnableHTTP2 = http2
	if http2 {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return server.URL, server.Client()
}

// hangUp ends the connection after half of the body, or before the answer when
// data is nil.
func hangUp(w http.ResponseWriter, data []byte, reset bool) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if data != nil {
		fmt.Fprintf(buffered, "HTTP/1.1 200 OK\r\nETag: \"etag\"\r\nContent-Length: %d\r\n\r\n", len(data))
		_, _ = buffered.Write(data[:len(data)/2])
		_ = buffered.Flush()
	}
	if tcp, ok := conn.(*net.TCPConn); ok && reset {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// silent runs a server that does not answer its first connection.
func silent(t *testing.T, data []byte, client *http.Client) (string, *http.Client) {
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 1 {
			<-r.Context().Done()
			return
		}
		answer(w, r, data)
	}))
	t.Cleanup(server.Close)
	t.Cleanup(client.CloseIdleConnections)
	return server.URL, client
}

// dialTimeout gives a client whose first dial has no time.
func dialTimeout(t *testing.T, data []byte) (string, *http.Client) {
	endpoint, _ := serve(t, data, false, nil)
	var dials atomic.Int64
	transport := &http.Transport{}
	dial := func() *net.Dialer {
		if dials.Add(1) == 1 {
			return &net.Dialer{Timeout: time.Nanosecond}
		}
		return &net.Dialer{}
	}
	transport.DialContext = dialContext(dial)
	t.Cleanup(transport.CloseIdleConnections)
	return endpoint, &http.Client{Transport: transport}
}

// refused gives a client whose first dial goes to a port that nobody listens on.
func refused(t *testing.T, data []byte) (string, *http.Client) {
	endpoint, _ := serve(t, data, false, nil)
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nowhere := gone.Addr().String()
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	var dials atomic.Int64
	transport := &http.Transport{}
	transport.DialContext = redirected(func(addr string) string {
		if dials.Add(1) == 1 {
			return nowhere
		}
		return addr
	})
	t.Cleanup(transport.CloseIdleConnections)
	return endpoint, &http.Client{Transport: transport}
}

// goAway runs an HTTP/2 server that sends GOAWAY with an error to its first
// connection, after the request.
func goAway(t *testing.T, data []byte) (string, *http.Client) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r, data) }))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	rude, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { _ = rude.Close(); <-done })
	config := &tls.Config{Certificates: server.TLS.Certificates, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12}
	go func() {
		defer close(done)
		for {
			conn, err := rude.Accept()
			if err != nil {
				return
			}
			sendGoAway(tls.Server(conn, config))
		}
	}()
	client := server.Client()
	transport := client.Transport.(*http.Transport)
	var dials atomic.Int64
	transport.DialContext = redirected(func(addr string) string {
		if dials.Add(1) == 1 {
			return rude.Addr().String()
		}
		return addr
	})
	return server.URL, client
}

// sendGoAway answers a request with GOAWAY and ends the connection. It reads the
// request's first frame before: one that was not sent yet would go to another
// connection, and nobody would see a failure.
func sendGoAway(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	const headers, settings, goaway, enhanceYourCalm = 1, 4, 7, 11
	frame := func(kind byte, payload []byte) []byte {
		return append([]byte{0, 0, byte(len(payload)), kind, 0, 0, 0, 0, 0}, payload...)
	}
	if _, err := conn.Write(frame(settings, nil)); err != nil {
		return
	}
	if _, err := io.CopyN(io.Discard, conn, int64(len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))); err != nil {
		return
	}
	for {
		var head [9]byte
		if _, err := io.ReadFull(conn, head[:]); err != nil {
			return
		}
		length := int64(head[0])<<16 | int64(head[1])<<8 | int64(head[2])
		if _, err := io.CopyN(io.Discard, conn, length); err != nil {
			return
		}
		if head[3] == headers {
			break
		}
	}
	last := bigendian.BigEndian.AppendUint32(nil, 1)
	_, _ = conn.Write(frame(goaway, bigendian.BigEndian.AppendUint32(last, enhanceYourCalm)))
}
