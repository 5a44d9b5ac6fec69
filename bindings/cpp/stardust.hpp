// stardust.hpp - the Stardust C library for C++17, in one header.
//
// Every class owns one handle of stardust.h, can be moved and not copied, and
// ends the handle when it goes. Calls that fail throw stardust::Error. What the C
// header says of threads and lifetimes holds here, too; an object of a class is
// used by one thread at a time, as a std::string is, unless its calls are const.
#ifndef STARDUST_HPP
#define STARDUST_HPP

#include <stardust.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace stardust {

// Error is what went wrong.
class Error : public std::runtime_error {
public:
	Error(const stardust_error &e)
	    : std::runtime_error(e.message), status(e.status), code(e.code), operation(e.operation) {}

	stardust_status status;
	std::string code;      // such as "name_taken", or empty
	std::string operation; // such as "objects.create"
};

// Handle owns a handle and ends it with End.
template <typename T, stardust_status (*End)(T)>
class Handle {
public:
	Handle() = default;
	explicit Handle(T handle) : handle_(handle) {}
	Handle(Handle &&other) noexcept : handle_(std::exchange(other.handle_, 0)) {}
	Handle &operator=(Handle &&other) noexcept {
		std::swap(handle_, other.handle_);
		return *this;
	}
	Handle(const Handle &) = delete;
	Handle &operator=(const Handle &) = delete;
	~Handle() { end(); }

	// get returns the handle for calls of the C library.
	T get() const { return handle_; }
	// out returns where a C call may put a new handle.
	T *out() {
		end();
		return &handle_;
	}
	// end ends the handle now.
	void end() noexcept {
		if (T handle = std::exchange(handle_, 0)) End(handle);
	}
	explicit operator bool() const { return handle_ != 0; }

private:
	T handle_ = 0;
};

// check throws when a call failed, and returns its document, if it has one.
inline stardust_document check(stardust_result result) {
	if (result == 0) return 0;
	Handle<stardust_result, stardust_result_release> owned(result);
	stardust_error error;
	if (stardust_result_error(result, &error) != STARDUST_OK) throw Error(error);
	return stardust_result_take_document(result);
}

// Document is an immutable value.
class Document {
public:
	Document() = default; // none
	explicit Document(stardust_document handle) : handle_(handle) {}
	// Of DUST, or JSON, which every DUST reader reads.
	Document(std::string_view text) { check(stardust_document_parse(text.data(), text.size(), STARDUST_DUST, handle_.out())); }
	Document(const char *text) : Document(std::string_view(text)) {}
	Document(const std::string &text) : Document(std::string_view(text)) {}

	// The views last as long as the document.
	std::string_view dust() const { return text(STARDUST_DUST); }
	std::string_view json() const { return text(STARDUST_JSON); }
	std::string_view indented() const { return text(STARDUST_JSON_INDENTED); }

	stardust_document get() const { return handle_.get(); }

private:
	std::string_view text(stardust_format format) const {
		const char *text;
		size_t length;
		check(stardust_document_text(get(), format, &text, &length));
		return {text, length};
	}
	Handle<stardust_document, stardust_document_release> handle_;
};

// Stream is an upload or a reader.
class Stream {
public:
	explicit Stream(stardust_stream handle) : handle_(handle) {}

	void write(std::string_view bytes) { check(stardust_stream_write(get(), bytes.data(), bytes.size())); }
	// finish publishes what was written.
	Document finish() { return Document(check(stardust_stream_finish(get()))); }
	// read returns how many bytes came; fewer than length only at the end.
	size_t read(void *buffer, size_t length) {
		size_t count = 0;
		check(stardust_stream_read(get(), buffer, length, &count));
		return count;
	}
	size_t read_at(void *buffer, size_t length, int64_t offset) const {
		size_t count = 0;
		check(stardust_stream_read_at(get(), buffer, length, offset, &count));
		return count;
	}
	int64_t seek(int64_t offset, stardust_whence whence = STARDUST_SEEK_START) {
		int64_t position = 0;
		check(stardust_stream_seek(get(), offset, whence, &position));
		return position;
	}
	int64_t size() const {
		int64_t size = 0;
		check(stardust_stream_size(get(), &size));
		return size;
	}
	stardust_stream get() const { return handle_.get(); }

private:
	Handle<stardust_stream, stardust_stream_close> handle_;
};

// Cancel stops calls from another thread.
class Cancel {
public:
	Cancel() : handle_(stardust_cancel_new()) {}
	void now() const { stardust_cancel_now(handle_.get()); }
	stardust_cancel get() const { return handle_.get(); }

private:
	Handle<stardust_cancel, stardust_cancel_release> handle_;
};

// Watch follows a long call. Its functions run on the calling thread; to return
// false stops the call, and so does to throw, which the call passes on.
struct Watch {
	std::function<bool(const stardust_progress &)> progress;
	std::function<bool(std::string_view path, bool skipped, const Error &)> problem;
	const Cancel *cancel = nullptr;
};

