package stardust

import (
	"iter"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/dust"
	"github.com/stardustdb/stardust/internal/payload"
	"github.com/stardustdb/stardust/internal/tree"
)

// Chunk is one chunk of a payload's manifest.
type Chunk struct {
	Digest Digest `json:"digest"`
	Size   int64  `json:"size"` // in bytes
}

// Manifest returns a published payload's manifest: {digest size chunks}, where
// chunks lists {digest size} in byte order and is left out for an empty
// payload. It holds the whole list in memory; [Objects.Chunks] streams it.
//
// It returns StatusInvalidArgument when the digest is not 64 hexadecimal
// digits, StatusNotFound when no payload with the digest is published, and
// StatusEvaluationFailed when the stored manifest is damaged.
func (v Objects) Manifest(digest string) (*Document, error) {
	const op = "objects.manifest"
	d, err := parseDigest(digest)
	if err != nil {
		return nil, withOp(op, err)
	}
	members := []dust.Member{{Name: "digest", Value: documentDigest(d)}}
	payload, err := v.payloadInfo(d)
	if err != nil {
		return nil, withOp(op, err)
	}
	members = append(members, dust.Member{Name: "size", Value: dust.NewInt(payload.Size)})
	var chunks []dust.Value
	for c, err := range v.Chunks(d) {
		if err != nil {
			return nil, err
		}
		chunks = append(chunks, dust.NewObject(
			dust.Member{Name: "digest", Value: documentDigest(c.Digest)},
			dust.Member{Name: "size", Value: dust.NewInt(c.Size)}))
	}
	if len(chunks) > 0 {
		members = append(members, dust.Member{Name: "chunks", Value: dust.NewArray(chunks...)})
	}
	return newDocument(dust.NewObject(members...)), nil
}

// Chunks yields the chunks of a published payload in byte order, in bounded
// memory however long the list is. An error, of the kinds of
// [Objects.Manifest], ends it.
func (v Objects) Chunks(digest Digest) iter.Seq2[Chunk, error] {
	const op = "objects.manifest"
	return func(yield func(Chunk, error) bool) {
		payload, err := v.payloadInfo(digest)
		if err != nil {
			yield(Chunk{}, withOp(op, err))
			return
		}
		count := int64(0)
		for at := int64(0); at < payload.Size; {
			chunks, end, err := v.segmentChunks(&payload, at)
			if err != nil {
				yield(Chunk{}, withOp(op, err))
				return
			}
			for _, c := range chunks {
				if !yield(c, nil) {
					return
				}
			}
			at, count = end, count+int64(len(chunks))
		}
		if count != payload.Chunks {
			yield(Chunk{}, withOp(op, damaged(nil, "manifest of payload %v lists %d chunks, not %d", digest, count, payload.Chunks)))
		}
	}
}

func (v Objects) payloadInfo(digest Digest) (p catalog.Payload, err error) {
	err = v.readOne(func(view *catalog.View) (err error) {
		p, err = tree.Payload(view, "digest", digest)
		return err
	})
	return p, err
}

// segmentChunks returns the chunks of the manifest's run at an offset, and where
// the run ends.
func (v Objects) segmentChunks(p *catalog.Payload, at int64) (chunks []Chunk, end int64, err error) {
	err = v.read(func(view *catalog.View) error {
		found, ends, err := payload.Run(view, p, at)
		for _, c := range found {
			chunks = append(chunks, Chunk{c.Digest, c.Size})
		}
		end = ends
		return err
	})
	return chunks, end, err
}
