// Command needs asks the machine for what the tests take for granted and prints
// what is absent and what is not tested for it:
//
//	go run ./tools/needs        # everything, as a summary; always succeeds
//	go run ./tools/needs 386    # one thing: fails when it is absent
package main

import (
	"fmt"
	"os"

	"github.com/stardustdb/stardust/internal/need"
)

func main() {
	for _, name := range os.Args[1:] {
		if err := need.Here(need.Thing(name)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if len(os.Args) == 1 {
		summary()
	}
}

func summary() {
	answers, absent := need.All(), 0
	for _, answer := range answers {
		if answer.Absent != nil {
			absent++
			fmt.Printf("ABSENT  %v\n        not tested: %s\n", answer.Absent, answer.Loses)
		}
	}
	fmt.Printf("of %d things that tests ask for, %d are here and %d absent\n", len(answers), len(answers)-absent, absent)
}
