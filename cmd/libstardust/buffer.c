//go:build cgo

#include "_cgo_export.h"

/* The functions of stardust.h that take a buffer. An empty one may have any
 * address, even one that means something to Go's garbage collector, so Go gets
 * all of them as numbers. */

stardust_result stardust_document_parse(const void *data, size_t length, stardust_format format, stardust_document *document) {
	return libstardust_document_parse((uintptr_t)data, length, format, document);
}

stardust_result stardust_stream_write(stardust_stream stream, const void *data, size_t length) {
	return libstardust_stream_write(stream, (uintptr_t)data, length);
}

stardust_result stardust_stream_read(stardust_stream stream, void *buffer, size_t length, size_t *count) {
	return libstardust_stream_read(stream, (uintptr_t)buffer, length, count);
}

stardust_result stardust_stream_read_at(stardust_stream stream, void *buffer, size_t length, int64_t offset, size_t *count) {
	return libstardust_stream_read_at(stream, (uintptr_t)buffer, length, offset, count);
}
