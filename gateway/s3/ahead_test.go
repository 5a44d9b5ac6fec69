package s3

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
)

// A long body arrives whole, in odd pieces as well, and a body that fails or ends
// early, or a client that goes away, is an error with what was sent before it.
func TestALongBodyIsSentWhileItIsRead(t *testing.T) {
	content := make([]byte, aheadLeast+12345)
	_, _ = rand.NewChaCha8([32]byte{}).Read(content)
	failed := errors.New("failed")
	for what, c := range map[string]struct {
		body io.Reader
		sent int
		err  error
	}{
		"whole":         {bytes.NewReader(content), len(content), nil},
		"in odd pieces": {iotest.HalfReader(bytes.NewReader(content)), len(content), nil},
		"longer":        {io.MultiReader(bytes.NewReader(content), strings.NewReader("more")), len(content), nil},
		"short":         {bytes.NewReader(content[:3*aheadBuffer+1]), 3 * aheadBuffer, io.ErrUnexpectedEOF},
		"failing":       {io.MultiReader(bytes.NewReader(content[:aheadBuffer]), iotest.ErrReader(failed)), aheadBuffer, failed},
	} {
		recorder := httptest.NewRecorder()
		w := &response{w: recorder, timeout: -1}
		err := w.send(c.body, int64(len(content)))
		if !errors.Is(err, c.err) || c.err == nil && err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if got := recorder.Body.Bytes(); !bytes.Equal(got, content[:c.sent]) || w.sent != int64(c.sent) {
			t.Errorf("%s: %d bytes, sent %d", what, len(got), w.sent)
		}
	}
	w := &response{w: gone{httptest.NewRecorder()}, timeout: -1}
	if err := w.send(bytes.NewReader(content), int64(len(content))); !errors.Is(err, io.ErrClosedPipe) || w.sent != 10 {
		t.Errorf("a client that went away: %v, sent %d", err, w.sent)
	}
}

// gone is a client that goes away.
type gone struct{ *httptest.ResponseRecorder }

func (gone) Write([]byte) (int, error) { return 10, io.ErrClosedPipe }
