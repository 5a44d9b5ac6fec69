package main

import (
	"slices"
	"testing"

	"github.com/stardustdb/stardust"
)

// What a transaction did follows from its facts and ids alone.
func TestChangesOfATransaction(t *testing.T) {
	set := func(entity int64, attribute string) stardust.Fact {
		return stardust.Fact{Entity: entity, Attribute: attribute, Value: int64(1)}
	}
	gone := func(entity int64, attribute string) stardust.Fact {
		return stardust.Fact{Entity: entity, Attribute: attribute, Retracted: true}
	}
	for _, test := range []struct {
		name  string
		id    int64
		facts []stardust.Fact
		want  []change
	}{
		{"nothing", 5, nil, nil},
		{"creates two", 9, []stardust.Fact{
			set(7, attributeParent), set(7, attributeName), set(8, attributeParent), set(8, attributeName), set(8, attributeDigest),
		}, []change{{Entity: 7, Action: actionCreated}, {Entity: 8, Action: actionCreated}}},
		{"changes an older one and creates", 9, []stardust.Fact{
			set(3, attributeDigest), set(8, attributeParent), set(8, attributeName),
		}, []change{{Entity: 3, Action: actionChanged}, {Entity: 8, Action: actionCreated}}},
		{"changes the one before the transaction before", 9, []stardust.Fact{set(7, attributeDigest)}, []change{{Entity: 7, Action: actionChanged}}},
		{"moves over another", 9, []stardust.Fact{
			gone(4, attributeParent), gone(4, attributeName), gone(4, attributeDigest), set(2, attributeParent), set(2, attributeName),
		}, []change{{Entity: 4, Action: actionRemoved}, {Entity: 2, Action: actionMoved}}},
		{"renames and changes", 9, []stardust.Fact{set(2, attributeDigest), set(2, attributeName)}, []change{{Entity: 2, Action: actionMoved}}},
		{"patches", 9, []stardust.Fact{set(2, "owner"), gone(2, "tags")}, []change{{Entity: 2, Action: actionPatched}}},
	} {
		got := changesOf(&stardust.Transaction{ID: test.id, Facts: test.facts})
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}