// Watching is a Watch as C sees it, for the time of one call.
class Watching {
public:
	explicit Watching(const Watch &watch) : watch_(watch) {
		if (watch.progress) c_.progress = on_progress;
		if (watch.problem) c_.problem = on_problem;
		c_.context = this;
		if (watch.cancel != nullptr) c_.cancel = watch.cancel->get();
	}
	Document run(const std::function<stardust_result(const stardust_watch *)> &call) {
		stardust_result result = call(&c_);
		if (thrown_) {
			stardust_result_release(result);
			std::rethrow_exception(thrown_);
		}
		return Document(check(result));
	}

private:
	template <typename F>
	int guarded(F f) noexcept {
		try {
			return f() ? 0 : 1;
		} catch (...) {
			thrown_ = std::current_exception();
			return 1;
		}
	}
	static int on_progress(void *context, const stardust_progress *now) {
		auto *self = static_cast<Watching *>(context);
		return self->guarded([&] { return self->watch_.progress(*now); });
	}
	static int on_problem(void *context, const char *path, int skipped, const stardust_error *error) {
		auto *self = static_cast<Watching *>(context);
		return self->guarded([&] { return self->watch_.problem(path, skipped != 0, Error(*error)); });
	}
	const Watch &watch_;
	stardust_watch c_{};
	std::exception_ptr thrown_;
};

// Snapshot is the tree at a revision.
class Snapshot {
public:
	explicit Snapshot(stardust_snapshot handle) : handle_(handle) {}
	int64_t revision() const {
		int64_t revision = 0;
		check(stardust_snapshot_revision(get(), &revision));
		return revision;
	}
	Document call(const char *operation, const Document &request) const {
		return Document(check(stardust_snapshot_plugin_call(get(), "objects", operation, request.get())));
	}
	Document export_to(int64_t entity, const std::string &to, const Document &options = {}, const Watch &watch = {}) const {
		return Watching(watch).run([&](auto *w) { return stardust_snapshot_export(get(), entity, to.c_str(), options.get(), w); });
	}
	stardust_snapshot get() const { return handle_.get(); }

private:
	Handle<stardust_snapshot, stardust_snapshot_release> handle_;
};

// Hold refuses all writes while it is there.
using Hold = Handle<stardust_hold, stardust_hold_release>;

// Database is an open database. All its calls but close may run at once.
class Database {
public:
	explicit Database(const std::string &path, const Document &options = "plugins {objects {}}") {
		check(stardust_db_open(path.c_str(), options.get(), &handle_));
	}
	Database(Database &&other) noexcept : handle_(std::exchange(other.handle_, 0)) {}
	Database &operator=(Database &&other) noexcept {
		std::swap(handle_, other.handle_);
		return *this;
	}
	// Use close to learn whether all went well.
	~Database() {
		if (handle_ != 0) stardust_result_release(stardust_db_close(handle_));
	}
	void close() { check(stardust_db_close(std::exchange(handle_, 0))); }

	// call runs an operation of the objects plugin.
	Document call(const char *operation, const Document &request) const {
		return Document(check(stardust_db_plugin_call(handle_, "objects", operation, request.get())));
	}
	Stream upload() const { return stream("upload", {}); }
	Stream open(const Document &request) const { return stream("open", request); }
	Document info() const { return Document(check(stardust_db_info(handle_))); }
	Hold hold_writes() const {
		Hold hold;
		check(stardust_db_hold_writes(handle_, 0, hold.out()));
		return hold;
	}
	Snapshot as_of(int64_t revision) const {
		stardust_snapshot snapshot = 0;
		check(stardust_db_as_of(handle_, revision, &snapshot));
		return Snapshot(snapshot);
	}
	Snapshot snapshot() const {
		stardust_snapshot snapshot = 0;
		check(stardust_db_snapshot(handle_, &snapshot));
		return Snapshot(snapshot);
	}
	void backup(const std::string &path, const Watch &watch = {}) const {
		Watching(watch).run([&](auto *w) { return stardust_db_backup(handle_, path.c_str(), w); });
	}
	Document check_all(const Watch &watch = {}) const {
		return Watching(watch).run([&](auto *w) { return stardust_db_check(handle_, w); });
	}
	Document import_from(const std::string &from, int64_t into = 0, const Document &options = {}, const Watch &watch = {}) const {
		return Watching(watch).run([&](auto *w) { return stardust_db_import(handle_, from.c_str(), into, options.get(), w); });
	}
	Document export_to(int64_t entity, const std::string &to, const Document &options = {}, const Watch &watch = {}) const {
		return Watching(watch).run([&](auto *w) { return stardust_db_export(handle_, entity, to.c_str(), options.get(), w); });
	}
	stardust_db get() const { return handle_; }

private:
	Stream stream(const char *operation, const Document &request) const {
		stardust_stream stream = 0;
		check(stardust_db_plugin_stream_open(handle_, "objects", operation, request.get(), &stream));
		return Stream(stream);
	}
	stardust_db handle_ = 0;
};

} // namespace stardust

#endif
