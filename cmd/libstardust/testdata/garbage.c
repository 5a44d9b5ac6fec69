/* What a caller's memory holds before a call is no business of the library: out
 * pointers lead to memory that was never set, empty buffers have any address, and
 * a context is whatever the callback takes it for. All of these are addresses in
 * the middle of Go's heap here, while threads keep its garbage collector busy:
 * Go ends the process when it takes such an address for a pointer of its own.
 * Arguments: a directory and how many rounds. */
#include "common.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>

enum { STALE = 4096, THREADS = 4 };

static stardust_db db;
static uintptr_t stale[STALE];
static size_t stale_count;
static atomic_int rounds_left;

/* Finds addresses in the memory that Go's heap has: its arenas are aligned as
 * nothing else is. */
static void find_heap(void) {
	char line[512];
	uintptr_t from, to, pages = 0, step;
	int pass;
	for (pass = 0; pass < 2; pass++) {
		FILE *maps = fopen("/proc/self/maps", "r");
		EXPECT(maps != NULL);
		step = pages / STALE + 1;
		while (fgets(line, sizeof line, maps) != NULL) {
			char rights[8];
			int is_heap;
			if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s", &from, &to, rights) != 3) continue;
			is_heap = strstr(line, "[anon: Go: heap") != NULL || from % (4u << 20) == 0;
			if (!is_heap || strncmp(rights, "rw", 2) != 0) continue;
			if (pass == 0) pages += (to - from) / 8192;
			for (; pass == 1 && from < to && stale_count < STALE; from += step * 8192) stale[stale_count++] = from + 8;
		}
		fclose(maps);
	}
}

/* An address of Go's heap, another one each time. */
static void *garbage(unsigned *seed) {
	return (void *)stale[(unsigned)rand_r(seed) % stale_count];
}

static int progress(void *context, const stardust_progress *now) {
	(void)context;
	return now->files < 0;
}

static int problem(void *context, const char *path, int skipped, const stardust_error *error) {
	(void)context;
	return path == NULL || skipped > 1 || error == NULL;
}

static void round_of(unsigned *seed) {
	stardust_error error;
	stardust_document document = 0;
	stardust_stream upload = 0;
	stardust_watch watch = {progress, problem, NULL, 0};
	const char *text;
	stardust_result result = call(db, "get", "entity 77777");
	stardust_status status;
	int i;
	for (i = 0; i < 200; i++) {
		memset(&error, 0, sizeof error);
		error.code = garbage(seed), error.operation = garbage(seed), error.message = garbage(seed);
		EXPECT(stardust_result_error(i % 2 == 0 ? result : 0, &error) == (i % 2 == 0 ? STARDUST_NOT_FOUND : STARDUST_OK));
		EXPECT(error.message[0] != '\0' || i % 2 == 1);
		error.message = garbage(seed);
		EXPECT(stardust_result_error(12345, &error) == STARDUST_INVALID_ARGUMENT);
	}
	stardust_result_release(result);
	OK(stardust_document_parse("a 1", 3, STARDUST_DUST, &document));
	for (i = 0; i < 200; i++) {
		text = garbage(seed);
		OK(stardust_document_text(document, i % 3, &text, NULL));
		EXPECT(text[0] != '\0');
	}
	stardust_document_release(document);
	OK(stardust_db_plugin_stream_open(db, "objects", "upload", 0, &upload));
	for (i = 0; i < 50; i++) {
		size_t count = 0;
		void *nowhere = i % 2 == 0 ? garbage(seed) : (void *)(uintptr_t)(1 + i);
		OK(stardust_stream_write(upload, nowhere, 0));
		status_of(stardust_stream_read(upload, nowhere, 0, &count));
		status_of(stardust_stream_read_at(upload, nowhere, 0, 0, &count));
		OK(stardust_document_parse(nowhere, 0, STARDUST_DUST, &document));
		stardust_document_release(document);
	}
	stardust_stream_close(upload);
	watch.context = rand_r(seed) % 2 == 0 ? garbage(seed) : (void *)(uintptr_t)(1 + rand_r(seed) % 4000);
	result = stardust_db_check(db, &watch);
	status = stardust_result_error(result, NULL);
	EXPECT(status == STARDUST_OK);
	document = stardust_result_take_document(result);
	stardust_document_release(document);
	stardust_result_release(result);
}

static void *work(void *argument) {
	unsigned seed = (unsigned)(uintptr_t)argument;
	while (atomic_fetch_sub(&rounds_left, 1) > 0) round_of(&seed);
	return NULL;
}

int main(int argc, char **argv) {
	pthread_t threads[THREADS];
	char path[4096];
	uintptr_t i;
	EXPECT(argc == 3);
	snprintf(path, sizeof path, "%s/garbage.stardust", argv[1]);
	db = open_objects(path);
	snprintf(path, sizeof path, "%s/in", argv[1]);
	OK(stardust_db_import(db, path, 0, 0, NULL));
	atomic_store(&rounds_left, atoi(argv[2]));
	find_heap();
	EXPECT(stale_count > 0);
	for (i = 0; i < THREADS; i++) EXPECT(pthread_create(&threads[i], NULL, work, (void *)(i + 1)) == 0);
	for (i = 0; i < THREADS; i++) EXPECT(pthread_join(threads[i], NULL) == 0);
	OK(stardust_db_close(db));
	EXPECT(stardust_live_handles() == 0);
	puts("all well");
	return 0;
}
