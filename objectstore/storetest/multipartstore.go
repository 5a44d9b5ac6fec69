package storetest

import (
	"slices"

	"github.com/stardustdb/stardust/objectstore"
)

// multipartStoreTests are skipped on stores without the optional interface.
var multipartStoreTests = []test{
	{"lists uploads and parts", func(e *env) {
		s := e.multipartStore()
		data := pattern(1, e.partSize())
		first := e.create(s, "a/1")
		second := e.create(s, "a/1")
		other := e.create(s, "b/1")
		var paths []string
		ids := map[string]bool{}
		for upload, err := range s.ListMultiparts(e.ctx(), "a/") {
			if err != nil {
				e.Fatal(err)
			}
			paths = append(paths, string(upload.Path))
			ids[upload.ID] = true
		}
		if !slices.Equal(paths, []string{"a/1", "a/1"}) || !ids[first] || !ids[second] || first == second {
			e.Fatalf("listed %q %v, want twice a/1 as %q and %q", paths, ids, first, second)
		}
		want := []objectstore.Part{e.uploadPart(s, "a/1", first, 7, "end"), e.uploadPart(s, "a/1", first, 2, data)}
		slices.Reverse(want)
		var got []objectstore.Part
		for part, err := range s.ListParts(e.ctx(), "a/1", first) {
			if err != nil {
				e.Fatal(err)
			}
			got = append(got, part)
		}
		if len(got) != 2 || got[0].Number != 2 || got[1].Number != 7 || got[0].ETag != want[0].ETag || got[1].ETag != want[1].ETag ||
			got[0].Size != int64(len(data)) || got[1].Size != 3 {
			e.Fatalf("listed parts %+v, want %+v", got, want)
		}
		if _, err := s.CompleteMultipart(e.ctx(), "a/1", first, want, nil); err != nil {
			e.Fatal(err)
		}
		e.holds("a/1", data+"end")
		for path, id := range map[objectstore.Path]string{"a/1": second, "b/1": other} {
			if err := s.AbortMultipart(e.ctx(), path, id); err != nil {
				e.Fatal(err)
			}
		}
		for upload, err := range s.ListMultiparts(e.ctx(), "") {
			e.Fatalf("left: %+v, %v", upload, err)
		}
		e.holds("a/1", data+"end")
	}},
	{"refuses parts that are not as uploaded", func(e *env) {
		s := e.multipartStore()
		data := pattern(1, e.partSize())
		id := e.create(s, "object")
		one, two := e.uploadPart(s, "object", id, 1, data), e.uploadPart(s, "object", id, 2, "end")
		altered, missing := one, two
		altered.ETag = two.ETag
		missing.Number = 3
		for name, parts := range map[string][]objectstore.Part{
			"out of order": {two, one}, "altered": {altered, two}, "missing": {one, missing}, "twice": {one, one}, "none": {},
		} {
			_, err := s.CompleteMultipart(e.ctx(), "object", id, parts, nil)
			if err == nil {
				e.Fatalf("parts %s were taken", name)
			}
			e.wantError(err, objectstore.ErrInvalidPart)
			e.missing("object")
		}
		if _, err := s.CompleteMultipart(e.ctx(), "object", id, []objectstore.Part{one}, nil); err != nil {
			e.Fatalf("with a part left out: %v", err)
		}
		e.holds("object", data)
	}},
	{"refuses parts under the minimum", func(e *env) {
		if e.features.MinPartSize == 0 {
			e.Skip("the store has no minimum")
		}
		s := e.multipartStore()
		id := e.create(s, "object")
		parts := []objectstore.Part{e.uploadPart(s, "object", id, 1, "small"), e.uploadPart(s, "object", id, 2, "end")}
		_, err := s.CompleteMultipart(e.ctx(), "object", id, parts, nil)
		e.wantError(err, objectstore.ErrInvalidPart)
		e.missing("object")
	}},
	{"does not know uploads of another path", func(e *env) {
		s := e.multipartStore()
		if e.features.LooseUploads {
			e.Skip("excused")
		}
		id := e.create(s, "object")
		part := e.uploadPart(s, "object", id, 1, "x")
		for _, c := range []struct {
			path objectstore.Path
			id   string
		}{{"other", id}, {"object", "unknown"}, {"object", "../" + id}, {"object", ""}} {
			_, err := s.UploadPart(e.ctx(), c.path, c.id, 1, objectstore.Bytes([]byte("y")))
			e.wantError(err, objectstore.ErrUploadNotFound)
			_, err = s.CompleteMultipart(e.ctx(), c.path, c.id, []objectstore.Part{part}, nil)
			e.wantError(err, objectstore.ErrUploadNotFound)
			e.wantError(s.AbortMultipart(e.ctx(), c.path, c.id), objectstore.ErrUploadNotFound)
			for _, err := range s.ListParts(e.ctx(), c.path, c.id) {
				e.wantError(err, objectstore.ErrUploadNotFound)
			}
		}
		if _, err := s.CompleteMultipart(e.ctx(), "object", id, []objectstore.Part{part}, nil); err != nil {
			e.Fatal(err)
		}
		_, err := s.CompleteMultipart(e.ctx(), "object", id, []objectstore.Part{part}, nil)
		e.wantError(err, objectstore.ErrUploadNotFound)
	}},
	{"conditions are those given to complete", func(e *env) {
		s := e.multipartStore()
		etag := e.put("object", "old").ETag
		id := e.create(s, "object")
		parts := []objectstore.Part{e.uploadPart(s, "object", id, 1, "new")}
		_, err := s.CompleteMultipart(e.ctx(), "object", id, parts, &objectstore.CompleteOptions{Mode: objectstore.Create})
		e.wantError(err, objectstore.ErrAlreadyExists)
		_, err = s.CompleteMultipart(e.ctx(), "object", id, parts, &objectstore.CompleteOptions{
			Mode: objectstore.Update, UpdateVersion: objectstore.UpdateVersion{ETag: "other"},
		})
		e.wantError(err, objectstore.ErrPrecondition)
		e.holds("object", "old")
		_, err = s.CompleteMultipart(e.ctx(), "object", id, parts, &objectstore.CompleteOptions{
			Mode: objectstore.Update, UpdateVersion: objectstore.UpdateVersion{ETag: etag},
		})
		if err != nil {
			e.Fatal(err)
		}
		e.holds("object", "new")
	}},
}

func (e *env) multipartStore() objectstore.MultipartStore {
	e.Helper()
	s, ok := e.store.(objectstore.MultipartStore)
	if !ok {
		e.Skip("the store is no MultipartStore")
	}
	return s
}

func (e *env) create(s objectstore.MultipartStore, path objectstore.Path) string {
	e.Helper()
	id, err := s.CreateMultipart(e.ctx(), path, nil)
	if err != nil {
		e.Fatalf("create multipart %q: %v", path, err)
	}
	return id
}

func (e *env) uploadPart(s objectstore.MultipartStore, path objectstore.Path, id string, number int, data string) objectstore.Part {
	e.Helper()
	part, err := s.UploadPart(e.ctx(), path, id, number, objectstore.Bytes([]byte(data)))
	if err != nil {
		e.Fatalf("upload part %d of %q: %v", number, path, err)
	}
	if part.Number != number || part.ETag == "" {
		e.Fatalf("uploaded part %d is %+v", number, part)
	}
	return part
}
