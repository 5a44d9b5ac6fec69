package slatedb

import (
	"slices"

	"github.com/stardustdb/stardust/slatedb/internal/fbverify"
)

// schema describes the tables of schema/*.fbs to the verifier; a test compares
// the two. It includes the fields that are not read, so that an object cut
// within one of them is found to be cut.
type schema struct {
	manifestV1, manifestV2, compactions *fbverify.Table
}

// newSchema builds the description. It is cheap compared with the decoding, so
// nobody needs to keep it.
func newSchema() *schema {
	id := table("Id", scalar(0, "high", 8), scalar(1, "low", 8))
	bound := table("BytesBound", vector(0, "key", 1), scalar(1, "bound_type", 1))
	keyRange := table("BytesRange",
		required(child(0, "start_bound", bound)), required(child(1, "end_bound", bound)))
	info := table("SsTableInfo",
		vector(0, "first_entry", 1),
		scalar(1, "index_offset", 8), scalar(2, "index_len", 8),
		scalar(3, "filter_offset", 8), scalar(4, "filter_len", 8),
		scalar(5, "compression_format", 1), scalar(6, "sst_type", 1),
		vector(7, "last_entry", 1),
		scalar(8, "stats_offset", 8), scalar(9, "stats_len", 8), scalar(10, "filter_format", 1))
	sst := table("CompactedSsTable",
		required(child(0, "id", id)), required(child(1, "info", info)),
		child(2, "visible_range", keyRange), scalar(3, "format_version", 2))
	sstV2 := table("CompactedSsTableV2",
		required(child(0, "id", id)), required(child(1, "info", info)),
		scalar(2, "format_version", 2))
	view := table("CompactedSsTableView",
		required(child(0, "id", id)), required(child(1, "sst_id", id)),
		child(2, "visible_range", keyRange))
	run := table("SortedRun", scalar(0, "id", 4), required(children(1, "ssts", sst)))
	runV2 := table("SortedRunV2", scalar(0, "id", 4), required(children(1, "ssts", view)))
	external := table("ExternalDb",
		required(text(0, "path")),
		required(child(1, "source_checkpoint_id", id)), child(2, "final_checkpoint_id", id),
		required(children(3, "sst_ids", id)))
	checkpoint := table("Checkpoint",
		required(child(0, "id", id)), scalar(1, "manifest_id", 8),
		scalar(2, "checkpoint_expire_time_s", 4), scalar(3, "checkpoint_create_time_s", 4),
		scalar(4, "metadata_type", 1), oneOf(5, "metadata", table("WriterCheckpoint", scalar(0, "epoch", 8))),
		text(6, "name"))
	segment := table("Segment",
		required(vector(0, "prefix", 1)), child(1, "last_compacted_l0_sst_view_id", id),
		required(children(2, "l0", view)), required(children(3, "compacted", runV2)))

	// Both versions of the manifest begin with the same fields.
	head := []fbverify.Field{
		scalar(0, "manifest_id", 8), children(1, "external_dbs", external), scalar(2, "initialized", 1),
		scalar(3, "writer_epoch", 8), scalar(4, "compactor_epoch", 8),
		scalar(5, "replay_after_wal_id", 8), scalar(6, "wal_id_last_seen", 8),
	}
	return &schema{
		manifestV1: table("ManifestV1", append(slices.Clone(head),
			child(7, "l0_last_compacted", id),
			required(children(8, "l0", sst)), required(children(9, "compacted", run)),
			scalar(10, "last_l0_clock_tick", 8), required(children(11, "checkpoints", checkpoint)),
			scalar(12, "last_l0_seq", 8), text(13, "wal_object_store_uri"),
			scalar(14, "recent_snapshot_min_seq", 8), vector(15, "sequence_tracker", 1))...),
		manifestV2: table("ManifestV2", append(slices.Clone(head),
			child(7, "last_compacted_l0_sst_view_id", id),
			required(children(8, "ssts", sstV2)),
			required(children(9, "l0", view)), required(children(10, "compacted", runV2)),
			scalar(11, "last_l0_clock_tick", 8), required(children(12, "checkpoints", checkpoint)),
			scalar(13, "last_l0_seq", 8), scalar(14, "recent_snapshot_min_seq", 8),
			vector(15, "sequence_tracker", 1),
			children(16, "segments", segment), text(17, "segment_extractor_name"))...),
		compactions: compactionsSchema(id, keyRange, sst),
	}
}

func compactionsSchema(id, keyRange, sst *fbverify.Table) *fbverify.Table {
	tiered := table("TieredCompactionSpec",
		children(0, "ssts", id), vector(1, "sorted_runs", 4), children(2, "l0_view_ids", id),
		vector(3, "segment", 1), scalar(4, "destination", 4))
	drain := table("DrainSegmentSpec",
		required(vector(0, "segment", 1)), children(1, "l0_view_ids", id), vector(2, "sorted_runs", 4))
	worker := table("WorkerSpec", text(0, "worker_id"), scalar(1, "last_heartbeat_ms", 8))
	sub := table("Subcompaction", required(child(0, "range", keyRange)), children(1, "output_ssts", sst))
	context := table("TieredCompactionContext",
		children(0, "subcompactions", sub), scalar(1, "retention_min_seq", 8))
	compaction := table("Compaction",
		required(child(0, "id", id)),
		scalar(1, "spec_type", 1), required(oneOf(2, "spec", tiered, drain)),
		scalar(3, "status", 1), children(4, "output_ssts", sst), child(5, "worker", worker),
		scalar(6, "ctx_type", 1), oneOf(7, "ctx", context))
	return table("CompactionsV1",
		scalar(0, "compactor_epoch", 8), required(children(1, "recent_compactions", compaction)))
}

func table(name string, fields ...fbverify.Field) *fbverify.Table {
	return &fbverify.Table{Name: name, Fields: fields}
}

func scalar(id int, name string, size int) fbverify.Field {
	return fbverify.Field{Name: name, ID: id, Kind: fbverify.Scalar, Size: size}
}

func vector(id int, name string, size int) fbverify.Field {
	return fbverify.Field{Name: name, ID: id, Kind: fbverify.Scalars, Size: size}
}

func text(id int, name string) fbverify.Field {
	return fbverify.Field{Name: name, ID: id, Kind: fbverify.String}
}

func child(id int, name string, t *fbverify.Table) fbverify.Field {
	return fbverify.Field{Name: name, ID: id, Kind: fbverify.Child, Table: t}
}

func children(id int, name string, t *fbverify.Table) fbverify.Field {
	return fbverify.Field{Name: name, ID: id, Kind: fbverify.Children, Table: t}
}

// oneOf numbers its tables from one, as a union does.
func oneOf(id int, name string, tables ...*fbverify.Table) fbverify.Field {
	types := make(map[byte]*fbverify.Table, len(tables))
	for i, t := range tables {
		types[byte(i+1)] = t
	}
	return fbverify.Field{Name: name, ID: id, Kind: fbverify.OneOf, Types: types}
}

func required(f fbverify.Field) fbverify.Field {
	f.Required = true
	return f
}
