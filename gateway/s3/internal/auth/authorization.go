package auth

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stardustdb/stardust/gateway/s3/s3err"
)

const (
	signAlgorithm  = "AWS4-HMAC-SHA256"
	signTimeFormat = "20060102T150405Z"
	signDayFormat  = "20060102"
	// maxPresignedSeconds is the longest life of a presigned URL: seven days.
	maxPresignedSeconds = 7 * 24 * 60 * 60
	// maxSignedHeaders bounds the list of signed headers.
	maxSignedHeaders = 128
)

// scope is what a signing key is good for.
type scope struct {
	accessKey string
	day       string // as 20060102
	region    string
	service   string
}

// String returns the scope as it stands in a string to sign.
func (s scope) String() string {
	return s.day + "/" + s.region + "/" + s.service + "/aws4_request"
}

// authorization is what a request says about its signature, whether in the
// Authorization header or in the query.
type authorization struct {
	scope         scope
	signedHeaders []string // lower case, in the order given
	signature     string   // 64 hexadecimal digits
	time          time.Time
	timeText      string
	presigned     bool
	expires       time.Duration // of a presigned URL
}

// parseAuthorization parses an Authorization header of Signature Version 4.
// The time of the signature is in another header and is not set.
func parseAuthorization(header string) (authorization, error) {
	const malformed = s3err.AuthorizationHeaderMalformed
	var a authorization
	algorithm, rest, ok := strings.Cut(strings.TrimSpace(header), " ")
	switch {
	case algorithm == "AWS":
		return a, s3err.AuthMechanismUnsupported.New(signAlgorithm)
	case strings.HasPrefix(algorithm, "AWS4-ECDSA-"):
		return a, s3err.Signature4ANotImplemented.New(algorithm, signAlgorithm)
	case ok && algorithm != signAlgorithm:
		return a, s3err.AuthorizationType.New().Argument("Authorization", algorithm)
	case !ok:
		return a, s3err.AuthorizationWithoutSpace.New().Argument("Authorization", header)
	}
	var credential, signedHeaders string
	count := 0
	for item := range strings.SplitSeq(rest, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(item), "=")
		if !ok {
			return a, because(malformed, "the authorization component %q is malformed.", item)
		}
		count++
		switch key {
		case "Credential":
			credential = value
		case "SignedHeaders":
			signedHeaders = value
		case "Signature":
			a.signature = value
		}
	}
	switch missing := "missing %s."; {
	case count != 3:
		return a, because(malformed, "the authorization header requires three components: Credential, SignedHeaders, and Signature.")
	case credential == "":
		return a, because(malformed, missing, "Credential")
	case signedHeaders == "":
		return a, because(malformed, missing, "SignedHeaders")
	case a.signature == "":
		return a, because(malformed, missing, "Signature")
	}
	var err error
	if a.scope, err = parseCredential(credential, malformed); err != nil {
		return a, err
	}
	if a.signedHeaders, err = parseSignedHeaders(signedHeaders, malformed); err != nil {
		return a, err
	}
	return a, checkSignatureForm(a.signature)
}

// parsePresigned parses the X-Amz- parameters of a presigned URL.
func parsePresigned(q Query) (authorization, error) {
	const malformed = s3err.CredentialParameterMalformed
	a := authorization{presigned: true}
	for _, name := range [...]string{"X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Signature", "X-Amz-Date", "X-Amz-SignedHeaders", "X-Amz-Expires"} {
		if q.Get(name) == "" {
			return a, s3err.PresignedIncomplete.New()
		}
	}
	if algorithm := q.Get("X-Amz-Algorithm"); algorithm != signAlgorithm {
		return a, s3err.PresignedAlgorithm.New(signAlgorithm)
	}
	var err error
	if a.scope, err = parseCredential(q.Get("X-Amz-Credential"), malformed); err != nil {
		return a, err
	}
	if a.signedHeaders, err = parseSignedHeaders(q.Get("X-Amz-SignedHeaders"), malformed); err != nil {
		return a, err
	}
	a.timeText = q.Get("X-Amz-Date")
	if a.time, err = time.Parse(signTimeFormat, a.timeText); err != nil {
		return a, s3err.PresignedDate.New()
	}
	seconds, err := strconv.ParseInt(q.Get("X-Amz-Expires"), 10, 64)
	switch {
	case err != nil:
		return a, s3err.ExpiresNotANumber.New()
	case seconds < 0:
		return a, s3err.ExpiresNegative.New()
	case seconds > maxPresignedSeconds:
		return a, s3err.ExpiresTooLong.New(maxPresignedSeconds)
	}
	a.expires = time.Duration(seconds) * time.Second
	a.signature = q.Get("X-Amz-Signature")
	return a, checkSignatureForm(a.signature)
}

// parseCredential parses "AKID/20060102/region/s3/aws4_request". An access key
// may itself hold "/".
func parseCredential(s string, malformed s3err.Row) (scope, error) {
	parts := strings.Split(s, "/")
	if len(parts) < 5 || len(parts) > 5 && parts[len(parts)-1] != "aws4_request" {
		return scope{}, because(malformed, "the Credential is mal-formed; expecting \"<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request\".")
	}
	n := len(parts)
	sc := scope{
		accessKey: strings.Join(parts[:n-4], "/"),
		day:       parts[n-4],
		region:    parts[n-3],
		service:   parts[n-2],
	}
	switch {
	case parts[n-1] != "aws4_request":
		return sc, because(malformed, "incorrect terminal %q. This endpoint uses \"aws4_request\".", parts[n-1])
	case sc.service != "s3":
		return sc, because(malformed, "incorrect service %q. This endpoint belongs to \"s3\".", sc.service)
	case sc.accessKey == "":
		return sc, because(malformed, "the access key is empty.")
	}
	if _, err := time.Parse(signDayFormat, sc.day); err != nil || len(sc.day) != len(signDayFormat) {
		return sc, because(malformed, "incorrect date format %q. This date in the credential must be in the format \"yyyyMMdd\".", sc.day)
	}
	return sc, nil
}

// parseSignedHeaders parses "host;x-amz-date". The host must be among them.
func parseSignedHeaders(s string, malformed s3err.Row) ([]string, error) {
	names := strings.Split(s, ";")
	if len(names) > maxSignedHeaders {
		return nil, because(malformed, "More than %d signed headers.", maxSignedHeaders)
	}
	for i, name := range names {
		if name == "" {
			return nil, because(malformed, "SignedHeaders has an empty name.")
		}
		names[i] = strings.ToLower(name)
	}
	if !slices.Contains(names, "host") {
		return nil, because(malformed, "SignedHeaders must include the host header.")
	}
	return names, nil
}

func checkSignatureForm(signature string) error {
	if _, err := hex.DecodeString(signature); err != nil || len(signature) != 64 {
		return s3err.SignatureDoesNotMatch.New()
	}
	return nil
}

// because makes the failure of what names the signature, with what is wrong with it.
func because(malformed s3err.Row, format string, args ...any) *s3err.Failure {
	return malformed.New(fmt.Sprintf(format, args...))
}
