package accounts

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/stardustdb/stardust/gateway/grant"
)

const (
	rememberFor   = 5 * time.Minute
	maxRemembered = 1024
	// parallelHashes bounds the memory and processors that strangers who try
	// passwords can take.
	parallelHashes = 2
)

// Logins checks passwords. A right one is remembered for some minutes, under a
// key that only this process has, since a hash costs tens of milliseconds and
// some clients send the password with every request.
type Logins struct {
	file  *File
	key   [32]byte
	turns chan struct{}
	dummy string

	mu         sync.Mutex
	remembered map[[32]byte]time.Time
}

// NewLogins returns a checker of a file's passwords.
func NewLogins(file *File) *Logins {
	l := &Logins{file: file, turns: make(chan struct{}, parallelHashes), remembered: map[[32]byte]time.Time{}}
	_, _ = rand.Read(l.key[:]) // never fails
	l.dummy = hashPassword(rand.Text())
	return l
}

// Check returns what a user with a password may do, nil for a wrong user or
// password. An unknown user takes as long as a wrong password.
func (l *Logins) Check(ctx context.Context, name, password string, now time.Time) (*grant.Grant, error) {
	u, found := l.user(name, now)
	hash := l.dummy
	if found {
		hash = u.Password
	}
	mac := hmac.New(sha256.New, l.key[:])
	for _, part := range []string{hash, name, password} {
		_, _ = mac.Write(append([]byte(part), 0)) // never fails
	}
	id := [32]byte(mac.Sum(nil))
	if found && l.remembers(id, now) {
		return u.grant(), nil
	}
	select {
	case l.turns <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	right, err := checkPassword(hash, password)
	<-l.turns
	if err != nil || !right || !found {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.remembered) >= maxRemembered {
		clear(l.remembered)
	}
	l.remembered[id] = now.Add(rememberFor)
	return u.grant(), nil
}

func (l *Logins) remembers(id [32]byte, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return now.Before(l.remembered[id])
}

func (l *Logins) user(name string, now time.Time) (User, bool) {
	for _, u := range l.file.current(now).Users {
		if u.Name == name {
			return u, true
		}
	}
	return User{}, false
}

// Grant returns what a user may do now, nil when it is gone.
func (l *Logins) Grant(name string, now time.Time) *grant.Grant {
	if u, ok := l.user(name, now); ok {
		return u.grant()
	}
	return nil
}

func (u *User) grant() *grant.Grant { return &grant.Grant{Name: u.Name, Write: u.Write, Root: u.Root} }
