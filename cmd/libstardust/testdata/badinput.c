/* Every function with null pointers and with handles that are null, freed, of
 * another kind, and made up. Nothing may crash, and nothing may succeed. */
#include "common.h"

static stardust_db db;
static stardust_document document;
static stardust_stream reader, upload;
static stardust_snapshot snapshot;
static stardust_hold hold;
static stardust_cancel cancel;
static const char *dir;

/* Calls every function with h where its handle goes, and expects a status.
 * skip names the kind of which h is a live handle. */
static void every_call(uint64_t h, stardust_status want, char skip) {
	char buffer[8], file[4096];
	size_t count = 7;
	int64_t number = 7;
	const char *text = NULL;
	stardust_db new_db = 7;
	stardust_stream new_stream = 7;
	stardust_snapshot new_snapshot = 7;
	stardust_hold new_hold = 7;
	stardust_watch watch = {0};
	snprintf(file, sizeof file, "%s/never", dir);

	if (skip != 'd') {
		FAILS(want, stardust_db_close(h));
		FAILS(want, stardust_db_plugin_call(h, "objects", "get", document));
		FAILS(want, stardust_db_plugin_call_cancelable(h, "objects", "get", document, cancel));
		FAILS(want, stardust_db_plugin_stream_open(h, "objects", "upload", 0, &new_stream));
		FAILS(want, stardust_db_info(h));
		FAILS(want, stardust_db_hold_writes(h, 0, &new_hold));
		FAILS(want, stardust_db_backup(h, file, NULL));
		FAILS(want, stardust_db_check(h, NULL));
		FAILS(want, stardust_db_import(h, dir, 0, 0, NULL));
		FAILS(want, stardust_db_export(h, 0, file, 0, NULL));
		FAILS(want, stardust_db_as_of(h, 0, &new_snapshot));
		FAILS(want, stardust_db_snapshot(h, &new_snapshot));
	}
	if (skip != 'o') {
		FAILS(want, stardust_document_text(h, STARDUST_JSON, &text, &count));
		FAILS(want, stardust_db_plugin_call(db, "objects", "get", h));
		FAILS(want, stardust_snapshot_plugin_call(snapshot, "objects", "get", h));
		EXPECT(stardust_document_release(h) == want);
		if (h != 0) { /* 0 is none, where none is needed */
			FAILS(want, stardust_db_open(file, h, &new_db));
			FAILS(want, stardust_db_plugin_stream_open(db, "objects", "upload", h, &new_stream));
			FAILS(want, stardust_db_import(db, dir, 0, h, NULL));
			FAILS(want, stardust_db_export(db, 0, file, h, NULL));
			FAILS(want, stardust_snapshot_export(snapshot, 0, file, h, NULL));
		}
	}
	if (skip != 't') {
		FAILS(want, stardust_stream_write(h, "x", 1));
		FAILS(want, stardust_stream_finish(h));
		FAILS(want, stardust_stream_read(h, buffer, 1, &count));
		EXPECT(count == 0);
		FAILS(want, stardust_stream_read_at(h, buffer, 1, 0, &count));
		count = 7;
		FAILS(want, stardust_stream_seek(h, 0, STARDUST_SEEK_START, &number));
		FAILS(want, stardust_stream_size(h, &number));
		EXPECT(stardust_stream_close(h) == want);
	}
	if (skip != 's') {
		FAILS(want, stardust_snapshot_revision(h, &number));
		FAILS(want, stardust_snapshot_plugin_call(h, "objects", "get", document));
		FAILS(want, stardust_snapshot_export(h, 0, file, 0, NULL));
		EXPECT(stardust_snapshot_release(h) == want);
	}
	if (skip != 'h') {
		EXPECT(stardust_hold_release(h) == want);
	}
	if (skip != 'c') {
		EXPECT(stardust_cancel_now(h) == want);
		EXPECT(stardust_cancel_release(h) == want);
		if (h != 0) {
			watch.cancel = h;
			FAILS(want, stardust_db_plugin_call_cancelable(db, "objects", "get", document, h));
			FAILS(want, stardust_db_hold_writes(db, h, &new_hold));
			FAILS(want, stardust_db_check(db, &watch));
			FAILS(want, stardust_db_backup(db, file, &watch));
			FAILS(want, stardust_db_import(db, dir, 0, 0, &watch));
			FAILS(want, stardust_db_export(db, 0, file, 0, &watch));
		}
	}
	if (skip != 'r') {
		stardust_error error;
		EXPECT(stardust_result_take_document(h) == 0);
		if (h != 0) {
			EXPECT(stardust_result_error(h, NULL) == want);
			EXPECT(stardust_result_error(h, &error) == want && error.status == want);
			EXPECT(error.message[0] != '\0');
			EXPECT(stardust_result_release(h) == want);
		}
	}
	/* What failed left its outputs as they were. */
	EXPECT(new_db == 7 && new_stream == 7 && new_snapshot == 7 && new_hold == 7);
	EXPECT(number == 7 && count == 7 && text == NULL);
}

