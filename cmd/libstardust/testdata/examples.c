/* The examples of the objects specification, each on a new database in the
 * directory that the argument names. Prints "== Operation" and the result. */
#include "common.h"

#define HELLO "95e84da38cbefdf3f9f6ef02201074c73124f7cf2025d3e1d69e591a410856fb"
#define REVISED "2b6d3a4299dac5900171112d4fd569b48e54711d8937f6ff5ca00528d47afad2"

static void show(stardust_document document) {
	const char *text;
	size_t length;
	OK(stardust_document_text(document, STARDUST_JSON_INDENTED, &text, &length));
	EXPECT(strlen(text) == length);
	puts(text);
	EXPECT(stardust_document_release(document) == STARDUST_OK);
}

static void upload(stardust_db db, const char *text) {
	stardust_document_release(publish(db, text, strlen(text)));
}

static void get(stardust_db db) {
	upload(db, "Hello, objects");
	OK(call(db, "create", "[{name hello.txt digest {#sha256 \"" HELLO "\"}}]"));
	show(TAKE(call(db, "get", "entity 1")));
}

static void lookup(stardust_db db) {
	OK(call(db, "create", "[{name notes}]"));
	/* Entity 0 is the root directory. */
	show(TAKE(call(db, "lookup", "parent 0 name notes")));
}

static void children(stardust_db db) {
	OK(call(db, "create", "[{name notes} {name drafts}]"));
	show(TAKE(call(db, "children", "parent 0")));
}

static void path(stardust_db db) {
	OK(call(db, "create", "[{name notes} {name drafts under 1}]"));
	show(TAKE(call(db, "path", "entity 2")));
}

static void files(stardust_db db) {
	upload(db, "Hello, objects");
	OK(call(db, "create", "[{name a.txt digest {#sha256 \"" HELLO "\"}} {name b.txt digest {#sha256 \"" HELLO "\"}}]"));
	show(TAKE(call(db, "files", "digest \"" HELLO "\"")));
}

static void manifest(stardust_db db) {
	upload(db, "Hello, objects");
	show(TAKE(call(db, "manifest", "digest \"" HELLO "\"")));
}

static void create(stardust_db db) {
	upload(db, "Hello, objects");
	/* under 1 places hello.txt in the first node of the request. */
	show(TAKE(call(db, "create", "[{name notes} {name hello.txt under 1 digest {#sha256 \"" HELLO "\"}}]")));
}

static void update(stardust_db db) {
	upload(db, "Hello, objects");
	upload(db, "Revised notes");
	OK(call(db, "create", "[{name hello.txt digest {#sha256 \"" HELLO "\"}}]"));
	/* 0 skips the revision check; pass a record's revision to refuse a stale write. */
	show(TAKE(call(db, "update", "entity 1 digest \"" REVISED "\" expectedRevision 0")));
}

static void move(stardust_db db) {
	OK(call(db, "create", "[{name notes} {name drafts}]"));
	/* false refuses to replace a node that already has the name. */
	show(TAKE(call(db, "move", "entity 2 parent 1 name archive expectedRevision 0 replace false")));
}

static void remove_(stardust_db db) {
	OK(call(db, "create", "[{name drafts}]"));
	OK(call(db, "remove", "entity 1 expectedRevision 0"));
}

static void upload_(stardust_db db) {
	show(publish(db, "Hello, objects", 14));
}

static void open_(stardust_db db) {
	stardust_stream reader = 0;
	stardust_document request = dust("digest \"" HELLO "\"");
	char data[7];
	size_t count;
	upload(db, "Hello, objects");
	OK(stardust_db_plugin_stream_open(db, "objects", "open", request, &reader));
	OK(stardust_stream_seek(reader, 7, STARDUST_SEEK_START, NULL));
	OK(stardust_stream_read(reader, data, sizeof data, &count));
	/* data holds "objects". */
	EXPECT(memcmp(data, "objects", sizeof data) == 0);
	printf("%zu\n", count);
	EXPECT(stardust_stream_close(reader) == STARDUST_OK);
	EXPECT(stardust_document_release(request) == STARDUST_OK);
}

int main(int argc, char **argv) {
	static const struct {
		const char *name;
		void (*run)(stardust_db db);
	} examples[] = {
	    {"Get", get}, {"Lookup", lookup}, {"Children", children}, {"Path", path},
	    {"Files", files}, {"Manifest", manifest}, {"Create", create}, {"Update", update},
	    {"Move", move}, {"Remove", remove_}, {"Upload", upload_}, {"Open", open_},
	};
	size_t i;
	EXPECT(argc == 2);
	EXPECT(stardust_abi_version() == STARDUST_ABI_VERSION);
	for (i = 0; i < sizeof examples / sizeof *examples; i++) {
		char file[4096];
		stardust_db db;
		snprintf(file, sizeof file, "%s/%s.stardust", argv[1], examples[i].name);
		db = open_objects(file);
		printf("== %s\n", examples[i].name);
		examples[i].run(db);
		OK(stardust_db_close(db));
	}
	EXPECT(stardust_live_handles() == 0);
	return 0;
}
