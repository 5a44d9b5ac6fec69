package transfer

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Rules tell what an import leaves alone, by patterns in the form of gitignore.
// The last one that matches decides. A nil *Rules matches nothing.
type Rules struct {
	rules []rule
	text  strings.Builder
}

// rule is one pattern.
type rule struct {
	pattern   string
	anywhere  bool // matches names in any directory
	include   bool // matches what is not left alone after all
	directory bool // matches directories only
}

// Add adds a line of a gitignore file: a pattern, a comment, or nothing.
func (r *Rules) Add(line string) error {
	line = trimSpaces(strings.TrimSuffix(line, "\r"))
	if line == "" || line[0] == '#' {
		return nil
	}
	text := line
	var add rule
	if line, add.include = strings.CutPrefix(line, "!"); line == "" {
		return nil
	}
	line, add.directory = strings.CutSuffix(line, "/")
	add.anywhere = !strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if strings.HasSuffix(line, "/**") {
		line += "/*" // everything inside, and not the directory itself
	}
	add.pattern = translate(line)
	if line == "" {
		return nil // "/" matches nothing
	}
	if !doublestar.ValidatePattern(add.pattern) {
		return fmt.Errorf("pattern %q: is not well formed", text)
	}
	r.rules = append(r.rules, add)
	fmt.Fprintf(&r.text, "%q\n", text)
	return nil
}

// Read adds the lines of a gitignore file.
func (r *Rules) Read(from io.Reader) error {
	lines := bufio.NewScanner(from)
	for n := 1; lines.Scan(); n++ {
		if err := r.Add(lines.Text()); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return lines.Err()
}

// trimSpaces takes away the spaces at the end that no backslash stands before.
func trimSpaces(line string) string {
	for strings.HasSuffix(line, " ") {
		cut := line[:len(line)-1]
		if slashes := len(cut) - len(strings.TrimRight(cut, `\`)); slashes%2 == 1 {
			break
		}
		line = cut
	}
	return line
}

// classes are the named classes of characters that may stand in brackets.
var classes = strings.NewReplacer("[:alnum:]", "0-9A-Za-z", "[:alpha:]", "A-Za-z", "[:digit:]", "0-9", "[:lower:]", "a-z",
	"[:upper:]", "A-Z", "[:xdigit:]", "0-9A-Fa-f", "[:space:]", " \t\n\r\f\v", "[:blank:]", " \t")

// translate makes a pattern of doublestar, part by part.
func translate(pattern string) string {
	parts := strings.Split(classes.Replace(pattern), "/")
	for i, part := range parts {
		if strings.Trim(part, "*") == "" && len(part) > 1 {
			parts[i] = "**" // of any number of parts
			continue
		}
		parts[i] = translatePart(part)
	}
	return strings.Join(parts, "/")
}

// translatePart makes braces mean themselves, several asterisks one, and keeps
// negated brackets from matching a slash.
func translatePart(part string) string {
	var out strings.Builder
	for i := 0; i < len(part); i++ {
		c := part[i]
		rest := part[i+1:]
		switch {
		case c == '\\' && rest != "":
			out.WriteString(part[i : i+2])
			i++
			continue
		case c == '*' && strings.HasPrefix(rest, "*"):
			continue
		case c == '[' && (strings.HasPrefix(rest, "!") || strings.HasPrefix(rest, "^")):
			out.WriteString("[^/")
			i++
			continue
		case c == '{', c == '}':
			out.WriteByte('\\')
		}
		out.WriteByte(c)
	}
	return out.String()
}

// Match reports whether a path is left alone, as far as its own name says.
func (r *Rules) Match(path string, directory bool) bool {
	if r == nil {
		return false
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	for i := len(r.rules) - 1; i >= 0; i-- {
		rule := &r.rules[i]
		if rule.directory && !directory {
			continue
		}
		what := path
		if rule.anywhere {
			what = name
		}
		if match, err := doublestar.Match(rule.pattern, what); err == nil && match {
			return !rule.include
		}
	}
	return false
}

// MatchAny reports whether a file is left alone, or a directory that leads to it.
func (r *Rules) MatchAny(path string) bool {
	if r == nil {
		return false
	}
	for i := range len(path) {
		if path[i] == '/' && r.Match(path[:i], true) {
			return true
		}
	}
	return r.Match(path, false)
}

// String returns the patterns, so that rules can be compared.
func (r *Rules) String() string {
	if r == nil {
		return ""
	}
	return r.text.String()
}
