package storetest

import (
	"reflect"

	"github.com/stardustdb/stardust/objectstore"
)

var multipartTests = []test{
	{"joins parts of any order by number", func(e *env) {
		size := e.partSize()
		one, two, last := pattern(1, size), pattern(2, size+1), pattern(3, 17)
		upload := e.begin("dir/object", nil)
		e.part(upload, 10, last)
		e.part(upload, 2, one)
		e.missing("dir/object")
		e.part(upload, 5, two)
		if got := e.list(nil); len(got) > 0 {
			e.Fatalf("an upload in progress is listed: %q", got)
		}
		result := e.complete(upload)
		e.holds("dir/object", one+two+last)
		if head, _ := e.get("dir/object", &objectstore.GetOptions{Head: true}); head.Meta.ETag != result.ETag || result.ETag == "" {
			e.Errorf("complete says ETag %q, head %q", result.ETag, head.Meta.ETag)
		}
	}},
	{"keeps the later of two parts of one number", func(e *env) {
		size := e.partSize()
		upload := e.begin("object", nil)
		e.part(upload, 1, pattern(1, size))
		e.part(upload, 2, "end")
		e.part(upload, 1, pattern(9, size))
		e.complete(upload)
		e.holds("object", pattern(9, size)+"end")
	}},
	{"without parts makes an empty object", func(e *env) {
		e.complete(e.begin("object", nil))
		e.holds("object", "")
	}},
	{"takes bodies of every form", func(e *env) {
		data := pattern(1, e.partSize())
		for name, body := range forms(data) {
			upload := e.begin("object", nil)
			if err := upload.PutPart(e.ctx(), 1, body); err != nil {
				e.Fatalf("%s: %v", name, err)
			}
			e.part(upload, 2, "end")
			e.complete(upload)
			e.holds("object", data+"end")
		}
	}},
	{"survives a part that failed", func(e *env) {
		data := pattern(1, e.partSize())
		upload := e.begin("object", nil)
		for name, body := range broken(data) {
			if err := upload.PutPart(e.ctx(), 1, body); err == nil {
				e.Fatalf("a part that %s was taken", name)
			}
		}
		e.part(upload, 1, data)
		e.complete(upload)
		e.holds("object", data)
	}},
	{"refuses part numbers out of range", func(e *env) {
		upload := e.begin("object", nil)
		for _, number := range []int{0, -1, 10001} {
			e.wantError(upload.PutPart(e.ctx(), number, objectstore.Bytes([]byte("x"))), objectstore.ErrInvalidOption)
		}
		e.abort(upload)
	}},
	{"aborted leaves nothing", func(e *env) {
		e.put("object", "old")
		upload := e.begin("object", nil)
		e.part(upload, 1, "new")
		e.abort(upload)
		e.holds("object", "old")
		if _, err := upload.Complete(e.ctx()); err == nil && !e.features.LooseUploads {
			e.Fatal("complete after abort succeeded")
		}
		e.holds("object", "old")
	}},
	{"can be aborted after it completed, to no effect", func(e *env) {
		upload := e.begin("object", nil)
		e.part(upload, 1, "data")
		e.complete(upload)
		e.abort(upload)
		e.holds("object", "data")
	}},
	{"keeps attributes", func(e *env) {
		want := objectstore.Attributes{
			ContentType: "text/x-test", ContentLanguage: "fr", CacheControl: "no-cache", ContentDisposition: "inline",
			ContentEncoding: "identity", Metadata: map[string]string{"key": "value"},
		}
		upload := e.begin("object", &objectstore.MultipartOptions{Attributes: want})
		e.part(upload, 1, "data")
		e.complete(upload)
		if result, _ := e.get("object", nil); !reflect.DeepEqual(result.Attributes, want) {
			e.Fatalf("attributes are %+v, want %+v", result.Attributes, want)
		}
	}},
	{"holds Create when it completes", func(e *env) {
		create := &objectstore.MultipartOptions{Mode: objectstore.Create}
		upload := e.begin("object", create)
		e.part(upload, 1, "multipart")
		e.put("object", "came between")
		_, err := upload.Complete(e.ctx())
		e.wantError(err, objectstore.ErrAlreadyExists)
		e.holds("object", "came between")
		e.abort(upload)
		if err := e.store.Delete(e.ctx(), "object"); err != nil {
			e.Fatal(err)
		}
		upload = e.begin("object", create)
		e.part(upload, 1, "multipart")
		e.complete(upload)
		e.holds("object", "multipart")
	}},
	{"holds Update when it completes", func(e *env) {
		etag := e.put("object", "first").ETag
		update := func(etag string) *objectstore.MultipartOptions {
			return &objectstore.MultipartOptions{Mode: objectstore.Update, UpdateVersion: objectstore.UpdateVersion{ETag: etag}}
		}
		upload := e.begin("object", update(etag))
		e.part(upload, 1, "multipart")
		result := e.complete(upload)
		e.holds("object", "multipart")

		stale := e.begin("object", update(etag))
		e.part(stale, 1, "stale")
		_, err := stale.Complete(e.ctx())
		e.wantError(err, objectstore.ErrPrecondition)
		e.holds("object", "multipart")
		e.abort(stale)

		upload = e.begin("object", update(result.ETag))
		e.part(upload, 1, "again")
		if err := e.store.Delete(e.ctx(), "object"); err != nil {
			e.Fatal(err)
		}
		_, err = upload.Complete(e.ctx())
		e.wantError(err, objectstore.ErrPrecondition)
		e.missing("object")
		e.abort(upload)
	}},
	{"refuses options that cannot be", func(e *env) {
		for _, options := range []objectstore.MultipartOptions{{Mode: objectstore.Update}, {Mode: 99}} {
			_, err := e.store.PutMultipart(e.ctx(), "object", &options)
			e.wantError(err, objectstore.ErrInvalidOption)
		}
	}},
}

func (e *env) begin(path objectstore.Path, options *objectstore.MultipartOptions) objectstore.Upload {
	e.Helper()
	upload, err := e.store.PutMultipart(e.ctx(), path, options)
	if err != nil {
		e.Fatalf("put multipart %q: %v", path, err)
	}
	return upload
}

func (e *env) part(upload objectstore.Upload, number int, data string) {
	e.Helper()
	if err := upload.PutPart(e.ctx(), number, objectstore.Bytes([]byte(data))); err != nil {
		e.Fatalf("part %d: %v", number, err)
	}
}

func (e *env) complete(upload objectstore.Upload) *objectstore.PutResult {
	e.Helper()
	result, err := upload.Complete(e.ctx())
	if err != nil {
		e.Fatalf("complete: %v", err)
	}
	return result
}

func (e *env) abort(upload objectstore.Upload) {
	e.Helper()
	if err := upload.Abort(e.ctx()); err != nil {
		e.Fatalf("abort: %v", err)
	}
}
