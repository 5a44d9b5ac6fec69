package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/stardustdb/stardust/gateway/grant"
)

// Info says what the database holds and what the client may do.
type Info struct {
	Name         string `json:"name,omitempty" doc:"Who asks, when that is known."`
	Write        bool   `json:"write" doc:"Changes are allowed."`
	Bounded      bool   `json:"bounded" doc:"Paths begin at a directory of the tree, or show one revision of it; calls by entity and digest are refused."`
	At           int64  `json:"at,omitempty" doc:"The only revision that is shown."`
	LastRevision int64  `json:"lastRevision"`
	Files        int64  `json:"files,omitempty" doc:"Not told to who is bounded, as all below."`
	Directories  int64  `json:"directories,omitempty"`
	Payloads     int64  `json:"payloads,omitempty"`
	PayloadBytes int64  `json:"payloadBytes,omitempty" doc:"Before chunks are shared."`
	Chunks       int64  `json:"chunks,omitempty"`
	ChunkBytes   int64  `json:"chunkBytes,omitempty" doc:"Shared chunks once."`
	StoredBytes  int64  `json:"storedBytes,omitempty" doc:"That these take in the file, compressed or not."`
	FileSize     int64  `json:"fileSize,omitempty" doc:"Of the database file, in bytes."`
}

type infoOutput struct{ Body Info }

func (h *Handler) addInfo() {
	huma.Register(h.api, huma.Operation{
		OperationID: "info", Method: http.MethodGet, Path: "/v1/info", Tags: []string{"database"},
		Summary:   "Say what the database holds and what the client may do.",
		Responses: map[string]*huma.Response{"default": h.problem()},
	}, func(ctx context.Context, _ *struct{}) (*infoOutput, error) {
		info, err := h.info(ctx)
		if err != nil {
			return nil, problemOf(err)
		}
		return &infoOutput{info}, nil
	})
}

func (h *Handler) info(ctx context.Context) (Info, error) {
	g := grant.From(ctx)
	out := Info{Name: g.Name, Write: g.Write, Bounded: g.Bounded(), At: g.At}
	if out.Bounded {
		now, err := h.db.Snapshot()
		if err == nil {
			out.LastRevision = now.Revision()
		}
		return out, err
	}
	info, err := h.db.Info()
	if err != nil {
		return out, err
	}
	out.LastRevision, out.Files, out.Directories = info.LastRevision, info.Files, info.Directories
	out.Payloads, out.PayloadBytes = info.Payloads, info.PayloadBytes
	out.Chunks, out.ChunkBytes, out.StoredBytes = info.Chunks, info.ChunkBytes, info.StoredBytes
	out.FileSize = info.FileSize
	return out, nil
}
