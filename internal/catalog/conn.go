package catalog

import (
	"errors"
	"fmt"

	"github.com/ncruces/go-sqlite3"
)

// conn is a SQLite connection with its prepared statements, used by one
// goroutine at a time.
type conn struct {
	sq     *sqlite3.Conn
	stmts  map[string]*sqlite3.Stmt
	packer *packer // the catalog's
	// damage says which page was found damaged last, or is nil.
	damage func() error
}

// translate does what the function does, and names the page where SQLite only says
// that it could not be read.
func (c *conn) translate(err error) error {
	if errors.Is(err, sqlite3.IOERR_DATA) && c.damage != nil {
		if page := c.damage(); page != nil {
			return fmt.Errorf("%w: %w", ErrCorrupt, page)
		}
	}
	return translate(err)
}

// stmt returns the prepared statement of a query, reset and ready to bind. The
// query text is the key, so queries are constants.
func (c *conn) stmt(query string) (*sqlite3.Stmt, error) {
	if s, ok := c.stmts[query]; ok {
		return s, nil
	}
	s, _, err := c.sq.PrepareFlags(query, sqlite3.PREPARE_PERSISTENT)
	if err != nil {
		return nil, c.translate(fmt.Errorf("prepare %q: %w", query, err))
	}
	c.stmts[query] = s
	return s, nil
}

// exec runs a query that returns no rows. Its arguments are int64, []byte or
// nil.
func (c *conn) exec(query string, args ...any) error {
	s, err := c.stmt(query)
	if err != nil {
		return err
	}
	if err := bind(s, args); err != nil {
		return err
	}
	s.Step()
	return c.translate(s.Reset())
}

// query runs a query and calls row for every row until it returns false or an
// error. The row's blobs are valid only within the call.
func (c *conn) query(query string, row func(s *sqlite3.Stmt) (bool, error), args ...any) error {
	s, err := c.stmt(query)
	if err != nil {
		return err
	}
	if s.Busy() {
		return fmt.Errorf("statement used within itself: %s", query)
	}
	if err := bind(s, args); err != nil {
		return err
	}
	for s.Step() {
		more, err := row(s)
		if err != nil || !more {
			_ = s.Reset() // the rows were read; what remains is abandoned
			return err
		}
	}
	return c.translate(s.Reset())
}

// number runs a query whose answer is one integer, and returns it; zero for none and
// for NULL.
func (c *conn) number(query string, args ...any) (n int64, err error) {
	err = c.query(query, func(s *sqlite3.Stmt) (bool, error) {
		n = s.ColumnInt64(0)
		return false, nil
	}, args...)
	return n, err
}

func bind(s *sqlite3.Stmt, args []any) error {
	for i, arg := range args {
		var err error
		switch v := arg.(type) {
		case int64:
			err = s.BindInt64(i+1, v)
		case []byte:
			err = s.BindBlob(i+1, v)
		case nil:
			err = s.BindNull(i + 1)
		default:
			err = fmt.Errorf("cannot bind a %T", arg)
		}
		if err != nil {
			return translate(err)
		}
	}
	return nil
}

func (c *conn) close() error {
	for _, s := range c.stmts {
		_ = s.Close()
	}
	return translate(c.sq.Close())
}
