package staging

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Upload describes an upload. It is a copy: nothing that a caller does to it has an
// effect.
type Upload struct {
	ID string `json:"id"` // 32 hexadecimal digits, which nobody can guess
	// Owner and Root say who began it and which directory bounds them: an upload is
	// there for them alone.
	Owner string `json:"owner,omitempty"`
	Root  string `json:"root,omitempty"`
	// Path is where it goes in the tree.
	Path string `json:"path"`
	Size int64  `json:"size"` // of the whole, in bytes
	// Offset is how many bytes are safe on disk.
	Offset int64 `json:"offset"`
	// Metadata is what the client says of it, and gets back.
	Metadata map[string]string `json:"metadata,omitempty"`
	// New, Replaces and Promised are its conditions: that the file is not there, has
	// this digest, and becomes what has this SHA-256, in hexadecimal digits.
	New      bool   `json:"new,omitempty"`
	Replaces string `json:"replaces,omitempty"`
	Promised string `json:"promised,omitempty"`
	// Touched is when bytes came last.
	Touched time.Time `json:"touched"`
	// Done says that the file is stored: the bytes are gone from here.
	Done bool `json:"done,omitempty"`
	// Active says that bytes are arriving now.
	Active bool `json:"-"`
}

// idSize is the length of an id in bytes, before it is text.
const idSize = 16

// maxDescription bounds what is read of an ID.upload, in bytes.
const maxDescription = 256 << 10

func validID(id string) bool {
	b, err := hex.DecodeString(id)
	return err == nil && len(b) == idSize && strings.ToLower(id) == id
}

// parse reads the description of the upload of an id.
func parse(text []byte, id string) (*Upload, error) {
	u := new(Upload)
	if err := json.Unmarshal(text, u); err != nil {
		return nil, err
	}
	switch {
	case u.ID != id || !validID(id):
		return nil, fmt.Errorf("it is of the upload %q", u.ID)
	case u.Size < 0 || u.Offset < 0 || u.Offset > u.Size:
		return nil, fmt.Errorf("%d of %d bytes cannot be", u.Offset, u.Size)
	case u.Path == "":
		return nil, errors.New("it has no path")
	}
	return u, nil
}
