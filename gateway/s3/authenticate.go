package s3

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"
)

// maxSkew is how far a client's clock may be off.
const maxSkew = 15 * time.Minute

// identity is who sent a request and how its body is protected.
type identity struct {
	accessKey string // empty for an anonymous request
	presigned bool
	payload   payloadKind
	digest    []byte       // of a hashedPayload
	signer    *chunkSigner // nil for an anonymous request
}

// authenticate finds out who sent the request.
func (h *Handler) authenticate(r *http.Request, q query) (identity, error) {
	header := r.Header.Get("Authorization")
	inQuery := q.has("X-Amz-Algorithm") || q.has("X-Amz-Credential") || q.has("X-Amz-Signature")
	switch {
	case header != "" && inQuery:
		return identity{}, fail("InvalidArgument", "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string parameter or the Authorization header should be specified")
	case header != "":
		a, err := parseAuthorization(header)
		if err != nil {
			return identity{}, err
		}
		return h.fromHeader(r, q, a)
	case inQuery:
		a, err := parsePresigned(q)
		if err != nil {
			return identity{}, err
		}
		return h.fromQuery(r, q, a)
	case q.has("AWSAccessKeyId") && q.has("Signature"):
		return identity{}, fail("InvalidRequest", "The authorization mechanism you have provided is not supported. Please use %s.", signAlgorithm)
	case !h.options.Anonymous:
		return identity{}, fail("AccessDenied", accessDeniedMessage)
	}
	return h.anonymous(r)
}

// anonymous describes a request without a signature. Its body may still be
// protected by a digest or a trailer.
func (h *Handler) anonymous(r *http.Request) (identity, error) {
	value := r.Header.Get("X-Amz-Content-Sha256")
	if value == "" {
		return identity{}, nil
	}
	kind, digest, err := parsePayload(value)
	return identity{payload: kind, digest: digest}, err
}

// fromHeader checks a request that is signed in its Authorization header.
func (h *Handler) fromHeader(r *http.Request, q query, a authorization) (identity, error) {
	var err error
	if a.time, a.timeText, err = requestTime(r); err != nil {
		return identity{}, err
	}
	if a.time.Format(signDayFormat) != a.scope.day {
		return identity{}, fail("SignatureDoesNotMatch", "Date in Credential scope does not match the date of the request: %s is not %s.", a.scope.day, a.time.Format(signDayFormat))
	}
	if skew := h.options.Clock().Sub(a.time).Abs(); skew > maxSkew {
		failure := fail("RequestTimeTooSkewed", "The difference between the request time and the current time is too large.")
		failure.Fields = map[string]string{
			"RequestTime":                a.timeText,
			"ServerTime":                 h.options.Clock().UTC().Format(time.RFC3339),
			"MaxAllowedSkewMilliseconds": "900000",
		}
		return identity{}, failure
	}
	value := r.Header.Get("X-Amz-Content-Sha256")
	kind, digest, err := parsePayload(value)
	if err != nil {
		return identity{}, err
	}
	id, err := h.verify(r, q, a, value)
	if err != nil {
		return id, err
	}
	id.payload, id.digest = kind, digest
	if kind == hashedPayload && r.ContentLength == 0 && hex.EncodeToString(digest) != emptySHA256 {
		return id, sha256Mismatch(digest, sha256.New().Sum(nil))
	}
	return id, nil
}

// requestTime returns the time of a request from x-amz-date or Date.
func requestTime(r *http.Request) (time.Time, string, error) {
	text := r.Header.Get("X-Amz-Date")
	if text != "" {
		t, err := time.Parse(signTimeFormat, text)
		if err != nil {
			return t, "", fail("AccessDenied", "AWS authentication requires a valid Date or x-amz-date header.")
		}
		return t, text, nil
	}
	text = r.Header.Get("Date")
	if t, err := http.ParseTime(text); err == nil {
		t = t.UTC()
		return t, t.Format(signTimeFormat), nil
	}
	t, err := time.Parse(signTimeFormat, text)
	if err != nil {
		return t, "", fail("AccessDenied", "AWS authentication requires a valid Date or x-amz-date header.")
	}
	return t, text, nil
}

