package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

func newMirrorVerifyCommand(e *env) *cobra.Command {
	var f mirrorFlags
	var repair bool
	cmd := &cobra.Command{
		Use:     "verify",
		Short:   "Check every local copy against its checksums",
		Example: `  stardust mirror verify --upstream s3://bucket --dir /var/lib/mirror --repair`,
		Args:    arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.look(cmd.Context(), e, func(m *mirror.Mirror) error {
				return verifyMirror(cmd.Context(), e, m, repair)
			})
		},
	}
	f.addFlags(cmd)
	cmd.Flags().BoolVar(&repair, "repair", false, "download damaged copies again")
	return cmd
}

func verifyMirror(ctx context.Context, e *env, m *mirror.Mirror, repair bool) error {
	var good, bad, repaired int64
	for path, err := range m.Verify(ctx) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			good++
			continue
		}
		bad++
		e.notice("damaged: %s", explain(aboutStore(path.String(), err)))
		if !repair {
			continue
		}
		if err := replaceCopy(ctx, m, path); err != nil {
			e.notice("not repaired: %s", explain(aboutStore(path.String(), err)))
			continue
		}
		repaired++
	}
	e.printf("%s whole, %d damaged, %d repaired.\n", objects(good), bad, repaired)
	switch {
	case bad > repaired && repair:
		return fmt.Errorf("%s could not be downloaded again; what was damaged is no longer local", objects(bad-repaired))
	case bad > repaired:
		return fmt.Errorf("%s damaged; --repair downloads them again", objects(bad))
	}
	return nil
}

// replaceCopy downloads a damaged local copy again. The eviction must be over
// first: a fetch cancels one that still waits (RFC 0034, Ordering).
func replaceCopy(ctx context.Context, m *mirror.Mirror, path objectstore.Path) error {
	if _, err := m.Evict(ctx, path); err != nil {
		return err
	}
	return m.Handle().Fetch(path).Wait(ctx)
}
