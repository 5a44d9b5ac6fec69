// The Stardust C library from Node, by koffi.
//
//   const { Database } = require("./stardust");
//   const db = new Database("notes.stardust");
//   const { digest } = db.put(Buffer.from("Buy milk"));
//   db.call("create", [{ name: "todo", digest }]);
//   console.log(db.call("children", { parent: 0 }));
//   db.close();
//
// Requests and results are values as JSON has them; a string is DUST. Calls that
// fail throw StardustError. Calls wait, as those of fs that end in Sync do;
// callAsync runs on another thread. The library is found as the variable
// STARDUST_LIBRARY says, or where the system looks for libstardust.so.1.
"use strict";

const koffi = require("koffi");

const library = koffi.load(process.env.STARDUST_LIBRARY || "libstardust.so.1");

const CError = koffi.struct("stardust_error", { status: "int32_t", code: "const char *", operation: "const char *", message: "const char *" });
const CProgress = koffi.struct("stardust_progress", {
  directories: "int64_t", files: "int64_t", chunks: "int64_t", totalChunks: "int64_t", bytes: "int64_t", totalBytes: "int64_t",
});
const ProgressFn = koffi.proto("int stardust_progress_fn(void *context, const stardust_progress *progress)");
const ProblemFn = koffi.proto("int stardust_problem_fn(void *context, const char *path, int skipped, const stardust_error *error)");
koffi.struct("stardust_watch", { progress: koffi.pointer(ProgressFn), problem: koffi.pointer(ProblemFn), context: "void *", cancel: "uint64_t" });

