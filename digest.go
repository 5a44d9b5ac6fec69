package stardust

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/stardustdb/stardust/internal/dust"
)

// Digest is the SHA-256 of a payload's or a chunk's bytes. It is comparable.
type Digest [sha256.Size]byte

// ParseDigest reads a digest from 64 hexadecimal digits in either case. It
// returns an error of StatusInvalidArgument for anything else.
func ParseDigest(s string) (Digest, error) {
	d, err := parseDigest(s)
	if err != nil {
		return Digest{}, withOp("digest", err)
	}
	return d, nil
}

// String returns the digest as 64 lower-case hexadecimal digits.
func (d Digest) String() string {
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], d[:])
	return string(text[:])
}

// value returns the digest as documents show it: {#sha256 hex}.
func (d Digest) value() dust.Value {
	return dust.NewObject(dust.Member{Name: digestMember, Value: dust.NewString(d.String())})
}

// MarshalJSON returns the digest as documents show it: {"#sha256": hex}.
func (d Digest) MarshalJSON() ([]byte, error) {
	return dust.AppendJSON(nil, d.value()), nil
}

// UnmarshalJSON reads {"#sha256": hex} or a string of hexadecimal digits.
func (d *Digest) UnmarshalJSON(text []byte) error {
	v, err := dust.Parse(text, dust.JSON)
	if err != nil {
		return withOp("digest", invalid("%v", err))
	}
	got, bad := digestValue(v, true)
	if bad != nil {
		return withOp("digest", bad)
	}
	*d = got
	return nil
}
