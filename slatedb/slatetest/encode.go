package slatetest

import (
	"encoding/binary"
	"slices"
	"time"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/oklog/ulid/v2"

	"github.com/stardustdb/stardust/slatedb"
	"github.com/stardustdb/stardust/slatedb/internal/fb"
)

// encoder builds one object. A FlatBuffer is built from the leaves up: what a
// table refers to must be complete before the table begins.
type encoder struct {
	b *flatbuffers.Builder
}

type offset = flatbuffers.UOffsetT

func newEncoder() *encoder { return &encoder{flatbuffers.NewBuilder(1024)} }

// finish returns the object: the format version, then the buffer.
func (e *encoder) finish(version uint16, root offset) []byte {
	e.b.Finish(root)
	return append(binary.BigEndian.AppendUint16(nil, version), e.b.FinishedBytes()...)
}

// vectorOf encodes a vector of tables.
func vectorOf[T any](e *encoder, items []T, encode func(*T) offset) offset {
	offsets := make([]offset, len(items))
	for i := range items {
		offsets[i] = encode(&items[i])
	}
	e.b.StartVector(4, len(offsets), 4)
	for _, offset := range slices.Backward(offsets) {
		e.b.PrependUOffsetT(offset)
	}
	return e.b.EndVector(len(offsets))
}

// text encodes a string, or none when it is empty.
func (e *encoder) text(s string) offset {
	if s == "" {
		return 0
	}
	return e.b.CreateString(s)
}

// bytes encodes a vector of bytes, or none when it is nil.
func (e *encoder) bytes(data []byte) offset {
	if data == nil {
		return 0
	}
	return e.b.CreateByteVector(data)
}

func (e *encoder) numbers(list []uint32) offset {
	e.b.StartVector(4, len(list), 4)
	for _, l := range slices.Backward(list) {
		e.b.PrependUint32(l)
	}
	return e.b.EndVector(len(list))
}

func (e *encoder) ulid(id *ulid.ULID) offset {
	fb.UlidStart(e.b)
	fb.UlidAddHigh(e.b, binary.BigEndian.Uint64(id[:8]))
	fb.UlidAddLow(e.b, binary.BigEndian.Uint64(id[8:]))
	return fb.UlidEnd(e.b)
}

// optionalULID encodes none for the zero ULID.
func (e *encoder) optionalULID(id ulid.ULID) offset {
	if id == (ulid.ULID{}) {
		return 0
	}
	return e.ulid(&id)
}

func (e *encoder) uuid(id [16]byte) offset {
	fb.UuidStart(e.b)
	fb.UuidAddHigh(e.b, binary.BigEndian.Uint64(id[:8]))
	fb.UuidAddLow(e.b, binary.BigEndian.Uint64(id[8:]))
	return fb.UuidEnd(e.b)
}

// optionalUUID encodes none for the nil UUID.
func (e *encoder) optionalUUID(id [16]byte) offset {
	if id == ([16]byte{}) {
		return 0
	}
	return e.uuid(id)
}

func (e *encoder) bound(bound slatedb.Bound) offset {
	key := e.bytes(bound.Key)
	fb.BytesBoundStart(e.b)
	fb.BytesBoundAddKey(e.b, key)
	fb.BytesBoundAddBoundType(e.b, fb.BoundType(bound.Kind))
	return fb.BytesBoundEnd(e.b)
}

// keyRange encodes none for nil.
func (e *encoder) keyRange(r *slatedb.KeyRange) offset {
	if r == nil {
		return 0
	}
	start, end := e.bound(r.Start), e.bound(r.End)
	fb.BytesRangeStart(e.b)
	fb.BytesRangeAddStartBound(e.b, start)
	fb.BytesRangeAddEndBound(e.b, end)
	return fb.BytesRangeEnd(e.b)
}

func (e *encoder) info(info *slatedb.SSTInfo) offset {
	first, last := e.bytes(info.FirstEntry), e.bytes(info.LastEntry)
	fb.SsTableInfoStart(e.b)
	fb.SsTableInfoAddFirstEntry(e.b, first)
	fb.SsTableInfoAddIndexOffset(e.b, info.IndexOffset)
	fb.SsTableInfoAddIndexLen(e.b, info.IndexLen)
	fb.SsTableInfoAddFilterOffset(e.b, info.FilterOffset)
	fb.SsTableInfoAddFilterLen(e.b, info.FilterLen)
	fb.SsTableInfoAddCompressionFormat(e.b, fb.CompressionFormat(info.Compression))
	fb.SsTableInfoAddSstType(e.b, fb.SstType(info.Type))
	fb.SsTableInfoAddLastEntry(e.b, last)
	return fb.SsTableInfoEnd(e.b)
}

// sst encodes an SST with the range visible of it, as version 1 has it.
func (e *encoder) sst(sst *slatedb.SST, visible *slatedb.KeyRange) offset {
	id, info, keys := e.ulid(&sst.ID), e.info(&sst.Info), e.keyRange(visible)
	fb.CompactedSsTableStart(e.b)
	fb.CompactedSsTableAddId(e.b, id)
	fb.CompactedSsTableAddInfo(e.b, info)
	fb.CompactedSsTableAddVisibleRange(e.b, keys)
	fb.CompactedSsTableAddFormatVersion(e.b, sst.FormatVersion)
	return fb.CompactedSsTableEnd(e.b)
}

// sstV2 encodes an SST by itself, as version 2 has it.
func (e *encoder) sstV2(sst **slatedb.SST) offset {
	id, info := e.ulid(&(*sst).ID), e.info(&(*sst).Info)
	fb.CompactedSsTableV2Start(e.b)
	fb.CompactedSsTableV2AddId(e.b, id)
	fb.CompactedSsTableV2AddInfo(e.b, info)
	fb.CompactedSsTableV2AddFormatVersion(e.b, (*sst).FormatVersion)
	return fb.CompactedSsTableV2End(e.b)
}

func (e *encoder) viewV1(view *slatedb.SSTView) offset { return e.sst(view.SST, view.Visible) }

func (e *encoder) viewV2(view *slatedb.SSTView) offset {
	id, sst, keys := e.ulid(&view.ID), e.ulid(&view.SST.ID), e.keyRange(view.Visible)
	fb.CompactedSsTableViewStart(e.b)
	fb.CompactedSsTableViewAddId(e.b, id)
	fb.CompactedSsTableViewAddSstId(e.b, sst)
	fb.CompactedSsTableViewAddVisibleRange(e.b, keys)
	return fb.CompactedSsTableViewEnd(e.b)
}

// seconds is a time as the schema has it; zero for none.
func seconds(t time.Time) uint32 {
	if t.IsZero() {
		return 0
	}
	return uint32(t.Unix())
}
