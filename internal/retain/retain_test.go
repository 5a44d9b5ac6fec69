package retain_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stardustdb/stardust/internal/retain"
)

// at reads times as "01-31 15:04" of 2026, in UTC.
func at(t *testing.T, texts ...string) (times []time.Time) {
	t.Helper()
	for _, text := range texts {
		when, err := time.Parse("2006-01-02 15:04", "2026-"+text)
		if err != nil {
			t.Fatal(err)
		}
		times = append(times, when)
	}
	return times
}

func TestEachRuleKeepsTheNewestOfItsPeriods(t *testing.T) {
	times := at(t, "03-02 10:30", "03-02 10:10", "03-02 09:00", "03-01 23:00", "02-28 12:00", "02-22 12:00", "01-31 12:00")
	east := time.FixedZone("east", 2*3600)
	for _, test := range []struct {
		policy retain.Policy
		want   string
	}{
		{retain.Policy{}, ". . . . . . ."},
		{retain.Policy{Last: 2}, "last last . . . . ."},
		{retain.Policy{Hourly: 2}, "hourly . hourly . . . ."},
		{retain.Policy{Daily: 3}, "daily . . daily daily . ."},
		{retain.Policy{Daily: 3, Zone: east}, "daily . . . daily daily ."}, // 23:00 is the next day there
		{retain.Policy{Weekly: 2}, "weekly . . weekly . . ."},
		{retain.Policy{Monthly: 5}, "monthly . . . monthly . monthly"},
		{retain.Policy{Yearly: -1}, "yearly . . . . . ."},
		{retain.Policy{Daily: -1}, "daily . . daily daily daily daily"},
		{retain.Policy{Within: 36 * time.Hour}, "within within within within . . ."},
		{retain.Policy{Last: 1, Monthly: 2, Within: time.Hour}, "last,monthly,within within . . monthly . ."},
	} {
		var got []string
		for _, reasons := range test.policy.Reasons(times) {
			text := strings.Join(reasons, ",")
			if text == "" {
				text = "."
			}
			got = append(got, text)
		}
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("%+v keeps\n%s, want\n%s", test.policy, text, test.want)
		}
	}
}

func TestClocksThatGoBackDoNoHarm(t *testing.T) {
	p := retain.Policy{Daily: 3}
	got := fmt.Sprint(p.Reasons(at(t, "03-01 10:00", "03-02 10:00", "03-02 09:00", "03-01 09:00")))
	if got != "[[daily] [daily] [] [daily]]" {
		t.Error(got)
	}
	if !new(retain.Policy).Empty() || p.Empty() {
		t.Error("which policies are empty?")
	}
}
