//go:build cgo

package main

// #include "cgo.h"
import "C"

import (
	"errors"
	"io"

	"github.com/stardustdb/stardust"
)

// stream is an upload or a reader.
type stream struct {
	entry
	*stardust.PluginStream
}

func (*stream) kind() kind { return kindStream }

func (s *stream) discard() { _ = s.Close() }

func openStream(handle C.stardust_stream) (*stream, error) {
	return get[*stream](table, uint64(handle))
}

//export stardust_db_plugin_stream_open
func stardust_db_plugin_stream_open(handle C.stardust_db, plugin, operation *C.stardust_const_char, request C.stardust_document, into *C.stardust_stream) C.stardust_result {
	if into == nil {
		return fail(isNull("stream"))
	}
	d, err := openDatabase(handle)
	if err != nil {
		return fail(err)
	}
	name, op, err := pluginNames(plugin, operation)
	if err != nil {
		return fail(err)
	}
	r, err := borrow(request, true)
	if err != nil {
		return fail(err)
	}
	s, err := d.db.Stream(name, op, r)
	if err != nil {
		return fail(err)
	}
	return hand(into, &stream{PluginStream: s})
}

//export libstardust_stream_write
func libstardust_stream_write(handle C.stardust_stream, data C.uintptr_t, length C.size_t) C.stardust_result {
	s, err := openStream(handle)
	if err != nil {
		return fail(err)
	}
	source, err := view(data, length)
	if err != nil {
		return fail(err)
	}
	_, err = s.Write(source)
	return fail(err)
}

//export stardust_stream_finish
func stardust_stream_finish(handle C.stardust_stream) C.stardust_result {
	s, err := openStream(handle)
	if err != nil {
		return fail(err)
	}
	return give(s.Finish())
}

//export libstardust_stream_read
func libstardust_stream_read(handle C.stardust_stream, buffer C.uintptr_t, length C.size_t, count *C.size_t) C.stardust_result {
	return read(handle, buffer, length, count, func(s *stream, p []byte) (int, error) {
		return io.ReadFull(s, p)
	})
}

//export libstardust_stream_read_at
func libstardust_stream_read_at(handle C.stardust_stream, buffer C.uintptr_t, length C.size_t, offset C.int64_t, count *C.size_t) C.stardust_result {
	return read(handle, buffer, length, count, func(s *stream, p []byte) (int, error) {
		return s.ReadAt(p, int64(offset))
	})
}

func read(handle C.stardust_stream, buffer C.uintptr_t, length C.size_t, count *C.size_t, fn func(*stream, []byte) (int, error)) C.stardust_result {
	if count == nil {
		return fail(isNull("count"))
	}
	*count = 0
	s, err := openStream(handle)
	if err != nil {
		return fail(err)
	}
	into, err := view(buffer, length)
	if err != nil {
		return fail(err)
	}
	n, err := fn(s, into)
	*count = C.size_t(n)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return 0 // which count says
	}
	return fail(err)
}

//export stardust_stream_seek
func stardust_stream_seek(handle C.stardust_stream, offset C.int64_t, whence C.stardust_whence, position *C.int64_t) C.stardust_result {
	s, err := openStream(handle)
	if err != nil {
		return fail(err)
	}
	at, err := s.Seek(int64(offset), int(whence))
	if err != nil {
		return fail(err)
	}
	if position != nil {
		*position = C.int64_t(at)
	}
	return 0
}

//export stardust_stream_size
func stardust_stream_size(handle C.stardust_stream, size *C.int64_t) C.stardust_result {
	if size == nil {
		return fail(isNull("size"))
	}
	s, err := openStream(handle)
	if err != nil {
		return fail(err)
	}
	*size = C.int64_t(s.Size())
	return 0
}

//export stardust_stream_close
func stardust_stream_close(handle C.stardust_stream) C.stardust_status {
	s, err := end[*stream](table, uint64(handle))
	if err != nil {
		return statusOf(err)
	}
	return statusOf(s.Close())
}
