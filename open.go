package stardust

import (
	"context"
	"errors"
	"runtime"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/commit"
	"github.com/stardustdb/stardust/internal/payload"
)

// Open opens the database in a file, and makes it when it is missing and the
// options allow. Nil options enable no plugins. Close it when done.
//
// One process at a time writes; it returns StatusConflict with CodeInUse,
// naming the holder, when another has the file open for writing after
// Options.LockTimeout. Opening read-only works meanwhile. It returns
// StatusInvalidArgument with CodeNotDatabase for a file that is not a Stardust
// database and with CodeNewerFormat for one of a newer version, and
// StatusEvaluationFailed for a damaged or cut one, with CodeLogMissing if its
// write-ahead log is what is missing, cut or damaged; see
// Options.AcceptMissingLog. Such a file and all beside it stay as they are,
// byte for byte. StatusNotFound says that the file must exist and doesn't, and
// StatusIO what the operating system refused.
func Open(path string, options *Options) (*DB, error) {
	const op = "open"
	o := options.normal()
	if o.MemoryBudget < 0 {
		return nil, withOp(op, invalid("MemoryBudget: %d bytes; it cannot be negative", o.MemoryBudget))
	}
	if o.LockTimeout < 0 {
		return nil, withOp(op, invalid("LockTimeout: %v; it cannot be negative", o.LockTimeout))
	}
	if err := o.Compression.check(); err != nil {
		return nil, withOp(op, err)
	}
	f, err := openContainer(path, &o)
	if err != nil {
		return nil, withOp(op, openError(path, err))
	}
	db, err := newDB(f, o)
	if err != nil {
		return nil, withOp(op, openError(path, errors.Join(err, f.close())))
	}
	return db, nil
}

func newDB(f *file, o Options) (*DB, error) {
	c, err := catalog.Open(f.dsn(), catalog.Options{
		ReadOnly: o.ReadOnly,
		Readers:  max(4, 2*runtime.GOMAXPROCS(0)),
		Pragmas:  f.pragmas(),
		Begin:    f.container.Begin, Made: o.makeSettings,
		Damage: f.container.Damage,
	})
	if err != nil {
		return nil, err
	}
	db := &DB{
		options: o, file: f, catalog: c,
		payloads: payload.New(c, f.heap, o.MemoryBudget, o.Logger),
		streams:  make(map[*PluginStream]struct{}),
		checking: make(chan struct{}, 1),
	}
	db.ctx, db.cancel = context.WithCancelCause(context.Background())
	if err := db.start(); err != nil {
		db.cancel(err)
		return nil, errors.Join(err, c.Close())
	}
	return db, nil
}

// start gives the heap its live records, and a writer its queue. The file is
// changed only once nothing speaks against it.
func (db *DB) start() error {
	var last int64
	var compression Compression
	err := db.catalog.Read(db.ctx, catalog.Live, func(v *catalog.View) (err error) {
		if last, err = v.LastRevision(); err != nil {
			return err
		}
		if compression, err = fileCompression(v); payload.IsDamage(err) {
			// It says nothing of what is stored, so nothing is lost with it.
			db.options.Logger.Warn("new content is stored as it is", "error", err)
			err = nil
		}
		if err != nil {
			return err
		}
		if err := db.file.proof(db.ctx, v); err != nil {
			return err
		}
		return db.file.adopt(v, db.catalog, db.options.ReadOnly)
	})
	if err != nil || db.options.ReadOnly {
		return err
	}
	if err := db.file.container.Begin(); err != nil {
		return err
	}
	if err := db.catalog.Upgrade(); err != nil {
		return err
	}
	if err := db.compress(compression); err != nil {
		return err
	}
	db.queue = commit.Start(db.catalog, db.file.heap.Sync, db.options.Now, last)
	return nil
}
