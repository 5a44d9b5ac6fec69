package main

import (
	"context"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

// buildRules returns the policy that keeps what any --keep matches.
func (p *policyFlags) buildRules() (*mirror.Rules, error) {
	rules := make([]mirror.Rule, len(p.rules))
	for i, glob := range p.rules {
		rules[i] = mirror.Keep("")
		rules[i].Glob = glob
	}
	policy, err := mirror.NewRules(rules...)
	if err != nil {
		return nil, &usageError{err}
	}
	return policy, nil
}

// warmBatch is how many downloads a warming by rules waits for at a time.
const warmBatch = 256

// warmRules downloads the upstream's objects that the rules keep.
func (f *mirrorFlags) warmRules(ctx context.Context, m *mirror.Mirror) error {
	rules, err := f.policy.buildRules()
	if err != nil {
		return err
	}
	var batch []objectstore.Path
	for meta, err := range m.Handle().Remote().List(ctx, nil) {
		if err != nil {
			return err
		}
		if route, err := rules.ReadRoute(meta.Path, &objectstore.GetOptions{}); err != nil || route != mirror.ReadThrough {
			continue
		}
		if batch = append(batch, meta.Path); len(batch) == warmBatch {
			if err := m.Handle().Fetch(batch...).Wait(ctx); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	return m.Handle().Fetch(batch...).Wait(ctx)
}
