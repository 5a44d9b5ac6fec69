package stardust

import (
	"fmt"

	"github.com/stardustdb/stardust/internal/dust"
)

// A Format is a way to write a [Document] as text. Both formats hold the same
// values, so each converts to the other without loss.
type Format int

const (
	// DUST is a relaxed JSON for people: {name hello.txt under 1}. Every JSON
	// text is a DUST text of the same value. docs/dust.md describes it.
	DUST Format = iota
	// JSON is RFC 8259, read strictly.
	JSON
)

// String returns the name of the format.
func (f Format) String() string {
	switch f {
	case DUST:
		return "DUST"
	case JSON:
		return "JSON"
	}
	return fmt.Sprintf("format %d", int(f))
}

// Parse returns the document that data writes in format. It copies data, and
// takes time and memory in proportion to its size: 24 bytes for each value and 40
// for each member besides the text, and up to three times that while it reads. None
// of it is of Options.MemoryBudget; bound what strangers send.
//
// A text that is not valid in the format is an error of StatusInvalidArgument
// whose message names the line, the column and what was expected there. In
// both formats that includes two members of one name in an object, more than
// 128 objects and arrays within each other, text that is not UTF-8, and
// anything after the value.
func Parse(data []byte, format Format) (*Document, error) {
	if format != DUST && format != JSON {
		return nil, &Error{
			Status: StatusInvalidArgument, Op: "parse",
			Message: fmt.Sprintf("%v is unknown; expected stardust.DUST or stardust.JSON", format),
		}
	}
	v, err := dust.Parse(data, internalFormat(format))
	if err != nil {
		return nil, &Error{Status: StatusInvalidArgument, Op: "parse", Message: fmt.Sprintf("%v text: %v", format, err)}
	}
	return newDocument(v), nil
}

// internalFormat returns a valid format as package dust names it.
func internalFormat(format Format) dust.Format {
	if format == JSON {
		return dust.JSON
	}
	return dust.DUST
}
