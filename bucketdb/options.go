package bucketdb

import (
	"crypto/rand"
	"io"
	"runtime"
	"time"
)

// Progress tells how far a Push, Pull or Clone has come. All numbers only grow,
// the totals included.
type Progress struct {
	Batches      int64 // written or applied
	Chunks       int64 // sent or received
	TotalChunks  int64 // at most so many in total
	Bytes        int64 // of these chunks
	Transactions int64
}

// Report says what a Push, Pull or Clone did.
type Report struct {
	Progress
	// Payloads is how many payloads were written or applied.
	Payloads int64
	// Stored is how many bytes of packs were sent or received; chunks may be
	// compressed.
	Stored int64
	// Revision is the latest that both have now.
	Revision int64
	// Identity names the database in the bucket, in hexadecimal digits.
	Identity string
}

// PushOptions are the options of [Push]. A nil pointer means the zero value.
type PushOptions struct {
	// At stops at a revision: neither later ones nor content that only they name
	// are pushed. Zero means the latest.
	At int64
	// Workers is how many packs are sent at a time; zero means 4. Each takes up to
	// 40 MiB of memory.
	Workers int
	// Progress is called now and then, one call at a time.
	Progress func(Progress)
	// Problem is called for what is wrong and could be done without, such as a bundle
	// of batches that is damaged or could not be written, one call at a time.
	Problem func(error)
	// Now is the clock for the names of packs and the informative times of
	// batches. Nil means time.Now. Nothing is ordered by it.
	Now func() time.Time

	// batchChunks and packSize, for tests, make batches and packs smaller.
	batchChunks, packSize int
	// sizes are those of bundles; nil means bundleSizes.
	sizes []int64
	// random is where names and nonces come from; nil means crypto/rand.
	random io.Reader
}

func (o *PushOptions) normal() PushOptions {
	var n PushOptions
	if o != nil {
		n = *o
	}
	if n.Workers <= 0 {
		n.Workers = 4
	}
	if n.Now == nil {
		n.Now = time.Now //nolint:forbidigo // the one place where the clock comes in
	}
	if n.random == nil {
		n.random = rand.Reader
	}
	if n.batchChunks <= 0 {
		n.batchChunks = 16384
	}
	if n.packSize <= 0 {
		n.packSize = 32 << 20
	}
	return n
}

// PullOptions are the options of [Pull] and [Clone]. A nil pointer means the zero
// value.
type PullOptions struct {
	// At stops at a revision: the file is then as the database was at that time.
	// Zero means the latest.
	At int64
	// Workers is how many packs are received at a time; zero means the number of
	// processors, at least 4.
	Workers int
	// URL, if not empty, is noted in the file as its origin.
	URL string
	// Problem is called for what is wrong with the bucket and could be done without,
	// such as a bundle of batches that is damaged: the log has them. One call at a
	// time.
	Problem func(error)
	// Progress is called now and then, one call at a time.
	Progress func(Progress)

	sizes []int64 // of bundles, for tests
}

func (o *PullOptions) normal() PullOptions {
	var n PullOptions
	if o != nil {
		n = *o
	}
	if n.Workers <= 0 {
		n.Workers = max(4, runtime.GOMAXPROCS(0))
	}
	return n
}
