package container

import "fmt"

// OpKind is what an operation does.
type OpKind int

// The operations that change what is on the disk.
const (
	OpWrite OpKind = iota + 1
	OpTruncate
	OpPunch   // a range becomes a hole
	OpSync    // everything written to the file before is durable after
	OpCreate  // the file appears under its name
	OpRemove  // the file's name disappears
	OpSyncDir // names in the directory are durable
)

// String names the kind.
func (k OpKind) String() string {
	switch k {
	case OpWrite:
		return "write"
	case OpTruncate:
		return "truncate"
	case OpPunch:
		return "punch"
	case OpSync:
		return "sync"
	case OpCreate:
		return "create"
	case OpRemove:
		return "remove"
	case OpSyncDir:
		return "sync of directory"
	}
	return fmt.Sprintf("operation %d", int(k))
}

// SyncReason tells the syncs of the database's file apart. Each is there for a
// crash that would otherwise do harm.
type SyncReason string

// The reasons to sync the file.
const (
	SyncNew        SyncReason = "a new file, before it gets its name"
	SyncRecords    SyncReason = "records, before a catalog names them"
	SyncPages      SyncReason = "pages, before SQLite's log begins anew"
	SyncExtent     SyncReason = "an extent, before the superblock names it"
	SyncSuperblock SyncReason = "a superblock, before it is used or the other slot is written"
	SyncLog        SyncReason = "the notes of a log, before it begins"
	SyncLogEnd     SyncReason = "the notes that a log has ended, before it is removed"
	SyncSize       SyncReason = "the file's size, before the superblock promises it"
)

// Op is one operation on the database's file or its write-ahead log.
type Op struct {
	Kind OpKind
	// WAL tells the write-ahead log from the file itself.
	WAL bool
	// Offset is where a write or a hole begins, or the size that a truncation leaves.
	Offset int64
	// Size is how many bytes a hole takes.
	Size int64
	// Data are the pieces of a write. They are valid during the call only.
	Data [][]byte
	// Why a sync of the database's file is made.
	Why SyncReason
}

// Hook stands between a Container and its disk: it is called for every
// operation, calls do to let it happen, and returns the outcome. It may be
// called from many goroutines. Tests record crash images with it, and make
// operations fail. SQLite's shared memory, which is rebuilt after a crash, does
// not pass through it.
type Hook func(op Op, do func() error) error

func (h Hook) run(op Op, do func() error) error {
	if h == nil {
		return do()
	}
	return h(op, do)
}
