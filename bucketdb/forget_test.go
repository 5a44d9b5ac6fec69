package bucketdb

import (
	"errors"
	"testing"

	"github.com/stardustdb/stardust"
)

// TestWhatForgotCannotBePushedOrPulled: a bucket has whole histories. It stays as
// it is, and so does the file.
func TestWhatForgotCannotBePushedOrPulled(t *testing.T) {
	db, store := newDB(t), newStore()
	put(t, db, "a", []byte("first"))
	mustPush(t, db, store)
	other := mustClone(t, store)
	put(t, db, "a", []byte("second"))
	put(t, db, "a", []byte("third"))
	put(t, other, "b", []byte("elsewhere"))
	for _, file := range []*stardust.DB{db, other} {
		if _, err := file.Forget(t.Context(), &stardust.ForgetOptions{KeepLast: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Push(t.Context(), db, store, small()); !errors.Is(err, ErrForgotten) {
		t.Errorf("push: %v", err)
	}
	if _, err := Push(t.Context(), db, newStore(), small()); !errors.Is(err, ErrForgotten) {
		t.Errorf("push to an empty bucket: %v", err)
	}
	if _, err := Pull(t.Context(), other, store, nil); !errors.Is(err, ErrForgotten) {
		t.Errorf("pull: %v", err)
	}
	if got := string(content(t, mustClone(t, store), "a")); got != "first" {
		t.Errorf("the bucket has %q", got)
	}
	mustBeWhole(t, db)
	mustBeWhole(t, other)
}
