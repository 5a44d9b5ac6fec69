package main

import (
	"testing"

	"github.com/stardustdb/stardust"
)

func TestSizesOfFind(t *testing.T) {
	for _, test := range []struct {
		text  string
		order int
		bytes int64
		bad   bool
	}{
		{text: ""},
		{text: "0"},
		{text: "100", bytes: 100},
		{text: "+1K", order: 1, bytes: 1 << 10},
		{text: "-2m", order: -1, bytes: 2 << 20},
		{text: "3G", bytes: 3 << 30},
		{text: "+4T", order: 1, bytes: 4 << 40},
		{text: "9223372036854775807", bytes: 1<<63 - 1},
		{text: "8388607T", bytes: 8388607 << 40},
		{text: "8388608T", bad: true},
		{text: "9223372036854775808", bad: true},
		{text: "+", bad: true},
		{text: "K", bad: true},
		{text: "-K", bad: true},
		{text: "--1", bad: true},
		{text: "1.5M", bad: true},
		{text: "1KB", bad: true},
		{text: "1k ", bad: true},
		{text: "1\x0b", bad: true},
	} {
		c := conditions{size: test.text}
		err := c.check()
		if (err != nil) != test.bad {
			t.Errorf("%q: %v", test.text, err)
		}
		if err == nil && (c.order != test.order || c.bytes != test.bytes) {
			t.Errorf("%q means %d, %d", test.text, c.order, c.bytes)
		}
	}
}

func TestFindNeedsEveryCondition(t *testing.T) {
	file := stardust.Record{Name: "Photo.JPG", Kind: stardust.KindFile, Size: 2048, Revision: 7}
	directory := stardust.Record{Name: "photos", Kind: stardust.KindDirectory, Revision: 3}
	for _, test := range []struct {
		c               conditions
		file, directory bool
	}{
		{conditions{}, true, true},
		{conditions{name: "*.JPG"}, true, false},
		{conditions{name: "*.jpg"}, false, false},
		{conditions{iname: "PHOTO*"}, true, true},
		{conditions{iname: "*.{png,jpg}"}, true, false},
		{conditions{path: "/a/*"}, true, true},
		{conditions{path: "/**/Photo.*"}, true, false},
		{conditions{path: "/*"}, false, false},
		{conditions{kind: "f"}, true, false},
		{conditions{kind: "directory"}, false, true},
		{conditions{size: "2K"}, true, false},
		{conditions{size: "+2K"}, false, false},
		{conditions{size: "-1M"}, true, false},
		{conditions{size: "-1M", name: "x"}, false, false},
		{conditions{since: 3}, true, false},
		{conditions{since: 7}, false, false},
	} {
		if err := test.c.check(); err != nil {
			t.Fatal(err)
		}
		if got := test.c.match("a/Photo.JPG", &file); got != test.file {
			t.Errorf("%+v of the file: %v", test.c, got)
		}
		if got := test.c.match("a/photos", &directory); got != test.directory {
			t.Errorf("%+v of the directory: %v", test.c, got)
		}
	}
}
