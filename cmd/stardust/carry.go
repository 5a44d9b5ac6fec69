package main

import (
	"fmt"

	"github.com/stardustdb/stardust/bucketdb"
)

// carried is a report of push, pull or clone as --json prints it.
type carried struct {
	Revision     int64  `json:"revision"`
	Transactions int64  `json:"transactions"`
	Payloads     int64  `json:"payloads"`
	Chunks       int64  `json:"chunks"`
	Bytes        int64  `json:"bytes"`
	Stored       int64  `json:"stored"`
	Identity     string `json:"identity,omitempty"`
}

func carriedReport(r *bucketdb.Report) carried {
	return carried{r.Revision, r.Transactions, r.Payloads, r.Chunks, r.Bytes, r.Stored, r.Identity}
}

// problem tells of something that is wrong with a bucket and could be done without.
func (e *env) problem(err error) { e.notice("%s", explain(err)) }

// carry runs a push, pull or clone with a bar, and says what it did.
func (e *env) carry(label, did string, other place, asJSON bool, run func(func(bucketdb.Progress)) (*bucketdb.Report, error)) error {
	b := e.newBar(label, 0)
	report, err := run(func(p bucketdb.Progress) {
		if p.Chunks > 0 {
			b.setTotal(p.Bytes / p.Chunks * max(p.Chunks, p.TotalChunks)) // as if they were all alike
		}
		b.set(p.Bytes)
	})
	b.done(report.Bytes)
	if err != nil {
		return err
	}
	if asJSON {
		return e.printJSON(carriedReport(report))
	}
	e.println(carriedText(label, did, e.name(redacted(other.text)), report))
	return nil
}

func carriedText(label, did, other string, r *bucketdb.Report) string {
	if r.Batches == 0 {
		return fmt.Sprintf("Nothing to %s: it is the same as %s, at revision %d.", label, other, r.Revision)
	}
	preposition := map[string]string{"push": "to", "pull": "from", "clone": "of"}[label]
	text := fmt.Sprintf("%s %s with %s (%s", did, plural(r.Transactions, "transaction", "transactions"),
		plural(r.Chunks, "chunk", "chunks"), humanSize(r.Bytes))
	if r.Bytes > 1<<20 && r.Stored < r.Bytes {
		text += ", " + humanSize(r.Stored) + " in packs"
	}
	return text + fmt.Sprintf(") %s %s, up to revision %d.", preposition, other, r.Revision)
}
