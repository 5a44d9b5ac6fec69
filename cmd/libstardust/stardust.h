/*
 * stardust.h - the Stardust object database for C and whatever calls C.
 *
 * A database is one file: immutable payloads under their SHA-256, and a tree of
 * files and directories that names them. docs/c.md is a guide with a complete
 * program; the objects specification says what each operation takes, returns
 * and refuses.
 *
 * Handles. Databases, documents, streams and so on are numbers, and 0 is none.
 * Each is valid from the call that gives it to the one that ends it, which its
 * type names below. A number is never given twice. A handle that ended makes a
 * call return STARDUST_CLOSED; 0, a handle of another kind, or a number that the
 * library never gave, STARDUST_INVALID_ARGUMENT. Neither does any harm. There are
 * at most 1<<28 at a time: after that calls return STARDUST_OUT_OF_MEMORY.
 *
 * Results. What can fail returns a stardust_result. 0 is success with nothing
 * more to say. Any other is a success with a document, a failure, or both (a
 * report of how far a failed call came): ask stardust_result_error, take the
 * document with stardust_result_take_document, and end the result with
 * stardust_result_release, which 0 doesn't need but bears.
 *
 * Memory. What a call takes is borrowed until it returns: the library keeps no
 * pointer of the caller's. Text that the library gives stays the library's, and
 * lasts as long as the handle that it was asked of. There is nothing to free().
 *
 * Strings end with a NUL byte. Paths are those of the operating system; all
 * other text is UTF-8. A NULL where a pointer is required is
 * STARDUST_INVALID_ARGUMENT.
 *
 * Outputs. A call that fails leaves what its out pointers point to as it was,
 * unless its comment says otherwise.
 *
 * Threads. Every function may be called from any thread, at any time, also with
 * handles that other threads use or end at that moment: a call then does its
 * work or returns STARDUST_CLOSED. What callers must see to is the life of their
 * own buffers, and that text isn't read after another thread ended its handle.
 * The library runs threads of its own: do not fork() without exec() after the
 * first call, and do not unload the library.
 */
#ifndef STARDUST_H
#define STARDUST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The version of this interface. It grows when functions are added; a library
 * with another major part (the version divided by 1000) is not compatible.
 */
#define STARDUST_ABI_VERSION 1000

/* Why a call failed: the statuses of the specification. */
typedef int32_t stardust_status;
enum {
	STARDUST_OK = 0,
	STARDUST_INVALID_ARGUMENT = 1,  /* the request is malformed or makes no sense */
	STARDUST_NOT_FOUND = 2,         /* what the request names does not exist */
	STARDUST_CONFLICT = 3,          /* another writer was first, or writes are held */
	STARDUST_EVALUATION_FAILED = 4, /* stored bytes are damaged */
	STARDUST_UNAVAILABLE = 5,       /* the database does not offer this */
	STARDUST_CLOSED = 6,            /* the database, stream or document is closed */
	STARDUST_OUT_OF_MEMORY = 7,     /* the memory budget has no room */
	STARDUST_IO = 8,                /* the operating system failed a read or a write */
	STARDUST_CANCELED = 9           /* the call was canceled before it was done */
};

/* How a document is written as text. */
typedef int32_t stardust_format;
enum {
	STARDUST_DUST = 0,         /* relaxed JSON: {name hello.txt under 1} */
	STARDUST_JSON = 1,         /* RFC 8259, on one line */
	STARDUST_JSON_INDENTED = 2 /* JSON over several lines; for output only */
};

/* From where stardust_stream_seek counts. */
typedef int32_t stardust_whence;
enum {
	STARDUST_SEEK_START = 0,
	STARDUST_SEEK_CURRENT = 1,
	STARDUST_SEEK_END = 2
};

typedef uint64_t stardust_db;       /* an open database; stardust_db_close */
typedef uint64_t stardust_document; /* an immutable value; stardust_document_release */
typedef uint64_t stardust_stream;   /* an upload or a reader; stardust_stream_close */
typedef uint64_t stardust_snapshot; /* the tree at a revision; stardust_snapshot_release */
typedef uint64_t stardust_hold;     /* writes held; stardust_hold_release */
typedef uint64_t stardust_cancel;   /* stops calls; stardust_cancel_release */
typedef uint64_t stardust_result;   /* what a call came to; stardust_result_release */

