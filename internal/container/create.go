package container

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/stardustdb/stardust/internal/newfile"
)

// create makes a new file with an empty SQLite database in it. It is written
// and made durable under a temporary name first, so whoever finds the file under
// its own name finds it whole. The error is fs.ErrExist when somebody else made
// the file meanwhile.
func create(path string, draft bool, hook Hook) (err error) {
	removeUnfinished(path)
	temp := unfinishedPrefix(path) + randomHex() + unfinishedSuffix
	f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, newMode)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) || isReadOnlyMedium(err) {
			err = fmt.Errorf("%w: %w", ErrReadOnly, err)
		}
		return err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
		if err != nil {
			_ = os.Remove(temp) // what matters is why it failed
		}
	}()
	if err := writeEmpty(&disk{file: f, hook: hook}, draft); err != nil {
		return err
	}
	if err := hook.run(Op{Kind: OpCreate}, func() error { return newfile.Name(temp, path) }); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path), hook)
}

// writeEmpty writes a database without tables and makes it durable.
func writeEmpty(d *disk, draft bool) error {
	s := &superblock{version: FormatVersion, generation: 1, tail: headSize + minExtent + trailerSize, trailer: headSize + minExtent}
	s.extents = s.extents.with(Extent{headSize, minExtent})
	_, _ = rand.Read(s.identity[:]) // it never fails
	sums := newPageSums(s.identity)
	if err := writeBlankPages(d, sums, s.extents[0], 0); err != nil {
		return err
	}
	first := firstPage()
	sums.stamp(first, 0)
	if err := d.write(headSize, first); err != nil {
		return err
	}
	slot, rest := s.encode(), notePage(&note{sequence: 1, draft: draft})
	if err := d.write(s.trailer, slot, rest); err != nil {
		return err
	}
	if err := d.write(0, slot, slot, rest); err != nil {
		return err
	}
	return d.sync(SyncNew)
}

// writeBlankPages fills an extent with pages of zeros that have their checksums.
// Their space is taken for real: a full disk shows here and not in the middle
// of a checkpoint. A page of SQLite's that is all zeros, as a power cut may leave
// it, does not match its checksum, but one that was never written does.
func writeBlankPages(d *disk, sums pageSums, e Extent, off int64) error {
	const batch = 256 << 10
	buf := make([]byte, min(batch, e.Size))
	for done := int64(0); done < e.Size; {
		piece := buf[:min(int64(len(buf)), e.Size-done)]
		for at := 0; at < len(piece); at += PageSize {
			sums.stamp(piece[at:at+PageSize], off+done+int64(at))
		}
		if err := d.write(e.Offset+done, piece); err != nil {
			return err
		}
		done += int64(len(piece))
	}
	return nil
}

// syncDir makes the names in a directory durable.
func syncDir(dir string, hook Hook) error {
	return hook.run(Op{Kind: OpSyncDir}, func() error {
		d, err := os.Open(dir)
		if err != nil {
			return err
		}
		return errors.Join(d.Sync(), d.Close())
	})
}

func randomHex() string {
	var p [8]byte
	_, _ = rand.Read(p[:]) // it never fails
	return hex.EncodeToString(p[:])
}
