//go:build !linux && !darwin

package container

// Without locks that belong to a descriptor, closing any descriptor of the file
// would drop them all, and another writer could ruin the file. So nothing opens.

func (l *locks) set(int64, bool) error { return ErrUnsupported }

func (l *locks) taken(int64) (bool, error) { return false, ErrUnsupported }
