package gcs

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/stardustdb/stardust/objectstore"
)

// object is the service's description of an object, as far as it is used.
type object struct {
	Name               string            `json:"name,omitempty"`
	Generation         string            `json:"generation,omitempty"`
	Size               int64             `json:"size,omitempty,string"`
	Updated            time.Time         `json:"updated,omitzero"`
	CRC32C             string            `json:"crc32c,omitempty"`
	ContentType        string            `json:"contentType,omitempty"`
	ContentEncoding    string            `json:"contentEncoding,omitempty"`
	ContentDisposition string            `json:"contentDisposition,omitempty"`
	ContentLanguage    string            `json:"contentLanguage,omitempty"`
	CacheControl       string            `json:"cacheControl,omitempty"`
	Metadata           map[string]string `json:"metadata,omitempty"`
}

// describe returns what a write says of an object's attributes.
func describe(a objectstore.Attributes) *object {
	a = a.Clone()
	return &object{
		ContentType: a.ContentType, ContentEncoding: a.ContentEncoding, ContentDisposition: a.ContentDisposition,
		ContentLanguage: a.ContentLanguage, CacheControl: a.CacheControl, Metadata: a.Metadata,
	}
}

// meta describes the object. Answers with an object's bytes have times in whole
// seconds only; all others are cut to that, so that they agree.
func (o *object) meta() objectstore.ObjectMeta {
	return objectstore.ObjectMeta{
		Path: objectstore.Path(o.Name), Size: o.Size, LastModified: o.Updated.Truncate(time.Second),
		ETag: o.Generation, Version: o.Generation,
	}
}

func (o *object) attributes() objectstore.Attributes {
	a := objectstore.Attributes{
		ContentType: o.ContentType, ContentEncoding: o.ContentEncoding, ContentDisposition: o.ContentDisposition,
		ContentLanguage: o.ContentLanguage, CacheControl: o.CacheControl,
	}
	if len(o.Metadata) > 0 {
		a.Metadata = o.Metadata
	}
	return a.Clone()
}

// validate refuses attributes that the headers of an answer cannot carry.
func validate(a objectstore.Attributes) error {
	var errs []error
	refuse := func(name, value string) {
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			errs = append(errs, fmt.Errorf("%w: %s has a control character", objectstore.ErrInvalidOption, name))
		}
	}
	refuse("content type", a.ContentType)
	refuse("content encoding", a.ContentEncoding)
	refuse("content disposition", a.ContentDisposition)
	refuse("content language", a.ContentLanguage)
	refuse("cache control", a.CacheControl)
	for key, value := range a.Metadata {
		refuse("metadata key", key)
		refuse("metadata "+key, value)
	}
	return errors.Join(errs...)
}

// metadataHeader begins the names of the headers that carry user metadata.
const metadataHeader = "X-Goog-Meta-"

// described returns what the headers of an answer with an object's bytes say of
// it, but for its size.
func described(path objectstore.Path, header http.Header) (*object, error) {
	o := &object{
		Name:               string(path),
		Generation:         header.Get("X-Goog-Generation"),
		ContentType:        header.Get("Content-Type"),
		ContentEncoding:    header.Get("Content-Encoding"),
		ContentDisposition: header.Get("Content-Disposition"),
		ContentLanguage:    header.Get("Content-Language"),
		CacheControl:       header.Get("Cache-Control"),
	}
	if !isGeneration(o.Generation) {
		return nil, errors.New("the answer does not say which generation of the object it is")
	}
	modified, err := http.ParseTime(header.Get("Last-Modified"))
	if err != nil {
		return nil, fmt.Errorf("the answer does not say when the object was modified: %w", err)
	}
	o.Updated = modified
	for name, values := range header {
		key, ok := strings.CutPrefix(name, metadataHeader)
		if !ok || len(values) == 0 {
			continue
		}
		if o.Metadata == nil {
			o.Metadata = map[string]string{}
		}
		o.Metadata[strings.ToLower(key)] = values[0]
	}
	for _, hash := range header.Values("X-Goog-Hash") {
		for one := range strings.SplitSeq(hash, ",") {
			if sum, ok := strings.CutPrefix(strings.TrimSpace(one), "crc32c="); ok {
				o.CRC32C = sum
			}
		}
	}
	return o, nil
}
