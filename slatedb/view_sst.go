package slatedb

import (
	"encoding/hex"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"

	"github.com/stardustdb/stardust/objectstore"
)

// SSTRow is an SST as a listing of a manifest's SSTs shows it, for tables and
// JSON.
type SSTRow struct {
	ULID ulid.ULID        `json:"ulid"`
	Path objectstore.Path `json:"path"`
	// External is true for an SST of another database.
	External bool `json:"external"`
	// Segment is the prefix of the segment as text, empty for the root and
	// for a prefix that is not UTF-8; SegmentHex always has it.
	Segment    string `json:"segment"`
	SegmentHex string `json:"segment_hex"`
	// SortedRun is the run that the SST belongs to, nil in L0.
	SortedRun *uint32 `json:"sorted_run"`
	// FirstKeyHex and LastKeyHex are the keys at its ends. A view may narrow
	// them.
	FirstKeyHex string `json:"first_key_hex"`
	LastKeyHex  string `json:"last_key_hex"`
	// Narrowed is true when the tree shows only a part of the SST.
	Narrowed bool `json:"narrowed"`
}

// SSTRows lists every view of the manifest of the database at root in the order
// of reading: the root tree and then each segment, L0 from the newest and then
// the sorted runs. An SST has a row for each of its views.
func (m *Manifest) SSTRows(root objectstore.Path) []SSTRow {
	resolver := m.Resolver(root)
	rows := []SSTRow{}
	for prefix, tree := range m.Trees() {
		row := SSTRow{SegmentHex: hex.EncodeToString(prefix)}
		if utf8.Valid(prefix) {
			row.Segment = string(prefix)
		}
		for i := range tree.L0 {
			rows = append(rows, row.of(&tree.L0[i], resolver))
		}
		for r := range tree.SortedRuns {
			run := &tree.SortedRuns[r]
			row.SortedRun = &run.ID
			for i := range run.SSTs {
				rows = append(rows, row.of(&run.SSTs[i], resolver))
			}
		}
	}
	return rows
}

// of fills in what concerns one view.
func (row SSTRow) of(view *SSTView, resolver *Resolver) SSTRow {
	row.ULID = view.SST.ID
	row.Path = resolver.SSTPath(view.SST.ID)
	_, row.External = resolver.external[view.SST.ID]
	row.FirstKeyHex = hex.EncodeToString(view.SST.Info.FirstEntry)
	row.LastKeyHex = hex.EncodeToString(view.SST.Info.LastEntry)
	row.Narrowed = view.Visible != nil
	return row
}
