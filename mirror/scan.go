package mirror

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/stardustdb/stardust/mirror/internal/local"
	"github.com/stardustdb/stardust/objectstore"
)

// scanner finds local copies of objects that others have deleted remotely (RFC
// 0034, Remote Scan).
type scanner struct {
	m  *Mirror
	mu sync.Mutex // one scan at a time

	resultMu sync.Mutex
	result   ScanResult
}

// loop scans at once and then every interval, until ctx ends.
func (s *scanner) loop(ctx context.Context, interval time.Duration) {
	for {
		// Failures are logged and counted; the next scan comes anyway.
		_, _ = s.scan(ctx)
		if s.m.options.Clock.Sleep(ctx, interval) != nil {
			return
		}
	}
}

// Scan makes one remote scan now: it removes the local copies of objects that
// are no longer in the remote. It returns what it did, and an error that joins
// those of the LIST calls that failed; their local copies are left alone.
func (m *Mirror) Scan(ctx context.Context) (ScanResult, error) {
	leave, err := m.enter("scan", "")
	if err != nil {
		return ScanResult{}, err
	}
	defer leave()
	return m.scanner.scan(ctx)
}

func (s *scanner) lastResult() ScanResult {
	s.resultMu.Lock()
	defer s.resultMu.Unlock()
	return s.result
}

// suspect is a local file as the snapshot found it.
type suspect struct {
	path  objectstore.Path
	entry *local.Entry // nil: the map has lost track of it
}

func (s *scanner) scan(ctx context.Context) (ScanResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.m
	result := ScanResult{Started: m.options.Clock.Now()}
	groups, count, err := s.snapshot(ctx)
	result.Local = count
	var errs error
	if err != nil {
		errs = m.fail("scan", "", local.Fail("list the directory", "", err))
	}
	for _, parent := range slices.Sorted(maps.Keys(groups)) {
		if ctx.Err() != nil {
			errs = errors.Join(errs, m.fail("scan", "", ctx.Err()))
			break
		}
		result.Prefixes++
		absent, err := s.absent(ctx, parent, groups[parent])
		if err != nil {
			result.Failed++
			errs = errors.Join(errs, err)
			continue
		}
		result.Removed += s.remove(absent)
	}
	result.Finished = m.options.Clock.Now()
	bump(&m.counters.ScanRemoved, int64(result.Removed))
	if errs != nil {
		bump(&m.counters.ScanFailures, 1)
		if ctx.Err() == nil {
			m.logger.Warn("remote scan failed in part", "failed_prefixes", result.Failed, "error", errs)
		}
	}
	m.logger.Debug("remote scan", "local", result.Local, "prefixes", result.Prefixes, "removed", result.Removed)
	s.resultMu.Lock()
	s.result = result
	s.resultMu.Unlock()
	return result, errs
}

// snapshot returns the local files by the parent of their object's path. It
// reads the directory, not the map, and it comes before every LIST: files are
// installed only after they exist remotely, so one that appears later is never
// taken for a deleted one.
func (s *scanner) snapshot(ctx context.Context) (groups map[string][]suspect, count int, err error) {
	d := s.m.local
	seen := map[local.FileName]bool{}
	groups = map[string][]suspect{}
	for file, err := range d.FS.List(d.Dir) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, count, err
		}
		kind, name, _ := local.Classify(file.Name)
		if !file.Regular || kind != local.ObjectFile && kind != local.MetaFile || seen[name] {
			continue
		}
		seen[name] = true
		path, ok := d.Layout.PathOf(name)
		if !ok {
			if path, ok = s.readPath(ctx, name); !ok {
				continue
			}
		}
		count++
		groups[path.Parent()] = append(groups[path.Parent()], suspect{path, d.Index.Get(path)})
	}
	return groups, count, nil
}

// readPath returns the path in a .meta file, for names that don't tell it. A
// file without a .meta file is left to the next startup.
func (s *scanner) readPath(ctx context.Context, name local.FileName) (objectstore.Path, bool) {
	d := s.m.local
	data, err := d.Files.ReadFile(ctx, d.Join(name.Meta()), local.MaxMeta)
	if err != nil {
		return "", false
	}
	path, _, err := local.DecodeMeta(data)
	if err != nil || name != d.Layout.Name(path, true) && name != d.Layout.Name(path, false) {
		return "", false
	}
	return path, true
}

