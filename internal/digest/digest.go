// Package digest holds the one type that names payloads and chunks by their
// bytes: [Digest].
package digest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// Digest is the SHA-256 of a payload's or a chunk's bytes. It is comparable.
//
// As text it is 64 lower-case hexadecimal digits, in JSON {"#sha256": those}.
type Digest [sha256.Size]byte

// Member is the name of the one member of the object that documents show a
// digest as.
const Member = "#sha256"

// ErrMalformed is wrapped by the error of every text that is not a digest.
var ErrMalformed = errors.New("malformed digest")

// malformed is an error that reads as its message alone.
type malformed string

func (m malformed) Error() string     { return string(m) }
func (m malformed) Is(err error) bool { return err == ErrMalformed }

// Of returns the digest of data.
func Of(data []byte) Digest { return sha256.Sum256(data) }

// Parse reads a digest from 64 hexadecimal digits in either case. The error of
// anything else wraps [ErrMalformed].
func Parse(s string) (d Digest, err error) {
	if len(s) != 2*len(d) {
		return d, malformed(fmt.Sprintf("digest %s has %d characters, want 64 hexadecimal digits", shorten(s), len(s)))
	}
	if _, bad := hex.Decode(d[:], []byte(s)); bad != nil {
		return Digest{}, malformed(fmt.Sprintf("digest %s has a character that is not a hexadecimal digit", shorten(s)))
	}
	return d, nil
}

// shorten quotes a caller's text so that a message stays one short line.
func shorten(s string) string {
	if len(s) > 80 {
		return fmt.Sprintf("%q… (%d bytes)", s[:80], len(s))
	}
	return fmt.Sprintf("%q", s)
}

// String returns the digest as 64 lower-case hexadecimal digits.
func (d Digest) String() string {
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], d[:])
	return string(text[:])
}

// MarshalText returns the digest as String does.
func (d Digest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

// UnmarshalText reads what Parse reads.
func (d *Digest) UnmarshalText(text []byte) (err error) {
	got, err := Parse(string(text))
	if err == nil {
		*d = got
	}
	return err
}

// MarshalJSON returns the digest as documents show it: {"#sha256": hex}.
func (d Digest) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, `{"%s":"%x"}`, Member, d[:]), nil
}

// UnmarshalJSON reads {"#sha256": hex} or a string of hexadecimal digits. The
// error of anything else wraps [ErrMalformed].
func (d *Digest) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	first, err := decoder.Token()
	if err != nil {
		return malformed("a digest is malformed JSON: " + err.Error())
	}
	s, ok := first.(string)
	if first == json.Delim('{') {
		name, _ := decoder.Token()
		value, _ := decoder.Token()
		end, _ := decoder.Token()
		s, ok = value.(string)
		ok = ok && name == Member && end == json.Delim('}')
	}
	if !ok {
		return malformed(`a digest is {"` + Member + `": hex} or a string of 64 hexadecimal digits, not ` + shorten(string(text)))
	}
	return d.UnmarshalText([]byte(s))
}
