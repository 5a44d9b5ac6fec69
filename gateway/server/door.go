package server

import (
	"net"
	"sync"
)

// door is a listener that bounds the connections of one address.
type door struct {
	net.Listener

	most int
	mu   sync.Mutex
	open map[string]int
}

func newDoor(listener net.Listener, most int) *door {
	return &door{Listener: listener, most: most, open: map[string]int{}}
}

// Accept implements net.Listener.
func (d *door) Accept() (net.Conn, error) {
	for {
		conn, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}
		tcp, ok := conn.RemoteAddr().(*net.TCPAddr)
		if !ok {
			return conn, nil // a Unix socket's clients have no address
		}
		from := tcp.IP.String()
		if d.enter(from) {
			return &counting{Conn: conn, leave: sync.OnceFunc(func() { d.leave(from) })}, nil
		}
		_ = conn.Close()
	}
}

func (d *door) enter(from string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open[from] >= d.most {
		return false
	}
	d.open[from]++
	return true
}

func (d *door) leave(from string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open[from]--; d.open[from] == 0 {
		delete(d.open, from)
	}
}

// counting is a connection that the door counts.
type counting struct {
	net.Conn

	leave func()
}

// Close implements net.Conn.
func (c *counting) Close() error {
	c.leave()
	return c.Conn.Close()
}
