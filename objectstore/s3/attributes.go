package s3

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/stardustdb/stardust/objectstore"
)

// headers are attributes as requests have them: nil where there is none.
type headers struct {
	contentType, contentEncoding, contentDisposition, contentLanguage, cacheControl *string
	metadata                                                                        map[string]string
}

// headersOf returns ErrInvalidOption for what HTTP headers cannot carry.
func headersOf(a objectstore.Attributes) (headers, error) {
	a = a.Clone()
	for name, value := range map[string]string{
		"content type": a.ContentType, "content encoding": a.ContentEncoding, "content disposition": a.ContentDisposition,
		"content language": a.ContentLanguage, "cache control": a.CacheControl,
	} {
		if err := checkHeader(name, value); err != nil {
			return headers{}, err
		}
	}
	for name, value := range a.Metadata {
		if name == "" || strings.ContainsAny(name, " ():<>@,;\\\"/[]?={}") {
			return headers{}, fmt.Errorf("%w: metadata key %q is no header name", objectstore.ErrInvalidOption, name)
		}
		if err := checkHeader("metadata key", name); err != nil {
			return headers{}, err
		}
		if err := checkHeader("metadata "+name, value); err != nil {
			return headers{}, err
		}
	}
	return headers{
		optional(a.ContentType), optional(a.ContentEncoding), optional(a.ContentDisposition),
		optional(a.ContentLanguage), optional(a.CacheControl), a.Metadata,
	}, nil
}

func checkHeader(name, value string) error {
	for i := range len(value) {
		if c := value[i]; c < 0x20 || c > 0x7e {
			return fmt.Errorf("%w: %s %q is not plain ASCII, as S3 needs it", objectstore.ErrInvalidOption, name, value)
		}
	}
	return nil
}

// attributesOf returns the attributes of an answer.
func attributesOf(h headers) objectstore.Attributes {
	a := objectstore.Attributes{
		ContentType: aws.ToString(h.contentType), ContentEncoding: aws.ToString(h.contentEncoding),
		ContentDisposition: aws.ToString(h.contentDisposition), ContentLanguage: aws.ToString(h.contentLanguage),
		CacheControl: aws.ToString(h.cacheControl),
	}
	if len(h.metadata) > 0 {
		a.Metadata = h.metadata
	}
	return a.Clone()
}

func optional(value string) *string {
	if value == "" {
		return nil
	}
	return &value
}

// tagging returns tags as the header x-amz-tagging has them.
func tagging(tags map[string]string) *string {
	if len(tags) == 0 {
		return nil
	}
	values := url.Values{}
	for key, value := range tags {
		values.Set(key, value)
	}
	return aws.String(strings.ReplaceAll(values.Encode(), "+", "%20"))
}
