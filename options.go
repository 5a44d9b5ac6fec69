package stardust

import (
	"log/slog"
	"time"

	"github.com/stardustdb/stardust/internal/container"
)

// DefaultMemoryBudget is the memory budget of Options with none, in bytes.
const DefaultMemoryBudget = 256 << 20

// Options say how to open a database. The zero value, like a nil pointer,
// enables no plugins.
type Options struct {
	// Plugins are what the database offers beyond its core.
	Plugins Plugins
	// MemoryBudget bounds, in bytes, what upload buffers, the cache of
	// verified chunks and read-ahead take together. Zero means
	// DefaultMemoryBudget. Each upload needs up to 4 MiB of it. Compression takes
	// an eighth of it for good, at most, and is off below 20 MiB. A process takes
	// more, since Go's heap grows before it is collected: about twice the budget
	// and 50 MiB at the peak. Where memory is limited from outside, set GOMEMLIMIT.
	MemoryBudget int64
	// ReadOnly opens the file for reading, also while another process writes
	// it. The file must exist.
	ReadOnly bool
	// MustExist refuses to create the file when it is missing.
	MustExist bool
	// AcceptMissingLog opens a file although the write-ahead log with its latest
	// commits is missing, cut or damaged, as after a crash when only the database
	// file was copied: in the state before those commits. What is left of a log is
	// kept under another name.
	AcceptMissingLog bool
	// Compression is what new chunks are stored with, from now on whenever the file
	// is open. Empty leaves that as it is: CompressionZstd for a new file, and
	// CompressionNone for one from before there was a choice. It is ignored when
	// read-only.
	Compression Compression
	// LockTimeout is how long to wait for another writer to close the file.
	// Zero does not wait.
	LockTimeout time.Duration
	// Logger receives what an operator may want to know. Nil discards it.
	Logger *slog.Logger
	// Now is the clock for transactions' informative times. Nil means
	// time.Now. Nothing is ordered by it.
	Now func() time.Time

	// hook, for tests, sees every change on its way to the disk.
	hook container.Hook
}

// Plugins select the plugins of a database. A nil member is not enabled.
type Plugins struct {
	// Objects enables payloads, files and directories.
	Objects *ObjectsPlugin
}

// ObjectsPlugin enables the objects plugin. It has no settings.
type ObjectsPlugin struct{}

// ParseOptions reads options from a document such as plugins {objects {}}.
// Besides plugins it takes memoryBudget (bytes), readOnly, mustExist,
// acceptMissingLog, lockTimeout (milliseconds) and compression (none or zstd). It
// returns an error of
// StatusInvalidArgument that names an unknown member or a wrong value, and of
// StatusClosed for a closed document.
func ParseOptions(document *Document) (*Options, error) {
	const op = "options"
	options := new(Options)
	r, err := newRequest(document)
	if err != nil {
		return nil, withOp(op, err)
	}
	if plugins, ok := r.object("plugins"); ok {
		if objects, ok := plugins.object("objects"); ok {
			options.Plugins.Objects = new(ObjectsPlugin)
			objects.end()
			plugins.adopt(objects)
		}
		plugins.end()
		r.adopt(plugins)
	}
	options.MemoryBudget, _ = r.integer("memoryBudget")
	if options.MemoryBudget < 0 {
		r.fail("memoryBudget: %d bytes; it cannot be negative", options.MemoryBudget)
	}
	options.ReadOnly, _ = r.boolean("readOnly")
	options.MustExist, _ = r.boolean("mustExist")
	options.AcceptMissingLog, _ = r.boolean("acceptMissingLog")
	timeout, _ := r.integer("lockTimeout")
	if timeout < 0 || timeout > int64(24*time.Hour/time.Millisecond) {
		r.fail("lockTimeout: %d milliseconds; it can be 0 to one day", timeout)
	}
	compression, _ := r.text("compression")
	options.Compression = Compression(compression)
	if err := options.Compression.check(); err != nil {
		r.fail("compression: %q is neither none nor zstd", compression)
	}
	options.LockTimeout = time.Duration(timeout) * time.Millisecond
	r.end()
	if r.err != nil {
		return nil, withOp(op, r.err)
	}
	return options, nil
}

// normal returns the options with the defaults filled in.
func (o *Options) normal() Options {
	var n Options
	if o != nil {
		n = *o
	}
	if n.MemoryBudget == 0 {
		n.MemoryBudget = DefaultMemoryBudget
	}
	if n.Logger == nil {
		n.Logger = slog.New(slog.DiscardHandler)
	}
	if n.Now == nil {
		n.Now = time.Now //nolint:forbidigo // the one place where the clock comes in
	}
	return n
}
