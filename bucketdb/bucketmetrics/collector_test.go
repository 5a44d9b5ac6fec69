package bucketmetrics

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/stardustdb/stardust/bucketdb"
)

// TestTheLagGrowsWhileAPushIsUnderWay and is gone when it has succeeded.
func TestTheLagGrowsWhileAPushIsUnderWay(t *testing.T) {
	now := time.Unix(1000, 0)
	c := NewCollector(func() time.Time { return now })
	expect := func(want string) {
		t.Helper()
		text := `# HELP stardust_bucket_lag_seconds For how long the bucket has lacked something of the file; 0 when it lacks nothing.
# TYPE stardust_bucket_lag_seconds gauge
stardust_bucket_lag_seconds ` + want + "\n"
		if err := testutil.CollectAndCompare(c, strings.NewReader(text), "stardust_bucket_lag_seconds"); err != nil {
			t.Error(err)
		}
	}
	expect("0")
	c.Listen(bucketdb.Status{Local: 4, Pushed: 2, Since: now})
	now = now.Add(5 * time.Second)
	expect("5")
	c.Listen(bucketdb.Status{Local: 4, Pushed: 2, Since: now.Add(-5 * time.Second), Report: &bucketdb.Report{Stored: 3}, Err: errors.New("cut off")})
	now = now.Add(time.Second)
	expect("6")
	c.Listen(bucketdb.Status{Local: 4, Pushed: 4, Report: &bucketdb.Report{Stored: 4}})
	expect("0")
	if problems, err := testutil.CollectAndLint(c); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	want := `# HELP stardust_bucket_push_failures_total Pushes that failed.
# TYPE stardust_bucket_push_failures_total counter
stardust_bucket_push_failures_total 1
# HELP stardust_bucket_pushed_bytes_total Bytes of packs that were sent.
# TYPE stardust_bucket_pushed_bytes_total counter
stardust_bucket_pushed_bytes_total 7
# HELP stardust_bucket_pushed_revision The latest revision that the bucket has.
# TYPE stardust_bucket_pushed_revision gauge
stardust_bucket_pushed_revision 4
`
	if err := testutil.CollectAndCompare(c, strings.NewReader(want), "stardust_bucket_push_failures_total", "stardust_bucket_pushed_bytes_total", "stardust_bucket_pushed_revision"); err != nil {
		t.Error(err)
	}
}
