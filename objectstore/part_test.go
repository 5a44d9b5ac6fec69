package objectstore

import (
	"errors"
	"testing"
)

func TestPartsOfACompletionAreThoseThatWereUploaded(t *testing.T) {
	broken := errors.New("broken")
	uploaded := func(number int) (Part, bool, error) {
		switch number {
		case 1, 2:
			return Part{Number: number, ETag: "a", Size: 10}, true, nil
		case 9:
			return Part{}, false, broken
		}
		return Part{}, false, nil
	}
	one, two := Part{Number: 1, ETag: "a"}, Part{Number: 2, ETag: "a"}
	for name, test := range map[string]struct {
		parts   []Part
		minSize int64
		want    error
	}{
		"all":             {[]Part{one, two}, 10, nil},
		"a small last":    {[]Part{two}, 11, nil},
		"none":            {nil, 0, ErrInvalidPart},
		"descending":      {[]Part{two, one}, 0, ErrInvalidPart},
		"twice":           {[]Part{one, one}, 0, ErrInvalidPart},
		"another ETag":    {[]Part{{Number: 1, ETag: "b"}}, 0, ErrInvalidPart},
		"not uploaded":    {[]Part{one, {Number: 3, ETag: "a"}}, 0, ErrInvalidPart},
		"too small":       {[]Part{one, two}, 11, ErrInvalidPart},
		"the error of it": {[]Part{one, {Number: 9}}, 0, broken},
	} {
		if err := CheckParts(test.parts, test.minSize, uploaded); !errors.Is(err, test.want) || (err == nil) != (test.want == nil) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
	if err := CheckParts([]Part{one, {Number: 3}}, 0, nil); err != nil {
		t.Errorf("without knowledge: %v", err)
	}
	for number, ok := range map[int]bool{-1: false, 0: false, 1: true, MaxParts: true, MaxParts + 1: false} {
		if err := CheckPartNumber(number); (err == nil) != ok || err != nil && !errors.Is(err, ErrInvalidOption) {
			t.Errorf("part number %d: %v", number, err)
		}
	}
}