/*
 * What went wrong. The strings are never NULL; code and operation may be empty.
 * They last as long as the result, or the callback, that they came with.
 */
typedef struct stardust_error {
	stardust_status status;
	const char *code;      /* tells errors of one status apart, such as "name_taken" */
	const char *operation; /* such as "objects.create" */
	const char *message;   /* all of it in words: what happened to which thing */
} stardust_error;

/* How far a call has come. What does not apply is 0. */
typedef struct stardust_progress {
	int64_t directories;  /* import, export: made, or there already */
	int64_t files;        /* import, export: done */
	int64_t chunks;       /* check, backup: read and verified */
	int64_t total_chunks; /* check, backup */
	int64_t bytes;        /* read or written so far */
	int64_t total_bytes;  /* check, backup */
} stardust_progress;

/*
 * Callbacks run on the thread that made the call, while it waits, one at a time.
 * They may call the library, but must not close the database that the call works
 * on (STARDUST_INVALID_ARGUMENT). To return anything but 0 stops the call, which
 * then returns STARDUST_CANCELED. They must return: no longjmp, no C++ exception.
 */
typedef int (*stardust_progress_fn)(void *context, const stardust_progress *progress);
/*
 * Called for everything that a check finds, or an import or export leaves out.
 * path is the file's, with names divided by "/" and any bytes in it, or empty.
 * skipped is 1 for kinds that are never taken, such as sockets, 0 for failures.
 */
typedef int (*stardust_problem_fn)(void *context, const char *path, int skipped, const stardust_error *error);

/* How a caller follows and stops a long call. Any member may be 0 or NULL. */
typedef struct stardust_watch {
	stardust_progress_fn progress;
	stardust_problem_fn problem;
	void *context;          /* handed to the callbacks as it is; any value will do */
	stardust_cancel cancel; /* stops the call when canceled */
} stardust_watch;

/* ---- The library ---------------------------------------------------------- */

/* Returns STARDUST_ABI_VERSION of the library that runs. */
uint32_t stardust_abi_version(void);

/* Returns the status as the specification spells it, such as "not_found", and
 * "unknown" for other numbers. The text is there for good. */
const char *stardust_status_name(stardust_status status);

/* Returns how many handles are live; a program that ends with 0 has leaked none. */
uint64_t stardust_live_handles(void);

/* ---- Results -------------------------------------------------------------- */

/*
 * Returns the status of a result and, when error is not NULL, fills it in. Of a
 * success it is STARDUST_OK with empty strings. A handle that is no live result
 * gives STARDUST_CLOSED or STARDUST_INVALID_ARGUMENT, and says so in error.
 */
stardust_status stardust_result_error(stardust_result result, stardust_error *error);

/*
 * Hands the result's document to the caller, who releases it. Returns 0 when
 * there is none: the call returned none or failed without a report, it was taken
 * already, or the handle is no live result.
 */
stardust_document stardust_result_take_document(stardust_result result);

/*
 * Ends a result, with its document unless that was taken, and the strings of its
 * error. Returns STARDUST_OK also for 0, else STARDUST_CLOSED or
 * STARDUST_INVALID_ARGUMENT for what is no live result.
 */
stardust_status stardust_result_release(stardust_result result);

/* ---- Documents ------------------------------------------------------------ */

/*
 * Makes a document of length bytes of text in STARDUST_DUST or STARDUST_JSON.
 * data may be NULL when length is 0, which in DUST is an empty object.
 *
 * STARDUST_INVALID_ARGUMENT: the text is not valid; the message has line and
 * column.
 */
stardust_result stardust_document_parse(const void *data, size_t length, stardust_format format, stardust_document *document);

/*
 * Gives the document as text, with a NUL byte behind it that length does not
 * count. length may be NULL. The text lasts until the document is released; asked
 * for again in the same format it is the same.
 */
stardust_result stardust_document_text(stardust_document document, stardust_format format, const char **text, size_t *length);

/* Ends a document and its texts. Returns STARDUST_OK, or STARDUST_CLOSED or
 * STARDUST_INVALID_ARGUMENT for what is no live document. */
stardust_status stardust_document_release(stardust_document document);

/* ---- Databases ------------------------------------------------------------ */

