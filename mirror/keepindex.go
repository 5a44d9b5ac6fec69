package mirror

import (
	"context"

	"github.com/stardustdb/stardust/mirror/internal/local"
)

// saveIndex writes the startup index when the local copies have changed.
func (m *Mirror) saveIndex() error {
	_, _, changes := m.local.Index.Totals()
	if m.savedIndex.Load() == changes {
		return nil
	}
	if err := local.WriteIndex(m.local, m.local.Index.All()); err != nil {
		m.logger.Warn("startup index can't be written", "error", err)
		return local.Fail("write the startup index", "", err)
	}
	m.savedIndex.Store(changes)
	return nil
}

// keepIndex saves the index from time to time until ctx ends.
func (m *Mirror) keepIndex(ctx context.Context) {
	for m.options.Clock.Sleep(ctx, m.options.IndexInterval) == nil {
		m.sweep()
		_ = m.saveIndex() // logged there
	}
}
