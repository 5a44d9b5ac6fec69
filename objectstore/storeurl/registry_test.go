package storeurl_test

import (
	"context"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/azure"
	"github.com/stardustdb/stardust/objectstore/file"
	"github.com/stardustdb/stardust/objectstore/gcs"
	"github.com/stardustdb/stardust/objectstore/memory"
	"github.com/stardustdb/stardust/objectstore/retry"
	"github.com/stardustdb/stardust/objectstore/s3"
	"github.com/stardustdb/stardust/objectstore/storetest"
	"github.com/stardustdb/stardust/objectstore/storeurl"
)

// registry returns one of all drivers.
func registry() *storeurl.Registry {
	r := &storeurl.Registry{}
	r.Register("s3", s3.Opener(s3.Options{}))
	r.Register("gs", gcs.Opener(gcs.Options{}))
	r.Register("az", azure.Opener(azure.Options{}))
	r.Register("file", file.Opener(file.Options{}))
	r.Register("memory", memory.Opener(memory.Options{}))
	return r
}

// quiet keeps the machine's own AWS configuration out of the tests.
func quiet(t *testing.T) {
	t.Helper()
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_PROFILE", "AWS_REGION", gcs.EmulatorVariable, azure.AccountVariable} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "none"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "none"))
}

func TestURLsOpenTheirStores(t *testing.T) {
	quiet(t)
	dir := t.TempDir()
	t.Chdir(dir)
	for raw, want := range map[string]string{
		"s3://bucket":                            "s3://bucket",
		"s3://bucket/":                           "s3://bucket",
		"s3://bucket/some/prefix/":               "s3://bucket/some/prefix",
		"s3://bucket/a%20b?region=eu-1":          "s3://bucket/a b",
		"s3://b/p?endpoint=http://x:1":           "s3://b/p?endpoint=http://x:1",
		"s3://b?path-style&anonymous=true":       "s3://b",
		"file://" + dir + "/one":                 "file://" + dir + "/one",
		"file://localhost" + dir + "/one":        "file://" + dir + "/one",
		"file:" + dir + "/with%20space":          "file://" + dir + "/with space",
		"file:relative/dir":                      "file://" + dir + "/relative/dir",
		"file:../" + filepath.Base(dir):          "file://" + dir,
		dir + "/plain?x":                         "file://" + dir + "/plain?x",
		"./plain":                                "file://" + dir + "/plain",
		".":                                      "file://" + dir,
		"gs://b/p?endpoint=http://x:1&anonymous": "gs://b/p?endpoint=http://x:1",
		"az://c/p?account=a&anonymous":           "az://c/p?account=a",
		"memory:":                                "memory",
		"memory://":                              "memory",
		"memory:///some/prefix":                  "memory/some/prefix",
		"FILE:" + dir + "/scheme-any-case":       "file://" + dir + "/scheme-any-case",
		"file://" + dir + "?create=0&sync=0":     "file://" + dir,
	} {
		store, closer, err := registry().Open(t.Context(), raw, nil)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if store.String() != want {
			t.Errorf("%s opens %s, want %s", raw, store, want)
		}
		if err := closer.Close(); err != nil {
			t.Errorf("%s: close: %v", raw, err)
		}
	}
}

