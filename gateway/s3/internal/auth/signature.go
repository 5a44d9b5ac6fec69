package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"hash"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// emptySHA256 is the SHA-256 of no bytes.
const emptySHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// maxCachedKeys bounds the cache of signing keys. A scope is cached only after
// its date and access key are found valid, so honest use stays far below it.
const maxCachedKeys = 1024

// signingKey is the key derived from a secret for one scope. It is safe for
// concurrent use.
type signingKey struct {
	key  [sha256.Size]byte
	macs sync.Pool // of hash.Hash, keyed with key and reset
}

// sign returns the signature of text in hexadecimal digits.
func (k *signingKey) sign(text []byte) string {
	mac, ok := k.macs.Get().(hash.Hash)
	if !ok {
		mac = hmac.New(sha256.New, k.key[:])
	}
	mac.Write(text)
	var sum [sha256.Size]byte
	signature := hex.EncodeToString(mac.Sum(sum[:0]))
	mac.Reset()
	k.macs.Put(mac)
	return signature
}

// deriveKey derives the signing key of a scope, four HMACs deep.
func deriveKey(secret string, s scope) *signingKey {
	key := []byte("AWS4" + secret)
	for _, text := range [...]string{s.day, s.region, s.service, "aws4_request"} {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(text))
		key = mac.Sum(nil)
	}
	return &signingKey{key: [sha256.Size]byte(key)}
}

// keyCache keeps the signing keys of recent scopes. It is safe for concurrent
// use.
type keyCache struct {
	secrets map[string]string // by access key; never changed

	mu   sync.Mutex
	keys map[scope]*signingKey
}

func newKeyCache(secrets map[string]string) *keyCache {
	return &keyCache{secrets: secrets, keys: make(map[scope]*signingKey)}
}

// key returns the signing key of a scope, or false for an unknown access key.
func (c *keyCache) key(s scope) (*signingKey, bool) {
	secret, ok := c.secrets[s.accessKey]
	if !ok {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := c.keys[s]
	if key == nil {
		if len(c.keys) >= maxCachedKeys {
			clear(c.keys)
		}
		key = deriveKey(secret, s)
		c.keys[s] = key
	}
	return key, true
}

// equalSignatures compares two signatures in constant time.
func equalSignatures(x, y string) bool {
	return subtle.ConstantTimeCompare([]byte(x), []byte(y)) == 1
}

// appendCanonicalRequest appends the request as Signature Version 4 signs it.
// payload is the value of x-amz-content-sha256.
func appendCanonicalRequest(b []byte, r *http.Request, q Query, a authorization, payload string) []byte {
	b = append(b, r.Method...)
	b = append(b, '\n')
	b = appendEscaped(b, r.URL.Path, true)
	b = append(b, '\n')
	b = q.appendCanonical(b, a.presigned)
	b = append(b, '\n')
	for _, name := range a.signedHeaders {
		b = append(b, name...)
		b = append(b, ':')
		for i, value := range headerValues(r, name) {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendFolded(b, value)
		}
		b = append(b, '\n')
	}
	b = append(b, '\n')
	for i, name := range a.signedHeaders {
		if i > 0 {
			b = append(b, ';')
		}
		b = append(b, name...)
	}
	b = append(b, '\n')
	return append(b, payload...)
}

// headerValues returns the values of a header as the client sent it, also of
// those that net/http keeps elsewhere.
func headerValues(r *http.Request, name string) []string {
	if name == "host" {
		return []string{r.Host}
	}
	switch name { // of nearly every request, without making the canonical form
	case "x-amz-date":
		return r.Header["X-Amz-Date"]
	case "x-amz-content-sha256":
		return r.Header["X-Amz-Content-Sha256"]
	}
	if values := r.Header.Values(name); len(values) > 0 {
		return values
	}
	switch {
	case name == "content-length" && r.ContentLength >= 0:
		return []string{strconv.FormatInt(r.ContentLength, 10)}
	case name == "transfer-encoding":
		return r.TransferEncoding
	case name == "expect":
		// Some servers in front take it away; clients that sign it send this.
		return []string{"100-continue"}
	}
	return nil
}

// appendFolded appends a header value with its ends trimmed and every run of
// spaces made one.
func appendFolded(b []byte, value string) []byte {
	space, start := false, len(b)
	for i := range len(value) {
		c := value[i]
		if c == ' ' || c == '\t' {
			space = true
			continue
		}
		if space && len(b) > start {
			b = append(b, ' ')
		}
		b, space = append(b, c), false
	}
	return b
}

// stringToSign returns what the signature of the request is made of.
func stringToSign(a authorization, canonical []byte) []byte {
	sum := sha256.Sum256(canonical)
	b := make([]byte, 0, 192)
	b = append(b, signAlgorithm+"\n"...)
	b = append(b, a.timeText...)
	b = append(b, '\n')
	b = append(b, a.scope.String()...)
	b = append(b, '\n')
	return hex.AppendEncode(b, sum[:])
}

// unsignedHeaders returns the headers that must be signed and are not. All
// x-amz- headers must be, lest someone add one to a signed request.
func unsignedHeaders(r *http.Request, a authorization) []string {
	var names []string
	for name := range r.Header {
		if !strings.HasPrefix(name, "X-Amz-") {
			continue // net/http has made the names canonical
		}
		lower := strings.ToLower(name)
		if slices.Contains(a.signedHeaders, lower) {
			continue
		}
		if a.presigned && lower == "x-amz-content-sha256" {
			continue // it can only make the check of the body stricter
		}
		names = append(names, lower)
	}
	slices.Sort(names)
	return names
}
