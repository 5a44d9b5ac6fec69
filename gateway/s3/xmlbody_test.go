package s3

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
)

// repeated is a document made while it is read: head, then body n times, then
// tail.
func repeated(head, body string, n int, tail string) io.Reader {
	readers := []io.Reader{strings.NewReader(head)}
	block := strings.Repeat(body, max(1, 4096/len(body)))
	for left := n * len(body); left > 0; left -= len(block) {
		readers = append(readers, strings.NewReader(block[:min(left, len(block))]))
	}
	return io.MultiReader(append(readers, strings.NewReader(tail))...)
}

func TestAHostileDocumentCostsLittleMemory(t *testing.T) {
	const size = 6 << 20
	for name, document := range map[string]func() io.Reader{
		"attributes": func() io.Reader { return repeated("<Delete ", `a="1" `, size/6, "></Delete>") },
		"attributes with angles": func() io.Reader {
			return repeated("<Delete ", `a=">" b='</Delete>' `, size/20, "></Delete>")
		},
		"one attribute": func() io.Reader { return repeated(`<Delete a="`, "x", size, `"></Delete>`) },
		"name":          func() io.Reader { return repeated("<", "x", size, "></Delete>") },
		"depth":         func() io.Reader { return repeated("<Delete>", "<a>", size/3, "") },
		"elements":      func() io.Reader { return repeated("<Delete>", "<a/>", size/4, "</Delete>") },
		"text":          func() io.Reader { return repeated("<Delete><Object><Key>", "x", size, "</Key></Object></Delete>") },
		"text outside":  func() io.Reader { return repeated("<Delete>", "x", size, "</Delete>") },
		"comment":       func() io.Reader { return repeated("<Delete><!--", "x", size, "--></Delete>") },
		"comments": func() io.Reader {
			return repeated("<Delete><Object><Key>", "x<!---->", size/8, "</Key></Object></Delete>")
		},
		"CDATA": func() io.Reader {
			return repeated("<Delete><Object><Key><![CDATA[", "x", size, "]]></Key></Object></Delete>")
		},
		"many CDATA": func() io.Reader {
			return repeated("<Delete><Object><Key>", "<![CDATA[<]]>", size/13, "</Key></Object></Delete>")
		},
		"instruction":     func() io.Reader { return repeated("<?x ", "x", size, "?><Delete/>") },
		"directive":       func() io.Reader { return repeated("<!DOCTYPE ", "x", size, "><Delete/>") },
		"entity":          func() io.Reader { return repeated("<Delete><Object><Key>&", "x", size, ";</Key></Object></Delete>") },
		"spaces":          func() io.Reader { return repeated("", " ", size, "<Delete/>") },
		"objects":         func() io.Reader { return repeated("<Delete>", "<Object><Key>x</Key></Object>", size/29, "</Delete>") },
		"unended comment": func() io.Reader { return repeated("<Delete><!--", "-", size, "") },
	} {
		count := 0
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := parseDocument(document(), "Delete", func(c xmlChild) error {
			if count++; count > maxDeletes {
				return errTooMany
			}
			var object struct{ Key string }
			return c.decode(&object)
		})
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
		// All that was ever allocated, so that what was in use at a time was less.
		// The reader itself takes some.
		if spent := after.TotalAlloc - before.TotalAlloc; spent > 1<<20 {
			t.Errorf("%s: %d KiB were allocated for %d MiB", name, spent>>10, size>>20)
		}
	}
}

func TestDocumentsAreReadWhateverTheirForm(t *testing.T) {
	for document, want := range map[string]string{
		`<Delete><Object><Key>a&amp;b</Key></Object></Delete>`: "a&b",
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- x > y -->\n<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\n <Object a='\"' b=\">\">\n  <Key>a b</Key>\n </Object>\n</Delete>\n": "a b",
		`<Delete><Object><Key><![CDATA[<a]] >]]></Key></Object></Delete>`:                       "<a]] >",
		`<s:Delete xmlns:s="x"><s:Object><s:Key>&#x10;</s:Key></s:Object></s:Delete>`:           "error",
		`<Delete><Object/><Object><Other/><Key>k<!-- --->y</Key></Object></Delete>`:             "error",
		`<Delete><Object><Key>k<!-- - -->y</Key><Key2/></Object></Delete>`:                      "ky",
		`<Delete><Object><Key>` + strings.Repeat("&#x4f;", 1024) + `</Key></Object></Delete>`:   strings.Repeat("O", 1024),
		`<Delete><Object><Key>` + strings.Repeat("&#x1F600;", 256) + `</Key></Object></Delete>`: strings.Repeat("😀", 256),
		`<Delete></Delete><Delete/>`:                                 "error",
		`<Delete><Object><Key>x</Key>`:                               "error",
		`<Other><Object><Key>x</Key></Other>`:                        "error",
		`<!DOCTYPE x><Delete><Object><Key>x</Key></Object></Delete>`: "error",
	} {
		got := ""
		err := parseDocument(strings.NewReader(document), "Delete", func(c xmlChild) error {
			var object struct{ Key string }
			err := c.decode(&object)
			got += object.Key
			return err
		})
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%.100s: %.50q, %v, want %.50q", document, got, err, want)
		}
	}
}

func TestTheGreatestDocumentsAreRead(t *testing.T) {
	var b strings.Builder
	b.WriteString("<CompleteMultipartUpload>")
	for i := range 10_000 {
		fmt.Fprintf(&b, "\n  <Part>\n    <PartNumber>%d</PartNumber>\n    <ETag>&quot;d41d8cd98f00b204e9800998ecf8427e&quot;</ETag>\n"+
			"    <ChecksumSHA256>47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=</ChecksumSHA256>\n  </Part>", i+1)
	}
	b.WriteString("</CompleteMultipartUpload>")
	count := 0
	err := parseDocument(strings.NewReader(b.String()), "CompleteMultipartUpload", func(c xmlChild) error {
		count++
		var part struct{ PartNumber, ETag, ChecksumSHA256 string }
		return c.decode(&part)
	})
	if err != nil || count != 10_000 {
		t.Fatalf("%d parts, %v", count, err)
	}
}
