package stardust

import (
	"testing"

	"github.com/stardustdb/stardust/internal/dust"
)

// fileDocument must not be inlined, or the compiler sees that the document is
// not kept and leaves it out.
//
//go:noinline
func fileDocument(entity int64, name, digest string) *Document {
	return newDocument(dust.NewObject(
		dust.Member{Name: "entity", Value: dust.NewInt(entity)},
		dust.Member{Name: "parent", Value: dust.NewInt(0)},
		dust.Member{Name: "revision", Value: dust.NewInt(entity + 1)},
		dust.Member{Name: "name", Value: dust.NewString(name)},
		dust.Member{Name: "kind", Value: dust.NewString("file")},
		dust.Member{Name: "size", Value: dust.NewInt(14)},
		dust.Member{Name: "digest", Value: dust.NewObject(
			dust.Member{Name: "#sha256", Value: dust.NewString(digest)},
		)},
	))
}

// BenchmarkRecordDocument is what a look-up pays for the document it returns,
// beyond the look-up.
func BenchmarkRecordDocument(b *testing.B) {
	const digest = "95e84da38cbefdf3f9f6ef02201074c73124f7cf2025d3e1d69e591a410856fb"
	b.ReportAllocs()
	for b.Loop() {
		if err := fileDocument(1, "hello.txt", digest).Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDocumentDecode(b *testing.B) {
	d, err := Parse([]byte(`{entity 1 parent 0 revision 2 name hello.txt kind file size 14}`), DUST)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		var record struct {
			Entity int64  `json:"entity"`
			Name   string `json:"name"`
			Size   int64  `json:"size"`
		}
		if err := d.Decode(&record); err != nil {
			b.Fatal(err)
		}
	}
}
