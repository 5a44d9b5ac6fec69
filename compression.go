package stardust

import (
	"github.com/stardustdb/stardust/internal/catalog"
)

// Compression says how new chunks of a database are stored. Those that are there
// stay as they are, and all can be read whatever it says. Digests, sizes and
// deduplication are always those of the content itself.
type Compression string

const (
	// CompressionNone stores chunks as they are.
	CompressionNone Compression = "none"
	// CompressionZstd stores chunks as Zstandard frames of 64 KiB, but for those
	// that hardly get smaller. Software from before it cannot open a file that has
	// such a chunk.
	CompressionZstd Compression = "zstd"
)

// newCompression is that of new files.
const newCompression = CompressionZstd

// check refuses what is none of the constants, nor empty.
func (c Compression) check() error {
	switch c {
	case "", CompressionNone, CompressionZstd:
		return nil
	}
	return invalid("Compression: %q is neither %q nor %q", string(c), CompressionNone, CompressionZstd)
}

// makeSettings gives a new file its settings.
func (o *Options) makeSettings(tx *catalog.Tx) error {
	c := o.Compression
	if c == "" {
		c = newCompression
	}
	return tx.SetSetting(catalog.SettingCompression, string(c))
}

// fileCompression returns what a file's new chunks are stored with. Files from before
// there was a choice have none.
func fileCompression(v *catalog.View) (Compression, error) {
	value, err := v.Setting(catalog.SettingCompression)
	if err != nil || value == "" {
		return CompressionNone, err
	}
	return Compression(value), nil
}

// compress makes new chunks be stored as the options or else the file say. What the
// options say becomes the file's own.
func (db *DB) compress(is Compression) error {
	want := db.options.Compression
	if want != "" && want != is {
		err := db.catalog.Write(db.ctx, func(tx *catalog.Tx) error {
			return tx.SetSetting(catalog.SettingCompression, string(want))
		})
		if err != nil {
			return err
		}
		is = want
	}
	if is != CompressionZstd {
		return nil // none, or one that a newer version knows
	}
	return db.payloads.Compress()
}
