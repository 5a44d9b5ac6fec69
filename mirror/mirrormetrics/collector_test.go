package mirrormetrics_test

import (
	"context"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/mirror/mirrormetrics"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
)

func TestCollectorShowsWhatTheMirrorDid(t *testing.T) {
	ctx := context.Background()
	m, err := mirror.Open(ctx, t.TempDir(), memory.New(nil), &mirror.KeepAll{WithoutWarming: true}, &mirror.Options{WithoutRemoteScan: true})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if _, err := m.Put(ctx, "a", objectstore.Bytes([]byte("hello")), nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := objectstore.ReadAll(ctx, m, "a"); err != nil {
		t.Fatal(err)
	}
	c := mirrormetrics.NewCollector(m)
	want := `
		# HELP stardust_mirror_bytes Bytes of the local copies.
		# TYPE stardust_mirror_bytes gauge
		stardust_mirror_bytes 5
		# HELP stardust_mirror_hits_total Reads that found the local copy.
		# TYPE stardust_mirror_hits_total counter
		stardust_mirror_hits_total 1
		# HELP stardust_mirror_writes_total Writes installed locally.
		# TYPE stardust_mirror_writes_total counter
		stardust_mirror_writes_total 1
	`
	if err := testutil.CollectAndCompare(c, strings.NewReader(want),
		"stardust_mirror_bytes", "stardust_mirror_hits_total", "stardust_mirror_writes_total"); err != nil {
		t.Error(err)
	}
	if problems, err := testutil.CollectAndLint(c); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}
