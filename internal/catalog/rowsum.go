package catalog

import (
	"encoding/binary"
	"hash/crc32"
)

// castagnoli is the table of CRC32C; crc32 has it in hardware.
var castagnoli = crc32.MakeTable(crc32.Castagnoli) //nolint:gochecknoglobals // immutable

// rowsum is the running CRC32C of a row: its table's letter, then its columns.
type rowsum uint32

func newRowsum(table byte) rowsum {
	return rowsum(crc32.Update(0, castagnoli, []byte{table}))
}

func (s rowsum) ints(values ...int64) rowsum {
	var buf [64]byte
	b := buf[:0]
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return rowsum(crc32.Update(uint32(s), castagnoli, b))
}

func (s rowsum) bytes(b []byte) rowsum {
	return rowsum(crc32.Update(uint32(s.ints(int64(len(b)))), castagnoli, b))
}

func (s rowsum) sum() int64 { return int64(s) }
