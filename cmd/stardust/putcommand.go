package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// commandGrace is how long a command may take to end once it was asked to.
const commandGrace = 10 * time.Second

// runCommand stores what a command prints at a path, unless it fails.
func (p *putting) runCommand(ctx context.Context, e *env, file, to string, words []string) error {
	if _, err := exec.LookPath(words[0]); err != nil { // before a database is made for nothing
		return fmt.Errorf("%s: no such command", quote(words[0]))
	}
	err := e.write(ctx, file, true, func(s *session) error {
		if p.parents {
			if err := p.makeParents(s, to, false); err != nil {
				return err
			}
		}
		d, err := s.destination(to, false)
		if err != nil {
			return err
		}
		if d.name == "" {
			return errors.New("what a command prints has no name; give the path of a file, not of a directory")
		}
		if _, found, err := d.existing(s, d.name); err != nil {
			return err
		} else if found && p.keep {
			return about(absolute(d.at("")), errors.New("exists already, and --keep says to leave it"))
		}
		b := e.newBar("put", 0)
		err = p.storeOutput(ctx, e, s, b, d, words)
		b.done(b.current.Load())
		return err
	})
	return stopped(ctx, err, "nothing was stored")
}

// storeOutput runs a command and publishes its output once it has succeeded.
func (p *putting) storeOutput(ctx context.Context, e *env, s *session, b *bar, d destination, words []string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Stdin, cmd.Stderr = e.in, e.err
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = commandGrace
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	waited := false
	wait := func() error {
		waited = true
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("%s: %w; nothing was stored", quote(strings.Join(words, " ")), err)
		}
		return nil
	}
	published, err := upload(s, countingReader{out, b}, wait)
	if err != nil {
		if !waited {
			cancel()
			_ = cmd.Wait() // the first error says more
		}
		return err
	}
	return p.name(e, s, d, d.name, published, nil)
}
