package accounts

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"
)

// The costs of a hash, by OWASP's advice of 2025 for argon2id: 19 MiB of memory,
// two passes.
const (
	hashMemory = 19 << 10 // KiB
	hashPasses = 2
	hashLanes  = 1
	saltSize   = 16
	keySize    = 32
)

// Bounds on the costs that a file may ask for: it is ours, but a mistake in it
// must not stop the server.
const (
	maxMemory = 1 << 20 // KiB
	maxPasses = 16
	maxLanes  = 16
)

// MinPassword is the least length of a password, in bytes.
const MinPassword = 8

var errHash = errors.New("the password's hash is malformed")

// hashPassword returns a new hash of a password, in the usual text form.
func hashPassword(password string) string {
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // never fails
	key := argon2.IDKey([]byte(password), salt, hashPasses, hashMemory, hashLanes, keySize)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, hashMemory, hashPasses, hashLanes,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(key))
}

// checkPassword reports whether a hash is of a password.
func checkPassword(hash, password string) (bool, error) {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" {
		return false, errHash
	}
	var version int
	var memory, passes, lanes uint32
	if n, err := fmt.Sscanf(parts[2], "v=%d", &version); n != 1 || err != nil || version != argon2.Version {
		return false, errHash
	}
	if n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &memory, &passes, &lanes); n != 3 || err != nil ||
		memory > maxMemory || passes < 1 || passes > maxPasses || lanes < 1 || lanes > maxLanes {
		return false, errHash
	}
	salt, errSalt := base64.RawStdEncoding.DecodeString(parts[4])
	key, errKey := base64.RawStdEncoding.DecodeString(parts[5])
	if errSalt != nil || errKey != nil || len(key) < 16 || len(key) > 64 {
		return false, errHash
	}
	got := argon2.IDKey([]byte(password), salt, passes, memory, uint8(lanes), uint32(len(key)))
	return subtle.ConstantTimeCompare(got, key) == 1, nil
}
