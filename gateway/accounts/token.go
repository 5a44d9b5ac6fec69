package accounts

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stardustdb/stardust/gateway/grant"
)

// tokenPrefix lets people, and scanners for leaked secrets, recognize a token.
const tokenPrefix = "stardust_"

// AddToken makes a token and returns its secret, which the file does not keep
// unless s3 is set: then the name is an S3 access key and the secret its key.
func (f *File) AddToken(t Token, s3 bool) (secret string, err error) {
	if err := checkName(t.Name); err != nil {
		return "", err
	}
	secret = tokenPrefix + strings.ToLower(rand.Text())
	t.SHA256, t.Root, t.Secret = digest(secret), strings.Trim(t.Root, "/"), ""
	if s3 {
		t.Secret = secret
	}
	err = f.change(func(c *content) error {
		if slices.ContainsFunc(c.Tokens, func(old Token) bool { return old.Name == t.Name }) {
			return fmt.Errorf("there is a token %q already; remove it first", t.Name)
		}
		c.Tokens = append(c.Tokens, t)
		slices.SortFunc(c.Tokens, func(a, b Token) int { return strings.Compare(a.Name, b.Name) })
		return nil
	})
	return secret, err
}

// RemoveToken removes a token.
func (f *File) RemoveToken(name string) error {
	return f.change(func(c *content) error {
		n := len(c.Tokens)
		c.Tokens = slices.DeleteFunc(c.Tokens, func(t Token) bool { return t.Name == name })
		if len(c.Tokens) == n {
			return fmt.Errorf("there is no token %q", name)
		}
		return nil
	})
}

// CheckToken returns what the token of a secret grants, nil when there is none.
func (f *File) CheckToken(secret string, now time.Time) *grant.Grant {
	want := digest(secret) // of 128 random bits: a plain digest and comparison leak nothing
	for _, t := range f.current(now).Tokens {
		if t.SHA256 == want {
			return t.grant()
		}
	}
	return nil
}

// Key returns the secret key of an S3 access key and what it grants.
func (f *File) Key(access string, now time.Time) (secret string, g *grant.Grant, ok bool) {
	for _, t := range f.current(now).Tokens {
		if t.Name == access && t.Secret != "" {
			return t.Secret, t.grant(), true
		}
	}
	return "", nil, false
}

func (t *Token) grant() *grant.Grant { return &grant.Grant{Name: t.Name, Write: t.Write, Root: t.Root} }

func digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// Keys returns the secret keys by access key of the tokens that S3 clients sign
// with.
func (f *File) Keys() map[string]string {
	keys := make(map[string]string)
	for _, t := range f.Tokens() {
		if t.Secret != "" {
			keys[t.Name] = t.Secret
		}
	}
	return keys
}

// Allows reports whether an S3 access key may read or write a path of the tree
// now: its token is still there with the same secret, and the path is in its
// directory. Calls about several directories, such as a list of buckets, have
// the empty path; a bucket's path ends in a slash.
func (f *File) Allows(access, secret, path string, write bool, now time.Time) bool {
	current, g, ok := f.Key(access, now)
	if !ok || current != secret || write && !g.Write {
		return false
	}
	root := strings.Trim(g.Root, "/")
	path = strings.TrimLeft(path, "/")
	// Not the directory's own name: as the prefix of a list it would show others
	// that begin with it.
	return root == "" || strings.HasPrefix(path, root+"/")
}
