package api

import (
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// The types below describe documents for the OpenAPI document; the documents
// themselves are read and written by the database, as the spec has them.

// Digest is a payload's or chunk's digest.
type Digest struct {
	SHA256 string `json:"#sha256" pattern:"^[0-9a-fA-F]{64}$" doc:"The SHA-256, 64 hexadecimal digits in either case."`
}

// Record describes a node of the tree.
type Record struct {
	Entity   int64   `json:"entity" doc:"The node's entity."`
	Parent   int64   `json:"parent" doc:"The parent directory's entity, 0 for the root."`
	Revision int64   `json:"revision" doc:"The transaction that last changed the node."`
	Name     string  `json:"name" maxLength:"4096"`
	Kind     string  `json:"kind" enum:"file,directory"`
	Size     *int64  `json:"size,omitempty" doc:"A file's size in bytes."`
	Digest   *Digest `json:"digest,omitempty" doc:"A file's payload."`
}

// TimedRecord is a record in a listing.
type TimedRecord struct {
	Record
	Time *time.Time `json:"time,omitempty" doc:"When the node last changed, by the clock of who committed it; with times=true."`
}

// Chunk is a piece of a payload.
type Chunk struct {
	Digest Digest `json:"digest"`
	Size   int64  `json:"size"`
}

// Manifest lists the chunks of a payload.
type Manifest struct {
	Digest Digest  `json:"digest"`
	Size   int64   `json:"size"`
	Chunks []Chunk `json:"chunks,omitempty"`
}

// Published is the result of an upload.
type Published struct {
	Digest       Digest `json:"digest"`
	Size         int64  `json:"size"`
	Deduplicated bool   `json:"deduplicated" doc:"An equal payload was published already."`
}

// Node is a file or directory to create.
type Node struct {
	Name   string  `json:"name" maxLength:"4096"`
	Parent int64   `json:"parent,omitempty" doc:"The parent directory's entity, 0 for the root."`
	Under  int64   `json:"under,omitempty" doc:"The one-based position of an earlier directory of the request."`
	Digest *Digest `json:"digest,omitempty" doc:"A file's payload; without it the node is a directory."`
}

type (
	entityRequest struct {
		Entity int64 `json:"entity"`
	}
	lookupRequest struct {
		Parent int64  `json:"parent"`
		Name   string `json:"name"`
	}
	childrenRequest struct {
		Parent int64 `json:"parent"`
	}
	digestRequest struct {
		Digest Digest `json:"digest"`
	}
	createRequest struct {
		Nodes []Node `json:"nodes" minItems:"1" maxItems:"4096"`
	}
	updateRequest struct {
		Entity           int64  `json:"entity"`
		Digest           Digest `json:"digest"`
		ExpectedRevision int64  `json:"expectedRevision" doc:"Of the record that the caller decided by; 0 skips the check."`
	}
	moveEntityRequest struct {
		Entity           int64  `json:"entity"`
		Parent           int64  `json:"parent"`
		Name             string `json:"name"`
		ExpectedRevision int64  `json:"expectedRevision" doc:"Of the record that the caller decided by; 0 skips the check."`
		Replace          bool   `json:"replace" doc:"Replace a node of the same kind at the destination."`
	}
	removeEntityRequest struct {
		Entity           int64 `json:"entity"`
		ExpectedRevision int64 `json:"expectedRevision" doc:"Of the record that the caller decided by; 0 skips the check."`
	}
)

func (h *Handler) schema(of any) *huma.Schema {
	return h.api.OpenAPI().Components.Schemas.Schema(reflect.TypeOf(of), true, "")
}
