package transfer

import (
	"os/user"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/stardustdb/stardust/internal/attributes"
)

// maxOwnerName is how long the name of a user or group is that is kept, in bytes.
const maxOwnerName = 256

// owners knows names of users and groups, asking the system for each once. Its
// methods may be called concurrently.
type owners struct {
	mu    sync.Mutex
	names map[ownerKey]string
	ids   map[ownerName]int64 // -1: there is none of that name
}

type ownerKey struct {
	id    uint32
	group bool
}

type ownerName struct {
	name  string
	group bool
}

// owner returns who has the numbers, with the names that the system has for them.
func (o *owners) owner(uid, gid uint32) *attributes.Owner {
	return &attributes.Owner{UID: uid, GID: gid, User: o.name(ownerKey{uid, false}), Group: o.name(ownerKey{gid, true})}
}

func (o *owners) name(k ownerKey) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	name, known := o.names[k]
	if known {
		return name
	}
	id := strconv.FormatUint(uint64(k.id), 10)
	if k.group {
		if g, err := user.LookupGroupId(id); err == nil {
			name = g.Name
		}
	} else if u, err := user.LookupId(id); err == nil {
		name = u.Username
	}
	name = ownersName(name)
	if o.names == nil {
		o.names = make(map[ownerKey]string)
	}
	o.names[k] = name
	return name
}

// ownersName returns a name as it can be kept, or none.
func ownersName(name string) string {
	if len(name) > maxOwnerName || !utf8.ValidString(name) {
		return ""
	}
	for i := range len(name) {
		if name[i] == 0 {
			return ""
		}
	}
	return name
}

// numbers returns the numbers that an owner has on this system: by its names, and
// where there are none of them as they are kept.
func (o *owners) numbers(of *attributes.Owner) (uid, gid int) {
	return int(o.number(ownerName{of.User, false}, of.UID)), int(o.number(ownerName{of.Group, true}, of.GID))
}

func (o *owners) number(n ownerName, kept uint32) int64 {
	if n.name == "" {
		return int64(kept)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	id, known := o.ids[n]
	if !known {
		id = -1
		text := ""
		if n.group {
			if g, err := user.LookupGroup(n.name); err == nil {
				text = g.Gid
			}
		} else if u, err := user.Lookup(n.name); err == nil {
			text = u.Uid
		}
		if number, err := strconv.ParseUint(text, 10, 32); err == nil {
			id = int64(number)
		}
		if o.ids == nil {
			o.ids = make(map[ownerName]int64)
		}
		o.ids[n] = id
	}
	if id < 0 {
		return int64(kept)
	}
	return id
}
