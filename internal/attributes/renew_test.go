package attributes_test

import (
	"testing"

	"github.com/stardustdb/stardust/internal/attributes"
)

// What a writer does not speak of stays: an import over a file from an archive
// leaves its owner alone.
func TestRenewKeepsWhatIsNotSpokenOf(t *testing.T) {
	for _, c := range []struct{ name, old, value, want string }{
		{"nothing else", `{"mode":"0644"}`, `{"mode":"0600"}`, `{"mode":"0600"}`},
		{"the same", `{"owner":{"uid":1,"gid":2},"mode":"0644"}`, `{"mode":"0644"}`, `{"owner":{"uid":1,"gid":2},"mode":"0644"}`},
		{"an owner", `{"mode":"0644","owner":{"uid":1,"gid":2}}`, `{"mode":"0600"}`, `{"mode":"0600","owner":{"uid":1,"gid":2}}`},
		{"a member of a later version", `{"mtime":"2026-01-01T00:00:00Z","color":"red"}`, `{"mode":"0600"}`, `{"color":"red","mode":"0600"}`},
		{"a link that became a file", `{"type":"symlink","xattrs":{"user.a":"YQ=="}}`, `{"mode":"0600"}`, `{"mode":"0600","xattrs":{"user.a":"YQ=="}}`},
		{"only a type that ended", `{"type":"symlink","mode":"0600"}`, `{"mode":"0600"}`, `{"mode":"0600"}`},
		{"a new owner", `{"owner":{"uid":1,"gid":2}}`, `{"owner":{"uid":3,"gid":4}}`, `{"owner":{"uid":3,"gid":4}}`},
		{"another form", `"text"`, `{"mode":"0600"}`, `{"mode":"0600"}`},
		{"null", `null`, `{"mode":"0600"}`, `{"mode":"0600"}`},
	} {
		if got := attributes.Renew([]byte(c.old), []byte(c.value), attributes.Basic); string(got) != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// Who looked at owners speaks for them, too: one that it does not name is gone.
func TestRenewDropsWhatItsWriterSpeaksFor(t *testing.T) {
	const old = `{"owner":{"uid":1,"gid":2},"sparse":true,"link":"1:2"}`
	speaks := attributes.Basic | attributes.MemberOwner | attributes.MemberLink
	if got := attributes.Renew([]byte(old), []byte(`{"mode":"0600"}`), speaks); string(got) != `{"mode":"0600","sparse":true}` {
		t.Errorf("%s", got)
	}
}
