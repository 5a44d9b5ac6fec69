"""The Stardust C library from Python, by ctypes: no compiler, nothing to install.

    import stardust
    with stardust.Database("notes.stardust") as db:
        digest = db.put(b"Buy milk")["digest"]
        db.call("create", [{"name": "todo", "digest": digest}])
        print(db.call("children", {"parent": 0}))

Requests and results are Python values, as the json module has them. Calls that
fail raise stardust.Error. The library is found as the variable STARDUST_LIBRARY
says, or where the system looks for libstardust.so.1.
"""

import ctypes
import io
import json
import os
from ctypes import POINTER, byref, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

__all__ = ["Cancel", "Database", "Error", "Snapshot", "Stream", "abi_version", "live_handles"]

OK, INVALID_ARGUMENT, NOT_FOUND, CONFLICT, EVALUATION_FAILED = 0, 1, 2, 3, 4
UNAVAILABLE, CLOSED, OUT_OF_MEMORY, IO, CANCELED = 5, 6, 7, 8, 9
_DUST, _JSON, _JSON_INDENTED = 0, 1, 2


class _CError(ctypes.Structure):
    _fields_ = [("status", c_int32), ("code", c_char_p), ("operation", c_char_p), ("message", c_char_p)]


class Progress(ctypes.Structure):
    """How far a call has come; see stardust_progress in stardust.h."""

    _fields_ = [(name, c_int64) for name in ("directories", "files", "chunks", "total_chunks", "bytes", "total_bytes")]


_PROGRESS = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(Progress))
_PROBLEM = ctypes.CFUNCTYPE(c_int, c_void_p, c_char_p, c_int, POINTER(_CError))


class _CWatch(ctypes.Structure):
    _fields_ = [("progress", _PROGRESS), ("problem", _PROBLEM), ("context", c_void_p), ("cancel", c_uint64)]


def _load():
    library = ctypes.CDLL(os.environ.get("STARDUST_LIBRARY", "libstardust.so.1"))
    handle, status, watch = c_uint64, c_int32, POINTER(_CWatch)
    result, out = c_uint64, POINTER(c_uint64)
    for name, returns, takes in (
        ("abi_version", c_uint32, []),
        ("live_handles", c_uint64, []),
        ("status_name", c_char_p, [status]),
        ("result_error", status, [result, POINTER(_CError)]),
        ("result_take_document", handle, [result]),
        ("result_release", status, [result]),
        ("document_parse", result, [c_char_p, c_size_t, c_int32, out]),
        ("document_text", result, [handle, c_int32, POINTER(c_void_p), POINTER(c_size_t)]),
        ("document_release", status, [handle]),
        ("db_open", result, [c_char_p, handle, out]),
        ("db_close", result, [handle]),
        ("db_plugin_call", result, [handle, c_char_p, c_char_p, handle]),
        ("db_plugin_stream_open", result, [handle, c_char_p, c_char_p, handle, out]),
        ("db_info", result, [handle]),
        ("db_hold_writes", result, [handle, handle, out]),
        ("hold_release", status, [handle]),
        ("db_backup", result, [handle, c_char_p, watch]),
        ("db_check", result, [handle, watch]),
        ("db_import", result, [handle, c_char_p, c_int64, handle, watch]),
        ("db_export", result, [handle, c_int64, c_char_p, handle, watch]),
        ("db_as_of", result, [handle, c_int64, out]),
        ("db_snapshot", result, [handle, out]),
        ("snapshot_revision", result, [handle, POINTER(c_int64)]),
        ("snapshot_plugin_call", result, [handle, c_char_p, c_char_p, handle]),
        ("snapshot_export", result, [handle, c_int64, c_char_p, handle, watch]),
        ("snapshot_release", status, [handle]),
        ("stream_write", result, [handle, c_void_p, c_size_t]),
        ("stream_finish", result, [handle]),
        ("stream_read", result, [handle, c_void_p, c_size_t, POINTER(c_size_t)]),
        ("stream_read_at", result, [handle, c_void_p, c_size_t, c_int64, POINTER(c_size_t)]),
        ("stream_seek", result, [handle, c_int64, c_int32, POINTER(c_int64)]),
        ("stream_size", result, [handle, POINTER(c_int64)]),
        ("stream_close", status, [handle]),
        ("cancel_new", handle, []),
        ("cancel_now", status, [handle]),
        ("cancel_release", status, [handle]),
    ):
        function = getattr(library, "stardust_" + name)
        function.restype, function.argtypes = returns, takes
        setattr(library, name, function)
    if library.abi_version() // 1000 != 1:
        raise ImportError("libstardust has another interface: %d" % library.abi_version())
    return library


