package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"golang.org/x/sync/errgroup"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

// mirrorFetch compares downloads of the mirror with those of a plain client,
// from versitygw.
func mirrorFetch(b *bench) error {
	server, err := b.startVersitygw()
	if server == nil || err != nil {
		return err
	}
	defer server.stop()
	store, err := server.store(b.ctx)
	if err != nil {
		return err
	}
	for _, load := range []struct {
		objects int
		size    int64
		what    string
	}{{64, b.size / 64, "fetch of 64 objects of %s"}, {1, b.size, "fetch of one object of %s"}} {
		var paths []objectstore.Path
		for i := range load.objects {
			path := objectstore.Path(fmt.Sprintf("%d/%d", load.objects, i))
			if _, err := store.Put(b.ctx, path, objectstore.Stream(randomReader(byte(i), load.size), load.size), nil); err != nil {
				return err
			}
			paths = append(paths, path)
		}
		took, err := b.fetchRounds(server, store, paths, load.size)
		if err != nil {
			return err
		}
		ours, plain, total := took[0], took[1], load.size*int64(load.objects)
		ratio := median(ratios(plain.wall, ours.wall))
		b.add(row{
			what: fmt.Sprintf(load.what, bytesText(load.size)) + ", rate of a plain parallel client's", ratio: ratio, bar: 0.9,
			details: fmt.Sprintf("%.0f and %.0f MB/s; %.2f and %.2f s of CPU",
				float64(total)/1e6/median(ours.wall), float64(total)/1e6/median(plain.wall), median(ours.cpu), median(plain.cpu)),
		})
	}
	return nil
}

// fetchRounds returns what the mirror and the plain client took. What they
// wrote is removed outside of the measurement.
func (b *bench) fetchRounds(server *versitygw, store objectstore.Store, paths []objectstore.Path, size int64) ([]series, error) {
	dir := filepath.Join(b.dir, "fetch")
	var m *mirror.Mirror
	ours := step{
		before: func() (err error) {
			m, err = b.openMirror("fetch", store, localPolicy{}, false)
			return err
		},
		work: func() error { return m.Handle().Fetch(paths...).Wait(b.ctx) },
		after: func() error {
			err := m.Close()
			if gone := os.RemoveAll(dir); err == nil {
				err = gone
			}
			return err
		},
	}
	client := newPlainClient(server.client(), filepath.Join(b.dir, "plain"))
	plain := step{
		before: func() error { return os.Mkdir(client.dir, 0o700) },
		work:   func() error { return client.fetch(b.ctx, paths, size) },
		after:  func() error { return os.RemoveAll(client.dir) },
	}
	return turns(b.ctx, b.rounds, ours, plain)
}

// plainClient is what somebody would write who needs the files and nothing
// else: ranged GETs of signed URLs, as many at a time as the mirror has, written
// where they belong. It checks no length, resumes nothing and keeps no metadata.
type plainClient struct {
	http    *http.Client
	presign *awss3.PresignClient
	dir     string
}

// plainRange is the length of its ranges.
const plainRange = 16 << 20

func newPlainClient(client *awss3.Client, dir string) *plainClient {
	transport := &http.Transport{MaxIdleConnsPerHost: 64, ReadBufferSize: 64 << 10, DisableCompression: true}
	return &plainClient{&http.Client{Transport: transport}, awss3.NewPresignClient(client), dir}
}

// fetch downloads objects of one size.
func (c *plainClient) fetch(ctx context.Context, paths []objectstore.Path, size int64) error {
	defer c.http.CloseIdleConnections()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(mirror.DefaultDownloadConcurrency)
	files := make([]*os.File, len(paths))
	for i, path := range paths {
		url, err := c.presign.PresignGetObject(ctx, &awss3.GetObjectInput{
			Bucket: aws.String(benchBucket), Key: aws.String(path.String()),
		}, awss3.WithPresignExpires(time.Hour))
		if err != nil {
			return err
		}
		if files[i], err = os.Create(filepath.Join(c.dir, fmt.Sprint(i))); err != nil {
			return err
		}
		for at := int64(0); at < size; at += plainRange {
			group.Go(func() error { return c.get(ctx, url.URL, files[i], at, min(at+plainRange, size)) })
		}
	}
	err := group.Wait()
	for _, f := range files {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}
	return err
}

func (c *plainClient) get(ctx context.Context, url string, to *os.File, start, end int64) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", start, end-1))
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusPartialContent {
		return fmt.Errorf("plain client: %s", response.Status)
	}
	buffer := make([]byte, 256<<10)
	_, err = io.CopyBuffer(io.NewOffsetWriter(to, start), response.Body, buffer)
	return err
}
