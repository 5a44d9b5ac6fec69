package storetest

import (
	"io"
	"testing"
	"time"

	"github.com/stardustdb/stardust/objectstore"
)

var getTests = []test{
	{"of a missing object is not found", func(e *env) {
		_, err := e.store.Get(e.ctx(), "no/such", nil)
		e.wantError(err, objectstore.ErrNotFound)
		_, err = e.store.Get(e.ctx(), "no/such", &objectstore.GetOptions{Head: true})
		e.wantError(err, objectstore.ErrNotFound)
		_, err = e.store.Get(e.ctx(), "no/such", &objectstore.GetOptions{Range: objectstore.Bounded(0, 1)})
		e.wantError(err, objectstore.ErrNotFound)
		_, err = e.store.Get(e.ctx(), "no/such", &objectstore.GetOptions{IfNoneMatch: "*"})
		e.wantError(err, objectstore.ErrNotFound)
	}},
	{"describes the object", func(e *env) {
		written := e.put("dir/object", "0123456789")
		whole, _ := e.get("dir/object", nil)
		head, _ := e.get("dir/object", &objectstore.GetOptions{Head: true})
		ranged, _ := e.get("dir/object", &objectstore.GetOptions{Range: objectstore.Bounded(2, 4)})
		for name, result := range map[string]*objectstore.GetResult{"get": whole, "head": head, "range": ranged} {
			meta := result.Meta
			if meta.Path != "dir/object" || meta.Size != 10 || meta.ETag != written.ETag || meta.ETag == "" {
				e.Errorf("%s: meta is %+v, put returned %+v", name, meta, written)
			}
			if meta.LastModified.IsZero() || !meta.LastModified.Equal(head.Meta.LastModified) {
				e.Errorf("%s: last modified %v, head says %v", name, meta.LastModified, head.Meta.LastModified)
			}
		}
		if whole.Start != 0 || whole.End != 10 {
			e.Errorf("whole object is [%d, %d)", whole.Start, whole.End)
		}
	}},
	{"returns the range asked for", testRanges},
	{"refuses a range beyond the end", func(e *env) {
		e.put("object", "0123456789")
		e.put("empty", "")
		for _, bad := range []struct {
			path  objectstore.Path
			bytes *objectstore.Range
		}{
			{"object", objectstore.Bounded(10, 11)},
			{"object", objectstore.Bounded(5, 5)},
			{"object", objectstore.Bounded(6, 5)},
			{"object", objectstore.Bounded(-1, 5)},
			{"object", objectstore.From(10)},
			{"object", objectstore.From(11)},
			{"object", objectstore.From(-1)},
			{"object", objectstore.Suffix(0)},
			{"object", objectstore.Suffix(-1)},
			{"empty", objectstore.Bounded(0, 1)},
			{"empty", objectstore.From(0)},
			{"empty", objectstore.Suffix(1)},
		} {
			result, err := e.store.Get(e.ctx(), bad.path, &objectstore.GetOptions{Range: bad.bytes})
			if err == nil {
				_ = result.Body.Close()
				e.Errorf("range %v of %q was not refused", bad.bytes, bad.path)
				continue
			}
			e.wantError(err, objectstore.ErrInvalidRange)
		}
	}},
	{"holds its conditions", testConditions},
	{"of an empty object is empty", func(e *env) {
		e.put("empty", "")
		e.holds("empty", "")
	}},
	{"has an ETag that changes with the object", func(e *env) {
		first := e.put("object", "one")
		second := e.put("object", "two")
		if first.ETag == second.ETag {
			e.Fatalf("both versions have ETag %q", first.ETag)
		}
	}},
	{"bodies close early without harm", func(e *env) {
		data := pattern(1, 3<<20)
		e.put("object", data)
		result, err := e.store.Get(e.ctx(), "object", nil)
		if err != nil {
			e.Fatal(err)
		}
		if _, err := result.Body.Read(make([]byte, 10)); err != nil {
			e.Fatal(err)
		}
		if err := result.Body.Close(); err != nil {
			e.Fatalf("close: %v", err)
		}
		e.holds("object", data)
	}},
	{"a reader keeps its version when the object is replaced", func(e *env) {
		old := pattern(1, 200_000)
		e.put("object", old)
		result, err := e.store.Get(e.ctx(), "object", nil)
		if err != nil {
			e.Fatal(err)
		}
		e.put("object", "new")
		got, err := io.ReadAll(result.Body)
		if string(got) != old && (err == nil || !e.mayFail(err)) {
			e.Fatalf("reader got %s, %v", brief(string(got)), err)
		}
		if err := result.Body.Close(); err != nil {
			e.Fatalf("close: %v", err)
		}
	}},
}

