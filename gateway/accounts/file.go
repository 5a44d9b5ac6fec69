package accounts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// User may log in with a password.
type User struct {
	Name     string `json:"name"`
	Password string `json:"password"` // an argon2id hash
	Write    bool   `json:"write,omitempty"`
	Root     string `json:"root,omitempty"` // the directory that bounds it; empty is all
}

// Token lets a program in.
type Token struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"` // of the secret, in hexadecimal digits
	Write  bool   `json:"write,omitempty"`
	Root   string `json:"root,omitempty"`
	// Secret is kept in plain text only for S3 clients, since their signatures
	// can't be checked otherwise.
	Secret string `json:"secret,omitempty"`
}

// content is what the file holds.
type content struct {
	Users   []User  `json:"users"`
	Tokens  []Token `json:"tokens"`
	LinkKey []byte  `json:"linkKey,omitempty"`
}

// File is a file of accounts. It may be used concurrently, also by several processes:
// each sees a change of another within a second, and their own changes wait for each
// other and lose nothing.
type File struct {
	path string

	mu      sync.Mutex
	content *content
	info    fs.FileInfo
	looked  time.Time
}

// Open reads a file of accounts. With create, a missing one counts as empty, and
// the first change makes it.
func Open(path string, create bool) (*File, error) {
	// A link to the file stays one, and users of the link wait for the same lock.
	if linked, err := filepath.EvalSymlinks(path); err == nil {
		path = linked
	}
	f := &File{path: path, content: &content{}}
	err := f.read()
	if create && errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return f, err
}

// read reads the file as it is now. The caller holds mu, or has the only
// reference.
func (f *File) read() error {
	info, err := os.Stat(f.path)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s: others may read it, and it holds secrets: chmod 600 it", f.path)
	}
	text, err := os.ReadFile(f.path)
	if err != nil {
		return err
	}
	c := new(content)
	if err := json.Unmarshal(text, c); err != nil {
		return fmt.Errorf("%s: is not a file of accounts: %w", f.path, err)
	}
	f.content, f.info = c, info
	return nil
}

// current returns what the file has now. If it cannot be read, what it had
// before stays in force.
func (f *File) current(now time.Time) *content {
	f.mu.Lock()
	defer f.mu.Unlock()
	if since := now.Sub(f.looked); since >= 0 && since < time.Second {
		return f.content
	}
	f.looked = now
	info, err := os.Stat(f.path)
	if err == nil && (f.info == nil || !os.SameFile(info, f.info) || !info.ModTime().Equal(f.info.ModTime()) || info.Size() != f.info.Size()) {
		_ = f.read() // it may be half written by an editor: the next second tells
	}
	return f.content
}

// Users returns the users, by name.
func (f *File) Users() []User { return f.current(time.Time{}).Users }

// Tokens returns the tokens, by name.
func (f *File) Tokens() []Token { return f.current(time.Time{}).Tokens }

// SetUser adds a user, or replaces the one of that name.
func (f *File) SetUser(u User, password string) error {
	if err := checkName(u.Name); err != nil {
		return err
	}
	if len(password) < MinPassword {
		return fmt.Errorf("the password is shorter than %d bytes", MinPassword)
	}
	u.Password = hashPassword(password)
	u.Root = strings.Trim(u.Root, "/")
	return f.change(func(c *content) error {
		c.Users = slices.DeleteFunc(c.Users, func(old User) bool { return old.Name == u.Name })
		c.Users = append(c.Users, u)
		slices.SortFunc(c.Users, func(a, b User) int { return strings.Compare(a.Name, b.Name) })
		return nil
	})
}

// RemoveUser removes a user.
func (f *File) RemoveUser(name string) error {
	return f.change(func(c *content) error {
		n := len(c.Users)
		c.Users = slices.DeleteFunc(c.Users, func(u User) bool { return u.Name == name })
		if len(c.Users) == n {
			return fmt.Errorf("there is no user %q", name)
		}
		return nil
	})
}

// checkName refuses names that cannot be in a header.
func checkName(name string) error {
	if name == "" || len(name) > 128 || strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c == ':' || c == '/' || c == 0x7f }) {
		return fmt.Errorf("the name %q: give 1 to 128 bytes without white space, : and /", name)
	}
	return nil
}