func TestBadURLsSayWhatIsWrong(t *testing.T) {
	quiet(t)
	dir := t.TempDir()
	for raw, parts := range map[string][]string{
		"":                                    {"no scheme"},
		"bucket/prefix":                       {"no scheme"},
		"gopher://x":                          {"gopher", "known are az, file, gs, memory, s3"},
		"s3:bucket":                           {"no bucket"},
		"s3:///prefix":                        {"no bucket"},
		"s3://b?endpont=http://x":             {`"endpont"`, "known are endpoint, region, path-style, profile, anonymous"},
		"s3://b?path-style=maybe":             {"path-style", "maybe"},
		"s3://b?region=a&region=b":            {"region", "2 times"},
		"s3://b?endpoint=not-a-url":           {"endpoint", "not-a-url"},
		"s3://key:secret@b":                   {"credentials do not belong"},
		"s3://b/a//b":                         {"empty segment"},
		"s3://b/../c":                         {".."},
		"gs:bucket":                           {"no bucket"},
		"az://c?account=a.b":                  {"account", "a.b"},
		"az://":                               {"no container"},
		"s3://b#x":                            {"%23"},
		"s3://b?a=%zz":                        {"parameters"},
		"s3://b/%zz":                          {"not a URL"},
		"file://":                             {"no directory"},
		"file://relative/dir":                 {"relative", "file:relative/dir"},
		"file://" + dir + "/new?size=1":       {`"size"`, "known are create, sync"},
		"file://" + dir + "/new?create=false": {dir + "/new"},
		"memory://name":                       {"memory:///prefix"},
		"memory:?x=1":                         {`"x"`, "known are none"},
	} {
		store, _, err := registry().Open(t.Context(), raw, nil)
		if err == nil {
			t.Errorf("%s opens %s", raw, store)
			continue
		}
		for _, part := range parts {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q does not say %q", raw, err, part)
			}
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error gives the secret away: %v", raw, err)
		}
	}
	if _, err := os.Stat(dir + "/new"); !errors.Is(err, os.ErrNotExist) {
		t.Error("a refused URL has made a directory")
	}
}

func TestOptionsAreWhatURLsStartFrom(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	registry := &storeurl.Registry{}
	registry.Register("file", file.Opener(file.Options{MustExist: true}))
	if _, _, err := registry.Open(t.Context(), "file:"+missing, nil); !errors.Is(err, objectstore.ErrNotFound) {
		t.Errorf("the option is not heeded: %v", err)
	}
	if _, closer, err := registry.Open(t.Context(), "file:"+missing+"?create=true", nil); err != nil {
		t.Errorf("the parameter does not go before it: %v", err)
	} else if err := closer.Close(); err != nil {
		t.Error(err)
	}
}

func TestRegisteredSchemesGetPrefixAndRetries(t *testing.T) {
	inner := memory.New(nil)
	calls := 0
	registry := &storeurl.Registry{}
	registry.Register("flaky", func(context.Context, *url.URL, *storeurl.Params) (objectstore.Store, io.Closer, string, error) {
		return storetest.Faulty(inner, storetest.FaultyOptions{Script: func(string, objectstore.Path) storetest.Fault {
			if calls++; calls == 1 {
				return storetest.Fault{Before: objectstore.Transient(errors.New("once"), 0)}
			}
			return storetest.Fault{}
		}}), nil, "/p/", nil
	})
	options := &storeurl.Options{Retry: &retry.Options{Sleep: func(context.Context, time.Duration) error { return nil }}}
	store, closer, err := registry.Open(t.Context(), "flaky:", options)
	if err != nil {
		t.Fatal(err)
	}
	defer closer.Close()
	if _, err := store.Put(t.Context(), "object", objectstore.Bytes(nil), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := objectstore.Head(t.Context(), inner, "p/object"); err != nil {
		t.Fatal(err)
	}
}

func FuzzOpenURL(f *testing.F) {
	for _, seed := range []string{
		"memory:///a/b", "s3://b/p?endpoint=http://x&path-style=1", "memory:?x", "s3://", "://", "memory:///%2e%2e/x", "memory:///a%00b", "memory:///a//b", "x:", "memory:///%ff",
	} {
		f.Add(seed)
	}
	registry := registry()
	// Without files: a fuzzer must not make directories.
	registry.Register("file", func(context.Context, *url.URL, *storeurl.Params) (objectstore.Store, io.Closer, string, error) {
		return nil, nil, "", errors.New("not here")
	})
	f.Fuzz(func(t *testing.T, raw string) {
		if strings.HasPrefix(strings.ToLower(raw), "s3:") && strings.Contains(raw, "profile") {
			return // reads files
		}
		begin := time.Now()
		store, closer, err := registry.Open(t.Context(), raw, nil)
		if took := time.Since(begin); took > 5*time.Second {
			t.Fatalf("%q took %v", raw, took)
		}
		if err != nil {
			var typed *objectstore.Error
			if !errors.As(err, &typed) || store != nil || closer != nil {
				t.Fatalf("%q: %v, %v, %v", raw, store, closer, err)
			}
			return
		}
		if closer == nil || store.String() == "" {
			t.Fatalf("%q opens %v, %v", raw, store, closer)
		}
	})
}
