package s3

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	signAlgorithm  = "AWS4-HMAC-SHA256"
	signTimeFormat = "20060102T150405Z"
	signDayFormat  = "20060102"
	// The codes of a malformed signature.
	headerMalformed      = "AuthorizationHeaderMalformed"
	queryParametersError = "AuthorizationQueryParametersError"
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
	const malformed = headerMalformed
	var a authorization
	algorithm, rest, ok := strings.Cut(strings.TrimSpace(header), " ")
	switch {
	case algorithm == "AWS":
		return a, fail("InvalidRequest", "The authorization mechanism you have provided is not supported. Please use %s.", signAlgorithm)
	case strings.HasPrefix(algorithm, "AWS4-ECDSA-"):
		return a, fail("NotImplemented", "Signature Version 4A (%s) is not supported. Please use %s.", algorithm, signAlgorithm)
	case ok && algorithm != signAlgorithm:
		return a, argument("Authorization", header, "Unsupported Authorization Type")
	case !ok:
		return a, argument("Authorization", header, "Authorization header is invalid -- one and only one ' ' (space) required.")
	}
	var credential, signedHeaders string
	count := 0
	for item := range strings.SplitSeq(rest, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(item), "=")
		if !ok {
			return a, fail(malformed, "The authorization header is malformed; the authorization component %q is malformed.", item)
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
	switch missing := "The authorization header is malformed; missing %s."; {
	case count != 3:
		return a, fail(malformed, "The authorization header is malformed; the authorization header requires three components: Credential, SignedHeaders, and Signature.")
	case credential == "":
		return a, fail(malformed, missing, "Credential")
	case signedHeaders == "":
		return a, fail(malformed, missing, "SignedHeaders")
	case a.signature == "":
		return a, fail(malformed, missing, "Signature")
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
func parsePresigned(q query) (authorization, error) {
	const malformed = queryParametersError
	a := authorization{presigned: true}
	for _, name := range [...]string{"X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Signature", "X-Amz-Date", "X-Amz-SignedHeaders", "X-Amz-Expires"} {
		if q.get(name) == "" {
			return a, fail(malformed, "Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.")
		}
	}
	switch algorithm := q.get("X-Amz-Algorithm"); {
	case strings.HasPrefix(algorithm, "AWS4-ECDSA-"):
		return a, fail("NotImplemented", "Signature Version 4A (%s) is not supported. Please use %s.", algorithm, signAlgorithm)
	case algorithm != signAlgorithm:
		return a, fail(malformed, "X-Amz-Algorithm only supports \"%s\"", signAlgorithm)
	}
	var err error
	if a.scope, err = parseCredential(q.get("X-Amz-Credential"), malformed); err != nil {
		return a, err
	}
	if a.signedHeaders, err = parseSignedHeaders(q.get("X-Amz-SignedHeaders"), malformed); err != nil {
		return a, err
	}
	a.timeText = q.get("X-Amz-Date")
	if a.time, err = time.Parse(signTimeFormat, a.timeText); err != nil {
		return a, fail(malformed, "X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\"")
	}
	seconds, err := strconv.ParseInt(q.get("X-Amz-Expires"), 10, 64)
	switch {
	case err != nil:
		return a, fail(malformed, "X-Amz-Expires should be a number")
	case seconds < 0:
		return a, fail(malformed, "X-Amz-Expires must be non-negative")
	case seconds > maxPresignedSeconds:
		return a, fail(malformed, "X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be less than %d seconds", maxPresignedSeconds)
	}
	a.expires = time.Duration(seconds) * time.Second
	a.signature = q.get("X-Amz-Signature")
	return a, checkSignatureForm(a.signature)
}

// parseCredential parses "AKID/20060102/region/s3/aws4_request". An access key
// may itself hold "/".
func parseCredential(s, code string) (scope, error) {
	where := "The authorization header is malformed"
	if code == queryParametersError {
		where = "Error parsing the X-Amz-Credential parameter"
	}
	parts := strings.Split(s, "/")
	if len(parts) < 5 {
		return scope{}, fail(code, "%s; the Credential is mal-formed; expecting \"<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request\".", where)
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
		return sc, fail(code, "%s; incorrect terminal %q. This endpoint uses \"aws4_request\".", where, parts[n-1])
	case sc.service != "s3":
		return sc, fail(code, "%s; incorrect service %q. This endpoint belongs to \"s3\".", where, sc.service)
	case sc.accessKey == "":
		return sc, fail(code, "%s; the access key is empty.", where)
	}
	if _, err := time.Parse(signDayFormat, sc.day); err != nil || len(sc.day) != len(signDayFormat) {
		return sc, fail(code, "%s; incorrect date format %q. This date in the credential must be in the format \"yyyyMMdd\".", where, sc.day)
	}
	return sc, nil
}

// parseSignedHeaders parses "host;x-amz-date". The host must be among them.
func parseSignedHeaders(s, code string) ([]string, error) {
	names := strings.Split(s, ";")
	if len(names) > maxSignedHeaders {
		return nil, fail(code, "More than %d signed headers.", maxSignedHeaders)
	}
	for i, name := range names {
		if name == "" {
			return nil, fail(code, "SignedHeaders has an empty name.")
		}
		names[i] = strings.ToLower(name)
	}
	if !slices.Contains(names, "host") {
		return nil, fail(code, "SignedHeaders must include the host header.")
	}
	return names, nil
}

func checkSignatureForm(signature string) error {
	if _, err := hex.DecodeString(signature); err != nil || len(signature) != 64 {
		return fail("SignatureDoesNotMatch", signatureMessage)
	}
	return nil
}

const signatureMessage = "The request signature we calculated does not match the signature you provided. Check your key and signing method."
