package logging_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/logging"
	"github.com/stardustdb/stardust/objectstore/memory"
	"github.com/stardustdb/stardust/objectstore/storetest"
)

func TestStoreConforms(t *testing.T) {
	storetest.Run(t, func(*testing.T) objectstore.Store {
		return logging.New(memory.New(nil), slog.New(slog.DiscardHandler))
	}, storetest.Features{ListKeys: 50})
}

func TestCallsAreLoggedAtTheirLevel(t *testing.T) {
	var out bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	broken := errors.New("broken")
	s := logging.New(storetest.Faulty(memory.New(nil), storetest.FaultyOptions{
		Script: func(op string, _ objectstore.Path) storetest.Fault {
			if op == objectstore.OpDelete {
				return storetest.Fault{Before: broken}
			}
			return storetest.Fault{Cut: op == objectstore.OpGet, CutAt: 1}
		},
	}), logger)
	line := func() string {
		defer out.Reset()
		return out.String()
	}
	expect := func(what string, parts ...string) {
		t.Helper()
		got := line()
		for _, part := range parts {
			if strings.Count(got, "\n") != 1 || !strings.Contains(got, part) {
				t.Errorf("%s logs %q, want one line with %q", what, got, part)
			}
		}
	}
	_, _ = s.Put(t.Context(), "object", objectstore.Bytes([]byte("12345")), nil)
	expect("put", "level=DEBUG", "op=put", "path=object", "bytes=5", "store=memory")
	_, _ = objectstore.Head(t.Context(), s, "missing")
	expect("head of what is missing", "level=DEBUG", "op=head", "path=missing", "not found")
	_ = s.Copy(t.Context(), "object", "copy", nil)
	expect("copy", "op=copy", "to=copy")
	_ = s.Delete(t.Context(), "object")
	expect("failed delete", "level=WARN", "broken")
	result, err := s.Get(t.Context(), "object", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := line(); got != "" {
		t.Errorf("a get logs before its body is closed: %q", got)
	}
	_, _ = io.ReadAll(result.Body)
	_ = result.Body.Close()
	expect("cut body", "level=WARN", "op=get", "unexpected EOF")
}

func TestNoLoggerMeansNoWrapper(t *testing.T) {
	inner := memory.New(nil)
	if s := logging.New(inner, nil); s != objectstore.Store(inner) {
		t.Fatalf("got a %T", s)
	}
}
