package sidecar

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stardustdb/stardust/mirror"
)

func TestTheShareOfLocalReadsIsRoundedDown(t *testing.T) {
	for _, c := range []struct {
		counters mirror.Counters
		want     string
	}{
		{mirror.Counters{}, "–"},
		{mirror.Counters{RemoteReads: 7}, "–"}, // they are none of the mirror's
		{mirror.Counters{Hits: 1}, "100 %"},
		{mirror.Counters{Hits: 9999, ReadThroughs: 1}, "99 %"},
		{mirror.Counters{Hits: 1, ReadThroughs: 1, NotLocal: 2}, "25 %"},
		{mirror.Counters{NotLocal: 1}, "0 %"},
	} {
		if got := localShare(c.counters); got != c.want {
			t.Errorf("%+v: %s, want %s", c.counters, got, c.want)
		}
	}
}

func TestTroubleStandsOut(t *testing.T) {
	if row := string(trouble("<a>", 0)); row != `<tr><th scope="row">&lt;a&gt;</th><td class="n">0</td></tr>` {
		t.Error(row)
	}
	if row := string(trouble("a", 1234)); row != `<tr><th scope="row">a</th><td class="n bad">1,234</td></tr>` {
		t.Error(row)
	}
}

// The page says why warming fails, and an error never becomes markup.
func TestThePageSaysWhyWarmingFails(t *testing.T) {
	u := newUpstream(t)
	o := options(t, u)
	o.Database, o.Policy = nil, &mirror.KeepAll{WithoutWarming: true}
	s, _, url := serve(t, o)
	<-s.Ready() // nothing else writes the state from now on
	s.warm.Store(&warmth{state: warming, err: errors.New("no <script> today")})
	code, text := page(t, url+"/status")
	if code != http.StatusOK || !strings.Contains(text, "Warming failed and is tried again: no &lt;script&gt; today") ||
		!strings.Contains(text, `class="state busy" id="state">warming<`) {
		t.Errorf("%d\n%s", code, text)
	}
	if code, _ := page(t, url+"/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("ready: %d", code)
	}
}
