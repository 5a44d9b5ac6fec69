package azure

import (
	"strings"
	"testing"
)

func TestMetadataKeysOfEveryKindComeBack(t *testing.T) {
	for key, want := range map[string]string{
		"plain": "plain", "with_underscore": "with_underscore", "a1": "a1",
		"with-dash": "with_x2ddash", "1st": "_x31st", "a_x41": "a_x5fx41", "é": "_xc3_xa9", "a.b c": "a_x2eb_x20c", "_x": "_x5fx",
	} {
		got := escapeKey(key)
		if got != want {
			t.Errorf("%q is stored as %q, want %q", key, got, want)
		}
		if back := unescapeKey(strings.ToUpper(got[:1]) + got[1:]); back != key {
			t.Errorf("%q comes back as %q", key, back)
		}
	}
}

func TestMetadataKeysOfOthersStayAsTheyAre(t *testing.T) {
	for _, key := range []string{"_x", "_xg0", "a_x", "_x4", "name_"} {
		if got := unescapeKey(key); got != key {
			t.Errorf("%q is read as %q", key, got)
		}
	}
}

func FuzzMetadataKeysComeBack(f *testing.F) {
	f.Add("with-dash")
	f.Add("_x_x5f")
	f.Fuzz(func(t *testing.T, key string) {
		key = strings.ToLower(key)
		if strings.ToLower(key) != key {
			t.Skip("has no lower case")
		}
		if back := unescapeKey(escapeKey(key)); back != key {
			t.Fatalf("%q is stored as %q and comes back as %q", key, escapeKey(key), back)
		}
	})
}
