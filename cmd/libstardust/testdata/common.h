/* What the test programs share. A failed expectation ends the program. */
#ifndef COMMON_H
#define COMMON_H

#include "stardust.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition)                                                                  \
	do {                                                                               \
		if (!(condition)) {                                                        \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			exit(1);                                                           \
		}                                                                          \
	} while (0)

/* The status of a result, which is released. */
static inline stardust_status status_of(stardust_result result) {
	stardust_status status = stardust_result_error(result, NULL);
	stardust_result_release(result);
	return status;
}

/* The call must succeed. */
#define OK(call) succeed(__FILE__, __LINE__, #call, (call))
static inline void succeed(const char *file, int line, const char *call, stardust_result result) {
	stardust_error error;
	if (stardust_result_error(result, &error) != STARDUST_OK) {
		fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, error.message);
		exit(1);
	}
	stardust_result_release(result);
}

/* The call must succeed with a document, which the caller releases. */
#define TAKE(call) take(__FILE__, __LINE__, #call, (call))
static inline stardust_document take(const char *file, int line, const char *call, stardust_result result) {
	stardust_error error;
	stardust_document document;
	if (stardust_result_error(result, &error) != STARDUST_OK) {
		fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, error.message);
		exit(1);
	}
	document = stardust_result_take_document(result);
	stardust_result_release(result);
	if (document == 0) {
		fprintf(stderr, "%s:%d: %s: there is no document\n", file, line, call);
		exit(1);
	}
	return document;
}

/* The call must fail with a status. */
#define FAILS(want, call) fails(__FILE__, __LINE__, #call, (want), (call))
static inline void fails(const char *file, int line, const char *call, stardust_status want, stardust_result result) {
	stardust_error error;
	stardust_status got = stardust_result_error(result, &error);
	if (got != want || error.status != want || error.message[0] == '\0') {
		fprintf(stderr, "%s:%d: %s: got %s (%s), want %s\n", file, line, call,
		        stardust_status_name(got), error.message, stardust_status_name(want));
		exit(1);
	}
	stardust_result_release(result);
}

static inline stardust_document dust(const char *text) {
	stardust_document document = 0;
	OK(stardust_document_parse(text, strlen(text), STARDUST_DUST, &document));
	return document;
}

static inline stardust_db open_objects(const char *path) {
	stardust_db db = 0;
	stardust_document options = dust("plugins {objects {}}");
	OK(stardust_db_open(path, options, &db));
	stardust_document_release(options);
	return db;
}

/* Calls an operation of the objects plugin with a request in DUST. */
static inline stardust_result call(stardust_db db, const char *operation, const char *request) {
	stardust_document document = dust(request);
	stardust_result result = stardust_db_plugin_call(db, "objects", operation, document);
	stardust_document_release(document);
	return result;
}

/* Publishes a payload; the document is the caller's. */
static inline stardust_document publish(stardust_db db, const void *data, size_t length) {
	stardust_stream upload = 0;
	stardust_document published;
	OK(stardust_db_plugin_stream_open(db, "objects", "upload", 0, &upload));
	OK(stardust_stream_write(upload, data, length));
	published = TAKE(stardust_stream_finish(upload));
	EXPECT(stardust_stream_close(upload) == STARDUST_OK);
	return published;
}

#endif