// fromQuery checks a request with a presigned URL.
func (h *Handler) fromQuery(r *http.Request, q query, a authorization) (identity, error) {
	now := h.options.Clock()
	switch {
	case a.time.Format(signDayFormat) != a.scope.day:
		return identity{}, fail("AuthorizationQueryParametersError", "Invalid credential date %q. This date is not the same as X-Amz-Date: %q.", a.scope.day, a.time.Format(signDayFormat))
	case a.time.Sub(now) > maxSkew:
		return identity{}, fail("AccessDenied", "Request is not yet valid")
	case now.Sub(a.time) > a.expires:
		failure := fail("AccessDenied", "Request has expired.")
		failure.Fields = map[string]string{
			"Expires":    a.time.Add(a.expires).Format(time.RFC3339),
			"ServerTime": now.UTC().Format(time.RFC3339),
		}
		return identity{}, failure
	}
	// What the URL signs of the body counts; a digest that only a header
	// gives can make the check stricter.
	signed := q.get("X-Amz-Content-Sha256")
	value := r.Header.Get("X-Amz-Content-Sha256")
	if signed == "" {
		signed = "UNSIGNED-PAYLOAD"
		for _, name := range a.signedHeaders {
			if name == "x-amz-content-sha256" {
				signed = value
			}
		}
	}
	if value == "" {
		value = signed
	}
	kind, digest, err := parsePayload(value)
	if err != nil {
		return identity{}, err
	}
	id, err := h.verify(r, q, a, signed)
	id.payload, id.digest = kind, digest
	return id, err
}

// verify checks the scope and the signature itself. payload is the value of
// x-amz-content-sha256 that is signed.
func (h *Handler) verify(r *http.Request, q query, a authorization, payload string) (identity, error) {
	if a.scope.region != h.options.Region {
		code, where := headerMalformed, "The authorization header is malformed"
		if a.presigned {
			code, where = queryParametersError, "Error parsing the X-Amz-Credential parameter"
		}
		failure := fail(code, "%s; the region %q is wrong; expecting %q", where, a.scope.region, h.options.Region)
		failure.Fields = map[string]string{"Region": h.options.Region}
		return identity{}, failure
	}
	if r.Header.Get("X-Amz-Security-Token") != "" || q.has("X-Amz-Security-Token") {
		return identity{}, fail("InvalidToken", "The provided token is malformed or otherwise invalid.")
	}
	key, ok := h.keys.key(a.scope)
	if !ok {
		failure := fail("InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records.")
		failure.Fields = map[string]string{"AWSAccessKeyId": a.scope.accessKey}
		return identity{}, failure
	}
	if names := unsignedHeaders(r, a); len(names) > 0 {
		failure := fail("AccessDenied", "There were headers present in the request which were not signed")
		failure.Fields = map[string]string{"HeadersNotSigned": strings.Join(names, ", ")}
		return identity{}, failure
	}
	var buffer [1024]byte
	canonical := appendCanonicalRequest(buffer[:0], r, q, a, payload)
	text := stringToSign(a, canonical)
	if !equalSignatures(key.sign(text), a.signature) {
		failure := fail("SignatureDoesNotMatch", signatureMessage)
		failure.Fields = map[string]string{
			"AWSAccessKeyId":    a.scope.accessKey,
			"SignatureProvided": a.signature,
			"StringToSign":      string(text),
			"CanonicalRequest":  string(canonical),
		}
		return identity{}, failure
	}
	return identity{
		accessKey: a.scope.accessKey,
		presigned: a.presigned,
		signer:    &chunkSigner{key: key, timeText: a.timeText, scope: a.scope, previous: a.signature},
	}, nil
}