/* Calls with a NULL where a pointer is needed. */
static void null_pointers(void) {
	const stardust_status want = STARDUST_INVALID_ARGUMENT;
	char buffer[8];
	size_t count;
	stardust_stream stream;
	stardust_db other;
	FAILS(want, stardust_document_parse("{}", 2, STARDUST_DUST, NULL));
	FAILS(want, stardust_document_parse(NULL, 2, STARDUST_DUST, &document));
	FAILS(want, stardust_document_parse(NULL, 0, STARDUST_JSON, &document));
	FAILS(want, stardust_document_parse("{}", SIZE_MAX, STARDUST_DUST, &document));
	FAILS(want, stardust_document_text(document, STARDUST_JSON, NULL, NULL));
	FAILS(want, stardust_db_open(NULL, 0, &other));
	FAILS(want, stardust_db_open("x", 0, NULL));
	FAILS(want, stardust_db_plugin_call(db, NULL, "get", document));
	FAILS(want, stardust_db_plugin_call(db, "objects", NULL, document));
	FAILS(want, stardust_db_plugin_call_cancelable(db, NULL, NULL, document, 0));
	FAILS(want, stardust_db_plugin_stream_open(db, NULL, "upload", 0, &stream));
	FAILS(want, stardust_db_plugin_stream_open(db, "objects", NULL, 0, &stream));
	FAILS(want, stardust_db_plugin_stream_open(db, "objects", "upload", 0, NULL));
	FAILS(want, stardust_db_hold_writes(db, 0, NULL));
	FAILS(want, stardust_db_backup(db, NULL, NULL));
	FAILS(want, stardust_db_import(db, NULL, 0, 0, NULL));
	FAILS(want, stardust_db_export(db, 0, NULL, 0, NULL));
	FAILS(want, stardust_db_as_of(db, 0, NULL));
	FAILS(want, stardust_db_snapshot(db, NULL));
	FAILS(want, stardust_snapshot_revision(snapshot, NULL));
	FAILS(want, stardust_snapshot_plugin_call(snapshot, NULL, NULL, document));
	FAILS(want, stardust_snapshot_export(snapshot, 0, NULL, 0, NULL));
	FAILS(want, stardust_stream_write(upload, NULL, 1));
	FAILS(want, stardust_stream_write(upload, "x", SIZE_MAX));
	FAILS(want, stardust_stream_read(reader, NULL, 1, &count));
	FAILS(want, stardust_stream_read(reader, buffer, SIZE_MAX, &count));
	FAILS(want, stardust_stream_read(reader, buffer, 1, NULL));
	FAILS(want, stardust_stream_read_at(reader, NULL, 1, 0, &count));
	FAILS(want, stardust_stream_read_at(reader, buffer, 1, 0, NULL));
	FAILS(want, stardust_stream_size(reader, NULL));
}

