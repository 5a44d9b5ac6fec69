package local

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"iter"

	"github.com/stardustdb/stardust/mirror/vfs"
)

// The startup index saves reading every .meta file when a mirror starts. It is
// only a hint: a record counts while the two files of its copy have the sizes
// and modification times that it says, so a stale index neither hides nor
// invents a copy. It is a magic number and blocks; a block is the length of
// its payload, the payload's CRC32C, both in four bytes little-endian, and
// the payload: records, one after another.
const (
	indexMagic     = "SDMIRIX1"
	indexBlock     = 256 << 10 // a block is closed when it has so many bytes
	maxIndexBlock  = 64 << 20  // a longer one is not read
	indexBlockHead = 8
)

// WriteIndex writes the startup index.
func WriteIndex(d *Dir, all []Indexed) (err error) {
	temp := d.Join(indexTempName)
	var w vfs.Writer
	err = d.Files.Spare(context.Background(), func() (err error) {
		w, err = d.FS.Create(temp)
		return err
	})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = w.Close()
			err = errors.Join(err, d.FS.Remove(temp))
		}
	}()
	if _, err := w.WriteAt([]byte(indexMagic), 0); err != nil {
		return err
	}
	at := int64(len(indexMagic))
	block := make([]byte, indexBlockHead, indexBlock+4096)
	flush := func() error {
		payload := block[indexBlockHead:]
		if len(payload) == 0 {
			return nil
		}
		binary.LittleEndian.PutUint32(block[0:], uint32(len(payload)))
		binary.LittleEndian.PutUint32(block[4:], crc32.Checksum(payload, Castagnoli()))
		_, err := w.WriteAt(block, at)
		at += int64(len(block))
		block = block[:indexBlockHead]
		return err
	}
	for _, x := range all {
		block = appendRecord(block, x.Path, x.Entry)
		if len(block) >= indexBlock {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	if _, err := w.Finish(); err != nil {
		return err
	}
	return d.FS.Rename(temp, d.Join(indexName))
}

// readIndex yields the records of a startup index up to the first damage. A
// yielded error ends it.
func readIndex(r io.ReaderAt) iter.Seq2[Indexed, error] {
	return func(yield func(Indexed, error) bool) {
		magic := make([]byte, len(indexMagic))
		if _, err := r.ReadAt(magic, 0); err != nil && !errors.Is(err, io.EOF) {
			yield(Indexed{}, err)
			return
		}
		if string(magic) != indexMagic {
			yield(Indexed{}, errors.New("not a startup index of this version"))
			return
		}
		var buffer []byte
		for at := int64(len(indexMagic)); ; {
			payload, err := readIndexBlock(r, at, &buffer)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(Indexed{}, err)
				return
			}
			at += indexBlockHead + int64(len(payload))
			for len(payload) > 0 {
				var x Indexed
				x.Path, x.Entry, payload, err = readRecord(payload)
				if !yield(x, err) || err != nil {
					return
				}
			}
		}
	}
}

// readIndexBlock returns the payload of the block at an offset, in buffer. At
// the end of the file it returns io.EOF.
func readIndexBlock(r io.ReaderAt, at int64, buffer *[]byte) ([]byte, error) {
	var head [indexBlockHead]byte
	if n, err := r.ReadAt(head[:], at); n < len(head) {
		if n == 0 && errors.Is(err, io.EOF) {
			return nil, io.EOF
		}
		return nil, errors.New("a block is cut")
	}
	length := int64(binary.LittleEndian.Uint32(head[0:]))
	if length == 0 || length > maxIndexBlock {
		return nil, errors.New("a block has an impossible length")
	}
	payload, err := readGrowing(r, at+indexBlockHead, length, (*buffer)[:0])
	*buffer = payload
	if err != nil {
		return nil, errors.New("a block is cut")
	}
	if crc32.Checksum(payload, Castagnoli()) != binary.LittleEndian.Uint32(head[4:]) {
		return nil, errors.New("a block is damaged")
	}
	return payload, nil
}

// readGrowing appends length bytes at an offset of r to data. The memory that
// it takes follows the bytes that are there, not the length.
func readGrowing(r io.ReaderAt, at, length int64, data []byte) ([]byte, error) {
	for have := int64(0); have < length; {
		n := min(length-have, 1<<20)
		start := len(data)
		data = append(data, make([]byte, n)...)
		got, err := r.ReadAt(data[start:], at+have)
		if int64(got) < n {
			return data[:start+got], errors.Join(io.ErrUnexpectedEOF, err)
		}
		have += n
	}
	return data, nil
}
