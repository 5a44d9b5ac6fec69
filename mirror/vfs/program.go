package vfs

import (
	"iter"
	"syscall"
)

// Program returns the file system as one running program sees it: after
// [Simulated.Kill] or a crash, everything that it does fails with syscall.EIO.
// The Simulated itself stands for a program that never dies.
func (s *Simulated) Program() FS {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &program{s, s.life}
}

type program struct {
	s    *Simulated
	life *life
}

// alive returns the error of a program that was killed.
func (p *program) alive(op, name string) error {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	if p.life.dead {
		return fail(op, name, syscall.EIO)
	}
	return nil
}

func (p *program) MkdirAll(dir string) error {
	if err := p.alive("mkdir", dir); err != nil {
		return err
	}
	return p.s.MkdirAll(dir)
}

func (p *program) Open(name string) (File, error) {
	if err := p.alive("open", name); err != nil {
		return nil, err
	}
	return p.s.Open(name)
}

func (p *program) Create(name string) (Writer, error) {
	if err := p.alive("create", name); err != nil {
		return nil, err
	}
	return p.s.Create(name)
}

func (p *program) Rename(from, to string) error {
	if err := p.alive("rename", to); err != nil {
		return err
	}
	return p.s.Rename(from, to)
}

func (p *program) Remove(name string) error {
	if err := p.alive("remove", name); err != nil {
		return err
	}
	return p.s.Remove(name)
}

func (p *program) List(dir string) iter.Seq2[Entry, error] {
	if err := p.alive("list", dir); err != nil {
		return func(yield func(Entry, error) bool) { yield(Entry{}, err) }
	}
	return p.s.List(dir)
}

func (p *program) Lock(name string) (Lock, error) {
	if err := p.alive("lock", name); err != nil {
		return nil, err
	}
	return p.s.Lock(name)
}
