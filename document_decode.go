package stardust

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/stardustdb/stardust/internal/dust"
)

// Decode stores the document in the Go value that v points to, by the rules of
// encoding/json: structs with json tags, maps, slices, pointers, and types with
// methods of their own. Members for which a struct has no field are left out.
//
// Integers arrive exactly. What lands in an interface is nil, bool, string,
// []any, map[string]any or, for every number, a json.Number, which keeps its
// digits.
//
// It returns an error of StatusInvalidArgument when v is not a pointer that can
// be stored to, or its type cannot hold the document: the message names the
// field. What v holds then is undefined.
func (d *Document) Decode(v any) error {
	root, err := d.value()
	if err != nil {
		return withOp("document.decode", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(dust.AppendJSON(nil, root)))
	decoder.UseNumber()
	if err := decoder.Decode(v); err != nil {
		return &Error{
			Status: StatusInvalidArgument, Op: "document.decode",
			Message: fmt.Sprintf("%v does not fit into %T", root.Kind(), v), Err: err,
		}
	}
	return nil
}