_c = _load()


def abi_version():
    return _c.abi_version()


def live_handles():
    return _c.live_handles()


class Error(Exception):
    """What went wrong: status (a number), name, code, operation and a message."""

    def __init__(self, error, report=None):
        super().__init__(error.message.decode("utf-8", "replace"))
        self.status = error.status
        self.name = _c.status_name(error.status).decode()
        self.code = error.code.decode()
        self.operation = error.operation.decode()
        self.report = report  # of a long call that was stopped


def _done(result):
    """Ends a result and returns its document as a Python value."""
    if result == 0:
        return None
    try:
        error = _CError()
        status = _c.result_error(result, byref(error))
        document = _c.result_take_document(result)
        value = json.loads(_text(document, _JSON)) if document else None
        if status != OK:
            raise Error(error, value)
        return value
    finally:
        _c.result_release(result)


def _text(document, format):
    """Returns a document's text and releases the document."""
    try:
        text, length = c_void_p(), c_size_t()
        _done(_c.document_text(document, format, byref(text), byref(length)))
        return ctypes.string_at(text.value, length.value).decode()
    finally:
        _c.document_release(document)


class _Request:
    """A request as a document for the time of a call; None is none, a str DUST."""

    def __init__(self, value):
        self.handle = c_uint64(0)
        if value is not None:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            data = text.encode()
            _done(_c.document_parse(data, len(data), _DUST, byref(self.handle)))

    def __enter__(self):
        return self.handle

    def __exit__(self, *_):
        if self.handle.value:
            _c.document_release(self.handle)


class _Owner:
    """Has a handle, which ends with close(), a with statement or the object."""

    _handle = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()

    def close(self):
        handle, self._handle = self._handle, 0
        if handle:
            self._end(handle)


class Cancel(_Owner):
    """Stops long calls from another thread."""

    def __init__(self):
        self._handle = _c.cancel_new()

    def now(self):
        _c.cancel_now(self._handle)

    def _end(self, handle):
        _c.cancel_release(handle)


class _Watch:
    """Callbacks as C sees them. What one raises stops the call and is raised."""

    def __init__(self, progress, problem, cancel):
        self.raised = None
        self.c = _CWatch()
        self.c.cancel = cancel._handle if cancel else 0
        if progress:
            self.c.progress = _PROGRESS(lambda _, now: self._guard(lambda: progress(now.contents)))
        if problem:
            self.c.problem = _PROBLEM(
                lambda _, path, skipped, error: self._guard(lambda: problem(os.fsdecode(path), bool(skipped), Error(error.contents)))
            )

    def _guard(self, callback):
        try:
            return 1 if callback() is False else 0
        except BaseException as raised:  # which C must not see
            self.raised = raised
            return 1

    def run(self, call, *arguments):
        result = call(*arguments, byref(self.c))
        if self.raised:
            _c.result_release(result)
            raise self.raised
        return _done(result)


