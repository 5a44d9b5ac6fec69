package file

import (
	"container/heap"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
)

// batchSize is how many names of a directory are kept in memory. A larger
// directory is read again for each further batch, which bounds the memory and
// keeps the order.
const batchSize = 1 << 15

// entry is an entry of a directory. The key is its name, and for a directory
// the name and "/": in the order of the keys, paths below come in the order of
// their bytes.
type entry struct {
	key string
	dir bool
}

// readBatch returns the entries of dir with the least keys that keep accepts, in
// order, and whether there are more.
func readBatch(root *os.Root, dir string, size int, keep func(key string) bool) (batch []entry, more bool, err error) {
	file, err := root.Open(dir)
	if err != nil {
		return nil, false, err
	}
	defer file.Close()
	var greatest maxHeap
	for {
		listed, err := file.ReadDir(1024)
		for _, e := range listed {
			one, ok := newEntry(root, dir, e)
			if !ok || !keep(one.key) {
				continue
			}
			switch {
			case len(greatest) < size:
				heap.Push(&greatest, one)
			case one.key < greatest[0].key:
				greatest[0] = one
				heap.Fix(&greatest, 0)
				more = true
			default:
				more = true
			}
		}
		if errors.Is(err, io.EOF) || err == nil && len(listed) == 0 {
			break
		}
		if err != nil {
			return nil, false, err
		}
	}
	slices.SortFunc(greatest, func(a, b entry) int {
		if a.key < b.key {
			return -1
		}
		return 1
	})
	return greatest, more, nil
}

// newEntry returns false for what is neither an object nor a directory of
// objects.
func newEntry(root *os.Root, dir string, e fs.DirEntry) (entry, bool) {
	name := e.Name()
	if dir == "." && isReserved(name) {
		return entry{}, false
	}
	kind := e.Type()
	if kind&fs.ModeSymlink != 0 {
		// A link to a file within the directory is an object; one to a
		// directory is not followed, as it may lead in circles.
		info, err := root.Stat(join(dir, name))
		if err != nil || !info.Mode().IsRegular() {
			return entry{}, false
		}
		kind = 0
	}
	switch {
	case kind.IsDir():
		return entry{name + "/", true}, true
	case kind.IsRegular():
		return entry{name, false}, true
	default:
		return entry{}, false
	}
}

func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// maxHeap has the entry with the greatest key on top.
type maxHeap []entry

func (h maxHeap) Len() int           { return len(h) }
func (h maxHeap) Less(i, j int) bool { return h[i].key > h[j].key }
func (h maxHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *maxHeap) Push(x any)        { *h = append(*h, x.(entry)) }
func (h *maxHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
