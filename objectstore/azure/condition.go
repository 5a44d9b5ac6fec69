package azure

import (
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"

	"github.com/stardustdb/stardust/objectstore"
)

func quote(etag string) *azcore.ETag {
	quoted := azcore.ETag(`"` + strings.Trim(etag, `"`) + `"`)
	return &quoted
}

func unquote(etag *azcore.ETag) string { return strings.Trim(string(value(etag)), `"`) }

// writing returns the conditions of a mode.
func writing(mode objectstore.PutMode, update objectstore.UpdateVersion) (*blob.AccessConditions, error) {
	if err := mode.Validate(update); err != nil {
		return nil, err
	}
	modified := &blob.ModifiedAccessConditions{}
	switch mode {
	case objectstore.Create:
		anything := azcore.ETagAny
		modified.IfNoneMatch = &anything
	case objectstore.Update:
		if update.ETag == "" {
			return nil, fmt.Errorf("%w: Azure updates by ETag, not by version", objectstore.ErrUnsupported)
		}
		modified.IfMatch = quote(update.ETag)
	case objectstore.Overwrite:
	}
	return &blob.AccessConditions{ModifiedAccessConditions: modified}, nil
}

// reading returns the conditions of a read that the service can check: on one
// ETag. The answer is checked in any case.
func reading(options *objectstore.GetOptions) *blob.AccessConditions {
	modified := &blob.ModifiedAccessConditions{}
	if isOne(options.IfMatch) {
		modified.IfMatch = quote(options.IfMatch)
	}
	if isOne(options.IfNoneMatch) {
		modified.IfNoneMatch = quote(options.IfNoneMatch)
	}
	return &blob.AccessConditions{ModifiedAccessConditions: modified}
}

func isOne(etags string) bool { return etags != "" && !strings.ContainsAny(etags, "*, ") }