class Stream(_Owner, io.RawIOBase):
    """An upload, with write and finish, or a reader: a raw file of the io module."""

    def __init__(self, handle, upload):
        io.RawIOBase.__init__(self)
        self._handle, self._upload = handle, upload

    def _end(self, handle):
        _c.stream_close(handle)

    def close(self):
        _Owner.close(self)
        io.RawIOBase.close(self)

    def __exit__(self, *_):
        self.close()

    def writable(self):
        return self._upload

    def readable(self):
        return not self._upload

    def seekable(self):
        return not self._upload

    def write(self, data):
        data = bytes(data)
        _done(_c.stream_write(self._handle, data, len(data)))
        return len(data)

    def finish(self):
        """Publishes what was written; returns digest, size and deduplicated."""
        return _done(_c.stream_finish(self._handle))

    def readinto(self, buffer):
        count = c_size_t()
        into = (ctypes.c_char * len(buffer)).from_buffer(buffer)
        _done(_c.stream_read(self._handle, into, len(buffer), byref(count)))
        return count.value

    def read_at(self, length, offset):
        buffer, count = ctypes.create_string_buffer(length), c_size_t()
        _done(_c.stream_read_at(self._handle, buffer, length, offset, byref(count)))
        return buffer.raw[: count.value]

    def seek(self, offset, whence=os.SEEK_SET):
        position = c_int64()
        _done(_c.stream_seek(self._handle, offset, whence, byref(position)))
        return position.value

    def size(self):
        size = c_int64()
        _done(_c.stream_size(self._handle, byref(size)))
        return size.value


class _View(_Owner):
    """What a database and a snapshot of it have in common."""

    def call(self, operation, request):
        """Runs an operation of the objects plugin."""
        with _Request(request) as document:
            return _done(self._call(self._handle, b"objects", operation.encode(), document))

    def export(self, entity, to, options=None, progress=None, problem=None, cancel=None):
        with _Request(options) as document:
            return _Watch(progress, problem, cancel).run(self._export, self._handle, entity, os.fsencode(to), document)


class Snapshot(_View):
    """The tree at a revision."""

    _call, _export = _c.snapshot_plugin_call, _c.snapshot_export

    def __init__(self, handle):
        self._handle = handle

    def _end(self, handle):
        _c.snapshot_release(handle)

    def revision(self):
        revision = c_int64()
        _done(_c.snapshot_revision(self._handle, byref(revision)))
        return revision.value


class _Hold(_Owner):
    def __init__(self, handle):
        self._handle = handle

    def _end(self, handle):
        _c.hold_release(handle)


class Database(_View):
    """An open database. Any thread may use it."""

    _call, _export = _c.db_plugin_call, _c.db_export

    def __init__(self, path, options="plugins {objects {}}"):
        handle = c_uint64()
        with _Request(options) as document:
            _done(_c.db_open(os.fsencode(path), document, byref(handle)))
        self._handle = handle.value

    def _end(self, handle):
        _done(_c.db_close(handle))

    def upload(self):
        return self._stream("upload", None)

    def open(self, request):
        return self._stream("open", request)

    def put(self, data):
        """Publishes bytes as one payload."""
        with self.upload() as upload:
            upload.write(data)
            return upload.finish()

    def _stream(self, operation, request):
        handle = c_uint64()
        with _Request(request) as document:
            _done(_c.db_plugin_stream_open(self._handle, b"objects", operation.encode(), document, byref(handle)))
        return Stream(handle.value, operation == "upload")

    def info(self):
        return _done(_c.db_info(self._handle))

    def hold_writes(self, cancel=None):
        """Refuses all writes until it is closed: use it in a with statement."""
        handle = c_uint64()
        _done(_c.db_hold_writes(self._handle, cancel._handle if cancel else 0, byref(handle)))
        return _Hold(handle.value)

    def snapshot(self):
        handle = c_uint64()
        _done(_c.db_snapshot(self._handle, byref(handle)))
        return Snapshot(handle.value)

    def as_of(self, revision):
        handle = c_uint64()
        _done(_c.db_as_of(self._handle, revision, byref(handle)))
        return Snapshot(handle.value)

    def backup(self, path, progress=None, cancel=None):
        return _Watch(progress, None, cancel).run(_c.db_backup, self._handle, os.fsencode(path))

    def check(self, progress=None, problem=None, cancel=None):
        return _Watch(progress, problem, cancel).run(_c.db_check, self._handle)

    def import_(self, path, into=0, options=None, progress=None, problem=None, cancel=None):
        with _Request(options) as document:
            return _Watch(progress, problem, cancel).run(_c.db_import, self._handle, os.fsencode(path), into, document)
