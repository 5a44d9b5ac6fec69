package main

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
)

// conditions are what find looks for.
type conditions struct {
	name, iname, path string
	kind              string
	size              string
	digest            string
	since             int64

	// What check makes of them.
	lower string // iname in lower case
	order int    // size: 1 larger than, -1 smaller than, 0 exactly
	bytes int64
}

func (c *conditions) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.name, "name", "", "whose name matches this pattern")
	cmd.Flags().StringVar(&c.iname, "iname", "", "whose name matches this pattern in upper or lower case")
	cmd.Flags().StringVar(&c.path, "path", "", "whose whole path matches this pattern")
	cmd.Flags().StringVar(&c.kind, "type", "", "only files (f) or directories (d)")
	cmd.Flags().StringVar(&c.size, "size", "", "only files of this size; + larger, - smaller")
	cmd.Flags().StringVar(&c.digest, "digest", "", "only files that hold the payload with this SHA-256")
	cmd.Flags().Int64Var(&c.since, "since", 0, "only what changed after this revision")
}

// check refuses conditions that make no sense.
func (c *conditions) check() error {
	c.lower = strings.ToLower(c.iname)
	for _, pattern := range []string{c.name, c.path, c.iname} {
		if !doublestar.ValidatePattern(pattern) {
			return usagef("%q is not a pattern", pattern)
		}
	}
	switch c.kind {
	case "", "f", "d", "file", "directory":
	default:
		return usagef("--type %s: it can be f or d", c.kind)
	}
	if c.digest != "" {
		if _, err := stardust.ParseDigest(c.digest); err != nil {
			return usagef("--digest %s: it must be 64 hexadecimal digits", c.digest)
		}
	}
	if c.since < 0 {
		return usagef("--since cannot be negative")
	}
	return c.parseSize()
}

func (c *conditions) parseSize() error {
	number := c.size
	if number == "" {
		return nil
	}
	switch number[0] {
	case '+':
		c.order, number = 1, number[1:]
	case '-':
		c.order, number = -1, number[1:]
	}
	shift := 0
	if len(number) > 0 {
		if unit := strings.IndexByte("KMGT", number[len(number)-1]&^0x20); unit >= 0 {
			shift, number = 10*(unit+1), number[:len(number)-1]
		}
	}
	n, err := strconv.ParseUint(number, 10, 63)
	if err != nil || n > uint64(1<<63-1)>>shift {
		return usagef("--size %s: give a number such as 100, +10M or -2K", c.size)
	}
	c.bytes = int64(n << shift)
	return nil
}

// match reports whether a node at a path meets the conditions.
func (c *conditions) match(path string, r *stardust.Record) bool {
	if c.kind != "" && (c.kind[0] == 'd') != isDirectory(*r) || r.Revision <= c.since {
		return false
	}
	if c.size != "" && (isDirectory(*r) || cmp.Compare(r.Size, c.bytes) != c.order) {
		return false
	}
	return matches(c.name, r.Name) && matches(c.lower, strings.ToLower(r.Name)) &&
		(c.path == "" || matches(c.path, absolute(path)))
}

// matches reports whether a text matches a pattern that was found valid; the
// empty one matches everything.
func matches(pattern, text string) bool {
	if pattern == "" {
		return true
	}
	ok, err := doublestar.Match(pattern, text)
	return ok && err == nil
}
