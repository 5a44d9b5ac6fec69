package commit

import "github.com/stardustdb/stardust/internal/catalog"

// Preview runs a plan that only reads and collects facts, and drops them: it
// refuses and decides as a write would now. Its new entities begin after those
// of the tree and of earlier previews, whose number it takes and returns.
func Preview(v *catalog.View, planned int64, plan func(*Plan) error) (int64, error) {
	last, err := v.LastRevision()
	if err != nil {
		return planned, err
	}
	p := &Plan{tx: &catalog.Tx{View: *v}, next: last + 1 + planned}
	err = plan(p)
	return p.next - last - 1, err
}
