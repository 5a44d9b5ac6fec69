/* What the library has besides plugin calls, on a database in the directory that
 * the argument names, which has a directory "in" with files to import. */
#include "common.h"

#include <pthread.h>

struct seen {
	stardust_db db;
	pthread_t thread;
	int calls, problems, stop_after;
	stardust_progress last;
};

static int progress(void *context, const stardust_progress *now) {
	struct seen *seen = context;
	/* On the caller's thread, and only forwards. */
	EXPECT(pthread_equal(pthread_self(), seen->thread));
	EXPECT(now->files >= seen->last.files && now->bytes >= seen->last.bytes && now->chunks >= seen->last.chunks);
	seen->last = *now;
	seen->calls++;
	/* The library may be called from here, but not to close. */
	OK(stardust_db_info(seen->db));
	FAILS(STARDUST_INVALID_ARGUMENT, stardust_db_close(seen->db));
	FAILS(STARDUST_INVALID_ARGUMENT, stardust_db_check(seen->db, NULL));
	return seen->stop_after != 0 && seen->calls >= seen->stop_after;
}

static int problem(void *context, const char *path, int skipped, const stardust_error *error) {
	struct seen *seen = context;
	EXPECT(pthread_equal(pthread_self(), seen->thread));
	EXPECT(path != NULL && (skipped == 0 || skipped == 1) && error->message[0] != '\0');
	seen->problems++;
	return 0;
}

static const char *json(stardust_document document) {
	const char *text;
	OK(stardust_document_text(document, STARDUST_JSON, &text, NULL));
	return text;
}

/* The result must be a failure with a status, and have a report. */
static void canceled_with_report(stardust_result result) {
	stardust_error error;
	stardust_document report;
	EXPECT(stardust_result_error(result, &error) == STARDUST_CANCELED);
	report = stardust_result_take_document(result);
	EXPECT(report != 0 && strstr(json(report), "\"problems\":") != NULL);
	EXPECT(stardust_document_release(report) == STARDUST_OK);
	EXPECT(stardust_result_release(result) == STARDUST_OK);
}

