package grant_test

import (
	"context"
	"testing"

	"github.com/stardustdb/stardust/gateway/grant"
)

func TestPathsBeginAtTheRootOfTheGrant(t *testing.T) {
	for _, c := range []struct{ root, path, want string }{
		{"", "a/b", "a/b"},
		{"", "/a", "a"},
		{"/", "a/", "a/"},
		{"team", "", "team"},
		{"/team/", "/x", "team/x"},
		{"team/one", "x/y/", "team/one/x/y/"},
	} {
		if got := (&grant.Grant{Root: c.root}).Path(c.path); got != c.want {
			t.Errorf("%q under %q: %q, not %q", c.path, c.root, got, c.want)
		}
	}
}

func TestAGrantOfARevisionShowsNoOther(t *testing.T) {
	g := &grant.Grant{At: 7}
	for asked, allowed := range map[int64]bool{0: true, 7: true, 6: false, 8: false} {
		if at, ok := g.Revision(asked); at != 7 || ok != allowed {
			t.Errorf("asked for %d: %d, %v", asked, at, ok)
		}
	}
	if at, ok := grant.From(context.Background()).Revision(5); at != 5 || !ok {
		t.Errorf("without a grant: %d, %v", at, ok)
	}
}
