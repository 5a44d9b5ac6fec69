package azure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/internal/wire"
)

// maxRaces bounds how often a read that needs two requests starts over because
// the object was replaced between them.
const maxRaces = 10

// Get implements objectstore.Store, in one request; a range counted from the end
// takes two.
func (s *Store) Get(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	if options == nil {
		options = &objectstore.GetOptions{}
	}
	err := check(ctx, path)
	if err == nil && options.Range != nil {
		// A range that is malformed whatever the object's size is not sent.
		_, _, err = options.Range.Resolve(math.MaxInt64)
	}
	var client *blockblob.Client
	if err == nil {
		client, err = s.version(path, options.Version)
	}
	if err != nil {
		return nil, s.fail(objectstore.OpGet, path, err)
	}
	result, err := get(ctx, client, path, options)
	if err != nil {
		return nil, s.fail(objectstore.OpGet, path, err)
	}
	return result, nil
}

func (s *Store) version(path objectstore.Path, version string) (*blockblob.Client, error) {
	if version == "" {
		return s.blob(path), nil
	}
	return s.blob(path).WithVersionID(version)
}

func get(ctx context.Context, client *blockblob.Client, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	for race := 0; ; race++ {
		result, etag, err := getOnce(ctx, client, path, options)
		replaced := err != nil && etag != "" && errors.Is(classify(err), objectstore.ErrPrecondition)
		if !replaced || race == maxRaces {
			return result, err
		}
	}
}

// getOnce reads an object. The ETag is that of the object it looked at before it
// read, when it had to look first.
func getOnce(ctx context.Context, client *blockblob.Client, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, string, error) {
	if options.Head {
		result, err := head(ctx, client, path, options)
		return result, "", err
	}
	download := &blob.DownloadStreamOptions{AccessConditions: reading(options)}
	etag := ""
	if options.Range != nil {
		// The service has no ranges counted from the end, and takes one beyond the
		// end of an empty object for the whole of it: look first.
		looked, err := head(ctx, client, path, options)
		if err != nil {
			return nil, "", err
		}
		etag = looked.Meta.ETag
		download.Range = blob.HTTPRange{Offset: looked.Start, Count: looked.End - looked.Start}
		download.AccessConditions = &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: quote(etag)}}
	}
	var raw *http.Response
	answer, err := client.DownloadStream(policy.WithCaptureResponse(ctx, &raw), download)
	if err != nil {
		return nil, etag, err
	}
	if raw.StatusCode == http.StatusNotModified { // to the client that is an answer like others
		_ = raw.Body.Close()
		return nil, etag, objectstore.ErrNotModified
	}
	result, err := resultOf(path, &answer, options)
	if err != nil {
		_ = answer.Body.Close()
		return nil, etag, err
	}
	return result, etag, nil
}

func head(ctx context.Context, client *blockblob.Client, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	p, err := client.GetProperties(ctx, &blob.GetPropertiesOptions{AccessConditions: reading(options)})
	if err != nil {
		return nil, err
	}
	meta := objectstore.ObjectMeta{
		Path: path, Size: value(p.ContentLength), LastModified: value(p.LastModified), ETag: unquote(p.ETag), Version: value(p.VersionID),
	}
	if err := options.Check(meta); err != nil {
		return nil, err
	}
	start, end, err := options.Range.Resolve(meta.Size)
	if err != nil {
		return nil, err
	}
	d := described{p.ContentType, p.ContentEncoding, p.ContentDisposition, p.ContentLanguage, p.CacheControl, p.Metadata}
	return &objectstore.GetResult{Meta: meta, Attributes: d.attributes(), Start: start, End: end}, nil
}

func resultOf(path objectstore.Path, answer *blob.DownloadStreamResponse, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	length := value(answer.ContentLength)
	if answer.ContentLength == nil || length < 0 {
		return nil, errors.New("the answer does not say how long the object is")
	}
	start, end, size := int64(0), length, length
	if answer.ContentRange != nil {
		if _, err := fmt.Sscanf(*answer.ContentRange, "bytes %d-%d/%d", &start, &end, &size); err != nil {
			return nil, fmt.Errorf("the answer has the range %q: %w", *answer.ContentRange, err)
		}
		end++
	}
	meta := objectstore.ObjectMeta{
		Path: path, Size: size, LastModified: value(answer.LastModified), ETag: unquote(answer.ETag), Version: value(answer.VersionID),
	}
	if err := options.Check(meta); err != nil {
		return nil, err
	}
	from, to, err := options.Range.Resolve(size)
	if err != nil {
		return nil, err
	}
	if from < start || to > end || end-start != length {
		return nil, fmt.Errorf("asked for bytes [%d, %d), the answer has %d, [%d, %d)", from, to, length, start, end)
	}
	// A server without ranges sends everything: skip to what was asked for.
	if _, err := io.CopyN(io.Discard, answer.Body, from-start); err != nil {
		return nil, err
	}
	d := described{
		answer.ContentType, answer.ContentEncoding, answer.ContentDisposition, answer.ContentLanguage, answer.CacheControl, answer.Metadata,
	}
	return &objectstore.GetResult{
		Meta: meta, Attributes: d.attributes(), Start: from, End: to, Body: wire.NewBody(answer.Body, to-from),
	}, nil
}

// Tags implements objectstore.TagReader.
func (s *Store) Tags(ctx context.Context, path objectstore.Path) (map[string]string, error) {
	if err := check(ctx, path); err != nil {
		return nil, s.fail(objectstore.OpTags, path, err)
	}
	answer, err := s.blob(path).GetTags(ctx, nil)
	if err != nil {
		return nil, s.fail(objectstore.OpTags, path, err)
	}
	tags := map[string]string{}
	for _, tag := range answer.BlobTagSet {
		tags[value(tag.Key)] = value(tag.Value)
	}
	return tags, nil
}
