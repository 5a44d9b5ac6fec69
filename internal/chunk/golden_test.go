package chunk_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stardustdb/stardust/internal/chunk"
)

var rewrite = flag.Bool("rewrite", false, "write the golden vectors anew; then every file ever made stores its payloads twice")

const goldenFile = "testdata/cuts.txt"

// random returns n bytes that depend on the seed only.
func random(seed byte, n int) []byte {
	p := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(p)
	return p
}

func text(n int) []byte {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "line %d: the quick brown fox jumps over %x lazy dogs\n", i, int64(i)*int64(i))
	}
	return []byte(b.String()[:n])
}

// payloads are what the vectors are made of.
func payloads() []payload {
	list := []payload{
		{"empty", nil},
		{"zeros", make([]byte, 5<<20)},
		{"ones", bytesOf(0xff, 5<<20)},
		{"text", text(3 << 20)},
		{"period-4096", repeat(random(9, 4096), 5<<20)},
		{"stream-1", random(1, 8<<20)},
		{"stream-2", random(2, 5<<20+12345)},
	}
	for _, around := range []int{1, chunk.Min, chunk.Normal, chunk.Max, chunk.Min + chunk.Max} {
		for d := -1; d <= 1; d++ {
			list = append(list, payload{fmt.Sprintf("random-%d", around+d), random(3, around+d)})
			list = append(list, payload{fmt.Sprintf("zeros-%d", around+d), make([]byte, around+d)})
		}
	}
	edited := random(1, 8<<20)
	list = append(list, payload{
		"stream-1-with-4096-inserted",
		append(append(append([]byte{}, edited[:4<<20]...), random(4, 4096)...), edited[4<<20:]...),
	})
	return list
}

type payload struct {
	name string
	data []byte
}

func bytesOf(b byte, n int) []byte { return repeat([]byte{b}, n) }

func repeat(p []byte, n int) []byte {
	out := make([]byte, 0, n)
	for len(out) < n {
		out = append(out, p[:min(len(p), n-len(out))]...)
	}
	return out
}

// describe returns a line for a payload: every chunk's size and digest.
func describe(name string, chunks [][]byte) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", name)
	for _, c := range chunks {
		fmt.Fprintf(&b, " %d:%x", len(c), sha256.Sum256(c))
	}
	return b.String()
}

// cutAll cuts a payload that is all in memory.
func cutAll(data []byte) (chunks [][]byte) {
	for len(data) > 0 {
		n := chunk.Cut(data, true)
		chunks = append(chunks, data[:n])
		data = data[n:]
	}
	return chunks
}

func golden(t *testing.T) map[string]string {
	t.Helper()
	f, err := os.Open(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := make(map[string]string)
	for s := bufio.NewScanner(f); s.Scan(); {
		name, _, _ := strings.Cut(s.Text(), " ")
		lines[name] = s.Text()
	}
	return lines
}

// The cuts are the file format. If this test fails, find out what changed and
// undo it; do not rewrite the vectors.
func TestCutsStayWhereTheyAre(t *testing.T) {
	if *rewrite {
		var b strings.Builder
		for _, p := range payloads() {
			b.WriteString(describe(p.name, cutAll(p.data)) + "\n")
		}
		if err := os.WriteFile(goldenFile, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := golden(t)
	for _, p := range payloads() {
		if got := describe(p.name, cutAll(p.data)); got != want[p.name] {
			t.Errorf("%s is cut differently:\n got %s\nwant %s", p.name, got, want[p.name])
		}
	}
	if len(want) != len(payloads()) {
		t.Errorf("%d vectors, %d payloads", len(want), len(payloads()))
	}
}

func TestCutsDoNotDependOnTheSizesOfWrites(t *testing.T) {
	want := golden(t)
	for _, p := range payloads() {
		for _, w := range []struct{ size, buffer int }{
			{1, chunk.Max}, {65535, chunk.Max}, {1<<20 + 1, chunk.Max + 4097},
		} {
			if w.size == 1 && len(p.data) > chunk.Normal+1 && p.name != "stream-1" {
				continue // a byte at a time is slow
			}
			if got := describe(p.name, split(t, p.data, w.size, w.buffer)); got != want[p.name] {
				t.Errorf("%s in writes of %d with a buffer of %d:\n got %s\nwant %s", p.name, w.size, w.buffer, got, want[p.name])
			}
		}
	}
}

// split cuts data as a stream does that gets it in writes of size, into a window
// of buffer bytes.
func split(t *testing.T, data []byte, size, buffer int) (chunks [][]byte) {
	t.Helper()
	window := make([]byte, 0, buffer)
	for len(data) > 0 || len(window) > 0 {
		n := min(size, len(data), buffer-len(window))
		window, data = append(window, data[:n]...), data[n:]
		final := len(data) == 0
		if !final && len(window) < min(buffer, chunk.Worthwhile) {
			continue
		}
		rest := window
		for len(rest) > 0 {
			n := chunk.Cut(rest, final)
			if n == 0 {
				break
			}
			chunks = append(chunks, bytes.Clone(rest[:n]))
			rest = rest[n:]
		}
		if len(rest) == buffer {
			t.Fatalf("no cut in %d bytes", buffer)
		}
		window = append(window[:0], rest...)
	}
	return chunks
}
