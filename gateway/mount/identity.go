//go:build linux

package mount

import "sync/atomic"

// identity is what the kernel and the database know a file by. A file that a
// program makes is in the database only once it is committed, and keeps the number
// that it had before: programs would take another one for another file.
type identity struct {
	// number is the entity, or less than zero for a file that this mount made.
	number int64
	// entity is zero until the file is in the database.
	entity atomic.Int64
}

func newIdentity(entity int64) *identity {
	i := &identity{number: entity}
	i.entity.Store(entity)
	return i
}

// identityOf returns the identity of an entity.
func (v *view) identityOf(entity int64) *identity {
	if v.live {
		v.mu.Lock()
		defer v.mu.Unlock()
		if who := v.made[entity]; who != nil {
			return who
		}
	}
	return newIdentity(entity)
}

// numberOf returns the number that the kernel knows an entity by.
func (v *view) numberOf(entity int64) int64 {
	if !v.live {
		return entity
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if who := v.made[entity]; who != nil {
		return who.number
	}
	return entity
}

// forgotten says that the kernel knows nothing of a file any more.
func (v *view) forgotten(who *identity) {
	if who.number >= 0 {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if entity := who.entity.Load(); v.made[entity] == who {
		delete(v.made, entity)
	}
}
