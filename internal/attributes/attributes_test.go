package attributes

import (
	"io/fs"
	"reflect"
	"testing"
	"time"
)

func TestWhatIsEncodedIsDecoded(t *testing.T) {
	f := File{
		Type: Symlink, MTime: time.Date(2026, 12, 2, 10, 15, 30, 123456789, time.UTC),
		Owner: &Owner{UID: 1000, GID: 0, User: "ada"}, Link: "8:1", Sparse: true,
		Xattrs: map[string][]byte{"user.x": {0, 255}},
	}
	f.SetMode(0o750 | fs.ModeSetuid | fs.ModeSticky)
	text, err := f.Encode()
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"type":"symlink","mode":"5750","mtime":"2026-12-02T10:15:30.123456789Z",` +
		`"owner":{"uid":1000,"gid":0,"user":"ada"},"xattrs":{"user.x":"AP8="},"link":"8:1","sparse":true}`
	if string(text) != want {
		t.Errorf("encoded as\n%s, want\n%s", text, want)
	}
	got, err := Decode(text)
	if err != nil || !reflect.DeepEqual(got, f) {
		t.Errorf("decoded as %+v, %v", got, err)
	}
	if m := got.FileMode(); m != 0o750|fs.ModeSetuid|fs.ModeSticky {
		t.Errorf("the mode is %v", m)
	}
	if text, err := new(File).Encode(); text != nil || err != nil {
		t.Errorf("nothing is encoded as %s, %v", text, err)
	}
}

func TestMalformedAttributesAreRefused(t *testing.T) {
	for _, text := range []string{``, `[]`, `{"mode":420}`, `{"mode":"98"}`, `{"mode":"10000"}`, `{"mtime":"yesterday"}`, `{"type":"door"}`, `{"xattrs":{"a":"?"}}`} {
		if f, err := Decode([]byte(text)); err == nil {
			t.Errorf("%s is decoded as %+v", text, f)
		}
	}
	if _, err := Decode([]byte(`{"later":1}`)); err != nil {
		t.Errorf("a member that is not known yet: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"mode":"0644","mtime":"2026-12-02T10:15:30.1+01:00","owner":{"uid":1,"gid":2}}`))
	f.Add([]byte(`{"xattrs":{"a":"AA=="},"link":"1:2"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		first, err := Decode(text)
		if err != nil {
			return
		}
		again, err := first.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if again == nil {
			return
		}
		if second, err := Decode(again); err != nil || !second.MTime.Equal(first.MTime) || second.Mode != first.Mode {
			t.Fatalf("%s is %+v, and encoded again %+v, %v", text, first, second, err)
		}
	})
}
