package attributes

import (
	"bytes"
	"encoding/json"
)

// Renew returns value with the members of old that it does not set, except
// those that its writer is responsible for: they are gone. An old value of
// another form is dropped. The result is old itself when nothing changes.
func Renew(old, value []byte, speaks Members) []byte {
	var kept, news map[string]json.RawMessage
	if json.Unmarshal(old, &kept) != nil || json.Unmarshal(value, &news) != nil {
		return value
	}
	same := true
	for _, name := range speaks.names() {
		if _, there := kept[name]; there && news[name] == nil {
			delete(kept, name)
			same = false
		}
	}
	for name, text := range news {
		if !bytes.Equal(kept[name], text) {
			same = false
		}
	}
	if same {
		return old
	}
	others := false
	for name, text := range kept {
		if news[name] == nil {
			news[name], others = text, true
		}
	}
	if !others {
		return value
	}
	merged, err := json.Marshal(news)
	if err != nil {
		return value
	}
	return merged
}
