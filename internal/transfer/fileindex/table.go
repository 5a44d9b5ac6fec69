package fileindex

import (
	"encoding/binary"
	"encoding/json"
	"slices"
)

// Binding says what an index is about. The entries hold for a database only when
// all of it fits.
type Binding struct {
	Identity string // the database's
	Revision int64  // its last revision when the index was made
	Record   string // digest of that transaction's record
	// Exact says that all revisions that came about during the import were its
	// own, so that at Revision the tree was as the entries say.
	Exact bool
	// Source and Into say what was imported to where, and Rules by which
	// exclusions. Keeps are the things that the import kept of each file.
	Source string
	Into   int64
	Keeps  string
	Rules  string
}

// place is where a block lies, and the checksum of its bytes.
type place struct {
	offset, size int64
	sum          uint64
}

// directory is what the table says of one directory.
type directory struct {
	// complete says that at the binding's revision the tree's directory held
	// the entries and nothing else.
	complete bool
	blocks   []place
}

// An index is the magic, the blocks, the table and the trailer: where the table
// lies, its size and checksum, and the magic once more.
const (
	magic       = "stardix1"
	trailerSize = 8 + 8 + 8 + len(magic)
)

func appendTable(b []byte, binding *Binding, directories map[string]*directory) ([]byte, error) {
	bound, err := json.Marshal(binding)
	if err != nil {
		return nil, err
	}
	b = binary.AppendUvarint(b, uint64(len(bound)))
	b = append(b, bound...)
	b = binary.AppendUvarint(b, uint64(len(directories)))
	for path, d := range directories {
		b = binary.AppendUvarint(b, uint64(len(path)))
		b = append(b, path...)
		b = append(b, boolByte(d.complete))
		b = binary.AppendUvarint(b, uint64(len(d.blocks)))
		for _, p := range d.blocks {
			b = binary.AppendUvarint(b, uint64(p.offset))
			b = binary.AppendUvarint(b, uint64(p.size))
			b = binary.LittleEndian.AppendUint64(b, p.sum)
		}
	}
	return b, nil
}

func boolByte(v bool) byte {
	if v {
		return 1
	}
	return 0
}

// decodeTable decodes a table; blocks must end before the given offset.
func decodeTable(text string, end int64) (Binding, map[string]*directory, error) {
	var binding Binding
	d := decoder{rest: text}
	if err := json.Unmarshal([]byte(d.text()), &binding); err != nil {
		return binding, nil, errDamaged
	}
	n := d.unsigned()
	directories := make(map[string]*directory, min(n, uint64(len(d.rest))/4))
	for range n {
		path := d.text()
		entry := &directory{complete: d.byte() != 0}
		blocks := d.unsigned()
		entry.blocks = slices.Grow(entry.blocks, int(min(blocks, uint64(len(d.rest))/10)))
		for range blocks {
			p := place{offset: int64(d.unsigned()), size: int64(d.unsigned()), sum: d.fixed()}
			if d.bad || p.offset < 0 || p.size < 0 || p.offset > end || p.size > end-p.offset {
				return binding, nil, errDamaged
			}
			entry.blocks = append(entry.blocks, p)
		}
		if d.bad {
			return binding, nil, errDamaged
		}
		directories[path] = entry
	}
	if d.bad || d.rest != "" {
		return binding, nil, errDamaged
	}
	return binding, directories, nil
}

func (d *decoder) fixed() uint64 {
	if len(d.rest) < 8 {
		return d.fail()
	}
	v := binary.LittleEndian.Uint64([]byte(d.rest[:8]))
	d.rest = d.rest[8:]
	return v
}
