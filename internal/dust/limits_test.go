package dust_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stardustdb/stardust/internal/dust"
)

// MaxDepth containers are accepted, however they nest, and one more is not.
func TestDepthIsLimitedExactly(t *testing.T) {
	n := dust.MaxDepth
	nested := map[string]func(n int) string{
		"arrays":  func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) },
		"objects": func(n int) string { return strings.Repeat(`{"a":`, n-1) + "{}" + strings.Repeat("}", n-1) },
		"siblings": func(n int) string {
			return strings.Repeat(`[{},[],`, n-1) + "[]" + strings.Repeat("]", n-1)
		},
	}
	for name, text := range nested {
		for _, format := range []dust.Format{dust.DUST, dust.JSON} {
			v := parse(t, text(n), format)
			parse(t, string(dust.AppendJSON(nil, v)), format)
			if _, err := dust.Parse([]byte(text(n+1)), format); err == nil {
				t.Errorf("%d %s within each other were accepted", n+1, name)
			}
		}
	}
	bare := func(n int) string { return strings.Repeat("a{", n-1) + strings.Repeat("}", n-1) }
	parse(t, bare(n), dust.DUST)
	if _, err := dust.Parse([]byte(bare(n+1)), dust.DUST); err == nil {
		t.Error("the object without braces does not count")
	}
}

// Ten megabytes are read, or refused, and what is allocated for them is bounded
// by a small multiple.
func TestLargeTextsTakeMemoryInProportion(t *testing.T) {
	const size, part = 10 << 20, 2 << 20 // the latter where the race detector is slow
	var members strings.Builder
	for i := 0; members.Len() < part; i++ {
		members.WriteString("k" + strconv.Itoa(i) + ":1,")
	}
	many := strings.Repeat("{a b},", part/6)
	for name, c := range map[string]struct {
		text  string
		valid bool
		times uint64 // how many bytes may be allocated for each of the text
	}{
		"one string":         {`"` + strings.Repeat("x", size) + `"`, true, 3},
		"one escaped string": {`"` + strings.Repeat(`\n`, size/2) + `"`, true, 8},
		"one word":           {strings.Repeat("x", size), true, 3},
		"one number":         {strings.Repeat("9", size), true, 3},
		"white space":        {strings.Repeat(" ", size) + "1", true, 3},
		"small items":        {"[" + strings.Repeat("1,", size/2) + "]", true, 120},
		"small objects":      {"[" + many + "]", true, 80},
		"members":            {members.String(), true, 80},
		"open brackets":      {strings.Repeat("[", size), false, 3},
		"open objects":       {strings.Repeat("{a", size/2), false, 3},
		"no separators":      {strings.Repeat(`"a"`, size/3), false, 3},
		"an error at last":   {"[" + strings.Repeat("1\n", part/2) + ":", false, 120},
	} {
		data := []byte(c.text)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := dust.Parse(data, dust.DUST)
		runtime.ReadMemStats(&after)
		if (err == nil) != c.valid {
			t.Errorf("%s: error %v", name, err)
		}
		used := (after.TotalAlloc - before.TotalAlloc) / uint64(len(data))
		t.Logf("%s: %d bytes allocated for each byte", name, used)
		if used > c.times {
			t.Errorf("%s: %d bytes allocated for each of the text, want at most %d", name, used, c.times)
		}
	}
}

// A repeated key is found in an object of any size.
func TestDuplicateKeysAreFoundAtEverySize(t *testing.T) {
	for _, n := range []int{1, 2, 15, 16, 17, 18, 100, 5000} {
		var text strings.Builder
		for i := range n {
			text.WriteString("k" + strconv.Itoa(i) + " {k0 1} ")
		}
		parse(t, text.String(), dust.DUST)
		for _, again := range []int{0, n / 2, n - 1} {
			_, err := dust.Parse([]byte(text.String()+"k"+strconv.Itoa(again)+" 2"), dust.DUST)
			if err == nil || !strings.Contains(err.Error(), "appears twice") {
				t.Errorf("key %d of %d again: %v", again, n, err)
			}
		}
	}
}
