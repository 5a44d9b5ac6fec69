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
	if row := trouble("a", 0); row != `  <tr><th scope="row">a</th><td class="n">0</td></tr>`+"\n" {
		t.Error(row)
	}
	if row := trouble("a", 1234); row != `  <tr><th scope="row">a</th><td class="n bad">1,234</td></tr>`+"\n" {
		t.Error(row)
	}
}

// Names come from outside: none becomes markup, or a place to be filled in.
func TestNamesOnTheStatusPageStayText(t *testing.T) {
	const name = `"><script>{{hits}}&`
	page := renderStatus(Status{
		Upstream: name, Bucket: name, State: "warm", Error: name,
		Downloads: []Download{{Path: name, Size: 1000, Done: 250, Retries: 2}, {Path: "b", Size: -1}},
		Database:  &DatabaseStatus{Root: name, RootKnown: true, ManifestID: 18},
	}, "NONCE")
	if n := strings.Count(page, "&#34;&gt;&lt;script&gt;{{hits}}&amp;"); n != 7 {
		t.Errorf("the name is there %d times as text", n)
	}
	if n := strings.Count(page, "<script"); n != 1 || !strings.Contains(page, `<script nonce="NONCE">`) {
		t.Errorf("%d scripts", n)
	}
	if n := strings.Count(page, "{{"); n != 7 {
		t.Errorf("%d places are not filled in, want those of the names", n)
	}
	for _, want := range []string{`<progress max="100" value="25"`, `<td class="n">1000 B</td>`, `<td class="n">…</td>`, ", manifest 18,"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
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