/*
 * Opens the database in a file. options is 0 or a document (borrowed) with
 *
 *   plugins       {objects {}} enables the objects plugin; none is by default
 *   memoryBudget  bytes for buffers and caches
 *   readOnly      true opens for reading; another process may write meanwhile
 *   mustExist     true refuses to make the file when it is missing
 *   lockTimeout   how many milliseconds to wait for another writer
 *
 * STARDUST_CONFLICT in_use: another process writes the file. NOT_FOUND: it must
 * exist. INVALID_ARGUMENT: the options, or not_a_database, newer_format.
 * EVALUATION_FAILED: it is damaged. IO: what the operating system refused.
 */
stardust_result stardust_db_open(const char *path, stardust_document options, stardust_db *db);

/*
 * Closes a database: waits for short calls, ends long ones at their next step
 * with STARDUST_CLOSED, commits what is queued. The handle ends whatever is
 * returned. Streams, snapshots and holds of it return STARDUST_CLOSED from then
 * on, but are to be ended all the same.
 */
stardust_result stardust_db_close(stardust_db db);

/*
 * Runs an operation of a plugin: plugin "objects" and an operation of the
 * specification such as "get", "create" or "move". request is a document
 * (borrowed) with its parameters in lowerCamelCase: {entity 1}. The result has
 * the document that the operation returns (null for "remove").
 *
 * Besides what the operation returns, STARDUST_INVALID_ARGUMENT for unknown
 * plugins, operations and members.
 */
stardust_result stardust_db_plugin_call(stardust_db db, const char *plugin, const char *operation, stardust_document request);

/* As stardust_db_plugin_call for operations of the objects plugin, but stops
 * with STARDUST_CANCELED when cancel is canceled. A write that was stopped may
 * have happened only if the message says so. */
stardust_result stardust_db_plugin_call_cancelable(stardust_db db, const char *plugin, const char *operation, stardust_document request, stardust_cancel cancel);

/*
 * Opens a stream of a plugin: "upload", with request 0 or {}, writes a payload;
 * "open", with request {digest "..."}, reads one. The caller closes the stream.
 */
stardust_result stardust_db_plugin_stream_open(stardust_db db, const char *plugin, const char *operation, stardust_document request, stardust_stream *stream);

/* Returns a document of what the database is and holds: path, format, identity,
 * fileSize, lastRevision, files, directories, payloads, payloadBytes, chunks,
 * chunkBytes, storedBytes, compression. */
stardust_result stardust_db_info(stardust_db db);

/*
 * Makes every write return STARDUST_CONFLICT writes_held until the hold is
 * released, so that the file can be copied by other means. Returns when earlier
 * writes are durable. Holds add up. cancel may be 0.
 */
stardust_result stardust_db_hold_writes(stardust_db db, stardust_cancel cancel, stardust_hold *hold);

/* Ends a hold. Returns STARDUST_OK, or STARDUST_CLOSED or
 * STARDUST_INVALID_ARGUMENT for what is no live hold. */
stardust_status stardust_hold_release(stardust_hold hold);

/*
 * Copies the database, as it is when the call begins, to a new file while others
 * read and write. watch may be NULL.
 *
 * STARDUST_CONFLICT: the path exists. EVALUATION_FAILED: a chunk is damaged. No
 * new file is left behind by a failure.
 */
stardust_result stardust_db_backup(stardust_db db, const char *path, const stardust_watch *watch);

/*
 * Verifies the whole file and returns a report, also with a failure: chunks,
 * totalChunks, bytes, totalBytes, payloads, nodes, versions, transactions,
 * damaged (how many problems) and problems (the first 1000, as text). Damage is
 * in the report and is no failure. watch may be NULL.
 */
stardust_result stardust_db_check(stardust_db db, const stardust_watch *watch);

/*
 * Copies a directory of the operating system, with everything in it, into the
 * tree's directory into (0 is the root). options is 0 or a document with workers.
 * The report, also with a failure, has directories, files, bytes, created,
 * updated, unchanged, skipped, failed and problems (the first 1000, each with
 * path, error and skipped; bytes of a path that are no UTF-8 are escaped). What
 * can't be read is in the report and is no failure. Run again it takes up where
 * it stopped. watch may be NULL.
 */
stardust_result stardust_db_import(stardust_db db, const char *from, int64_t into, stardust_document options, const stardust_watch *watch);

