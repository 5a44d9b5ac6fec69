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
	// Stored is how many bytes of the file stand for it: fewer than Size when it is
	// compressed.
	Stored int64 `json:"-"`
}

// Manifest lists the chunks of a published payload.
type Manifest struct {
	Digest Digest  `json:"digest"`
	Size   int64   `json:"size"`             // in bytes
	Chunks []Chunk `json:"chunks,omitempty"` // in byte order
}

// Manifest returns a published payload's manifest. It holds the whole list in
// memory; [Tree.Chunks] streams it.
//
// It returns StatusNotFound when no payload with the digest is published, and
// StatusEvaluationFailed when the stored manifest is damaged.
func (v Tree) Manifest(digest Digest) (Manifest, error) {
	p, err := v.payloadInfo(digest)
	if err != nil {
		return Manifest{}, withOp("objects.manifest", err)
	}
	m := Manifest{Digest: digest, Size: p.Size}
	for c, err := range v.Chunks(digest) {
		if err != nil {
			return Manifest{}, err
		}
		m.Chunks = append(m.Chunks, c)
	}
	return m, nil
}

func (m *Manifest) value() dust.Value {
	members := []dust.Member{
		{Name: "digest", Value: documentDigest(m.Digest)},
		{Name: "size", Value: dust.NewInt(m.Size)},
	}
	if len(m.Chunks) > 0 {
		chunks := make([]dust.Value, len(m.Chunks))
		for i, c := range m.Chunks {
			chunks[i] = dust.NewObject(
				dust.Member{Name: "digest", Value: documentDigest(c.Digest)},
				dust.Member{Name: "size", Value: dust.NewInt(c.Size)})
		}
		members = append(members, dust.Member{Name: "chunks", Value: dust.NewArray(chunks...)})
	}
	return dust.NewObject(members...)
}

// Chunks yields the chunks of a published payload in byte order, in bounded
// memory however long the list is. It ends at an error, which is one of
// [Tree.Manifest]'s.
func (v Tree) Chunks(digest Digest) iter.Seq2[Chunk, error] {
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

func (v Tree) payloadInfo(digest Digest) (p catalog.Payload, err error) {
	err = v.readOne(func(view *catalog.View) (err error) {
		p, err = tree.Payload(view, "digest", digest)
		return err
	})
	return p, err
}

// segmentChunks returns the chunks of the manifest's segment at an offset, and
// where the segment ends.
func (v Tree) segmentChunks(p *catalog.Payload, at int64) (chunks []Chunk, end int64, err error) {
	err = v.read(func(view *catalog.View) error {
		found, ends, err := payload.Run(view, p, at)
		for _, c := range found {
			chunks = append(chunks, Chunk{c.Digest, c.Size, c.Stored})
		}
		end = ends
		return err
	})
	return chunks, end, err
}
