package intercept

import (
	"errors"
	"io"
	"os"
	"sync"

	"github.com/stardustdb/stardust/objectstore"
)

// endAtClose returns a body that calls end once when it is closed, with the
// error that reading met, if any. It stays a FileBody.
func endAtClose(inner io.ReadCloser, end func(error)) io.ReadCloser {
	b := &ending{ReadCloser: inner, end: end}
	if file, ok := inner.(objectstore.FileBody); ok {
		return &endingFile{b, file}
	}
	return b
}

type ending struct {
	io.ReadCloser
	end  func(error)
	once sync.Once
	err  error
}

func (b *ending) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}

func (b *ending) Close() error {
	err := b.ReadCloser.Close()
	b.once.Do(func() { b.end(b.err) })
	return err
}

type endingFile struct {
	*ending
	file objectstore.FileBody
}

func (b *endingFile) File() *os.File { return b.file.File() }
