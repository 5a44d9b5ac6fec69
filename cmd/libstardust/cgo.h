/* What the Go side of stardust.h needs besides it. */
#ifndef STARDUST_CGO_H
#define STARDUST_CGO_H

#include "stardust.h"

#include <pthread.h>
#include <stdlib.h>

/* Go has no const: these names give its exports the types of the header, which
 * the C compiler compares when it builds the library. */
typedef const char stardust_const_char;
typedef const stardust_watch stardust_const_watch;

/* A context is a number to Go: it need not be a pointer. */
static inline int stardust_run_progress(stardust_progress_fn fn, uintptr_t context, const stardust_progress *progress) {
	return fn((void *)context, progress);
}

static inline int stardust_run_problem(stardust_problem_fn fn, uintptr_t context, const char *path, int skipped, const stardust_error *error) {
	return fn((void *)context, path, skipped, error);
}

static inline uintptr_t stardust_this_thread(void) {
	return (uintptr_t)pthread_self();
}

/* Strings that are there for good. */
static inline const char *stardust_text_empty(void) { return ""; }
static inline const char *stardust_text_status(stardust_status status) {
	switch (status) {
	case STARDUST_OK: return "ok";
	case STARDUST_INVALID_ARGUMENT: return "invalid_argument";
	case STARDUST_NOT_FOUND: return "not_found";
	case STARDUST_CONFLICT: return "conflict";
	case STARDUST_EVALUATION_FAILED: return "evaluation_failed";
	case STARDUST_UNAVAILABLE: return "unavailable";
	case STARDUST_CLOSED: return "closed";
	case STARDUST_OUT_OF_MEMORY: return "out_of_memory";
	case STARDUST_IO: return "io_error";
	case STARDUST_CANCELED: return "canceled";
	}
	return "unknown";
}
static inline const char *stardust_text_no_room(void) { return "there are too many live handles; release what is done with"; }
static inline const char *stardust_text_bad_result(stardust_status status) {
	return status == STARDUST_CLOSED ? "the result was released before" : "this is no handle of a result";
}

#endif
