package need_test

import (
	"strings"
	"testing"

	"github.com/stardustdb/stardust/internal/need"
)

// Whatever the machine, every thing is either here or said to be absent by name,
// and what is left out by the variable is absent.
func TestEveryAbsenceHasAName(t *testing.T) {
	var names []string
	for _, answer := range need.All() {
		names = append(names, string(answer.Thing))
		if answer.Loses == "" {
			t.Errorf("%s: nobody says what is lost without it", answer.Thing)
		}
		if answer.Absent != nil {
			t.Log(answer.Absent)
		}
	}
	t.Setenv(need.WithoutVariable, strings.Join(names, ","))
	for _, answer := range need.All() {
		if answer.Absent == nil || !strings.HasPrefix(answer.Absent.Error(), string(answer.Thing)+" is absent: ") {
			t.Errorf("%s, left out: %v", answer.Thing, answer.Absent)
		}
	}
	if err := need.Here("nothing"); err == nil {
		t.Error("an unknown thing is here")
	}
}
