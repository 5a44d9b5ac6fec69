package transfer

import (
	"context"
	"fmt"
	"time"

	"github.com/stardustdb/stardust/internal/digest"
)

// linked reports whether a file has several names.
func (s *stat) linked() bool { return s.exact && s.mode.IsRegular() && s.links > 1 }

// inodeText names a file by what all its names have in common.
func (s *stat) inodeText() string { return fmt.Sprintf("%d:%d", s.device, s.inode) }

// inode is a file of several names.
type inode struct{ device, number uint64 }

// inodeContent is the content of such a file as it was at a change.
type inodeContent struct {
	committed bool // otherwise it is on its way
	digest    digest.Digest
	size      int64
	ctime     int64
	holes     bool
}

// worthWaiting is the size from which a file is not read under a second name
// while it is being stored under the first. Small ones are read faster than
// remembered.
const worthWaiting = 1 << 20

// remember notes the content of a file of several names, once it is committed.
func (im *importer) remember(item *Item) {
	content, ok := item.Content.(interface{ Digest() digest.Digest })
	if !ok || !item.stat.linked() || item.looked.Sub(time.Unix(0, item.stat.ctime)) < granularity {
		return
	}
	im.linking.Lock()
	defer im.linking.Unlock()
	im.inodes[inode{item.stat.device, item.stat.inode}] = inodeContent{true, content.Digest(), item.stat.size, item.stat.ctime, item.holes}
}

// knownContent returns the content of a file that was stored under another of its
// names and did not change since, or says to come back later: it is on its way.
func (im *importer) knownContent(item *Item) (content Content, later bool) {
	s := &item.stat
	if !s.linked() || im.o.DryRun {
		return nil, false
	}
	im.linking.Lock()
	defer im.linking.Unlock()
	key := inode{s.device, s.inode}
	c, found := im.inodes[key]
	switch {
	case !found:
		im.inodes[key] = inodeContent{}
	case !c.committed:
		return nil, s.size >= worthWaiting && !item.late
	case c.size == s.size && c.ctime == s.ctime:
		item.holes = c.holes
		return im.to.Published(c.digest, c.size), false
	}
	return nil, false
}

// later keeps a name of a file that is on its way by another name.
func (im *importer) later(item *Item) {
	im.linking.Lock()
	defer im.linking.Unlock()
	item.late = true
	im.late = append(im.late, item)
}

// storeLate stores what was kept for later, when everything else is committed.
func (im *importer) storeLate(ctx context.Context) error {
	for i := 0; i < len(im.late); i += batchItems {
		items := im.late[i:min(len(im.late), i+batchItems)]
		stored := items[:0:0]
		for _, item := range items {
			ok, err := im.tryItem(ctx, item)
			if err != nil {
				abandon(stored)
				return err
			}
			if ok {
				stored = append(stored, item)
			}
		}
		if err := im.commit(ctx, stored, nil); err != nil {
			return err
		}
	}
	return nil
}

func abandon(items []*Item) {
	for _, item := range items {
		if item.Content != nil {
			item.Content.Abandon()
		}
	}
}
