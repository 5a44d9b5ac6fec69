/* A program with the fault that its second argument names, in whose absence from
 * the others the tools are trusted: that they find it here is tested. */
#include "common.h"

int main(int argc, char **argv) {
	char file[4096];
	stardust_db db;
	stardust_document info;
	const char *text;
	EXPECT(argc == 3);
	snprintf(file, sizeof file, "%s/faulty.stardust", argv[1]);
	db = open_objects(file);
	info = TAKE(stardust_db_info(db));
	OK(stardust_document_text(info, STARDUST_JSON, &text, NULL));
	if (strcmp(argv[2], "leak") == 0) {
		char *volatile lost = strdup(text); /* volatile: compilers know strdup */
		EXPECT(lost != NULL);
		lost = NULL;
	}
	if (strcmp(argv[2], "short") == 0) {
		/* A buffer that is shorter than what goes there. */
		volatile char *buffer = malloc(8);
		size_t i;
		EXPECT(buffer != NULL);
		for (i = 0; i < 9; i++) buffer[i] = text[i];
		free((void *)buffer);
	}
	stardust_document_release(info);
	if (strcmp(argv[2], "freed") == 0) printf("%c\n", text[0]); /* of a document that ended */
	OK(stardust_db_close(db));
	return 0;
}
