package objectstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"
)

// probeRacers is how many create-only writes ProbeCreate lets race. Stores that
// check first and write later were seen to let several of this many through.
const probeRacers = 32

// ProbeCreate finds out whether store honors create-only writes under a race:
// of 32 concurrent ones to one new object under prefix (which may be empty),
// exactly one may win, and the object must hold the winner's bytes. It returns
// nil when that holds, ErrUnsupported when it does not, and the store's own
// error when the probe could not be made. It deletes the object it made.
func ProbeCreate(ctx context.Context, store Store, prefix Path) (err error) {
	path, err := prefix.Join("probe-" + rand.Text())
	if err != nil {
		return &Error{Op: "probe create", Store: store.String(), Path: string(prefix), Err: err}
	}
	defer func() {
		// The clean-up runs even when the caller has given up.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		if e := store.Delete(ctx, path); e != nil && !errors.Is(e, ErrNotFound) && err == nil {
			err = e
		}
	}()

	errs := make([]error, probeRacers)
	start := make(chan struct{})
	var racers sync.WaitGroup
	for i := range probeRacers {
		racers.Go(func() {
			<-start
			_, errs[i] = store.Put(ctx, path, Bytes(probeBody(i)), &PutOptions{Mode: Create})
		})
	}
	close(start)
	racers.Wait()

	var winners []int
	var failed error
	for i, err := range errs {
		switch {
		case err == nil:
			winners = append(winners, i)
		case errors.Is(err, ErrAlreadyExists), IsTransient(err):
			// S3 answers some losers of a race with a conflict to be retried.
		default:
			failed = errors.Join(failed, err)
		}
	}
	unsupported := func(format string, args ...any) error {
		return &Error{
			Op: "probe create", Store: store.String(), Path: string(path),
			Err: fmt.Errorf("%w: create-only writes are not honored: "+format, append([]any{ErrUnsupported}, args...)...),
		}
	}
	switch {
	case failed != nil:
		return failed
	case len(winners) > 1:
		return unsupported("%d of %d racing ones succeeded", len(winners), probeRacers)
	case len(winners) == 0:
		return errors.Join(errs...)
	}
	data, _, err := ReadAll(ctx, store, path)
	if err != nil {
		return err
	}
	if string(data) != string(probeBody(winners[0])) {
		return unsupported("the object holds the bytes of a writer that was told it had lost")
	}
	return nil
}

func probeBody(i int) []byte { return fmt.Appendf(nil, "create-only probe %d", i) }
