package api_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/api"
)

// An archive is whole when memory is short, too: it waits for it, as all reads do.
func TestArchivesShareASmallBudget(t *testing.T) {
	db, err := stardust.Open(filepath.Join(t.TempDir(), "db"), &stardust.Options{
		Plugins: stardust.Plugins{Objects: &stardust.ObjectsPlugin{}}, MemoryBudget: 8 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	content := make([]byte, 3<<20)
	for i := range content {
		content[i] = byte(rand.Uint32())
	}
	for i := range 3 {
		if _, err := db.Tree().Put(fmt.Sprint("d/", i), bytes.NewReader(content[i:]), &stardust.PutOptions{Parents: true}); err != nil {
			t.Fatal(err)
		}
	}
	base := serve(t, api.New(db, nil), nil)
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/v1/files/d?format=tar", nil)
			if err != nil {
				t.Error(err)
				return
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = resp.Body.Close() }()
			archive, files := tar.NewReader(resp.Body), 0
			for {
				_, err := archive.Next()
				if err == io.EOF {
					break
				}
				if err == nil {
					_, err = io.Copy(io.Discard, archive)
				}
				if err != nil {
					t.Error(resp.Status, err)
					return
				}
				files++
			}
			if files != 3 {
				t.Errorf("%s: %d files", resp.Status, files)
			}
		})
	}
	group.Wait()
}