int main(int argc, char **argv) {
	char file[4096], in[4096], out[4096], copy[4096];
	stardust_db db, reader_db = 0;
	stardust_document report, options, request;
	stardust_snapshot before = 0, latest = 0;
	stardust_hold first = 0, second = 0;
	stardust_cancel cancel = stardust_cancel_new();
	stardust_error error;
	stardust_result result;
	int64_t revision, files;
	struct seen seen = {0};
	stardust_watch watch = {progress, problem, NULL, 0}, canceled = {NULL, NULL, NULL, cancel};
	EXPECT(argc == 2);
	snprintf(file, sizeof file, "%s/features.stardust", argv[1]);
	snprintf(in, sizeof in, "%s/in", argv[1]);
	snprintf(out, sizeof out, "%s/out", argv[1]);
	snprintf(copy, sizeof copy, "%s/copy.stardust", argv[1]);
	seen.thread = pthread_self();
	watch.context = &seen;

	/* Without plugins their calls are unavailable. */
	OK(stardust_db_open(file, 0, &db));
	result = call(db, "children", "parent 0");
	EXPECT(stardust_result_error(result, &error) == STARDUST_UNAVAILABLE);
	stardust_result_release(result);
	OK(stardust_db_close(db));
	seen.db = db = open_objects(file);

	/* A second writer is refused, a reader is not. */
	result = stardust_db_open(file, 0, &reader_db);
	EXPECT(stardust_result_error(result, &error) == STARDUST_CONFLICT && strcmp(error.code, "in_use") == 0);
	stardust_result_release(result);
	options = dust("plugins {objects {}} readOnly true");
	OK(stardust_db_open(file, options, &reader_db));
	stardust_document_release(options);
	OK(stardust_db_close(reader_db));

	/* Import, with progress. */
	options = dust("workers 2");
	report = TAKE(stardust_db_import(db, in, 0, options, &watch));
	stardust_document_release(options);
	EXPECT(strstr(json(report), "\"created\":20,") != NULL);
	stardust_document_release(report);
	EXPECT(seen.calls > 0 && seen.last.files == 20);

	/* As of: the past stands still. */
	OK(stardust_db_snapshot(db, &latest));
	OK(stardust_snapshot_revision(latest, &revision));
	OK(stardust_db_as_of(db, 0, &before));
	OK(call(db, "create", "[{name later}]"));
	request = dust("parent 0");
	report = TAKE(stardust_snapshot_plugin_call(latest, "objects", "children", request));
	EXPECT(strstr(json(report), "later") == NULL && strstr(json(report), "file0") != NULL);
	stardust_document_release(report);
	report = TAKE(stardust_snapshot_plugin_call(before, "objects", "children", request));
	EXPECT(strcmp(json(report), "[]") == 0);
	stardust_document_release(report);
	report = TAKE(stardust_db_plugin_call_cancelable(db, "objects", "children", request, cancel));
	EXPECT(strstr(json(report), "later") != NULL);
	stardust_document_release(report);

	/* Holds add up. */
	OK(stardust_db_hold_writes(db, 0, &first));
	OK(stardust_db_hold_writes(db, cancel, &second));
	EXPECT(stardust_hold_release(first) == STARDUST_OK);
	result = call(db, "create", "[{name held}]");
	EXPECT(stardust_result_error(result, &error) == STARDUST_CONFLICT && strcmp(error.code, "writes_held") == 0);
	stardust_result_release(result);
	EXPECT(stardust_hold_release(second) == STARDUST_OK);
	OK(call(db, "create", "[{name held}]"));

	/* Check and backup, with progress. */
	memset(&seen.last, 0, sizeof seen.last);
	seen.calls = 0;
	report = TAKE(stardust_db_check(db, &watch));
	EXPECT(strstr(json(report), "\"damaged\":0,\"problems\":[]") != NULL);
	stardust_document_release(report);
	EXPECT(seen.calls > 0 && seen.last.chunks == seen.last.total_chunks && seen.last.chunks > 0 && seen.problems == 0);
	memset(&seen.last, 0, sizeof seen.last);
	OK(stardust_db_backup(db, copy, &watch));
	FAILS(STARDUST_CONFLICT, stardust_db_backup(db, copy, NULL));

	/* Export, of the latest state and of the past. */
	memset(&seen.last, 0, sizeof seen.last);
	report = TAKE(stardust_db_export(db, 0, out, 0, &watch));
	files = seen.last.files;
	EXPECT(files == 20 && strstr(json(report), "\"created\":20,") != NULL);
	stardust_document_release(report);
	options = dust("replace true");
	report = TAKE(stardust_snapshot_export(latest, 0, out, options, NULL));
	EXPECT(strstr(json(report), "\"unchanged\":20,") != NULL);
	stardust_document_release(report);
	stardust_document_release(options);

	/* A callback that doesn't return 0 stops the call; so does a cancel handle. */
	memset(&seen.last, 0, sizeof seen.last);
	seen.calls = 0;
	seen.stop_after = 1;
	canceled_with_report(stardust_db_check(db, &watch));
	EXPECT(stardust_cancel_now(cancel) == STARDUST_OK);
	canceled_with_report(stardust_db_check(db, &canceled));
	canceled_with_report(stardust_db_import(db, in, 0, 0, &canceled));
	canceled_with_report(stardust_db_export(db, 0, out, 0, &canceled));
	FAILS(STARDUST_CANCELED, stardust_db_backup(db, strcat(copy, ".2"), &canceled));
	FAILS(STARDUST_CANCELED, stardust_db_hold_writes(db, cancel, &first));
	FAILS(STARDUST_CANCELED, stardust_db_plugin_call_cancelable(db, "objects", "children", request, cancel));

	/* A refused call changes nothing and says what it was about. */
	result = call(db, "create", "[{name held}]");
	EXPECT(stardust_result_error(result, &error) == STARDUST_CONFLICT);
	EXPECT(strcmp(error.code, "name_taken") == 0 && strcmp(error.operation, "objects.create") == 0);
	stardust_result_release(result);

	stardust_document_release(request);
	EXPECT(stardust_snapshot_release(before) == STARDUST_OK);
	EXPECT(stardust_snapshot_release(latest) == STARDUST_OK);
	EXPECT(stardust_cancel_release(cancel) == STARDUST_OK);
	OK(stardust_db_close(db));
	EXPECT(stardust_live_handles() == 0);
	puts("all there");
	return 0;
}