/* Calls whose arguments make no sense. */
static void wrong_arguments(void) {
	const stardust_status want = STARDUST_INVALID_ARGUMENT;
	char buffer[8];
	size_t count;
	const char *text;
	stardust_stream stream;
	stardust_db other;
	stardust_snapshot view;
	stardust_document bad = dust("{workers -1}"), list = dust("[1 2]"), unknown = dust("{color red}");
	FAILS(want, stardust_document_parse("{}", 2, STARDUST_JSON_INDENTED, &document));
	FAILS(want, stardust_document_parse("{}", 2, -1, &document));
	FAILS(want, stardust_document_parse("{a", 2, STARDUST_JSON, &document));
	FAILS(want, stardust_document_parse("\xff\xfe", 2, STARDUST_DUST, &document));
	FAILS(want, stardust_document_text(document, 3, &text, NULL));
	FAILS(want, stardust_document_text(document, INT32_MIN, &text, NULL));
	FAILS(want, stardust_db_open("x", unknown, &other));
	FAILS(want, stardust_db_plugin_call(db, "subjects", "get", document));
	FAILS(want, stardust_db_plugin_call_cancelable(db, "subjects", "get", document, cancel));
	FAILS(want, stardust_db_plugin_call(db, "objects", "\xff", document));
	FAILS(want, stardust_db_plugin_call(db, "objects", "get", list));
	FAILS(want, stardust_db_plugin_call(db, "objects", "get", unknown));
	FAILS(want, stardust_db_plugin_stream_open(db, "objects", "download", 0, &stream));
	FAILS(want, stardust_db_as_of(db, -1, &view));
	FAILS(STARDUST_NOT_FOUND, stardust_db_as_of(db, INT64_MAX, &view));
	FAILS(want, stardust_db_import(db, dir, 0, bad, NULL));
	FAILS(want, stardust_db_import(db, dir, 0, list, NULL));
	FAILS(want, stardust_db_export(db, 0, dir, unknown, NULL));
	FAILS(STARDUST_NOT_FOUND, stardust_db_import(db, "/no/such/directory", 0, 0, NULL));
	FAILS(STARDUST_NOT_FOUND, stardust_db_export(db, 999, dir, 0, NULL));
	FAILS(want, stardust_stream_seek(reader, -1, STARDUST_SEEK_START, NULL));
	FAILS(want, stardust_stream_seek(reader, 0, 3, NULL));
	FAILS(want, stardust_stream_seek(upload, 0, STARDUST_SEEK_START, NULL));
	FAILS(want, stardust_stream_write(reader, "x", 1));
	FAILS(want, stardust_stream_finish(reader));
	FAILS(want, stardust_stream_read(upload, buffer, 1, &count));
	FAILS(want, stardust_stream_read_at(reader, buffer, 1, -1, &count));
	FAILS(STARDUST_UNAVAILABLE, stardust_snapshot_plugin_call(snapshot, "objects", "create", list));
	EXPECT(strcmp(stardust_status_name(77), "unknown") == 0);
	EXPECT(strcmp(stardust_status_name(STARDUST_IO), "io_error") == 0);
	stardust_document_release(bad);
	stardust_document_release(list);
	stardust_document_release(unknown);
}

/* Calls with nothing, which is allowed. */
static void empty_buffers(void) {
	size_t count = 7;
	stardust_document empty = 0;
	const char *text;
	OK(stardust_document_parse(NULL, 0, STARDUST_DUST, &empty));
	OK(stardust_document_text(empty, STARDUST_JSON, &text, NULL));
	EXPECT(strcmp(text, "{}") == 0);
	stardust_document_release(empty);
	OK(stardust_stream_write(upload, NULL, 0));
	OK(stardust_stream_read(reader, NULL, 0, &count));
	EXPECT(count == 0);
	OK(stardust_stream_read_at(reader, NULL, 0, 99, &count));
	EXPECT(stardust_result_error(0, NULL) == STARDUST_OK);
	EXPECT(stardust_result_release(0) == STARDUST_OK);
	EXPECT(stardust_result_take_document(0) == 0);
}

