// The examples of the objects specification in C++, and what the wrapper adds:
// exceptions, moves and callbacks. Argument: a directory with files in "in".
#include "stardust.hpp"

#include <cassert>
#include <functional>
#include <iostream>
#include <string>

using stardust::Database;
using stardust::Document;

static const std::string hello = "95e84da38cbefdf3f9f6ef02201074c73124f7cf2025d3e1d69e591a410856fb";
static const std::string revised = "2b6d3a4299dac5900171112d4fd569b48e54711d8937f6ff5ca00528d47afad2";

static void need(bool so, const char *what) {
	if (!so) {
		std::cerr << "not so: " << what << "\n";
		std::exit(1);
	}
}

static void show(const Document &document) { std::cout << document.indented() << "\n"; }

static Document publish(const Database &db, std::string_view text) {
	auto upload = db.upload();
	upload.write(text);
	return upload.finish();
}

static void wrapper(const std::string &dir) {
	Database db(dir + "/wrapper.stardust");
	try {
		db.call("get", "entity 77");
		need(false, "a missing entity throws");
	} catch (const stardust::Error &e) {
		need(e.status == STARDUST_NOT_FOUND && e.operation == "objects.get", "an error says what it is");
	}
	int calls = 0;
	stardust::Watch watch;
	watch.progress = [&](const stardust_progress &) { return ++calls > 0; };
	Document report = db.import_from(dir + "/in", 0, "workers 2", watch);
	need(calls > 0 && report.json().find("\"created\":20,") != std::string_view::npos, "an import tells its progress");
	watch.progress = [](const stardust_progress &) -> bool { throw std::string("mine"); };
	try {
		db.check_all(watch);
		need(false, "what a callback throws is passed on");
	} catch (const std::string &s) {
		need(s == "mine", "as it is");
	}
	auto before = db.snapshot();
	{
		auto hold = db.hold_writes();
		try {
			db.call("create", "[{name held}]");
			need(false, "a hold refuses writes");
		} catch (const stardust::Error &e) {
			need(e.code == "writes_held", "and says so");
		}
	}
	db.call("create", "[{name later}]");
	need(before.call("children", "parent 0").json().find("later") == std::string_view::npos, "a snapshot stands still");
	need(db.as_of(0).call("children", "parent 0").json() == "[]", "at first there was nothing");
	db.backup(dir + "/copy.stardust");
	db.export_to(0, dir + "/out");
	stardust::Cancel cancel;
	cancel.now();
	watch.progress = nullptr;
	watch.cancel = &cancel;
	try {
		db.check_all(watch);
		need(false, "a cancel handle stops a call");
	} catch (const stardust::Error &e) {
		need(e.status == STARDUST_CANCELED, "and the call says so");
	}
	Database moved = std::move(db);
	moved.close();
}

int main(int argc, char **argv) {
	if (argc != 2) return 2;
	const std::string dir = argv[1];
	const std::string named = "digest {#sha256 \"" + hello + "\"}";
	auto example = [&](const std::string &name, const std::function<void(const Database &)> &run) {
		Database db(dir + "/" + name + ".stardust");
		std::cout << "== " << name << "\n";
		run(db);
		db.close();
	};
	example("Get", [&](const Database &db) {
		publish(db, "Hello, objects");
		db.call("create", "[{name hello.txt " + named + "}]");
		show(db.call("get", "entity 1"));
	});
	example("Lookup", [&](const Database &db) {
		db.call("create", "[{name notes}]");
		show(db.call("lookup", "parent 0 name notes"));
	});
	example("Children", [&](const Database &db) {
		db.call("create", "[{name notes} {name drafts}]");
		show(db.call("children", "parent 0"));
	});
	example("Path", [&](const Database &db) {
		db.call("create", "[{name notes} {name drafts under 1}]");
		show(db.call("path", "entity 2"));
	});
	example("Files", [&](const Database &db) {
		publish(db, "Hello, objects");
		db.call("create", "[{name a.txt " + named + "} {name b.txt " + named + "}]");
		show(db.call("files", named));
	});
	example("Manifest", [&](const Database &db) {
		publish(db, "Hello, objects");
		show(db.call("manifest", named));
	});
	example("Create", [&](const Database &db) {
		publish(db, "Hello, objects");
		show(db.call("create", "[{name notes} {name hello.txt under 1 " + named + "}]"));
	});
	example("Update", [&](const Database &db) {
		publish(db, "Hello, objects");
		publish(db, "Revised notes");
		db.call("create", "[{name hello.txt " + named + "}]");
		show(db.call("update", "entity 1 digest \"" + revised + "\" expectedRevision 0"));
	});
	example("Move", [&](const Database &db) {
		db.call("create", "[{name notes} {name drafts}]");
		show(db.call("move", "entity 2 parent 1 name archive expectedRevision 0 replace false"));
	});
	example("Remove", [&](const Database &db) {
		db.call("create", "[{name drafts}]");
		db.call("remove", "entity 1 expectedRevision 0");
	});
	example("Upload", [&](const Database &db) { show(publish(db, "Hello, objects")); });
	example("Open", [&](const Database &db) {
		publish(db, "Hello, objects");
		auto reader = db.open(named);
		char data[7];
		reader.seek(7);
		std::cout << reader.read(data, sizeof data) << "\n";
		need(std::string(data, sizeof data) == "objects" && reader.size() == 14, "a reader reads");
	});
	wrapper(dir);
	need(stardust_live_handles() == 0, "everything is released");
	return 0;
}
