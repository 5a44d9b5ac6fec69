package batch

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
)

// Identity tells a database from all others.
type Identity [16]byte

// String returns the identity in hexadecimal digits.
func (i Identity) String() string { return hex.EncodeToString(i[:]) }

// version is that of the format.
const version = 1

// Genesis is the object that makes a prefix a database.
type Genesis struct{ Identity Identity }

type genesisJSON struct {
	Format   int    `json:"format"`
	Identity string `json:"identity"`
}

// Encode returns the object's bytes: one line of JSON.
func (g Genesis) Encode() []byte {
	b, _ := json.Marshal(genesisJSON{version, g.Identity.String()}) // two plain values
	return append(b, '\n')
}

// DecodeGenesis decodes a Genesis. Members that it does not know are those of a
// newer version, as is another format.
func DecodeGenesis(b []byte) (g Genesis, err error) {
	var known struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(b, &known); err != nil || known.Format < 1 {
		return g, corrupt("no JSON object with a format")
	}
	if known.Format > version {
		return g, ErrNewer
	}
	var all genesisJSON
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		return g, corrupt("%v", err)
	}
	id, err := hex.DecodeString(all.Identity)
	if err != nil || copy(g.Identity[:], id) != len(g.Identity) || len(id) != len(g.Identity) {
		return Genesis{}, corrupt("identity %.40q is not 32 hexadecimal digits", all.Identity)
	}
	if !bytes.Equal(g.Encode(), b) {
		return Genesis{}, corrupt("not as it was written")
	}
	return g, nil
}
