package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// Options says how to open a catalog.
type Options struct {
	ReadOnly bool
	// Readers bounds the connections that read at the same time.
	Readers int
	// Pragmas run on every connection before anything else.
	Pragmas []string
	// Made, when not nil, is called within the transaction that makes the tables of
	// a new file.
	Made func(*Tx) error
	// Damage, when not nil, says which page SQLite has just been refused as damaged:
	// its own errors don't.
	Damage func() error
	// Begin, when not nil, is called before the tables of a new file are made.
	// Tables of an older version are then left for Upgrade.
	Begin func() error
}

// busyTimeout bounds the wait for locks that other processes hold for moments.
const busyTimeout = 30 * time.Second

// Catalog is the tables of one database. All methods but Close may be called
// concurrently; writes run one at a time.
type Catalog struct {
	dsn     string
	options Options
	readers chan *conn // nil stands for a connection not made yet
	writer  chan *conn
	packer  *packer
}

// Open opens the tables behind a SQLite URI, and makes them when the database
// is empty and not read-only.
func Open(dsn string, options Options) (*Catalog, error) {
	if options.Readers <= 0 {
		options.Readers = 4
	}
	c := &Catalog{
		dsn: dsn, options: options, packer: newPacker(),
		readers: make(chan *conn, options.Readers), writer: make(chan *conn, 1),
	}
	for range options.Readers {
		c.readers <- nil
	}
	c.writer <- nil
	if err := c.prepare(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// prepare checks the schema's version and creates the tables of a new file.
func (c *Catalog) prepare() error {
	var version, tables int64
	err := c.Read(context.Background(), Live, func(v *View) (err error) {
		version, tables, err = schemaOf(v.conn)
		return err
	})
	switch {
	case err != nil:
		return err
	case version == 0 && tables == 0 && !c.options.ReadOnly:
		if c.options.Begin != nil {
			if err := c.options.Begin(); err != nil {
				return err
			}
		}
		return c.Write(context.Background(), func(t *Tx) error {
			err := translate(t.conn.sq.Exec(schema + schemaSince1 + setVersion))
			if err == nil && c.options.Made != nil {
				err = c.options.Made(t)
			}
			return err
		})
	case version > newestVersion:
		return fmt.Errorf("%w: tables of version %d, this software knows %d; use a newer one", ErrNewer, version, newestVersion)
	case version < 1:
		return corrupt("tables of version %d, want %d", version, schemaVersion)
	case c.options.ReadOnly || c.options.Begin != nil:
		return nil
	}
	return c.Upgrade()
}

// Upgrade makes tables of an older version ones of this.
func (c *Catalog) Upgrade() error {
	return c.Write(context.Background(), func(t *Tx) error {
		version, _, err := schemaOf(t.conn)
		if err != nil || version >= schemaVersion {
			return err
		}
		return translate(t.conn.sq.Exec(schemaSince1 + setVersion))
	})
}

// schemaOf returns the tables' version and how many tables and indexes there are.
func schemaOf(c *conn) (version, tables int64, err error) {
	if version, err = c.version(); err != nil {
		return 0, 0, err
	}
	tables, err = c.number(`SELECT count(*) FROM sqlite_schema`)
	return version, tables, err
}

// version returns the tables' version.
func (c *conn) version() (int64, error) { return c.number(`PRAGMA user_version`) }

func (c *Catalog) connect(readOnly bool) (*conn, error) {
	flags := sqlite3.OPEN_URI | sqlite3.OPEN_READWRITE | sqlite3.OPEN_CREATE
	if c.options.ReadOnly {
		flags = sqlite3.OPEN_URI | sqlite3.OPEN_READONLY
	}
	sq, err := sqlite3.OpenFlags(c.dsn, flags)
	if err != nil {
		return nil, translate(fmt.Errorf("open the catalog: %w", err))
	}
	// Another process that opens, closes or recovers the file holds SQLite's
	// locks for moments; no one else writes, so waiting always ends.
	if err := sq.BusyTimeout(busyTimeout); err != nil {
		return nil, errors.Join(translate(err), sq.Close())
	}
	made := &conn{sq: sq, stmts: make(map[string]*sqlite3.Stmt), packer: c.packer, damage: c.options.Damage}
	pragmas := c.options.Pragmas
	if readOnly {
		pragmas = append(slices.Clip(pragmas), `PRAGMA query_only = ON`)
	}
	for _, pragma := range pragmas {
		if err := sq.Exec(pragma); err != nil {
			return nil, errors.Join(made.translate(fmt.Errorf("%s: %w", pragma, err)), sq.Close())
		}
	}
	return made, nil
}

// borrow takes a connection from a pool, making it when it's new, and returns
// the function that gives it back.
func (c *Catalog) borrow(ctx context.Context, pool chan *conn, readOnly bool) (*conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var got *conn
	select {
	case got = <-pool:
	default:
		select {
		case got = <-pool:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if got != nil {
		return got, nil
	}
	made, err := c.connect(readOnly)
	if err != nil {
		pool <- nil
		return nil, err
	}
	return made, nil
}

// ReadOne calls fn with a view for a single query, which is a snapshot in
// itself. It is cheaper than Read, except for a view of the past, which is
// checked first as by Read.
func (c *Catalog) ReadOne(ctx context.Context, at int64, fn func(*View) error) error {
	if at != Live {
		return c.Read(ctx, at, fn)
	}
	return c.readOne(ctx, at, fn)
}

func (c *Catalog) readOne(ctx context.Context, at int64, fn func(*View) error) error {
	got, err := c.borrow(ctx, c.readers, true)
	if err != nil {
		return err
	}
	defer func() { c.readers <- got }()
	return fn(&View{got, at})
}

// Read calls fn with a view whose queries all see one snapshot. The error is a
// [*ForgottenError], and fn is not called, when the view would be of a revision
// that was forgotten.
func (c *Catalog) Read(ctx context.Context, at int64, fn func(*View) error) error {
	return c.readOne(ctx, at, func(v *View) error {
		if err := v.conn.exec(`BEGIN`); err != nil {
			return err
		}
		err := v.readable()
		if err == nil {
			err = fn(v)
		}
		if v.conn.sq.GetAutocommit() {
			return err // SQLite ended it, as it may after an error of the disk
		}
		// Nothing was written, so an end that fails loses nothing, but the
		// connection must not go back with its transaction open.
		if end := v.conn.exec(`COMMIT`); end != nil {
			err = errors.Join(err, end, translate(v.conn.sq.Exec(`ROLLBACK`)))
		}
		return err
	})
}

// Write calls fn with a Tx and commits what it wrote, durably, when it returns
// nil; otherwise nothing is written. The view of the next Write has it.
func (c *Catalog) Write(ctx context.Context, fn func(*Tx) error) error {
	got, err := c.borrow(ctx, c.writer, false)
	if err != nil {
		return err
	}
	defer func() { c.writer <- got }()
	if err := got.exec(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	err = fn(&Tx{View{got, Live}})
	if err == nil {
		err = got.exec(`COMMIT`)
	}
	if err != nil && !got.sq.GetAutocommit() {
		if undo := got.sq.Exec(`ROLLBACK`); undo != nil {
			err = errors.Join(err, translate(undo))
		}
	}
	return err
}

// Close waits for the calls under way and closes every connection. The
// catalog must not be used afterwards.
func (c *Catalog) Close() error {
	var errs []error
	// The writer last: it folds the log into the file.
	for range c.options.Readers {
		if got := <-c.readers; got != nil {
			errs = append(errs, got.close())
		}
	}
	if got := <-c.writer; got != nil {
		errs = append(errs, got.close())
	}
	return errors.Join(errs...)
}
