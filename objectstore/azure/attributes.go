package azure

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"

	"github.com/stardustdb/stardust/objectstore"
)

// headers returns attributes as the client takes them, or ErrInvalidOption for
// what headers cannot carry.
func headers(a objectstore.Attributes) (*blob.HTTPHeaders, map[string]*string, error) {
	var errs []error
	text := func(name, value string) *string {
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) {
			errs = append(errs, fmt.Errorf("%w: %s is not printable ASCII", objectstore.ErrInvalidOption, name))
		}
		if value == "" {
			return nil
		}
		return &value
	}
	h := &blob.HTTPHeaders{
		BlobContentType:        text("content type", a.ContentType),
		BlobContentEncoding:    text("content encoding", a.ContentEncoding),
		BlobContentDisposition: text("content disposition", a.ContentDisposition),
		BlobContentLanguage:    text("content language", a.ContentLanguage),
		BlobCacheControl:       text("cache control", a.CacheControl),
	}
	metadata := map[string]*string{}
	for key, value := range a.Clone().Metadata {
		_ = text("metadata "+key, value)
		metadata[escapeKey(key)] = &value
	}
	return h, metadata, errors.Join(errs...)
}

// escape begins the escaped form of a byte that the service does not accept in
// a key.
const escape = "_x"

// escapeKey returns a metadata key as the service stores it. Ordinary keys stay
// as they are.
func escapeKey(key string) string {
	var b strings.Builder
	for i := range len(key) {
		switch c := key[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9' && i > 0, c == '_' && !strings.HasPrefix(key[i:], escape):
			b.WriteByte(c)
		default:
			b.WriteString(escape + hex.EncodeToString([]byte{c}))
		}
	}
	return b.String()
}

// unescapeKey undoes escapeKey, except that keys lose their case.
func unescapeKey(key string) string {
	key = strings.ToLower(key)
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(key, escape)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if len(rest) >= 2 {
			if c, err := hex.DecodeString(rest[:2]); err == nil {
				b.Write(c)
				key = rest[2:]
				continue
			}
		}
		b.WriteString(escape)
		key = rest
	}
}

// described is what an answer says of an object's attributes.
type described struct {
	contentType, contentEncoding, contentDisposition, contentLanguage, cacheControl *string
	metadata                                                                        map[string]*string
}

func (d described) attributes() objectstore.Attributes {
	a := objectstore.Attributes{
		ContentType: value(d.contentType), ContentEncoding: value(d.contentEncoding),
		ContentDisposition: value(d.contentDisposition), ContentLanguage: value(d.contentLanguage), CacheControl: value(d.cacheControl),
	}
	for key, text := range d.metadata {
		if a.Metadata == nil {
			a.Metadata = map[string]string{}
		}
		a.Metadata[unescapeKey(key)] = value(text)
	}
	return a
}

// value returns what p points to, or nothing.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
