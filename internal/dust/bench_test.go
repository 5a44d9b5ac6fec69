package dust_test

import (
	"strings"
	"testing"

	"github.com/stardustdb/stardust/internal/dust"
)

const digest = "95e84da38cbefdf3f9f6ef02201074c73124f7cf2025d3e1d69e591a410856fb"

// record builds what the database returns for a file.
func record(entity int64, name, digest string) dust.Value {
	return dust.NewObject(
		dust.Member{Name: "entity", Value: dust.NewInt(entity)},
		dust.Member{Name: "parent", Value: dust.NewInt(0)},
		dust.Member{Name: "revision", Value: dust.NewInt(entity + 1)},
		dust.Member{Name: "name", Value: dust.NewString(name)},
		dust.Member{Name: "kind", Value: dust.NewString("file")},
		dust.Member{Name: "size", Value: dust.NewInt(14)},
		dust.Member{Name: "digest", Value: dust.NewObject(dust.Member{Name: "#sha256", Value: dust.NewString(digest)})},
	)
}

func BenchmarkBuildRecord(b *testing.B) {
	b.ReportAllocs()
	var kept dust.Value
	for b.Loop() {
		kept = record(1, "hello.txt", digest)
	}
	_ = kept
}

func BenchmarkPrintRecord(b *testing.B) {
	v := record(1, "hello.txt", digest)
	for name, print := range map[string]func([]byte, dust.Value) []byte{
		"JSON": dust.AppendJSON, "Indented": dust.AppendIndented, "DUST": dust.AppendDUST,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var buffer []byte
			for b.Loop() {
				buffer = print(buffer[:0], v)
			}
			b.SetBytes(int64(len(buffer)))
		})
	}
}

func BenchmarkParse(b *testing.B) {
	one := record(1, "hello.txt", digest)
	many := make([]dust.Value, 4096)
	for i := range many {
		many[i] = one
	}
	for name, text := range map[string][]byte{
		"DUST/record":      dust.AppendDUST(nil, one),
		"JSON/record":      dust.AppendJSON(nil, one),
		"DUST/4096records": dust.AppendDUST(nil, dust.NewArray(many...)),
		"JSON/4096records": dust.AppendJSON(nil, dust.NewArray(many...)),
		"JSON/text":        []byte(`"` + strings.Repeat("x", 1<<20) + `"`),
	} {
		format := dust.DUST
		if strings.HasPrefix(name, "JSON") {
			format = dust.JSON
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := dust.Parse(text, format); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
