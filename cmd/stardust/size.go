package main

import (
	"fmt"
	"strconv"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
)

// sizes says how a listing prints numbers of bytes: for people on a terminal,
// in full in a pipe, or as the flags say.
type sizes struct{ bytes, human bool }

func (s *sizes) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.bytes, "bytes", false, "print sizes in bytes (the default in a pipe)")
	cmd.Flags().BoolVar(&s.human, "human", false, "print sizes as KiB, MiB and so on (the default on a terminal)")
	cmd.MarkFlagsMutuallyExclusive("bytes", "human")
}

// format returns a size as the flags and the terminal want it.
func (s *sizes) format(e *env, n int64) string {
	if s.human || e.outTerminal && !s.bytes {
		return humanSize(n)
	}
	return strconv.FormatInt(n, 10)
}

// humanSize returns a size for a sentence, such as "1.2 MiB".
func humanSize(n int64) string {
	if n < 0 {
		return strconv.FormatInt(n, 10) + " B"
	}
	return humanize.IBytes(uint64(n))
}

// plural returns "1 file" or "2 files".
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func files(n int64) string { return plural(n, "file", "files") }

func directories(n int64) string { return plural(n, "directory", "directories") }
