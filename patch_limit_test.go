package stardust_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stardustdb/stardust"
)

// TestAttributesHaveALimit fills an entity's attributes to the byte.
func TestAttributesHaveALimit(t *testing.T) {
	db := open(t)
	create(t, db, `[{name d}]`)
	full := fmt.Sprintf(`{a "%s"}`, strings.Repeat("x", stardust.MaxAttributesSize-3))
	after, err := db.Patch(1, parse(t, full), 0)
	if err != nil {
		t.Fatal(err)
	}
	now, err := db.Attributes(1)
	if err != nil || now.String() != after.String() {
		t.Errorf("Attributes differs from what Patch returned: %v", err)
	}
	before, err := db.Tree().Get(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, more := range []string{`{b 1}`, fmt.Sprintf(`{a "%s"}`, strings.Repeat("x", stardust.MaxAttributesSize-2))} {
		if _, err := db.Patch(1, parse(t, more), 0); !errors.Is(err, stardust.StatusInvalidArgument) {
			t.Errorf("%.10s: %v", more, err)
		}
	}
	if r, err := db.Tree().Get(1); err != nil || r.Revision != before.Revision {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := db.Patch(1, parse(t, `{a null b 1}`), 0); err != nil {
		t.Errorf("a smaller one: %v", err)
	}
	var many bytes.Buffer
	many.WriteString("{")
	for i := range 100_000 {
		fmt.Fprintf(&many, "%d 1 ", i)
	}
	many.WriteString("}")
	if _, err := db.Patch(1, parse(t, many.String()), 0); err != nil {
		t.Errorf("many small ones: %v", err)
	}
	if err := db.Objects().Remove(1, 0); err != nil {
		t.Errorf("remove: %v", err)
	}
	for _, err := range db.Transactions(0) {
		if err != nil {
			t.Error(err)
		}
	}
	if report, err := db.Check(t.Context(), nil); err != nil || report.Damaged != 0 {
		t.Errorf("%+v, %v", report, err)
	}
}
