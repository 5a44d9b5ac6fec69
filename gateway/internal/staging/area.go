package staging

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// What can be wrong with a call.
var (
	ErrNotFound = errors.New("there is no such upload: it was canceled, has expired, or never was")
	ErrBusy     = errors.New("another request adds to this upload")
	ErrTooMany  = errors.New("too many uploads are unfinished: finish or cancel some")
)

// Defaults of [Options].
const (
	DefaultKeep    = 24 * time.Hour
	defaultMost    = 1000
	defaultPerUser = 200
	keepDone       = 10 * time.Minute
)

// Options are the options of [Open]. Zero fields have defaults.
type Options struct {
	Keep    time.Duration // how long an upload waits for more bytes; 24 hours
	Most    int           // how many may be unfinished; 1000
	PerUser int           // of one owner; 200
	Logger  *slog.Logger  // gets what nobody asked about goes wrong; nil means none
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Area is a directory of uploads. It may be used concurrently. It holds nothing
// open between calls, so there is nothing to close.
type Area struct {
	dir     string
	options Options

	mu      sync.Mutex
	uploads map[string]*Upload
	swept   time.Time
}

// Open reads what an earlier process left in a directory, which need not exist: the
// first upload makes it, and the last removes it when nothing else is in it.
func Open(dir string, options *Options) (*Area, error) {
	a := &Area{dir: dir, uploads: map[string]*Upload{}}
	if options != nil {
		a.options = *options
	}
	o := &a.options
	if o.Keep <= 0 {
		o.Keep = DefaultKeep
	}
	if o.Most <= 0 {
		o.Most = defaultMost
	}
	if o.PerUser <= 0 {
		o.PerUser = defaultPerUser
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the default clock
	}
	if err := a.load(); err != nil {
		return nil, err
	}
	a.Sweep()
	return a, nil
}

// load reads the directory. What is not an upload's stays alone.
func (a *Area) load() error {
	entries, err := os.ReadDir(a.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if id, ok := strings.CutSuffix(entry.Name(), described); ok && validID(id) {
			if err := a.loadOne(id); err != nil {
				a.options.Logger.Warn("an unfinished upload cannot go on", "upload", filepath.Join(a.dir, entry.Name()), "error", err)
			}
		}
	}
	for _, entry := range entries {
		ending := filepath.Ext(entry.Name())
		id := strings.TrimSuffix(entry.Name(), ending)
		left := ending == unfinished || (ending == described || ending == content) && a.uploads[id] == nil
		if left && validID(id) {
			_ = os.Remove(filepath.Join(a.dir, entry.Name())) // it is only space
		}
	}
	return nil
}

func (a *Area) loadOne(id string) error {
	text, err := readBounded(a.file(id, described))
	if err != nil {
		return err
	}
	u, err := parse(text, id)
	if err != nil {
		return err
	}
	if !u.Done && u.Offset > 0 {
		info, err := os.Stat(a.file(id, content))
		if err != nil {
			return err
		}
		u.Offset = min(u.Offset, info.Size()) // the client sends the rest again
	}
	a.uploads[id] = u
	return nil
}

// Create begins an upload and returns it with its id. It returns ErrTooMany when
// there are too many already.
func (a *Area) Create(u Upload) (Upload, error) {
	a.Sweep()
	a.mu.Lock()
	defer a.mu.Unlock()
	all, own := 0, 0
	for _, other := range a.uploads {
		if !other.Done {
			all++
			if other.Owner == u.Owner {
				own++
			}
		}
	}
	if all >= a.options.Most || own >= a.options.PerUser {
		return u, ErrTooMany
	}
	var random [idSize]byte
	_, _ = rand.Read(random[:]) // never fails
	u.ID, u.Offset, u.Done, u.Active = hex.EncodeToString(random[:]), 0, false, false
	u.Metadata, u.Touched = maps.Clone(u.Metadata), a.options.Now().UTC()
	if err := a.save(&u); err != nil {
		return u, err
	}
	kept := u
	a.uploads[u.ID] = &kept
	return u, nil
}

// Get returns an upload.
func (a *Area) Get(id string) (Upload, error) {
	a.Sweep()
	a.mu.Lock()
	defer a.mu.Unlock()
	u := a.uploads[id]
	if u == nil {
		return Upload{}, ErrNotFound
	}
	return *u, nil
}

// List returns the unfinished uploads, the oldest bytes first.
func (a *Area) List() []Upload {
	a.Sweep()
	a.mu.Lock()
	defer a.mu.Unlock()
	var list []Upload
	for _, u := range a.uploads {
		if !u.Done {
			list = append(list, *u)
		}
	}
	slices.SortFunc(list, func(x, y Upload) int { return x.Touched.Compare(y.Touched) })
	return list
}

// Expires returns when an upload ends that gets no more bytes.
func (a *Area) Expires(u *Upload) time.Time {
	if u.Done {
		return u.Touched.Add(keepDone)
	}
	return u.Touched.Add(a.options.Keep)
}

// Sweep ends uploads that have expired. It looks at most once a second.
func (a *Area) Sweep() {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.options.Now()
	if since := now.Sub(a.swept); since >= 0 && since < time.Second {
		return
	}
	a.swept = now
	for id, u := range a.uploads {
		if !u.Active && !now.Before(a.Expires(u)) {
			if err := a.remove(id); err != nil {
				a.options.Logger.Warn("an expired upload is still there", "upload", a.file(id, described), "error", err)
			}
		}
	}
}

// Remove ends an upload and removes its bytes. It returns ErrBusy while bytes
// arrive.
func (a *Area) Remove(id string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch u := a.uploads[id]; {
	case u == nil:
		return ErrNotFound
	case u.Active:
		return ErrBusy
	}
	return a.remove(id)
}
