package container

import "os"

// Holder tells which process has a file open for writing. It is for people:
// the lock decides, this may be out of date.
type Holder struct {
	PID  int64
	Host string
}

func thisProcess() Holder {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return Holder{PID: int64(os.Getpid()), Host: host}
}
