package main

import (
	"bufio"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// patterns are the gitignore patterns of the command line, in its order.
type patterns []string

func (p *patterns) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var(patternFlag{p, p.exclude, "pattern"}, "exclude", "leave out what matches this gitignore pattern; may be repeated")
	flags.Var(patternFlag{p, p.include, "pattern"}, "include", "take what matches this pattern after all; may be repeated")
	flags.Var(patternFlag{p, p.read, "file"}, "exclude-from", "leave out what the patterns in this file match; may be repeated")
}

func (p *patterns) exclude(pattern string) error {
	*p = append(*p, pattern)
	return nil
}

func (p *patterns) include(pattern string) error {
	*p = append(*p, "!"+strings.TrimPrefix(pattern, "!"))
	return nil
}

func (p *patterns) read(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // reading loses nothing
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		*p = append(*p, lines.Text())
	}
	return lines.Err()
}

// patternFlag is one of several flags that add to the same patterns, so that
// their order counts. It is a pflag.Value.
type patternFlag struct {
	patterns *patterns
	add      func(string) error
	kind     string
}

func (f patternFlag) Set(text string) error { return f.add(text) }
func (f patternFlag) Type() string          { return f.kind }
func (f patternFlag) String() string        { return "" }
