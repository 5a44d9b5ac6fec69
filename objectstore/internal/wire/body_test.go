package wire_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stardustdb/stardust/objectstore/internal/wire"
)

func TestShortAnswersAreErrors(t *testing.T) {
	for _, c := range []struct {
		sent string
		left int64
		ok   bool
	}{{"12345", 5, true}, {"1234", 5, false}, {"", 5, false}, {"", 0, true}, {"123456", 5, true}} {
		answer := io.NopCloser(strings.NewReader(c.sent))
		got, err := io.ReadAll(wire.NewBody(answer, c.left))
		if c.ok && (err != nil || int64(len(got)) != c.left) || !c.ok && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q for %d bytes: %q, %v", c.sent, c.left, got, err)
		}
	}
}

func TestAChecksumThatDoesNotMatchIsTheErrorOfTheLastRead(t *testing.T) {
	mismatch := errors.New("checksum does not match")
	answer := io.NopCloser(io.MultiReader(strings.NewReader("12345"), failing{mismatch}))
	got, err := io.ReadAll(wire.NewBody(answer, 5))
	if !errors.Is(err, mismatch) || string(got) != "12345" {
		t.Fatalf("%q, %v", got, err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
