package s3

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stardustdb/stardust/gateway/s3/internal/document"
	"github.com/stardustdb/stardust/gateway/s3/s3err"
	"github.com/stardustdb/stardust/objectstore"
)

const (
	maxTags     = 10
	maxTagKey   = 128 // characters
	maxTagValue = 256
)

// headerTags reads the tags of a write from the x-amz-tagging header, in the
// form of a query.
func (q *request) headerTags() (map[string]string, error) {
	header := q.header("X-Amz-Tagging")
	if header == "" {
		return nil, nil
	}
	values, err := url.ParseQuery(header)
	if err != nil {
		return nil, s3err.TagsUnreadable.New().Argument("x-amz-tagging", header)
	}
	tags := make(map[string]string, len(values))
	for key, value := range values {
		if len(value) != 1 || key == "" {
			return nil, s3err.TagsUnreadable.New().Argument("x-amz-tagging", header)
		}
		tags[key] = value[0]
	}
	return tags, checkTags(tags)
}

func checkTags(tags map[string]string) error {
	if len(tags) > maxTags {
		return s3err.TooManyTags.New(maxTags)
	}
	for key, value := range tags {
		switch {
		case key == "" || utf8.RuneCountInString(key) > maxTagKey || strings.ContainsFunc(key, notInTag) || strings.HasPrefix(key, "aws:"):
			return s3err.TagKeyInvalid.New()
		case utf8.RuneCountInString(value) > maxTagValue || strings.ContainsFunc(value, notInTag):
			return s3err.TagValueInvalid.New()
		}
	}
	return nil
}

// notInTag reports whether S3 refuses a character in tags.
func notInTag(c rune) bool {
	switch {
	case c >= 0x80 && c != utf8.RuneError, 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return false
	}
	return !strings.ContainsRune(" +-=._:/@", c)
}

// tagsOf returns an object's tags, or an error where the Store has none.
func (x *exchange) tagsOf(b *bucket, path objectstore.Path) (map[string]string, error) {
	reader, ok := b.store.(objectstore.TagReader)
	if !ok {
		return nil, fmt.Errorf("%w: tags", objectstore.ErrUnsupported)
	}
	return reader.Tags(x.r.Context(), path)
}

// tags are the tags of an object.
type tags struct{ *exchange }

// get serves GetObjectTagging.
func (x tags) get() error {
	tags, err := x.tagsOf(x.bucket, x.path)
	if errors.Is(err, objectstore.ErrUnsupported) {
		// Without tags an object has none: clients that copy ask for them.
		_, err = x.stat()
	}
	if err != nil {
		return err
	}
	var d document.Tagging
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		d.TagSet.Tag = append(d.TagSet.Tag, document.Tag{Key: key, Value: tags[key]})
	}
	return x.writeDocument(http.StatusOK, d)
}

// put serves PutObjectTagging.
func (x tags) put() error {
	tags := make(map[string]string)
	if err := x.readDocument("Tagging", false, tagsInto(tags)); err != nil {
		return err
	}
	if err := checkTags(tags); err != nil {
		return err
	}
	if err := x.set(tags); err != nil {
		return err
	}
	x.writeEmpty()
	return nil
}

// parseTagging reads a document of tags.
func parseTagging(r io.Reader) (map[string]string, error) {
	tags := make(map[string]string)
	if err := parseDocument(r, "Tagging", tagsInto(tags)); err != nil {
		return nil, err
	}
	return tags, checkTags(tags)
}

// tagsInto reads the elements of a document of tags.
func tagsInto(tags map[string]string) func(xmlChild) error {
	return func(c xmlChild) error {
		if c.name() != "TagSet" {
			return errors.New("an element other than TagSet")
		}
		var set struct {
			Tag []struct{ Key, Value *string }
		}
		if err := c.decode(&set); err != nil {
			return err
		}
		for _, tag := range set.Tag {
			if tag.Key == nil || tag.Value == nil {
				return errors.New("a Tag without Key and Value")
			}
			if _, twice := tags[*tag.Key]; twice {
				return s3err.TagTwice.New()
			}
			tags[*tag.Key] = *tag.Value
		}
		return nil
	}
}

// delete serves DeleteObjectTagging.
func (x tags) delete() error {
	if err := x.set(nil); err != nil {
		return err
	}
	x.writeStatus(http.StatusNoContent)
	return nil
}

// set gives an object other tags. A Store takes tags only with a write, so the
// object is written again over the version that was read: a write in between is
// not lost but makes this one fail.
func (x tags) set(tags map[string]string) error {
	if _, err := x.tagsOf(x.bucket, x.path); err != nil {
		return err
	}
	ctx, extensions := x.r.Context(), x.extensions()
	result, err := x.bucket.store.Get(ctx, x.path, &objectstore.GetOptions{Extensions: extensions})
	if err != nil {
		return err
	}
	defer result.Body.Close()
	_, err = x.bucket.store.Put(ctx, x.path, objectstore.Stream(result.Body, result.Meta.Size), &objectstore.PutOptions{
		Mode:          objectstore.Update,
		UpdateVersion: objectstore.UpdateVersion{ETag: result.Meta.ETag, Version: result.Meta.Version},
		Attributes:    result.Attributes,
		Tags:          tags,
		Extensions:    extensions,
	})
	if errors.Is(err, objectstore.ErrPrecondition) {
		return s3err.OperationAborted.Wrap(err)
	}
	return err
}