// scanLeap is how many objects of others a scan lists between two local ones
// before it begins a new list at the second: about a page.
const scanLeap = 1000

// absent returns the suspects under a parent that the remote doesn't have, or
// has with other bytes. It lists from the first local name to the last and
// holds no more than a page.
func (s *scanner) absent(ctx context.Context, parent string, suspects []suspect) (absent []suspect, err error) {
	prefix := ""
	if parent != "" {
		prefix = parent + "/"
	}
	slices.SortFunc(suspects, func(a, b suspect) int { return strings.Compare(string(a.path), string(b.path)) })
	judge := func(x suspect, listed bool) error {
		gone, err := s.isGone(ctx, x, listed)
		if gone {
			absent = append(absent, x)
		}
		return err
	}
	for from := 0; from < len(suspects); {
		next, err := s.listFrom(ctx, prefix, suspects, from, judge)
		if err != nil {
			return nil, err
		}
		from = next
	}
	return absent, nil
}

// listFrom makes one list that begins at suspect number next, and judges those
// that it passes. It returns the number of the suspect to continue with.
func (s *scanner) listFrom(ctx context.Context, prefix string, suspects []suspect, next int, judge func(suspect, bool) error) (int, error) {
	options := objectstore.ListOptions{Prefix: prefix, Offset: justBefore(suspects[next].path)}
	var last objectstore.Path
	others := 0
	for object, err := range s.m.list(ctx, options) {
		if err != nil {
			return 0, err
		}
		if object.Path <= last {
			return 0, fmt.Errorf("the remote lists %q after %q, which is not in order", string(object.Path), string(last))
		}
		last = object.Path
		for ; next < len(suspects) && suspects[next].path < object.Path; next++ {
			others = 0
			if err := judge(suspects[next], false); err != nil {
				return 0, err
			}
		}
		switch {
		case next == len(suspects):
			return next, nil
		case suspects[next].path == object.Path:
			others = 0
			if err := judge(suspects[next], true); err != nil {
				return 0, err
			}
			if next++; next == len(suspects) {
				return next, nil
			}
		default:
			if others++; others >= scanLeap && justBefore(suspects[next].path) > string(object.Path) {
				return next, nil
			}
		}
	}
	for ; next < len(suspects); next++ {
		if err := judge(suspects[next], false); err != nil {
			return 0, err
		}
	}
	return next, nil
}

// justBefore returns a string that sorts before a path, with few paths between.
func justBefore(path objectstore.Path) string {
	_, size := utf8.DecodeLastRuneInString(string(path))
	stem := string(path[:len(path)-size])
	if size == 1 {
		switch c := path[len(path)-1]; {
		case '0' < c && c <= '9', 'A' < c && c <= 'Z', 'a' < c && c <= 'z':
			return stem + string(rune(c-1))
		}
	}
	return stem
}

// isGone reports whether the object of a local copy was deleted. listed says
// whether the list had it.
func (s *scanner) isGone(ctx context.Context, x suspect, listed bool) (bool, error) {
	if listed {
		return false, nil
	}
	if _, err := objectstore.ParsePath(string(x.path)); err == nil {
		return true, nil
	}
	// Stores differ in how they list such paths: ask for it by name.
	_, err := s.m.head(ctx, x.path)
	if errors.Is(err, objectstore.ErrNotFound) {
		return true, nil
	}
	return false, err
}

// remove removes local copies, each in its turn like an eviction, unless the
// snapshot's copy has been replaced. It waits for them and returns how many it
// removed.
func (s *scanner) remove(suspects []suspect) int {
	var wg sync.WaitGroup
	var mu sync.Mutex
	removed := 0
	for _, x := range suspects {
		wg.Add(1)
		s.m.evictions.enqueue(x.path, &eviction{guarded: true, only: x.entry, done: func(did bool, _ error) {
			defer wg.Done()
			if did {
				mu.Lock()
				removed++
				mu.Unlock()
				s.m.logger.Info("removing the local copy of a deleted object", "path", x.path)
			}
		}})
	}
	wg.Wait() // each ends by itself, at Close too: they are the evictor's
	mu.Lock()
	defer mu.Unlock()
	return removed
}
