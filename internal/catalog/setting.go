package catalog

import (
	"bytes"

	"github.com/ncruces/go-sqlite3"
)

// SettingCompression is the setting of how new chunks are stored. Settings say how a
// file is written, not what it holds.
const SettingCompression = "compression"

func settingSum(name, value []byte) *rowsum { return newRowsum('s').bytes(name).bytes(value) }

// Setting returns a setting of the file, empty when it was never set.
func (v *View) Setting(name string) (value string, err error) {
	if there, err := v.hasTable(`setting`); err != nil || !there {
		return "", err
	}
	err = v.conn.query(`SELECT value, crc FROM setting WHERE name = ?`, func(s *sqlite3.Stmt) (bool, error) {
		raw := s.ColumnRawBlob(0)
		if settingSum([]byte(name), raw).sum() != s.ColumnInt64(1) {
			return false, corrupt("setting %q: row checksum differs", name)
		}
		value = string(raw)
		return false, nil
	}, []byte(name))
	return value, err
}

// settings checks the rows' checksums.
func (c *checker) settings() error {
	if there, err := c.view.hasTable(`setting`); err != nil || !there {
		return err
	}
	return c.view.conn.query(`SELECT name, value, crc FROM setting`, func(s *sqlite3.Stmt) (bool, error) {
		name, value := bytes.Clone(s.ColumnRawBlob(0)), s.ColumnRawBlob(1)
		if settingSum(name, value).sum() != s.ColumnInt64(2) {
			return c.note(corrupt("setting %q: row checksum differs", name))
		}
		return true, nil
	})
}

// SetSetting changes a setting of the file.
func (t *Tx) SetSetting(name, value string) error {
	err := t.conn.sq.Exec(`CREATE TABLE IF NOT EXISTS setting(
		name  BLOB PRIMARY KEY,
		value BLOB NOT NULL,
		crc   INTEGER NOT NULL
	) STRICT, WITHOUT ROWID`)
	if err != nil {
		return translate(err)
	}
	return t.conn.exec(`INSERT OR REPLACE INTO setting(name, value, crc) VALUES(?, ?, ?)`,
		[]byte(name), []byte(value), settingSum([]byte(name), []byte(value)).sum())
}
