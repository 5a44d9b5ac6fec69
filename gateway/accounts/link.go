package accounts

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/stardustdb/stardust/gateway/grant"
)

// Link lets whoever has it read a file or directory, until it expires.
type Link struct {
	Root     string    `json:"r"`           // the path in the tree
	At       int64     `json:"a,omitempty"` // the revision; zero is the present
	Database string    `json:"d,omitempty"` // its name, where a server has several
	Expires  time.Time `json:"e"`
}

// ErrLink says that a link is not this server's, or has expired.
var ErrLink = errors.New("the link is wrong or has expired")

// maxLink bounds the length of a link's text.
const maxLink = 16 << 10

// Sign returns the text of a link.
func (f *File) Sign(l *Link) (string, error) {
	key, err := f.linkKey()
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(l)
	if err != nil {
		return "", err
	}
	encoded := base64.RawURLEncoding.EncodeToString(text)
	return encoded + "." + base64.RawURLEncoding.EncodeToString(signature(key, encoded)), nil
}

// linkKey returns the key that signs links, and makes it before the first.
func (f *File) linkKey() ([]byte, error) {
	if key := f.current(time.Time{}).LinkKey; len(key) == sha256.Size {
		return key, nil
	}
	var key []byte
	err := f.change(func(c *content) error {
		if len(c.LinkKey) != sha256.Size {
			c.LinkKey = make([]byte, sha256.Size)
			_, _ = rand.Read(c.LinkKey) // never fails
		}
		key = c.LinkKey
		return nil
	})
	return key, err
}

// Revoke ends every link by changing the key that signs them.
func (f *File) Revoke() error {
	return f.change(func(c *content) error {
		c.LinkKey = nil
		return nil
	})
}

// CheckLink returns what the text of a link grants, or [ErrLink].
func (f *File) CheckLink(text, database string, now time.Time) (*grant.Grant, error) {
	key := f.current(now).LinkKey
	encoded, mac, ok := strings.Cut(text, ".")
	got, err := base64.RawURLEncoding.DecodeString(mac)
	if !ok || err != nil || len(text) > maxLink || len(key) != sha256.Size || !hmac.Equal(got, signature(key, encoded)) {
		return nil, ErrLink
	}
	plain, err := base64.RawURLEncoding.DecodeString(encoded)
	l := new(Link)
	if err != nil || json.Unmarshal(plain, l) != nil || l.Database != database || !now.Before(l.Expires) {
		return nil, ErrLink
	}
	return &grant.Grant{Name: "link", Root: l.Root, At: l.At}, nil
}

func signature(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte("stardust link 1\x00" + text)) // never fails
	return mac.Sum(nil)
}
