/* 64 threads on one database: each writes, reads back what it wrote, and shares
 * handles with the others that any of them may end. Then the database is closed
 * under them. Arguments: a directory and how many rounds. */
#include "common.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 64, SHARED = 16 };

static stardust_db db;
static _Atomic uint64_t shared[SHARED];
static atomic_int closed, rounds_left, finished;

static int closing(stardust_status status) {
	return status == STARDUST_CLOSED && atomic_load(&closed);
}

/* Takes a random handle that another thread may be using or ending. */
static void meddle(unsigned *seed) {
	int slot = rand_r(seed) % SHARED;
	uint64_t handle = atomic_load(&shared[slot]);
	stardust_document document;
	const char *text;
	char byte[16];
	size_t count;
	int64_t size;
	stardust_error error;
	/* Whatever it is, every call bears it. */
	status_of(stardust_stream_read(handle, byte, sizeof byte, &count));
	status_of(stardust_stream_size(handle, &size));
	status_of(stardust_stream_seek(handle, 1, STARDUST_SEEK_START, &size));
	status_of(stardust_document_text(handle, STARDUST_JSON, &text, &count)); /* not read: it may end */
	stardust_result_error(handle, NULL);
	status_of(stardust_db_plugin_call(db, "objects", "get", handle));
	if (rand_r(seed) % 4 == 0) {
		stardust_stream_close(handle);
		stardust_document_release(handle);
		stardust_result_release(handle);
	}
	/* And puts another there. */
	switch (rand_r(seed) % 3) {
	case 0:
		document = 0;
		status_of(stardust_document_parse("entity 1", 8, STARDUST_DUST, &document));
		handle = document;
		break;
	case 1:
		handle = 0;
		status_of(stardust_db_plugin_stream_open(db, "objects", "upload", 0, &handle));
		break;
	default:
		handle = call(db, "get", "entity 77777");
		stardust_result_error(handle, &error);
	}
	handle = atomic_exchange(&shared[slot], handle);
	stardust_stream_close(handle);
	stardust_document_release(handle);
	stardust_result_release(handle);
}

/* Writes a payload of its own, names it, and reads it back. Returns whether the
 * database is there still. */
static int own_work(int thread, int round, unsigned *seed) {
	unsigned char data[3000], back[3000];
	char request[512];
	const char *text;
	size_t i, count;
	stardust_stream upload = 0, reader = 0;
	stardust_document document = 0, digest = 0;
	stardust_result result;
	stardust_status status;
	for (i = 0; i < sizeof data; i++) data[i] = (unsigned char)rand_r(seed);
	result = stardust_db_plugin_stream_open(db, "objects", "upload", 0, &upload);
	if ((status = status_of(result)) != STARDUST_OK) {
		EXPECT(closing(status));
		return 0;
	}
	status = status_of(stardust_stream_write(upload, data, sizeof data));
	EXPECT(status == STARDUST_OK || closing(status));
	result = stardust_stream_finish(upload);
	status = stardust_result_error(result, NULL);
	document = stardust_result_take_document(result);
	stardust_result_release(result);
	EXPECT(stardust_stream_close(upload) == STARDUST_OK);
	if (status != STARDUST_OK) {
		EXPECT(closing(status) && document == 0);
		return 0;
	}
	OK(stardust_document_text(document, STARDUST_JSON, &text, &count));
	snprintf(request, sizeof request, "%.*s}", (int)(strchr(text, '}') - text + 1), text);
	digest = dust(request);
	snprintf(request, sizeof request, "[{name t%d-%d digest %.*s}]", thread, round, (int)(strchr(text, '}') - text - 9), text + 10);
	stardust_document_release(document);
	status = status_of(call(db, "create", request));
	EXPECT(status == STARDUST_OK || closing(status));
	status = status_of(stardust_db_plugin_stream_open(db, "objects", "open", digest, &reader));
	stardust_document_release(digest);
	EXPECT(status == STARDUST_OK || closing(status));
	if (status != STARDUST_OK) return 0;
	status = status_of(stardust_stream_read(reader, back, sizeof back, &count));
	EXPECT(status == STARDUST_OK || closing(status));
	if (status == STARDUST_OK) EXPECT(count == sizeof back && memcmp(data, back, count) == 0);
	EXPECT(stardust_stream_close(reader) == STARDUST_OK);
	return 1;
}

static void *work(void *argument) {
	int thread = (int)(intptr_t)argument, round;
	unsigned seed = 1234u + (unsigned)thread;
	for (round = 0; own_work(thread, round, &seed); round++) {
		meddle(&seed);
		atomic_fetch_sub(&rounds_left, 1);
	}
	atomic_fetch_add(&finished, 1);
	return NULL;
}

int main(int argc, char **argv) {
	pthread_t threads[THREADS];
	char file[4096];
	int i;
	stardust_document report, options;
	const char *text;
	EXPECT(argc == 3);
	snprintf(file, sizeof file, "%s/threads.stardust", argv[1]);
	atomic_store(&rounds_left, atoi(argv[2]));
	/* Room for an upload's buffer in every thread and every shared slot. */
	options = dust("plugins {objects {}} memoryBudget 1000000000");
	OK(stardust_db_open(file, options, &db));
	stardust_document_release(options);
	for (i = 0; i < THREADS; i++) EXPECT(pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i) == 0);
	/* Waits for the rounds by doing calls of its own. */
	while (atomic_load(&rounds_left) > 0) OK(stardust_db_info(db));
	/* In the middle of everything. */
	atomic_store(&closed, 1);
	OK(stardust_db_close(db));
	for (i = 0; i < THREADS; i++) EXPECT(pthread_join(threads[i], NULL) == 0);
	EXPECT(atomic_load(&finished) == THREADS);
	for (i = 0; i < SHARED; i++) {
		uint64_t handle = atomic_load(&shared[i]);
		stardust_stream_close(handle);
		stardust_document_release(handle);
		stardust_result_release(handle);
	}
	EXPECT(stardust_live_handles() == 0);
	/* The file is whole. */
	db = open_objects(file);
	report = TAKE(stardust_db_check(db, NULL));
	OK(stardust_document_text(report, STARDUST_JSON, &text, NULL));
	EXPECT(strstr(text, "\"damaged\":0,") != NULL);
	stardust_document_release(report);
	OK(stardust_db_close(db));
	EXPECT(stardust_live_handles() == 0);
	puts("all joined");
	return 0;
}