int main(int argc, char **argv) {
	char file[4096];
	stardust_result result;
	stardust_document published, taken;
	stardust_error error;
	EXPECT(argc == 2);
	dir = argv[1];
	snprintf(file, sizeof file, "%s/bad.stardust", dir);
	db = open_objects(file);
	published = publish(db, "some bytes", 10);
	OK(stardust_db_plugin_stream_open(db, "objects", "upload", 0, &upload));
	document = dust("digest \"0000000000000000000000000000000000000000000000000000000000000000\"");
	FAILS(STARDUST_NOT_FOUND, stardust_db_plugin_stream_open(db, "objects", "open", document, &reader));
	stardust_document_release(document);
	{
		const char *text;
		char request[256];
		OK(stardust_document_text(published, STARDUST_JSON, &text, NULL));
		/* {"digest":{"#sha256":"..."},...: its first member is the request. */
		snprintf(request, sizeof request, "%.*s}", (int)(strchr(text, '}') - text + 1), text);
		document = dust(request);
		OK(stardust_db_plugin_stream_open(db, "objects", "open", document, &reader));
		stardust_document_release(document);
	}
	document = dust("entity 1");
	OK(stardust_db_snapshot(db, &snapshot));
	OK(stardust_db_hold_writes(db, 0, &hold));
	EXPECT(stardust_hold_release(hold) == STARDUST_OK);
	OK(stardust_db_hold_writes(db, 0, &hold));
	cancel = stardust_cancel_new();
	result = call(db, "get", "entity 77");
	EXPECT(stardust_result_error(result, &error) == STARDUST_NOT_FOUND);

	/* Null, made up, and the numbers around real ones. */
	every_call(0, STARDUST_INVALID_ARGUMENT, 0);
	every_call(1, STARDUST_INVALID_ARGUMENT, 0);
	every_call(UINT64_MAX, STARDUST_INVALID_ARGUMENT, 0);
	every_call((uint64_t)1 << 63, STARDUST_INVALID_ARGUMENT, 0);
	every_call(db + ((uint64_t)1 << 40), STARDUST_INVALID_ARGUMENT, 0);
	every_call((db & ~(uint64_t)7), STARDUST_INVALID_ARGUMENT, 0);
	/* Live handles of every other kind. */
	every_call(db, STARDUST_INVALID_ARGUMENT, 'd');
	every_call(document, STARDUST_INVALID_ARGUMENT, 'o');
	every_call(reader, STARDUST_INVALID_ARGUMENT, 't');
	every_call(upload, STARDUST_INVALID_ARGUMENT, 't');
	every_call(snapshot, STARDUST_INVALID_ARGUMENT, 's');
	every_call(hold, STARDUST_INVALID_ARGUMENT, 'h');
	every_call(cancel, STARDUST_INVALID_ARGUMENT, 'c');
	every_call(result, STARDUST_INVALID_ARGUMENT, 'r');
	null_pointers();
	EXPECT(stardust_hold_release(hold) == STARDUST_OK);
	wrong_arguments();
	empty_buffers();

	/* The error's text lasts as long as its result, whatever went on since. */
	EXPECT(strstr(error.message, "not_found") != NULL && strstr(error.operation, "get") != NULL);

	/* A document is taken once. */
	EXPECT(stardust_result_take_document(result) == 0);
	EXPECT(stardust_result_release(result) == STARDUST_OK);
	result = stardust_db_info(db);
	taken = stardust_result_take_document(result);
	EXPECT(taken != 0 && stardust_result_take_document(result) == 0);
	EXPECT(stardust_result_release(result) == STARDUST_OK);
	EXPECT(stardust_document_release(taken) == STARDUST_OK);

	/* Freed handles, each used as its own kind. */
	EXPECT(stardust_result_error(result, &error) == STARDUST_CLOSED && error.message[0] != '\0');
	EXPECT(stardust_result_release(result) == STARDUST_CLOSED);
	EXPECT(stardust_document_release(taken) == STARDUST_CLOSED);
	EXPECT(stardust_hold_release(hold) == STARDUST_CLOSED);
	EXPECT(stardust_cancel_release(cancel) == STARDUST_OK);
	EXPECT(stardust_cancel_now(cancel) == STARDUST_CLOSED);
	EXPECT(stardust_cancel_release(cancel) == STARDUST_CLOSED);
	EXPECT(stardust_stream_close(upload) == STARDUST_OK);
	EXPECT(stardust_stream_close(upload) == STARDUST_CLOSED);
	FAILS(STARDUST_CLOSED, stardust_stream_write(upload, "x", 1));
	FAILS(STARDUST_CLOSED, stardust_stream_finish(upload));
	FAILS(STARDUST_CLOSED, stardust_db_plugin_call(db, "objects", "get", taken));

	/* What outlives its database is closed with it, and ends all the same. */
	OK(stardust_db_close(db));
	FAILS(STARDUST_CLOSED, stardust_db_close(db));
	FAILS(STARDUST_CLOSED, stardust_db_info(db));
	FAILS(STARDUST_CLOSED, stardust_db_plugin_call(db, "objects", "get", document));
	FAILS(STARDUST_CLOSED, stardust_snapshot_plugin_call(snapshot, "objects", "get", document));
	{
		char byte;
		size_t count;
		FAILS(STARDUST_CLOSED, stardust_stream_read(reader, &byte, 1, &count));
		FAILS(STARDUST_CLOSED, stardust_stream_read_at(reader, &byte, 1, 0, &count));
	}
	EXPECT(stardust_stream_close(reader) == STARDUST_OK);
	EXPECT(stardust_snapshot_release(snapshot) == STARDUST_OK);
	EXPECT(stardust_snapshot_release(snapshot) == STARDUST_CLOSED);
	EXPECT(stardust_document_release(document) == STARDUST_OK);
	EXPECT(stardust_document_release(published) == STARDUST_OK);
	EXPECT(stardust_live_handles() == 0);
	puts("all refused");
	return 0;
}
