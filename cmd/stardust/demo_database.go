package main

import (
	"context"
	"io"
	"strconv"

	"github.com/stardustdb/stardust"
)

// demoDatabase is the file that the first act makes.
const demoDatabase = "demo.stardust"

// databaseAct shows the database: import, tree, history, deduplication, the past
// and a check.
func databaseAct() act {
	return act{"Act 1: a database in one file", playDatabase}
}

func playDatabase(ctx context.Context, s *stage) error {
	work := s.path("work")
	p, err := newProps(ctx, work, s.source)
	if err != nil {
		return err
	}
	db := s.path(demoDatabase)

	s.say("%s of %s lie in work/, with a disk image of %s.", files(int64(len(p.files))), p.origin, humanSize(imageSize))
	s.say("Import stores them; the database is one file:\n")
	if err := s.command(ctx, "import", db, work); err != nil {
		return err
	}
	first, err := s.info(db)
	if err != nil {
		return err
	}
	if err := s.command(ctx, "tree", db, p.smallDirectory()); err != nil {
		return err
	}

	s.say("\nWork goes on: three files are edited, one is added, the disk image is copied, and")
	s.say("4 KiB go into the middle of it. Import again: only what is new is stored.\n")
	if err := p.edit(); err != nil {
		return err
	}
	if err := s.command(ctx, "import", db, work); err != nil {
		return err
	}
	second, err := s.info(db)
	if err != nil {
		return err
	}
	s.say("The files have %s; %s were added to the database.",
		humanSize(p.bytes()), humanSize(second.ChunkBytes-first.ChunkBytes))
	for _, args := range [][]string{
		{"mv", db, p.renamed, p.renamed + ".moved"},
		{"rm", db, p.removed},
		{"du", db, "--summary"},
	} {
		if err := s.command(ctx, args...); err != nil {
			return err
		}
	}
	return playPast(ctx, s, db, p, first.LastRevision)
}

// playPast shows the history and reads and restores the first version.
func playPast(ctx context.Context, s *stage, db string, p *props, first int64) error {
	then := strconv.FormatInt(first, 10)
	s.say("\nEvery change is a commit, and every version stays: revision %s was the first import.\n", then)
	for _, args := range [][]string{
		{"log", db, "--last", "3"},
		{"diff", db, then, "latest"},
		{"cat", db, p.edited[0], "--length", strconv.Itoa(len(editLine))},
		{"cat", db, p.edited[0], "--length", strconv.Itoa(len(editLine)), "--at", then},
	} {
		if err := s.command(ctx, args...); err != nil {
			return err
		}
		if args[0] == "cat" {
			s.say("")
		}
	}
	s.say("\nWhat was removed comes back, and a check reads every byte:\n")
	if err := s.command(ctx, "restore", db, p.removed, "--at", then); err != nil {
		return err
	}
	return s.command(ctx, "check", db)
}

// info describes a database of the stage.
func (s *stage) info(db string) (info stardust.Info, err error) {
	e := *s.env
	_ = e.out.Flush()
	e.err = io.Discard
	err = e.read(context.Background(), db, nil, func(s *session) (err error) {
		info, err = s.db.Info()
		return err
	})
	return info, err
}
