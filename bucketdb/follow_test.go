package bucketdb

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/storetest"
)

// TestFollowPushesEachCommit follows a file from beside the process that writes it,
// through a network that goes away, and costs no request while nothing happens.
func TestFollowPushesEachCommit(t *testing.T) {
	path := filepath.Join(fastDir(t), "db")
	db := openDB(t, path)
	put(t, db, "first", []byte("1"))
	beside, err := stardust.Open(path, &stardust.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer beside.Close()
	now := time.Unix(1_700_000_000, 0)
	var down atomic.Bool
	var requests atomic.Int64
	inner := newStore()
	store := storetest.Faulty(inner, storetest.FaultyOptions{Script: func(string, objectstore.Path) storetest.Fault {
		requests.Add(1)
		if down.Load() {
			return storetest.Fault{Before: objectstore.Transient(errCut, 0)}
		}
		return storetest.Fault{}
	}})
	ctx, cancel := context.WithCancel(t.Context())
	var last Status
	var lags []time.Duration
	began := 0
	step := 0
	options := FollowOptions{
		PushOptions: PushOptions{Now: func() time.Time { return now }, Workers: 1},
		Status: func(s Status) {
			if s.Report == nil {
				began++
				return
			}
			last = s
			lag := time.Duration(0)
			if !s.Since.IsZero() {
				lag = now.Sub(s.Since)
			}
			lags = append(lags, lag)
		},
	}
	// The steps run where Follow would sleep.
	options.Sleep = func(ctx context.Context, _ time.Duration) error {
		now = now.Add(time.Second)
		step++
		switch step {
		case 1:
			if last.Err != nil || last.Pushed != 2 {
				t.Errorf("the first push: %+v", last)
			}
			requests.Store(0)
		case 4:
			if n := requests.Load(); n != 0 {
				t.Errorf("%d requests while nothing happened", n)
			}
			put(t, db, "second", []byte("2"))
			down.Store(true)
		case 7:
			if last.Err == nil || last.Pushed != 2 || last.Local != 4 {
				t.Errorf("while the network is away: %+v", last)
			}
			down.Store(false)
		case 8:
			if last.Err != nil || last.Pushed != 4 || !last.Since.IsZero() {
				t.Errorf("after it came back: %+v", last)
			}
			mustEqual(t, db, mustClone(t, inner))
			cancel()
		}
		return ctx.Err()
	}
	if err := Follow(ctx, beside, store, &options); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	if want := "[0s 0s 1s 2s 0s]"; fmt.Sprint(lags) != want {
		t.Errorf("lags %v, want %s", lags, want)
	}
	if began != len(lags) {
		t.Errorf("%d pushes began, %d ended", began, len(lags))
	}
}

// TestFollowEndsWithWhatDoesNotPass when somebody else pushes.
func TestFollowEndsWithWhatDoesNotPass(t *testing.T) {
	store := newStore()
	db := newDB(t)
	fill(t, db)
	mustPush(t, db, store)
	other := mustClone(t, store)
	put(t, other, "theirs", nil)
	mustPush(t, other, store)
	put(t, db, "ours", nil)
	if err := Follow(t.Context(), db, store, nil); !errors.Is(err, ErrDiverged) {
		t.Errorf("%v", err)
	}
}
