package stardust

import (
	"context"

	"github.com/stardustdb/stardust/internal/catalog"
)

// Info describes a database.
type Info struct {
	Path     string `json:"path"`
	Format   int    `json:"format"`   // version of the file's format
	Identity string `json:"identity"` // of this file alone, for good
	FileSize int64  `json:"fileSize"` // in bytes, including what is reserved ahead while it is open

	LastRevision int64 `json:"lastRevision"`
	Files        int64 `json:"files"`
	Directories  int64 `json:"directories"`
	Payloads     int64 `json:"payloads"`
	PayloadBytes int64 `json:"payloadBytes"` // before chunks are shared
	Chunks       int64 `json:"chunks"`
	ChunkBytes   int64 `json:"chunkBytes"`  // shared chunks once
	StoredBytes  int64 `json:"storedBytes"` // that these take in the file, compressed or not

	// Compression is what the file's new chunks are stored with.
	Compression Compression `json:"compression"`
}

// Info returns what the database is and holds. It works without the objects
// plugin. It returns StatusClosed, StatusIO, or StatusEvaluationFailed when
// stored metadata is damaged.
func (db *DB) Info() (Info, error) {
	var info Info
	err := db.view(context.Background(), catalog.Live, true, func(v *catalog.View) (err error) {
		info = Info{Path: db.file.path(), Format: db.file.container.Format(), Identity: db.file.identity()}
		if info.LastRevision, err = v.LastRevision(); err != nil {
			return err
		}
		if info.Files, info.Directories, err = v.NodeTotals(); err != nil {
			return err
		}
		if info.Payloads, info.PayloadBytes, err = v.PayloadTotals(); err != nil {
			return err
		}
		totals, err := v.ChunkTotals()
		if err != nil {
			return err
		}
		info.Chunks, info.ChunkBytes, info.StoredBytes = totals.Chunks, totals.Bytes, totals.Stored
		if info.Compression, err = fileCompression(v); err != nil {
			return err
		}
		info.FileSize, err = db.file.size()
		return err
	})
	return info, withOp("info", err)
}
