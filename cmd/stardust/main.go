// Command stardust keeps files in a Stardust database from the command line.
//
// There are only a few nouns:
//
//   - An env is the world that a command sees: its streams, whether they are
//     terminals, its clock.
//   - A session is an open database with the view that a command works on.
//   - A destination is where put and mv lead.
//   - A bar shows how far a transfer has come, on a terminal only.
//   - An act is one part of the demo.
//
// Every command is a file with a constructor newXCommand(*env); newRootCommand
// names them all. docs/cli.md shows each with an example.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(run(context.Background(), newEnv(), os.Args[1:]))
}
