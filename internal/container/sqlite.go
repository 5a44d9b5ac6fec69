package container

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"syscall"

	"github.com/ncruces/go-sqlite3"
)

// DSN returns the URI to open SQLite connections with, by sqlite3.OpenFlags and
// OPEN_URI. Run [Pragmas] on each before anything else.
func (c *Container) DSN() string {
	uri := url.URL{Scheme: "file", Path: c.path, OmitHost: true}
	dsn := uri.String() + "?vfs=" + c.vfsName
	if c.readOnly {
		dsn += "&mode=ro"
	}
	return dsn
}

// Pragmas returns the settings that every connection needs. A commit is durable
// when it returns; damage that checksums cannot see is looked for; a file that a
// stranger made cannot call functions; nothing is spilled to other files; none
// of it is mapped into memory, past the checksums.
func Pragmas() []string {
	return []string{
		`PRAGMA synchronous = FULL`,
		`PRAGMA fullfsync = ON`, // Darwin: through the drive's cache
		`PRAGMA checkpoint_fullfsync = ON`,
		`PRAGMA cell_size_check = ON`,
		`PRAGMA trusted_schema = OFF`,
		`PRAGMA temp_store = MEMORY`,
		`PRAGMA mmap_size = 0`,
	}
}

// checkpoint writes a log that was left back into the file. SQLite does so
// itself when the last connection to close may write and no other process
// reads.
func (c *Container) checkpoint() error {
	info, err := os.Stat(c.logPath())
	if err != nil || info.Size() == 0 {
		return nil
	}
	conn, err := sqlite3.OpenFlags(c.DSN(), sqlite3.OPEN_READWRITE|sqlite3.OPEN_URI)
	if err != nil {
		return err
	}
	err = conn.Exec(strings.Join(Pragmas(), ";"))
	if err == nil {
		// A reader elsewhere may keep the log; then the next writer does this.
		if _, _, err = conn.WALCheckpoint("main", sqlite3.CHECKPOINT_TRUNCATE); errors.Is(err, sqlite3.BUSY) {
			err = nil
		}
	}
	err = errors.Join(err, conn.Close())
	if errors.Is(err, sqlite3.FULL) {
		err = fmt.Errorf("%w: %w", syscall.ENOSPC, err)
	}
	return err
}
