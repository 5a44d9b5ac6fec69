package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/url"

	"github.com/stardustdb/stardust/objectstore"
)

// IsBroken reports whether a request ended without an answer in a way that a
// new connection may mend: one that broke, was refused or timed out, a stream
// that was reset, a server that goes away. Most errors of that kind have no
// exported type, so it tells those that stay: a host that does not exist, and a
// peer that does not speak TLS or is not the one to talk to.
func IsBroken(err error) bool {
	if objectstore.IsTransient(err) {
		return true
	}
	var (
		dns         *net.DNSError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		alert       tls.AlertError
		ech         *tls.ECHRejectionError
		network     *net.OpError
		request     *url.Error
	)
	switch {
	case err == nil, errors.Is(err, context.Canceled), objectstore.IsNonRetryable(err):
		return false
	case errors.As(err, &dns):
		return !dns.IsNotFound
	case errors.As(err, &certificate), errors.As(err, &record), errors.As(err, &alert), errors.As(err, &ech):
		return false
	case errors.As(err, &network):
		// An *net.OpError also carries what TLS peers say; that stays.
		return network.Op == "dial" || network.Op == "read" || network.Op == "write"
	case errors.As(err, &request):
		return request.Op != "parse"
	}
	return false
}

// Damaged marks an error met while the body of an answer was read. The request
// was right, so whatever damaged the answer on its way, be it a connection that
// was cut, a stream that was reset or a bit that flipped, may not do it again.
func Damaged(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) || objectstore.IsTransient(err) {
		return err
	}
	return objectstore.Transient(err, 0)
}
