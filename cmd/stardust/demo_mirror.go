package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/file"
	"github.com/stardustdb/stardust/objectstore/throttle"
)

// What act 2 reads, and from how far away.
const (
	demoObjects = 16
	demoSize    = 1 << 20
	demoReads   = 64
	demoRange   = 64 << 10
	demoLatency = 50 * time.Millisecond
)

// mirrorAct shows the mirror: the same reads, direct and mirrored.
func mirrorAct() act {
	return act{title: "Act 2: a mirror of a bucket", play: playMirror}
}

func playMirror(ctx context.Context, s *stage) (err error) {
	s.say("A directory plays the bucket, %v away: every call to it takes that long.", demoLatency)
	far, err := file.Open(filepath.Join(s.dir, "bucket"), nil)
	if err != nil {
		return err
	}
	defer func() {
		if closed := far.Close(); err == nil {
			err = closed
		}
	}()
	if err := fillBucket(ctx, far); err != nil {
		return err
	}
	slow := throttle.New(far, throttle.Options{Latency: demoLatency})
	s.say("%d objects of %s lie in it. %d reads of %s each, direct:\n", demoObjects, humanSize(demoSize), demoReads, humanSize(demoRange))
	s.show()
	direct, err := timeReads(ctx, slow)
	if err != nil {
		return err
	}
	s.say("  direct    %v", direct.Round(time.Millisecond))
	s.show()

	began := time.Now()
	m, err := mirror.Open(ctx, filepath.Join(s.dir, "mirror"), slow, &mirror.KeepAll{WithoutWarming: true}, &mirror.Options{Verify: true})
	if err != nil {
		return err
	}
	defer func() {
		if closed := m.Close(); err == nil {
			err = closed
		}
	}()
	if err := mirror.Warm(ctx, m.Handle(), ""); err != nil {
		return err
	}
	warm := time.Since(began)
	mirrored, err := timeReads(ctx, m)
	if err != nil {
		return err
	}
	s.say("  mirrored  %v, once the mirror was warm (%v): %.0f times as fast", mirrored.Round(10*time.Microsecond),
		warm.Round(time.Millisecond), direct.Seconds()/mirrored.Seconds())
	s.say("\nEvery mirrored read was checked against its checksums. Writes go to both, and are\nin the bucket before they return:\n")
	if _, err := m.Put(ctx, "new", objectstore.Bytes([]byte("written through the mirror")), nil); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(s.dir, "bucket", "new"))
	if err != nil {
		return err
	}
	s.say("  the bucket has %q: %q", "new", text)
	return nil
}

// fillBucket puts the objects there, without the latency.
func fillBucket(ctx context.Context, store objectstore.Store) error {
	for i := range demoObjects {
		data := make([]byte, demoSize)
		for j := range data {
			data[j] = byte(i*31 + j*7 + j>>10)
		}
		if _, err := store.Put(ctx, demoPath(i), objectstore.Bytes(data), nil); err != nil {
			return err
		}
	}
	return nil
}

func demoPath(i int) objectstore.Path {
	return objectstore.Path(fmt.Sprintf("objects/%02d", i%demoObjects))
}

// timeReads reads ranges of the objects one after the other.
func timeReads(ctx context.Context, store objectstore.Store) (time.Duration, error) {
	began := time.Now()
	buffer := make([]byte, demoRange)
	for i := range demoReads {
		offset := int64(i*7%(demoSize/demoRange)) * demoRange
		result, err := store.Get(ctx, demoPath(i*5), &objectstore.GetOptions{Range: objectstore.Bounded(offset, offset+demoRange)})
		if err != nil {
			return 0, err
		}
		if err := readBody(result, buffer); err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

func readBody(result *objectstore.GetResult, buffer []byte) error {
	_, err := io.ReadFull(result.Body, buffer)
	return errors.Join(err, result.Body.Close())
}
