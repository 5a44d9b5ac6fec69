package accounts_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stardustdb/stardust/gateway/accounts"
)

func file(t *testing.T) (*accounts.File, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "accounts")
	f, err := accounts.Open(path, true)
	if err != nil {
		t.Fatal(err)
	}
	return f, path
}

func TestAPasswordLetsItsUserInAndNoOther(t *testing.T) {
	f, path := file(t)
	if err := f.SetUser(accounts.User{Name: "ann", Write: true, Root: "/team/"}, "correct horse"); err != nil {
		t.Fatal(err)
	}
	l := accounts.NewLogins(f)
	now := time.Now()
	for range 2 { // the second time it is remembered
		if g, err := l.Check(t.Context(), "ann", "correct horse", now); err != nil || g == nil || !g.Write || g.Root != "team" || g.Name != "ann" {
			t.Errorf("right: %+v, %v", g, err)
		}
	}
	for _, c := range [][2]string{{"ann", "correct horsf"}, {"bob", "correct horse"}, {"ann", ""}, {"", ""}} {
		if g, err := l.Check(t.Context(), c[0], c[1], now); err != nil || g != nil {
			t.Errorf("%v: %+v, %v", c, g, err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(text), "horse") || !strings.Contains(string(text), "$argon2id$") {
		t.Errorf("the file: %s, %v", text, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := f.SetUser(accounts.User{Name: "ann"}, "another password"); err != nil {
		t.Fatal(err)
	}
	if g, _ := l.Check(t.Context(), "ann", "correct horse", now.Add(2*time.Second)); g != nil {
		t.Error("a changed password is remembered")
	}
	if err := f.RemoveUser("ann"); err != nil {
		t.Fatal(err)
	}
	if g, _ := l.Check(t.Context(), "ann", "another password", now.Add(4*time.Second)); g != nil {
		t.Error("a removed user gets in")
	}
}

func TestATokenLetsInUntilItIsRemoved(t *testing.T) {
	f, path := file(t)
	secret, err := f.AddToken(accounts.Token{Name: "ci"}, false)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	if g := f.CheckToken(secret, now); g == nil || g.Write || g.Name != "ci" {
		t.Errorf("right: %+v", g)
	}
	if f.CheckToken(secret+"x", now) != nil || f.CheckToken("", now) != nil {
		t.Error("a wrong token gets in")
	}
	if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), secret) {
		t.Errorf("the file has the secret: %v", err)
	}
	if _, _, ok := f.Key("ci", now); ok {
		t.Error("a token without S3 is an S3 key")
	}
	if _, err := f.AddToken(accounts.Token{Name: "ci"}, false); err == nil {
		t.Error("a second token of the name")
	}
	// Another process removes it.
	other, err := accounts.Open(path, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.RemoveToken("ci"); err != nil {
		t.Fatal(err)
	}
	if f.CheckToken(secret, now.Add(2*time.Second)) != nil {
		t.Error("a removed token gets in")
	}
}

func TestALinkGrantsWhatWasSignedUntilItExpires(t *testing.T) {
	f, _ := file(t)
	now := time.Now()
	text, err := f.Sign(&accounts.Link{Root: "a/b", At: 7, Expires: now.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if g, err := f.CheckLink(text, "", now); err != nil || g.Root != "a/b" || g.At != 7 || g.Write {
		t.Errorf("right: %+v, %v", g, err)
	}
	if _, err := f.CheckLink(text, "", now.Add(2*time.Hour)); err == nil {
		t.Error("an expired link works")
	}
	if _, err := f.CheckLink(text, "other", now); err == nil {
		t.Error("a link works for another database")
	}
	for i := range len(text) {
		forged := text[:i] + string(text[i]^1) + text[i+1:]
		if g, err := f.CheckLink(forged, "", now); err == nil && (g.Root != "a/b" || g.At != 7) {
			t.Errorf("forged at %d: %+v", i, g)
		}
	}
	if err := f.Revoke(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.CheckLink(text, "", now.Add(2*time.Second)); err == nil {
		t.Error("a revoked link works")
	}
}

func TestAFileThatOthersMayReadIsRefused(t *testing.T) {
	f, path := file(t)
	if err := f.SetUser(accounts.User{Name: "ann"}, "correct horse"); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := accounts.Open(path, false); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("opened: %v", err)
	}
}

func FuzzCheckLink(f *testing.F) {
	accountsFile, err := accounts.Open(filepath.Join(f.TempDir(), "accounts"), true)
	if err != nil {
		f.Fatal(err)
	}
	now := time.Now()
	text, err := accountsFile.Sign(&accounts.Link{Root: "a", Expires: now.Add(time.Hour)})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add("x.y")
	f.Fuzz(func(t *testing.T, text string) {
		if g, err := accountsFile.CheckLink(text, "", now); err == nil && g.Root != "a" {
			t.Errorf("%q grants %+v", text, g)
		}
	})
}

func TestAnS3KeyIsBoundToItsDirectory(t *testing.T) {
	f, _ := file(t)
	secret, err := f.AddToken(accounts.Token{Name: "key", Root: "/bucket/team/"}, true)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	if keys := f.Keys(); len(keys) != 1 || keys["key"] != secret {
		t.Errorf("keys: %v", keys)
	}
	for path, allowed := range map[string]bool{
		"": false, "bucket": false, "bucket/": false, "bucket/team": false, "bucket/team/": true, "bucket/team/a": true,
		"bucket/teams": false, "bucket/other": false, "other": false,
	} {
		if f.Allows("key", secret, path, false, now) != allowed {
			t.Errorf("%q: %v", path, !allowed)
		}
		if f.Allows("key", secret, path, true, now) {
			t.Errorf("%q may be written", path)
		}
	}
	if f.Allows("key", "another", "bucket/team/a", false, now) || f.Allows("other", secret, "bucket/team/a", false, now) {
		t.Error("another key is allowed")
	}
}
