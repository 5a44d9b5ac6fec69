package wire_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/internal/wire"
)

func TestASourceWhoseReaderFailsNeverEndsCleanly(t *testing.T) {
	failed := errors.New("failed")
	body := objectstore.Stream(io.MultiReader(strings.NewReader("12345"), failing{failed}), 10)
	reader, source := wire.NewSource(t.Context(), body)
	if _, err := io.ReadAll(reader); !errors.Is(err, failed) {
		t.Fatalf("the reader ends with %v", err)
	}
	if err := source.Cause(errors.New("connection")); !errors.Is(err, failed) {
		t.Fatalf("the cause is %v", err)
	}
}

func TestASourceEndsWithItsCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	reader, source := wire.NewSource(ctx, objectstore.Bytes([]byte("12345")))
	cancel()
	if n, err := reader.Read(make([]byte, 10)); n != 0 || !errors.Is(err, context.Canceled) {
		t.Fatalf("read %d, %v", n, err)
	}
	if err := source.Cause(nil); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}