func testRanges(e *env) {
	const data = "0123456789"
	e.put("object", data)
	for _, c := range []struct {
		bytes      *objectstore.Range
		start, end int64
	}{
		{nil, 0, 10},
		{objectstore.Bounded(0, 10), 0, 10},
		{objectstore.Bounded(0, 1), 0, 1},
		{objectstore.Bounded(9, 10), 9, 10},
		{objectstore.Bounded(3, 7), 3, 7},
		{objectstore.Bounded(3, 1000), 3, 10},
		{objectstore.Bounded(0, 1<<62), 0, 10},
		{objectstore.From(0), 0, 10},
		{objectstore.From(9), 9, 10},
		{objectstore.Suffix(1), 9, 10},
		{objectstore.Suffix(10), 0, 10},
		{objectstore.Suffix(11), 0, 10},
		{objectstore.Suffix(1 << 62), 0, 10},
	} {
		result, got := e.get("object", &objectstore.GetOptions{Range: c.bytes})
		if got != data[c.start:c.end] || result.Start != c.start || result.End != c.end {
			e.Errorf("range %v is %q [%d, %d), want [%d, %d)", c.bytes, got, result.Start, result.End, c.start, c.end)
		}
		if result.Meta.Size != 10 {
			e.Errorf("range %v: size is %d, not that of the object", c.bytes, result.Meta.Size)
		}
	}
}

func testConditions(e *env) {
	etag := e.put("object", "0123456789").ETag
	head, _ := e.get("object", &objectstore.GetOptions{Head: true})
	modified := head.Meta.LastModified
	before, after := modified.Add(-time.Hour), modified.Add(time.Hour)

	for _, c := range []struct {
		name    string
		options objectstore.GetOptions
		want    error
	}{
		{"match", objectstore.GetOptions{IfMatch: etag}, nil},
		{"match in a list", objectstore.GetOptions{IfMatch: "other, " + etag}, nil},
		{"match any", objectstore.GetOptions{IfMatch: "*"}, nil},
		{"match other", objectstore.GetOptions{IfMatch: "other"}, objectstore.ErrPrecondition},
		{"none match", objectstore.GetOptions{IfNoneMatch: etag}, objectstore.ErrNotModified},
		{"none match in a list", objectstore.GetOptions{IfNoneMatch: "other, " + etag}, objectstore.ErrNotModified},
		{"none match any", objectstore.GetOptions{IfNoneMatch: "*"}, objectstore.ErrNotModified},
		{"none match other", objectstore.GetOptions{IfNoneMatch: "other"}, nil},
		{"modified since before", objectstore.GetOptions{IfModifiedSince: before}, nil},
		{"modified since itself", objectstore.GetOptions{IfModifiedSince: modified}, objectstore.ErrNotModified},
		{"unmodified since itself", objectstore.GetOptions{IfUnmodifiedSince: modified}, nil},
		{"unmodified since before", objectstore.GetOptions{IfUnmodifiedSince: before}, objectstore.ErrPrecondition},
		{"unmodified since after", objectstore.GetOptions{IfUnmodifiedSince: after}, nil},
		{"match takes precedence", objectstore.GetOptions{IfMatch: etag, IfUnmodifiedSince: before}, nil},
		{"none match takes precedence", objectstore.GetOptions{IfNoneMatch: "other", IfModifiedSince: modified}, nil},
		{"both", objectstore.GetOptions{IfMatch: etag, IfNoneMatch: etag}, objectstore.ErrNotModified},
		{"with a range", objectstore.GetOptions{IfMatch: etag, Range: objectstore.Suffix(3)}, nil},
		{"refused with a range", objectstore.GetOptions{IfMatch: "other", Range: objectstore.Suffix(3)}, objectstore.ErrPrecondition},
	} {
		for _, head := range []bool{false, true} {
			name := c.name
			if head {
				name += " head"
			}
			e.Run(name, func(t *testing.T) {
				e := &env{T: t, store: e.store, features: e.features}
				options := c.options
				options.Head = head
				if c.want == nil {
					e.get("object", &options)
					return
				}
				result, err := e.store.Get(e.ctx(), "object", &options)
				if err == nil && result.Body != nil {
					_ = result.Body.Close()
				}
				e.wantError(err, c.want)
			})
		}
	}
}
