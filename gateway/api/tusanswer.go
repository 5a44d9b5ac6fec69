package api

import (
	"bytes"
	"cmp"
	"net/http"
	"strings"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/internal/staging"
)

// The protocol's content type and version.
const (
	tusType    = "application/offset+octet-stream"
	tusVersion = "1.0.0"
)

// tusAnswer gives the answers of the protocol's handler what all others have: a
// Location that holds beneath any prefix, the time at which an upload expires, and
// problem documents.
type tusAnswer struct {
	http.ResponseWriter

	r       *http.Request
	area    *staging.Area
	refused int // the status of an error that is no document yet
	message bytes.Buffer
}

// Unwrap lets http.ResponseController reach the connection.
func (a *tusAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (a *tusAnswer) WriteHeader(status int) {
	header := a.Header()
	location := header.Get("Location")
	address := cmp.Or(location, a.r.URL.Path)
	id := address[strings.LastIndexByte(address, '/')+1:]
	if location != "" {
		// Relative to the request, whose address may end in a slash.
		base := "uploads/"
		if strings.HasSuffix(a.r.URL.Path, "/") {
			base = ""
		}
		header.Set("Location", base+id)
	}
	if status >= http.StatusBadRequest {
		if header.Get("Content-Type") != typeProblem {
			a.refused = status
			return
		}
	} else if u, err := a.area.Get(id); err == nil {
		header.Set("Upload-Expires", a.area.Expires(&u).UTC().Format(http.TimeFormat))
	}
	if extensions := header.Get("Tus-Extension"); extensions != "" {
		header.Set("Tus-Extension", extensions+",expiration")
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (a *tusAnswer) Write(p []byte) (int, error) {
	if a.refused != 0 {
		return a.message.Write(p)
	}
	return a.ResponseWriter.Write(p)
}

// end answers with the error that the handler told in its own way.
func (a *tusAnswer) end() {
	if a.refused == 0 {
		return
	}
	code, message, _ := strings.Cut(strings.TrimSpace(a.message.String()), ": ")
	status := stardust.StatusInvalidArgument
	switch {
	case a.refused == http.StatusNotFound:
		status = stardust.StatusNotFound
	case a.refused == http.StatusConflict, a.refused == http.StatusLocked:
		status = stardust.StatusConflict
	case a.refused >= http.StatusInternalServerError:
		status = stardust.StatusIO
	}
	if message == "" {
		message = http.StatusText(a.refused)
	}
	writeProblem(a.ResponseWriter, a.r, newProblem(status, strings.ToLower(strings.TrimPrefix(code, "ERR_")), message, a.refused))
}
