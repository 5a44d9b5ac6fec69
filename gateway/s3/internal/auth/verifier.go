package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stardustdb/stardust/gateway/s3/s3err"
)

// maxSkew is how far a client's clock may be off.
const maxSkew = 15 * time.Minute

// Options are the options of [NewVerifier].
type Options struct {
	// Secrets are the secret keys by access key. The map must not change.
	Secrets map[string]string
	// Anonymous lets requests without a signature pass.
	Anonymous bool
	// Region is the region that signatures must name.
	Region string
	// Clock tells the time.
	Clock func() time.Time
}

// Verifier finds out who sent a request. It is safe for concurrent use.
type Verifier struct {
	options Options
	keys    *keyCache
}

// NewVerifier returns a Verifier.
func NewVerifier(o Options) *Verifier {
	return &Verifier{options: o, keys: newKeyCache(o.Secrets)}
}

// Identity is who sent a request and how its body is protected.
type Identity struct {
	AccessKey string // empty for an anonymous request
	Presigned bool   // by a URL, in whose query x-amz- headers may be
	payload   payloadKind
	digest    []byte       // of a hashedPayload
	signer    *chunkSigner // nil for an anonymous request
}

// Verify finds out who sent a request, whose query is q. Its error is a
// [s3err.Failure].
func (v *Verifier) Verify(r *http.Request, q Query) (Identity, error) {
	header := r.Header.Get("Authorization")
	inQuery := q.Has("X-Amz-Algorithm") || q.Has("X-Amz-Credential") || q.Has("X-Amz-Signature")
	switch {
	case header != "" && inQuery:
		return Identity{}, s3err.TwoAuthMechanisms.New()
	case header != "":
		a, err := parseAuthorization(header)
		if err != nil {
			return Identity{}, err
		}
		return v.fromHeader(r, q, a)
	case inQuery:
		a, err := parsePresigned(q)
		if err != nil {
			return Identity{}, err
		}
		return v.fromQuery(r, q, a)
	case q.Has("AWSAccessKeyId") && q.Has("Signature"):
		return Identity{}, s3err.AuthMechanismUnsupported.New(signAlgorithm)
	case !v.options.Anonymous:
		return Identity{}, s3err.AccessDenied.New()
	}
	return v.anonymous(r)
}

// Hashed reports whether the request has the SHA-256 of its whole body.
func (id Identity) Hashed() bool { return id.payload == hashedPayload }

// anonymous describes a request without a signature. Its body may still be
// protected by a digest or a trailer.
func (v *Verifier) anonymous(r *http.Request) (Identity, error) {
	value := r.Header.Get("X-Amz-Content-Sha256")
	if value == "" {
		return Identity{}, nil
	}
	kind, digest, err := parsePayload(value)
	return Identity{payload: kind, digest: digest}, err
}

// fromHeader checks a request that is signed in its Authorization header.
func (v *Verifier) fromHeader(r *http.Request, q Query, a authorization) (Identity, error) {
	var err error
	if a.time, a.timeText, err = requestTime(r); err != nil {
		return Identity{}, err
	}
	if a.time.Format(signDayFormat) != a.scope.day {
		return Identity{}, s3err.SignatureOtherDay.New(a.scope.day, a.time.Format(signDayFormat))
	}
	if skew := v.options.Clock().Sub(a.time).Abs(); skew > maxSkew {
		return Identity{}, s3err.RequestTimeTooSkewed.New().With("RequestTime", a.timeText).
			With("ServerTime", v.options.Clock().UTC().Format(time.RFC3339)).
			With("MaxAllowedSkewMilliseconds", "900000")
	}
	value := r.Header.Get("X-Amz-Content-Sha256")
	kind, digest, err := parsePayload(value)
	if err != nil {
		return Identity{}, err
	}
	id, err := v.checkSignature(r, q, a, value)
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
			return t, "", s3err.DateMissing.New()
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
		return t, "", s3err.DateMissing.New()
	}
	return t, text, nil
}

// fromQuery checks a request with a presigned URL.
func (v *Verifier) fromQuery(r *http.Request, q Query, a authorization) (Identity, error) {
	now := v.options.Clock()
	switch {
	case a.time.Format(signDayFormat) != a.scope.day:
		return Identity{}, s3err.PresignedOtherDay.New(a.scope.day, a.time.Format(signDayFormat))
	case a.time.Sub(now) > maxSkew:
		return Identity{}, s3err.RequestNotYetValid.New()
	case now.Sub(a.time) > a.expires:
		return Identity{}, s3err.RequestExpired.New().With("X-Amz-Expires", strconv.Itoa(int(a.expires.Seconds()))).
			With("Expires", a.time.Add(a.expires).Format(time.RFC3339)).
			With("ServerTime", now.UTC().Format(time.RFC3339))
	}
	// What the URL signs of the body counts; a digest that only a header
	// gives can make the check stricter.
	signed := q.Get("X-Amz-Content-Sha256")
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
		return Identity{}, err
	}
	id, err := v.checkSignature(r, q, a, signed)
	id.payload, id.digest = kind, digest
	return id, err
}

// checkSignature checks the scope and the signature itself. payload is the value of
// x-amz-content-sha256 that is signed.
func (v *Verifier) checkSignature(r *http.Request, q Query, a authorization, payload string) (Identity, error) {
	if a.scope.region != v.options.Region {
		malformed := s3err.AuthorizationHeaderMalformed
		if a.presigned {
			malformed = s3err.CredentialParameterMalformed
		}
		detail := fmt.Sprintf("the region %q is wrong; expecting %q", a.scope.region, v.options.Region)
		return Identity{}, malformed.New(detail).With("Region", v.options.Region)
	}
	if r.Header.Get("X-Amz-Security-Token") != "" || q.Has("X-Amz-Security-Token") {
		return Identity{}, s3err.InvalidToken.New()
	}
	key, ok := v.keys.key(a.scope)
	if !ok {
		return Identity{}, s3err.UnknownAccessKey.New().With("AWSAccessKeyId", a.scope.accessKey)
	}
	if names := unsignedHeaders(r, a); len(names) > 0 {
		return Identity{}, s3err.HeadersNotSigned.New().With("HeadersNotSigned", strings.Join(names, ", "))
	}
	var buffer [1024]byte
	canonical := appendCanonicalRequest(buffer[:0], r, q, a, payload)
	text := stringToSign(a, canonical)
	if !equalSignatures(key.sign(text), a.signature) {
		return Identity{}, s3err.SignatureDoesNotMatch.New().With("AWSAccessKeyId", a.scope.accessKey).
			With("SignatureProvided", a.signature).With("StringToSign", string(text)).
			With("CanonicalRequest", string(canonical))
	}
	return Identity{
		AccessKey: a.scope.accessKey,
		Presigned: a.presigned,
		signer:    &chunkSigner{key: key, timeText: a.timeText, scope: a.scope, previous: a.signature},
	}, nil
}
