package stardust

import (
	"github.com/stardustdb/stardust/internal/digest"
	"github.com/stardustdb/stardust/internal/dust"
)

// Digest is the SHA-256 of a payload's or a chunk's bytes: a comparable array
// of 32 bytes. Its String and its text form are 64 lower-case hexadecimal
// digits; in JSON it is {"#sha256": "…"} with those digits, and a plain string
// of digits is read, too.
type Digest = digest.Digest

// ParseDigest reads a digest from 64 hexadecimal digits in either case. It
// returns an error of StatusInvalidArgument for anything else.
func ParseDigest(s string) (Digest, error) {
	d, err := parseDigest(s)
	return d, withOp("digest", err)
}

func parseDigest(s string) (Digest, error) { return digest.Parse(s) }

// documentDigest returns the digest as documents show it: {#sha256 hex}.
func documentDigest(d Digest) dust.Value {
	return dust.NewObject(dust.Member{Name: digest.Member, Value: dust.NewString(d.String())})
}

// digestValue reads a digest as documents show it, or, where text is allowed, as
// hexadecimal digits.
func digestValue(v dust.Value, asText bool) (Digest, error) {
	if s, ok := v.Text(); ok && asText {
		return digest.Parse(s)
	}
	inner, ok := v.Member(digest.Member)
	if !ok || len(v.Members()) != 1 {
		return Digest{}, invalid("%s, want {#sha256 hex}", describe(v))
	}
	s, ok := inner.Text()
	if !ok {
		return Digest{}, invalid("#sha256 of %s, want a string of 64 hexadecimal digits", describe(inner))
	}
	return digest.Parse(s)
}
