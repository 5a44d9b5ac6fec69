package batch

import (
	"crypto/sha256"
	"time"

	"github.com/stardustdb/stardust/internal/digest"
	"github.com/stardustdb/stardust/internal/replica"
)

// MaxSize bounds the bytes of a batch. Writers make batches of a quarter of it.
const MaxSize = 64 << 20

// Name is a ULID, under which a pack lies.
type Name [16]byte

// Nonce tells attempts to write a batch apart.
type Nonce [16]byte

// Tip is what the last rows of a position are. Zero stands for no row.
type Tip struct {
	Record  digest.Digest // of the transaction's record
	Chunk   digest.Digest
	Payload digest.Digest
}

// Batch is one object of the log.
type Batch struct {
	Identity Identity
	Number   int64         // from 1
	Previous digest.Digest // of the bytes of the batch before; zero for the first
	Writer   Nonce         // of one process
	Nonce    Nonce
	Time     time.Time // informative: nothing is ordered by it
	Before   replica.Position
	After    replica.Position
	Tip      Tip // at After

	// Horizon is a time of pack names, in milliseconds: no later batch introduces a
	// pack whose name has it or an earlier one. It is at least that of the batch
	// before; zero means that every name is free.
	Horizon int64

	Packs  []PackRef
	Places []Place // of Rows.Chunks, one each
	Rows   replica.Rows
}

// PackRef names a pack that a batch introduces.
type PackRef struct {
	Name Name
	Size int64
}

// Place is where a chunk's bytes are.
type Place struct {
	Pack   int // index in Packs
	Offset int64
	Stored int64 // bytes in the pack
	Codec  Codec
}

// Sum returns the digest of a batch's bytes, which the next batch carries.
func Sum(b []byte) digest.Digest { return sha256.Sum256(b) }

// RecordSum returns a record's sum in a Tip.
func RecordSum(record []byte) digest.Digest {
	if record == nil {
		return digest.Digest{}
	}
	return sha256.Sum256(record)
}

// Codec says how a pack has a chunk's bytes.
type Codec byte

// The codecs are in the format: they never change.
const (
	Raw  Codec = iota // as they are
	Zstd              // one frame of Zstandard
	codecs
)
