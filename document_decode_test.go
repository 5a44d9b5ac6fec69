package stardust_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/stardustdb/stardust"
)

type decodedRecord struct {
	Entity  int64             `json:"entity"`
	Name    string            `json:"name"`
	Size    *uint64           `json:"size"`
	Digest  map[string]string `json:"digest"`
	Missing string            `json:"missing"`
}

// A record decodes into a struct with json tags.
func TestDocumentDecodesIntoStructs(t *testing.T) {
	size := uint64(14)
	want := decodedRecord{
		Entity: 1, Name: "hello.txt", Size: &size, Missing: "kept",
		Digest: map[string]string{"#sha256": "95e84da38cbefdf3f9f6ef02201074c73124f7cf2025d3e1d69e591a410856fb"},
	}
	got := decodedRecord{Missing: "kept"}
	if err := mustParse(t, fileRecord, stardust.JSON).Decode(&got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	var list []struct{ Name string }
	if err := mustParse(t, `[{name a} {name b}]`, stardust.DUST).Decode(&list); err != nil || len(list) != 2 || list[1].Name != "b" {
		t.Errorf("got %+v, %v", list, err)
	}
}

// No integer is changed on its way through a float64.
func TestDecodeKeepsIntegersExact(t *testing.T) {
	const text = `[9223372036854775807 -9223372036854775808 9007199254740993]`
	d := mustParse(t, text, stardust.DUST)
	var ints []int64
	if err := d.Decode(&ints); err != nil || !reflect.DeepEqual(ints, []int64{math.MaxInt64, math.MinInt64, 9007199254740993}) {
		t.Errorf("got %v, %v", ints, err)
	}
	var unsigned uint64
	if err := mustParse(t, `18446744073709551615`, stardust.DUST).Decode(&unsigned); err != nil || unsigned != math.MaxUint64 {
		t.Errorf("got %v, %v", unsigned, err)
	}
}

// In an interface every number is a json.Number with its digits.
func TestDecodeIntoAnyKeepsDigits(t *testing.T) {
	var got any
	d := mustParse(t, `{i 9007199254740993 x 1.50 big 1e400 list [true null word {}]}`, stardust.DUST)
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"i": json.Number("9007199254740993"), "x": json.Number("1.50"), "big": json.Number("1e400"),
		"list": []any{true, nil, "word", map[string]any{}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, want %#v", got, want)
	}
}

// What the Go value cannot hold is invalid_argument and names the field.
func TestDecodeNamesWhatDoesNotFit(t *testing.T) {
	d := mustParse(t, `{entity 1.5 name [] size -1}`, stardust.DUST)
	var (
		fraction struct {
			Entity int `json:"entity"`
		}
		text struct {
			Name string `json:"name"`
		}
		negative struct {
			Size uint8 `json:"size"`
		}
	)
	for _, c := range []struct {
		target any
		want   string
	}{
		{&fraction, ".entity of type int"},
		{&text, ".name of type string"},
		{&negative, ".size of type uint8"},
		{&[]int{}, "an object does not fit into *[]int"},
		{new(string), "an object does not fit into *string"},
		{nil, "nil"},
		{decodedRecord{}, "non-pointer"},
		{(*decodedRecord)(nil), "nil"},
		{new(chan int), "chan int"},
	} {
		err := d.Decode(c.target)
		if !errors.Is(err, stardust.StatusInvalidArgument) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("into %T: %v, want invalid_argument with %q", c.target, err, c.want)
		}
	}
}
