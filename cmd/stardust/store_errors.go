package main

import (
	"errors"
	"net"
	"net/url"
	"strings"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

// storeError says which URL, object or directory a store's error is about:
// once, however many layers have described it.
type storeError struct {
	subject string
	err     error
}

func (s *storeError) Error() string {
	call, err := innermostCall(s.err)
	if !strings.HasSuffix(s.subject, call.Path) && !strings.HasSuffix(withoutQuery(s.subject), call.Path) {
		return s.subject + ": " + call.Path + ": " + storeReason(call.Op, err)
	}
	return s.subject + ": " + storeReason(call.Op, err)
}

func (s *storeError) Unwrap() error { return s.err }

// aboutStore says what an error of a store is about; nil stays nil, and an error
// that names its subject already stays as it is.
func aboutStore(subject string, err error) error {
	var named *storeError
	var usage *usageError
	if err == nil || errors.As(err, &named) || errors.As(err, &usage) {
		return err
	}
	return &storeError{redacted(subject), err}
}

// aboutOpening is aboutStore for a store that does not open. A URL that makes
// no sense is a usage error.
func aboutOpening(rawURL string, err error) error {
	named := aboutStore(rawURL, err)
	if errors.Is(err, objectstore.ErrInvalidOption) || errors.Is(err, objectstore.ErrInvalidPath) {
		return &usageError{named}
	}
	return named
}

// innermostCall returns the call of a store that failed first, and why it did.
// The call is empty when err is not one's error.
func innermostCall(err error) (objectstore.Error, error) {
	var innermost objectstore.Error
	for {
		var call *objectstore.Error
		if !errors.As(err, &call) {
			return innermost, err
		}
		innermost, err = *call, call.Err
	}
}

// storeReason returns why a call of a store failed, in words.
func storeReason(op string, err error) string {
	var local *mirror.Local
	switch {
	case op == "open" && errors.Is(err, objectstore.ErrNotFound):
		return "there is no such directory"
	case errors.As(err, &local) && local.Path != "":
		return explain(local.Source)
	case errors.As(err, &local):
		return local.Op + ": " + explain(local.Source)
	}
	if reason := remoteReason(err); reason != "" {
		return reason
	}
	text := explain(err)
	for _, label := range []string{objectstore.ErrInvalidOption.Error() + ": ", "invalid mirror configuration: "} {
		text = strings.TrimPrefix(text, label)
	}
	return text
}

// remoteReason returns the reason that a remote server, or the network, gave,
// without the SDK's description of the request; empty if there is none.
func remoteReason(err error) string {
	kind := ""
	for _, sentinel := range []error{
		objectstore.ErrAlreadyExists, objectstore.ErrNotFound, objectstore.ErrPrecondition,
		objectstore.ErrUnauthenticated, objectstore.ErrPermissionDenied,
	} {
		if errors.Is(err, sentinel) {
			kind = sentinel.Error()
			break
		}
	}
	var answer interface{ ErrorCode() string }
	var network *net.OpError
	switch {
	case errors.As(err, &answer):
		code := answer.ErrorCode()
		if message, ok := answer.(interface{ ErrorMessage() string }); ok && message.ErrorMessage() != "" {
			code += ": " + strings.TrimSuffix(message.ErrorMessage(), ".")
		}
		switch {
		case errors.Is(err, objectstore.ErrAlreadyExists):
			return kind
		case kind != "":
			return kind + " (" + code + ")"
		}
		return code
	case errors.Is(err, objectstore.ErrUnauthenticated):
		return kind + "; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile"
	case errors.As(err, &network):
		return network.Error()
	}
	return ""
}

// redacted returns a URL without the secret that somebody may have put into it.
func redacted(rawURL string) string {
	if u, err := url.Parse(rawURL); err == nil && u.User != nil {
		return u.Redacted()
	}
	return rawURL
}

func withoutQuery(rawURL string) string {
	if !isPlainPath(rawURL) {
		rawURL, _, _ = strings.Cut(rawURL, "?")
	}
	return rawURL
}
