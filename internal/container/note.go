package container

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// note says who has the file open and which write-ahead log belongs to it. It
// is kept twice: at the head, where every commit brings it up to date, and in the
// trailer, behind all pages, where it is written before a checkpoint changes the
// first of them. A copy of the file, made while somebody writes, has the one from
// before its pages and the other from after.
type note struct {
	holder   Holder
	sequence uint64 // grows with every note that is written
	log      mark   // the log in use, up to the last commit that was acknowledged
	spent    mark   // the log before it, whose pages are all in the file
	names    logNames
	draft    bool // somebody is still filling the file, or was
	moved    bool // the trailer has a new place; this one is out of date
}

// mark is a place in a write-ahead log. Without salts there is no log.
type mark struct {
	salts  [8]byte // of the log's header, as they are there
	frames uint64  // how many frames it has at least, all of them whole
	sum    [8]byte // the checksum of the last of them, which covers all before
}

func (m mark) exists() bool { return m.salts != [8]byte{} }

// further returns which of two marks in the same log demands more of it.
func further(a, b mark) mark {
	if b.frames > a.frames {
		return b
	}
	return a
}

// logNames says what the log and the shared memory are called.
type logNames byte

// The names are the file's with these endings. The second kind is for a file
// beside which a stranger's lies that is called like the first.
const (
	usualNames logNames = iota
	otherNames
	endOfNames
)

func (n logNames) log() string    { return [...]string{"-wal", "-stardust-wal"}[n] }
func (n logNames) memory() string { return [...]string{"-shm", "-stardust-shm"}[n] }

// A note's fields. The first four are those of format version 1, which had no
// more than them.
const (
	noteChecksum = 0
	notePID      = 4
	noteHostSize = 12
	noteHost     = 16
	noteMagic    = 384
	noteSequence = 392
	noteNames    = 400
	noteMoved    = 401
	noteDraft    = 402
	noteLog      = 408
	noteSpent    = 432
	noteSize     = 512

	markSize     = 24
	noteMagicIs  = "SDnote\x00\x02"
	longestHost  = noteMagic - noteHost
	longestHost1 = noteSize - noteHost
)

func (n *note) encode() []byte {
	p := make([]byte, noteSize)
	binary.LittleEndian.PutUint64(p[notePID:], uint64(n.holder.PID))
	size := copy(p[noteHost:noteMagic], n.holder.Host)
	binary.LittleEndian.PutUint32(p[noteHostSize:], uint32(size))
	copy(p[noteMagic:], noteMagicIs)
	binary.LittleEndian.PutUint64(p[noteSequence:], n.sequence)
	p[noteNames] = byte(n.names)
	if n.moved {
		p[noteMoved] = 1
	}
	if n.draft {
		p[noteDraft] = 1
	}
	n.log.encode(p[noteLog:])
	n.spent.encode(p[noteSpent:])
	binary.LittleEndian.PutUint32(p[noteChecksum:], crc32.Checksum(p[notePID:], castagnoli()))
	return p
}

func (m *mark) encode(p []byte) {
	copy(p, m.salts[:])
	binary.LittleEndian.PutUint64(p[8:], m.frames)
	copy(p[16:markSize], m.sum[:])
}

func decodeMark(p []byte) mark {
	return mark{
		salts:  [8]byte(p),
		frames: binary.LittleEndian.Uint64(p[8:]),
		sum:    [8]byte(p[16:]),
	}
}

// noteKind is what lies where a note should be.
type noteKind int

const (
	noteDamaged noteKind = iota
	noteGone             // something else, or what is left of a note that was out of date
	noteZero             // of version 1, at rest
	noteOld              // of version 1, somebody has or had the file open
	noteWhole
)

// decodeNote reads a note of either version. Of an old one only the holder is
// known.
func decodeNote(p []byte) (note, noteKind) {
	if len(p) != noteSize {
		return note{}, noteDamaged
	}
	if len(bytes.Trim(p, "\x00")) == 0 {
		return note{}, noteZero
	}
	if crc32.Checksum(p[notePID:], castagnoli()) != binary.LittleEndian.Uint32(p) {
		if string(p[noteMagic:noteMagic+len(noteMagicIs)]) != noteMagicIs || p[noteMoved] != 0 {
			return note{}, noteGone
		}
		return note{}, noteDamaged
	}
	size := binary.LittleEndian.Uint32(p[noteHostSize:])
	if size > longestHost1 {
		return note{}, noteDamaged
	}
	n := note{holder: Holder{
		PID:  int64(binary.LittleEndian.Uint64(p[notePID:])),
		Host: string(bytes.ToValidUTF8(p[noteHost:noteHost+int(size)], []byte("?"))),
	}}
	if string(p[noteMagic:noteMagic+len(noteMagicIs)]) != noteMagicIs {
		return n, noteOld
	}
	if size > longestHost || p[noteNames] >= byte(endOfNames) {
		return note{}, noteDamaged
	}
	n.sequence = binary.LittleEndian.Uint64(p[noteSequence:])
	n.names, n.moved = logNames(p[noteNames]), p[noteMoved] != 0
	n.draft = p[noteDraft] != 0
	n.log, n.spent = decodeMark(p[noteLog:]), decodeMark(p[noteSpent:])
	return n, noteWhole
}