const c = {};
for (const declaration of [
  "uint32_t stardust_abi_version()",
  "uint64_t stardust_live_handles()",
  "const char *stardust_status_name(int32_t status)",
  "int32_t stardust_result_error(uint64_t result, _Out_ stardust_error *error)",
  "uint64_t stardust_result_take_document(uint64_t result)",
  "int32_t stardust_result_release(uint64_t result)",
  "uint64_t stardust_document_parse(const void *data, size_t length, int32_t format, _Out_ uint64_t *document)",
  "uint64_t stardust_document_text(uint64_t document, int32_t format, _Out_ const char **text, void *length)",
  "int32_t stardust_document_release(uint64_t document)",
  "uint64_t stardust_db_open(const char *path, uint64_t options, _Out_ uint64_t *db)",
  "uint64_t stardust_db_close(uint64_t db)",
  "uint64_t stardust_db_plugin_call(uint64_t db, const char *plugin, const char *operation, uint64_t request)",
  "uint64_t stardust_db_plugin_stream_open(uint64_t db, const char *plugin, const char *operation, uint64_t request, _Out_ uint64_t *stream)",
  "uint64_t stardust_db_info(uint64_t db)",
  "uint64_t stardust_db_hold_writes(uint64_t db, uint64_t cancel, _Out_ uint64_t *hold)",
  "int32_t stardust_hold_release(uint64_t hold)",
  "uint64_t stardust_db_backup(uint64_t db, const char *path, const stardust_watch *watch)",
  "uint64_t stardust_db_check(uint64_t db, const stardust_watch *watch)",
  "uint64_t stardust_db_import(uint64_t db, const char *from, int64_t into, uint64_t options, const stardust_watch *watch)",
  "uint64_t stardust_db_export(uint64_t db, int64_t entity, const char *to, uint64_t options, const stardust_watch *watch)",
  "uint64_t stardust_db_as_of(uint64_t db, int64_t revision, _Out_ uint64_t *snapshot)",
  "uint64_t stardust_db_snapshot(uint64_t db, _Out_ uint64_t *snapshot)",
  "uint64_t stardust_snapshot_revision(uint64_t snapshot, _Out_ int64_t *revision)",
  "uint64_t stardust_snapshot_plugin_call(uint64_t snapshot, const char *plugin, const char *operation, uint64_t request)",
  "uint64_t stardust_snapshot_export(uint64_t snapshot, int64_t entity, const char *to, uint64_t options, const stardust_watch *watch)",
  "int32_t stardust_snapshot_release(uint64_t snapshot)",
  "uint64_t stardust_stream_write(uint64_t stream, const void *data, size_t length)",
  "uint64_t stardust_stream_finish(uint64_t stream)",
  "uint64_t stardust_stream_read(uint64_t stream, void *buffer, size_t length, _Out_ size_t *count)",
  "uint64_t stardust_stream_read_at(uint64_t stream, void *buffer, size_t length, int64_t offset, _Out_ size_t *count)",
  "uint64_t stardust_stream_seek(uint64_t stream, int64_t offset, int32_t whence, _Out_ int64_t *position)",
  "uint64_t stardust_stream_size(uint64_t stream, _Out_ int64_t *size)",
  "int32_t stardust_stream_close(uint64_t stream)",
  "uint64_t stardust_cancel_new()",
  "int32_t stardust_cancel_now(uint64_t cancel)",
  "int32_t stardust_cancel_release(uint64_t cancel)",
]) {
  const name = /stardust_(\w+)\(/.exec(declaration)[1];
  c[name] = library.func(declaration);
}
if (Math.floor(c.abi_version() / 1000) !== 1) {
  throw new Error(`libstardust has another interface: ${c.abi_version()}`);
}

const DUST = 0;
const JSON_TEXT = 1;

// What went wrong: status (its name), code, operation, and the report of a long
// call that was stopped.
class StardustError extends Error {
  constructor(error, report) {
    super(error.message);
    this.name = "StardustError";
    this.status = c.status_name(error.status);
    this.code = error.code;
    this.operation = error.operation;
    this.report = report;
  }
}

// Ends a result and returns its document as a value.
function done(result) {
  if (result === 0) return undefined;
  try {
    const error = {};
    const status = c.result_error(result, error);
    const document = c.result_take_document(result);
    const value = document === 0 ? undefined : JSON.parse(text(document));
    if (status !== 0) throw new StardustError(error, value);
    return value;
  } finally {
    c.result_release(result);
  }
}

function text(document) {
  try {
    const out = [null];
    done(c.document_text(document, JSON_TEXT, out, null));
    return out[0];
  } finally {
    c.document_release(document);
  }
}

// Runs use with a request as a document.
function withRequest(request, use) {
  if (request === undefined || request === null) return use(0);
  const data = Buffer.from(typeof request === "string" ? request : JSON.stringify(request));
  const out = [0];
  done(c.document_parse(data, data.length, DUST, out));
  try {
    return use(out[0]);
  } finally {
    c.document_release(out[0]);
  }
}

// Runs a long call with callbacks, which C sees for its time only. What a callback
// throws stops the call and is thrown; so does to return false stop it.
function watched({ progress, problem, cancel } = {}, call) {
  let thrown;
  const registered = [];
  const guard = (type, callback) => {
    const pointer = koffi.register((...values) => {
      try {
        return callback(...values) === false ? 1 : 0;
      } catch (error) {
        thrown = { error };
        return 1;
      }
    }, koffi.pointer(type));
    registered.push(pointer);
    return pointer;
  };
  try {
    const result = call({
      progress: progress ? guard(ProgressFn, (_, now) => progress(koffi.decode(now, CProgress))) : null,
      problem: problem ? guard(ProblemFn, (_, path, skipped, error) => problem(path, skipped !== 0, new StardustError(koffi.decode(error, CError)))) : null,
      context: null,
      cancel: cancel ? cancel.handle : 0,
    });
    if (thrown) {
      c.result_release(result);
      throw thrown.error;
    }
    return done(result);
  } finally {
    registered.forEach((pointer) => koffi.unregister(pointer));
  }
}

// Has a handle until close.
class Owner {
  #end;
  constructor(handle, end) {
    this.handle = handle;
    this.#end = end;
  }
  close() {
    const handle = this.handle;
    this.handle = 0;
    if (handle !== 0) this.#end(handle);
  }
}

class Cancel extends Owner {
  constructor() {
    super(c.cancel_new(), c.cancel_release);
  }
  now() {
    c.cancel_now(this.handle);
  }
}

class Stream extends Owner {
  constructor(handle) {
    super(handle, c.stream_close);
  }
  write(data) {
    done(c.stream_write(this.handle, data, data.length));
  }
  // Publishes what was written; returns digest, size and deduplicated.
  finish() {
    return done(c.stream_finish(this.handle));
  }
  // Returns up to length bytes; fewer only at the end.
  read(length) {
    const buffer = Buffer.alloc(length);
    const count = [0];
    done(c.stream_read(this.handle, buffer, length, count));
    return buffer.subarray(0, Number(count[0]));
  }
  readAt(length, offset) {
    const buffer = Buffer.alloc(length);
    const count = [0];
    done(c.stream_read_at(this.handle, buffer, length, offset, count));
    return buffer.subarray(0, Number(count[0]));
  }
  seek(offset, whence = 0) {
    const position = [0];
    done(c.stream_seek(this.handle, offset, whence, position));
    return Number(position[0]);
  }
  size() {
    const size = [0];
    done(c.stream_size(this.handle, size));
    return Number(size[0]);
  }
}

class Snapshot extends Owner {
  constructor(handle) {
    super(handle, c.snapshot_release);
  }
  call(operation, request) {
    return withRequest(request, (document) => done(c.snapshot_plugin_call(this.handle, "objects", operation, document)));
  }
  revision() {
    const revision = [0];
    done(c.snapshot_revision(this.handle, revision));
    return Number(revision[0]);
  }
  export(entity, to, options, watch) {
    return withRequest(options, (document) => watched(watch, (w) => c.snapshot_export(this.handle, entity, to, document, w)));
  }
}

class Database extends Owner {
  constructor(path, options = "plugins {objects {}}") {
    const out = [0];
    withRequest(options, (document) => done(c.db_open(path, document, out)));
    super(out[0], (handle) => done(c.db_close(handle)));
  }
  // Runs an operation of the objects plugin.
  call(operation, request) {
    return withRequest(request, (document) => done(c.db_plugin_call(this.handle, "objects", operation, document)));
  }
  // The same on another thread.
  callAsync(operation, request) {
    const data = Buffer.from(typeof request === "string" ? request : JSON.stringify(request));
    const out = [0];
    done(c.document_parse(data, data.length, DUST, out));
    return new Promise((resolve, reject) => {
      c.db_plugin_call.async(this.handle, "objects", operation, out[0], (failed, result) => {
        c.document_release(out[0]);
        try {
          if (failed) throw failed;
          resolve(done(result));
        } catch (error) {
          reject(error);
        }
      });
    });
  }
  upload() {
    return this.#stream("upload", undefined);
  }
  open(request) {
    return this.#stream("open", request);
  }
  // Publishes bytes as one payload.
  put(data) {
    const upload = this.upload();
    try {
      upload.write(data);
      return upload.finish();
    } finally {
      upload.close();
    }
  }
  #stream(operation, request) {
    const out = [0];
    withRequest(request, (document) => done(c.db_plugin_stream_open(this.handle, "objects", operation, document, out)));
    return new Stream(out[0]);
  }
  info() {
    return done(c.db_info(this.handle));
  }
  // Refuses all writes until the hold is closed.
  holdWrites() {
    const out = [0];
    done(c.db_hold_writes(this.handle, 0, out));
    return new Owner(out[0], c.hold_release);
  }
  snapshot() {
    const out = [0];
    done(c.db_snapshot(this.handle, out));
    return new Snapshot(out[0]);
  }
  asOf(revision) {
    const out = [0];
    done(c.db_as_of(this.handle, revision, out));
    return new Snapshot(out[0]);
  }
  backup(path, watch) {
    return watched(watch, (w) => c.db_backup(this.handle, path, w));
  }
  check(watch) {
    return watched(watch, (w) => c.db_check(this.handle, w));
  }
  import(from, into = 0, options, watch) {
    return withRequest(options, (document) => watched(watch, (w) => c.db_import(this.handle, from, into, document, w)));
  }
  export(entity, to, options, watch) {
    return withRequest(options, (document) => watched(watch, (w) => c.db_export(this.handle, entity, to, document, w)));
  }
}

module.exports = { Cancel, Database, Snapshot, StardustError, Stream, abiVersion: c.abi_version, liveHandles: c.live_handles };
