package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
)

func newHealCommand(e *env) *cobra.Command {
	var from string
	cmd := &cobra.Command{
		Use:   "heal FILE --from BACKUP|DIR",
		Short: "Bring damaged content back from a copy",
		Long: `Check the database, and bring back the content that is damaged from another database or
from the files of a directory, wherever they are there and whatever they are called:
what counts is the digest. What cannot be found there is listed, and the exit code is 1
then. Damage to the names and tables is for salvage.`,
		Example: `  stardust heal photos.stardust --from backup.stardust
  stardust heal photos.stardust --from ~/Pictures`,
		Args:    arguments(1, 1),
		GroupID: groupCare,
		RunE: func(cmd *cobra.Command, args []string) error {
			if from == "" {
				return &usageError{errors.New("--from BACKUP|DIR says where the copies are")}
			}
			return runHeal(cmd.Context(), e, args[0], from)
		},
		ValidArgsFunction: e.complete(completeFile),
	}
	cmd.Flags().StringVar(&from, "from", "", "a database, or a directory of files, that has what is damaged")
	return cmd
}

func runHeal(ctx context.Context, e *env, file, from string) error {
	return e.write(ctx, file, false, func(s *session) error {
		report, err := s.checkQuietly(ctx, e)
		if err != nil {
			return err
		}
		lost, err := s.heal(ctx, e, from, report.DamagedPayloads)
		if err != nil {
			return err
		}
		for _, p := range lost {
			e.println("not found: " + p.Digest.String() + " (" + humanSize(p.Size) + ")")
		}
		e.printf("Healed %s of %s.\n", plural(int64(len(report.DamagedPayloads)-len(lost)), "payload", "payloads"),
			plural(int64(len(report.DamagedPayloads)), "damaged one", "damaged ones"))
		if len(lost) > 0 {
			return errors.New("some of what is damaged was not found in " + from)
		}
		report, err = s.checkQuietly(ctx, e)
		if err == nil && report.Damaged > 0 {
			err = errors.New(plural(report.Damaged, "thing is still damaged", "things are still damaged") + "; see check, and save the rest with salvage")
		}
		return err
	})
}

// checkQuietly checks the database; what is damaged is in the report.
func (s *session) checkQuietly(ctx context.Context, e *env) (*stardust.CheckReport, error) {
	b := e.newBar("check", 0)
	report, err := s.db.Check(ctx, &stardust.CheckOptions{Progress: b.check})
	b.done(report.Bytes)
	return report, stopped(ctx, err, "the check did not finish")
}

// heal restores payloads, and returns those that it did not find.
func (s *session) heal(ctx context.Context, e *env, from string, damaged []stardust.DamagedPayload) ([]stardust.DamagedPayload, error) {
	info, err := os.Stat(from)
	if err != nil || len(damaged) == 0 {
		return damaged, err
	}
	if info.IsDir() {
		return s.healFromFiles(ctx, from, damaged)
	}
	db, err := stardust.Open(from, e.options(true))
	if err != nil {
		return nil, openFailure(from, err)
	}
	defer db.Close()
	var lost []stardust.DamagedPayload
	for _, p := range damaged {
		in, err := db.Tree().WithContext(ctx).Open(p.Digest)
		if err == nil {
			err = errors.Join(s.store(in), in.Close())
		}
		switch {
		case errors.Is(err, stardust.StatusNotFound), errors.Is(err, stardust.StatusEvaluationFailed):
			lost = append(lost, p)
		case err != nil:
			return nil, err
		}
	}
	return lost, nil
}

// store stores a payload once more, which heals it.
func (s *session) store(from io.Reader) error {
	upload, err := s.tree.Upload()
	if err != nil {
		return err
	}
	_, err = upload.ReadFrom(from)
	if err == nil {
		_, err = upload.Finish()
	}
	return errors.Join(err, upload.Close())
}

// healFromFiles looks at all files below a directory that have the size of what is
// damaged.
func (s *session) healFromFiles(ctx context.Context, dir string, damaged []stardust.DamagedPayload) ([]stardust.DamagedPayload, error) {
	sizes, wanted := make(map[int64]bool), make(map[stardust.Digest]bool)
	for _, p := range damaged {
		sizes[p.Size], wanted[p.Digest] = true, true
	}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		info, err := entry.Info()
		if err != nil || !sizes[info.Size()] {
			return err
		}
		digest, err := digestOf(path)
		if err != nil || !wanted[digest] {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		delete(wanted, digest)
		return errors.Join(s.store(f), f.Close())
	})
	var lost []stardust.DamagedPayload
	for _, p := range damaged {
		if wanted[p.Digest] {
			lost = append(lost, p)
		}
	}
	return lost, err
}

func digestOf(path string) (d stardust.Digest, err error) {
	f, err := os.Open(path)
	if err != nil {
		return d, err
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return stardust.Digest(sum.Sum(nil)), err
}
