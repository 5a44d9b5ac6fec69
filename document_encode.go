package stardust

import "github.com/stardustdb/stardust/internal/dust"

// JSON returns the document as JSON without white space. The bytes are the
// caller's own, as with the methods below.
func (d *Document) JSON() ([]byte, error) {
	return d.print("document.json", dust.AppendJSON)
}

// Indent returns the document as JSON over several lines, two spaces for each
// level, without a line feed at the end.
func (d *Document) Indent() ([]byte, error) {
	return d.print("document.indent", dust.AppendIndented)
}

// DUST returns the document as DUST on one line.
func (d *Document) DUST() ([]byte, error) {
	return d.print("document.dust", dust.AppendDUST)
}

// Encode returns the document in format, as JSON and DUST do. An unknown
// format is an error of StatusInvalidArgument.
func (d *Document) Encode(format Format) ([]byte, error) {
	switch format {
	case DUST:
		return d.print("document.encode", dust.AppendDUST)
	case JSON:
		return d.print("document.encode", dust.AppendJSON)
	}
	return nil, withOp("document.encode", invalid("%v is unknown; expected stardust.DUST or stardust.JSON", format))
}

// MarshalJSON implements json.Marshaler. It is JSON.
func (d *Document) MarshalJSON() ([]byte, error) { return d.JSON() }

// MarshalText implements encoding.TextMarshaler. It is DUST.
func (d *Document) MarshalText() ([]byte, error) { return d.DUST() }

// String implements fmt.Stringer: the document as DUST on one line, or why
// there is none, such as "(closed document)".
func (d *Document) String() string {
	text, err := d.DUST()
	if err == nil {
		return string(text)
	}
	if d == nil {
		return "(nil document)"
	}
	return "(closed document)"
}

func (d *Document) print(op string, appendTo func([]byte, dust.Value) []byte) ([]byte, error) {
	v, err := d.value()
	if err != nil {
		return nil, withOp(op, err)
	}
	return appendTo(nil, v), nil
}
