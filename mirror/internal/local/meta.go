package local

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/stardustdb/stardust/objectstore"
)

// metaFormat is the version of the .meta files that this package writes.
const metaFormat = 1

// MaxMeta is the greatest size of a .meta file that is read, in bytes: the block
// checksums of an object of 100 TB fit.
const MaxMeta int64 = 8 << 30

// Metadata is what a .meta file says about an object.
type Metadata struct {
	Size       int64
	Modified   time.Time
	ETag       string
	Version    string
	Attributes objectstore.Attributes
	// blocks are the CRC32C of the object's blocks, nil when not known.
	Blocks []uint32
}

// metaDocument is the JSON of a .meta file. Its checksum follows as the last
// member, over all bytes before the comma that precedes it.
type metaDocument struct {
	Format       int                     `json:"format"`
	Path         string                  `json:"path"`
	Size         int64                   `json:"size"`
	LastModified time.Time               `json:"last_modified"`
	ETag         string                  `json:"etag,omitempty"`
	Version      string                  `json:"version,omitempty"`
	Attributes   *objectstore.Attributes `json:"attributes,omitempty"`
	// BytesAsRunes tells that ETag, version and attributes are not UTF-8:
	// each of their bytes is written as the rune of its value.
	BytesAsRunes bool   `json:"bytes_as_runes,omitempty"`
	BlockSize    int    `json:"block_size,omitempty"`
	BlockCRC32C  string `json:"block_crc32c,omitempty"`
}

const (
	metaTailStart = `,"crc32c":"`
	metaTailEnd   = "\"}\n"
	metaTail      = len(metaTailStart) + 8 + len(metaTailEnd)
)

// encodeMeta returns the contents of a .meta file.
func encodeMeta(path objectstore.Path, md Metadata) ([]byte, error) {
	doc := metaDocument{
		Format: metaFormat, Path: string(path), Size: md.Size, LastModified: md.Modified.UTC(),
		ETag: md.ETag, Version: md.Version,
	}
	if !isZeroAttributes(md.Attributes) {
		doc.Attributes = &md.Attributes
	}
	if !utf8.ValidString(allStrings(md)) {
		doc.BytesAsRunes = true
		doc.mapStrings(bytesToRunes)
	}
	if len(md.Blocks) > 0 {
		doc.BlockSize = BlockSize
		raw := make([]byte, 0, 4*len(md.Blocks))
		for _, crc := range md.Blocks {
			raw = binary.LittleEndian.AppendUint32(raw, crc)
		}
		doc.BlockCRC32C = base64.StdEncoding.EncodeToString(raw)
	}
	data, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	return sealMeta(data[:len(data)-1]), nil // without the brace
}

// sealMeta appends the checksum and the end to a document without its brace.
func sealMeta(data []byte) []byte {
	return fmt.Appendf(data, "%s%08x%s", metaTailStart, crc32.Checksum(data, Castagnoli()), metaTailEnd)
}

// DecodeMeta returns what the contents of a .meta file say. It fails on
// anything that encodeMeta would not have written, members of later versions
// aside.
func DecodeMeta(data []byte) (objectstore.Path, Metadata, error) {
	if len(data) < metaTail {
		return "", Metadata{}, errors.New("too short for a .meta file")
	}
	head, tail := data[:len(data)-metaTail], data[len(data)-metaTail:]
	want := fmt.Sprintf("%s%08x%s", metaTailStart, crc32.Checksum(head, Castagnoli()), metaTailEnd)
	if string(tail) != want {
		return "", Metadata{}, errors.New("the checksum does not match")
	}
	var doc metaDocument
	if err := json.Unmarshal(append(bytes.Clone(head), '}'), &doc); err != nil {
		return "", Metadata{}, err
	}
	if doc.Format != metaFormat {
		return "", Metadata{}, fmt.Errorf("format %d is not %d", doc.Format, metaFormat)
	}
	path, err := objectstore.KeyPath(doc.Path)
	if err != nil {
		return "", Metadata{}, err
	}
	if doc.Size < 0 {
		return "", Metadata{}, fmt.Errorf("size %d", doc.Size)
	}
	blocks, err := doc.blocks()
	if err != nil {
		return "", Metadata{}, err
	}
	if doc.BytesAsRunes {
		doc.mapStrings(runesToBytes)
	}
	md := Metadata{
		Size: doc.Size, Modified: doc.LastModified, ETag: doc.ETag, Version: doc.Version, Blocks: blocks,
	}
	if doc.Attributes != nil {
		md.Attributes = *doc.Attributes
	}
	return path, md, nil
}

func (d *metaDocument) blocks() ([]uint32, error) {
	if d.BlockCRC32C == "" {
		return nil, nil
	}
	if d.BlockSize != BlockSize {
		return nil, fmt.Errorf("block size %d is not %d", d.BlockSize, BlockSize)
	}
	raw, err := base64.StdEncoding.DecodeString(d.BlockCRC32C)
	if err != nil {
		return nil, err
	}
	if int64(len(raw)) != 4*BlockCount(d.Size) {
		return nil, fmt.Errorf("%d bytes of block checksums for %d blocks", len(raw), BlockCount(d.Size))
	}
	blocks := make([]uint32, len(raw)/4)
	for i := range blocks {
		blocks[i] = binary.LittleEndian.Uint32(raw[4*i:])
	}
	return blocks, nil
}

// mapStrings applies f to every string that came from the remote.
func (d *metaDocument) mapStrings(f func(string) string) {
	d.ETag, d.Version = f(d.ETag), f(d.Version)
	if d.Attributes == nil {
		return
	}
	a := *d.Attributes
	for _, s := range []*string{&a.ContentType, &a.ContentEncoding, &a.ContentDisposition, &a.ContentLanguage, &a.CacheControl} {
		*s = f(*s)
	}
	old := a.Metadata
	a.Metadata = make(map[string]string, len(old))
	for key, value := range old {
		a.Metadata[f(key)] = f(value)
	}
	d.Attributes = &a
}

// allStrings joins every string that came from the remote.
func allStrings(md Metadata) string {
	a := md.Attributes
	// A separator, so that two halves of a rune can't meet.
	all := []string{md.ETag, md.Version, a.ContentType, a.ContentEncoding, a.ContentDisposition, a.ContentLanguage, a.CacheControl}
	for key, value := range maps.All(a.Metadata) {
		all = append(all, key, value)
	}
	return strings.Join(all, " ")
}

func isZeroAttributes(a objectstore.Attributes) bool {
	return len(a.Metadata) == 0 && a.ContentType == "" && a.ContentEncoding == "" &&
		a.ContentDisposition == "" && a.ContentLanguage == "" && a.CacheControl == ""
}

func bytesToRunes(s string) string {
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}

func runesToBytes(s string) string {
	raw := make([]byte, 0, len(s))
	for _, r := range s {
		raw = append(raw, byte(r))
	}
	return string(raw)
}

// Castagnoli returns CRC32C's table, which the standard library makes once.
func Castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }
