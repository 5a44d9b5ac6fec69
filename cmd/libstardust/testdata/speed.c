/* For every line of input, makes calls and prints how many nanoseconds of the
 * thread's processor time one took. Argument: a directory. */
#include "common.h"

#include <time.h>

enum { CALLS = 300 };

static double now(void) {
	struct timespec t;
	EXPECT(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv) {
	char file[4096], line[16];
	stardust_db db;
	stardust_document request;
	EXPECT(argc == 2);
	snprintf(file, sizeof file, "%s/speed-c.stardust", argv[1]);
	db = open_objects(file);
	OK(call(db, "create", "[{name notes}]"));
	request = dust("entity 1");
	while (fgets(line, sizeof line, stdin) != NULL) {
		double begin = now();
		int i;
		for (i = 0; i < CALLS; i++) {
			stardust_result result = stardust_db_plugin_call(db, "objects", "get", request);
			stardust_document document = stardust_result_take_document(result);
			EXPECT(stardust_result_error(result, NULL) == STARDUST_OK);
			stardust_result_release(result);
			EXPECT(stardust_document_release(document) == STARDUST_OK);
		}
		printf("%.0f\n", (now() - begin) / CALLS);
		fflush(stdout);
	}
	stardust_document_release(request);
	OK(stardust_db_close(db));
	return 0;
}
