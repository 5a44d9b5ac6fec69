package s3

import (
	"sync"

	"github.com/stardustdb/stardust/objectstore"
)

// maxCompleted is how many completed uploads a Handler remembers.
const maxCompleted = 1024

// completedUploads remembers the results of the latest completed multipart
// uploads, so that a client whose connection broke before it saw the answer
// may ask again, as on S3. It is safe for concurrent use.
type completedUploads struct {
	mu      sync.Mutex
	results map[completedUpload]*objectstore.PutResult
	order   [maxCompleted]completedUpload // a ring of the keys of results
	next    int
}

type completedUpload struct {
	bucket *bucket
	path   objectstore.Path
	id     string
}

// add remembers a result in place of the oldest.
func (c *completedUploads) add(u completedUpload, result *objectstore.PutResult) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.results == nil {
		c.results = make(map[completedUpload]*objectstore.PutResult)
	}
	delete(c.results, c.order[c.next])
	c.order[c.next] = u
	c.next = (c.next + 1) % maxCompleted
	c.results[u] = result
}

// get returns the result of an upload, nil when it is not remembered.
func (c *completedUploads) get(u completedUpload) *objectstore.PutResult {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.results[u]
}
