package bucketdb

import (
	"fmt"
	"strconv"

	"github.com/oklog/ulid/v2"

	"github.com/stardustdb/stardust/internal/batch"
	"github.com/stardustdb/stardust/objectstore"
)

// The names of objects, the same on every store.
const (
	genesisPath  = objectstore.Path("stardust.json")
	logPrefix    = "log/"
	packPrefix   = "packs/"
	bundlePrefix = "bundles/"
	probePrefix  = "probe-" // of what is there for a moment; see objectstore.ProbeCreate
)

func logPath(n int64) objectstore.Path {
	return objectstore.Path(fmt.Sprintf("%s%020d", logPrefix, n))
}

// logNumber returns the number of a path of the log.
func logNumber(p objectstore.Path) (n int64, ok bool) {
	digits, found := cutPrefix(p, logPrefix)
	if !found || len(digits) != 20 {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil && n > 0
}

func cutPrefix(p objectstore.Path, prefix string) (string, bool) {
	if len(p) < len(prefix) || string(p[:len(prefix)]) != prefix {
		return "", false
	}
	return string(p[len(prefix):]), true
}

func packPath(name batch.Name) objectstore.Path {
	return objectstore.Path(packPrefix + ulid.ULID(name).String())
}