/*
 * Copies a file or directory of the tree (0 is the root), with everything in it,
 * to a directory of the operating system. options is 0 or a document with
 * workers, and replace (true overwrites files with other content). The report is
 * as stardust_db_import's. watch may be NULL.
 */
stardust_result stardust_db_export(stardust_db db, int64_t entity, const char *to, stardust_document options, const stardust_watch *watch);

/* ---- The past ------------------------------------------------------------- */

/*
 * Gives a view of the tree as the transaction with this id left it; 0 is the
 * empty tree. STARDUST_NOT_FOUND: it is later than the last commit.
 */
stardust_result stardust_db_as_of(stardust_db db, int64_t revision, stardust_snapshot *snapshot);

/* Gives a view of the latest state, which later writes don't change. */
stardust_result stardust_db_snapshot(stardust_db db, stardust_snapshot *snapshot);

/* Gives the revision that a snapshot shows. */
stardust_result stardust_snapshot_revision(stardust_snapshot snapshot, int64_t *revision);

/* As stardust_db_plugin_call, at the snapshot's revision. Writes return
 * STARDUST_UNAVAILABLE. */
stardust_result stardust_snapshot_plugin_call(stardust_snapshot snapshot, const char *plugin, const char *operation, stardust_document request);

/* As stardust_db_export, at the snapshot's revision. */
stardust_result stardust_snapshot_export(stardust_snapshot snapshot, int64_t entity, const char *to, stardust_document options, const stardust_watch *watch);

/* Ends a snapshot. Returns STARDUST_OK, or STARDUST_CLOSED or
 * STARDUST_INVALID_ARGUMENT for what is no live snapshot. */
stardust_status stardust_snapshot_release(stardust_snapshot snapshot);

/* ---- Streams -------------------------------------------------------------- */

/*
 * Calls on one stream are serialized, except that stardust_stream_read_at calls
 * run side by side. What a stream can't do (reading an upload, writing to a
 * reader) is STARDUST_INVALID_ARGUMENT. Buffers may be NULL when length is 0.
 */

/* Appends length bytes to an upload. After a failure it can only be closed. */
stardust_result stardust_stream_write(stardust_stream stream, const void *data, size_t length);

/* Publishes an upload's payload; the document has digest, size and deduplicated.
 * The stream can only be closed afterwards. */
stardust_result stardust_stream_finish(stardust_stream stream);

/*
 * Reads up to length bytes from the position on. count says how many came, also
 * with a failure; it is less than length only at the end or with a failure, and
 * 0 at the end. Every chunk is verified first: STARDUST_EVALUATION_FAILED, and
 * never a wrong byte.
 */
stardust_result stardust_stream_read(stardust_stream stream, void *buffer, size_t length, size_t *count);

/* As stardust_stream_read, from an offset, without moving the position. */
stardust_result stardust_stream_read_at(stardust_stream stream, void *buffer, size_t length, int64_t offset, size_t *count);

/* Moves a reader's position and, unless position is NULL, says where it is. */
stardust_result stardust_stream_seek(stardust_stream stream, int64_t offset, stardust_whence whence, int64_t *position);

/* Gives a payload's size in bytes: of a reader the whole, of an upload what was
 * written so far. */
stardust_result stardust_stream_size(stardust_stream stream, int64_t *size);

/* Ends a stream; an upload that did not finish publishes nothing. Waits for the
 * stream's calls under way. Returns STARDUST_OK, or STARDUST_CLOSED or
 * STARDUST_INVALID_ARGUMENT for what is no live stream. */
stardust_status stardust_stream_close(stardust_stream stream);

/* ---- Canceling ------------------------------------------------------------ */

/* Returns a new cancel handle, which any number of calls may be given; 0 when
 * there are 1<<28 live handles. */
stardust_cancel stardust_cancel_new(void);

/* Stops the calls that were given the handle, and those that will be. Returns
 * STARDUST_OK, or STARDUST_CLOSED or STARDUST_INVALID_ARGUMENT for what is no
 * live cancel handle. */
stardust_status stardust_cancel_now(stardust_cancel cancel);

/* Ends a cancel handle; calls that have it go on. Returns as
 * stardust_cancel_now does. */
stardust_status stardust_cancel_release(stardust_cancel cancel);

#ifdef __cplusplus
}
#endif

#endif /* STARDUST_H */
