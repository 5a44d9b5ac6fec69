package stardust

import (
	"crypto/sha256"
	"io"

	"github.com/stardustdb/stardust/internal/transfer"
)

// dryContent is content that was not stored: a dry run only looked at it, or it
// is published already.
type dryContent struct {
	digest Digest
	size   int64
}

func hashContent(from io.Reader) (*dryContent, error) {
	h := sha256.New()
	size, err := io.Copy(h, from)
	if err != nil {
		return nil, &transfer.SourceError{Err: err}
	}
	return &dryContent{Digest(h.Sum(nil)), size}, nil
}

// Digest returns the content's SHA-256.
func (c *dryContent) Digest() Digest { return c.digest }

// Size returns the number of bytes.
func (c *dryContent) Size() int64 { return c.size }

// Abandon frees nothing.
func (c *dryContent) Abandon() {}
