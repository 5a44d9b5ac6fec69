package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	gateway "github.com/stardustdb/stardust/gateway/s3"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/file"
)

// endpointPath is the object that is read. Its name tells its type, so that
// net/http's file server needs not read the file to guess it.
const endpointPath objectstore.Path = "object.wasm"

// endpoint compares reads through the S3 endpoint with those from net/http's
// file server. Every request to the endpoint is signed, and its signature
// checked, except where a row says otherwise.
func endpoint(b *bench) error {
	root := filepath.Join(b.dir, "endpoint")
	defer os.RemoveAll(root)
	store, err := file.Open(filepath.Join(root, benchBucket), nil)
	if err != nil {
		return err
	}
	defer store.Close()
	if _, err := store.Put(b.ctx, endpointPath, objectstore.Stream(randomReader(6, b.size), b.size), nil); err != nil {
		return err
	}
	same := func() (objectstore.Store, func() error, error) { return store, func() error { return nil }, nil }
	sources := []struct {
		name     string
		bar      float64
		unsigned bool
		open     func() (objectstore.Store, func() error, error)
	}{
		{"the file store", 0.85, false, same},
		{"the file store, unsigned", 0, true, same},
		{"a mirror", 0, false, func() (objectstore.Store, func() error, error) {
			return b.endpointMirror(filepath.Join("endpoint", "plain"), store, false)
		}},
		{"a mirror, verified", 0, false, func() (objectstore.Store, func() error, error) {
			return b.endpointMirror(filepath.Join("endpoint", "verified"), store, true)
		}},
	}
	fileServer, stop, err := b.serve(serveHTTP(http.FileServer(http.Dir(root))))
	if err != nil {
		return err
	}
	defer stop()
	for _, source := range sources {
		store, closeStore, err := source.open()
		if err != nil {
			return err
		}
		err = b.endpointRows(fileServer, store, source.name, source.bar, !source.unsigned)
		if closed := closeStore(); err == nil {
			err = closed
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// endpointMirror opens a mirror that has the object.
func (b *bench) endpointMirror(dir string, store objectstore.Store, verify bool) (objectstore.Store, func() error, error) {
	m, err := b.openMirror(dir, store, localPolicy{}, verify)
	if err != nil {
		return nil, nil, err
	}
	return m, m.Close, m.Handle().Fetch(endpointPath).Wait(b.ctx)
}

func (b *bench) endpointRows(fileServer string, store objectstore.Store, name string, bar float64, signed bool) error {
	handler, err := gateway.NewHandler(store, gateway.Options{
		Bucket: benchBucket, Region: benchRegion, Credentials: map[string]string{benchAccess: benchSecret}, Anonymous: !signed,
	})
	if err != nil {
		return err
	}
	url, stop, err := b.serve(gateway.NewServer(handler, gateway.ServerOptions{}).Serve)
	if err != nil {
		return err
	}
	defer stop()
	target := "/" + benchBucket + "/" + endpointPath.String()
	plain, err := newReadClient(b.ctx, fileServer+target, false)
	if err != nil {
		return err
	}
	ours, err := newReadClient(b.ctx, url+target, signed)
	if err != nil {
		return err
	}
	for _, load := range []struct {
		what     string
		requests int
		length   int64
		rounds   int
	}{
		{"ranged GET of 4 KiB", 1000, 4 << 10, 10 * b.rounds},
		{"ranged GET of 64 KiB", 1000, 64 << 10, 10 * b.rounds},
		{"GET of " + bytesText(b.size), 1, b.size, b.rounds},
	} {
		took, err := turns(b.ctx, load.rounds,
			step{work: func() error { return plain.reads(load.requests, load.length, b.size) }},
			step{work: func() error { return ours.reads(load.requests, load.length, b.size) }})
		if err != nil {
			return err
		}
		ratio := median(ratios(took[0].wall, took[1].wall))
		cpu := median(ratios(took[1].cpu, took[0].cpu))
		ours, theirs := median(took[1].wall), median(took[0].wall)
		details := fmt.Sprintf("%.1f and %.1f k requests/s; %.2f times the CPU", float64(load.requests)/ours/1e3, float64(load.requests)/theirs/1e3, cpu)
		if load.requests == 1 {
			details = fmt.Sprintf("%.0f and %.0f MB/s; %.2f times the CPU", float64(b.size)/1e6/ours, float64(b.size)/1e6/theirs, cpu)
		}
		b.add(row{what: "endpoint over " + name + ": " + load.what + ", rate of net/http's", ratio: ratio, bar: bar, details: details})
	}
	return nil
}
