package api

import (
	"encoding/json"
	"mime"
	"net/http"
	"strings"

	"github.com/stardustdb/stardust"
)

// The content types of documents.
const (
	typeJSON = "application/json"
	typeDUST = "application/dust"
)

// readDocument reads a request's document, in the format of its content type.
func readDocument(body []byte, contentType string) (*stardust.Document, error) {
	kind := typeJSON
	if contentType != "" {
		var err error
		if kind, _, err = mime.ParseMediaType(contentType); err != nil {
			kind = contentType
		}
	}
	switch {
	case kind == typeDUST:
		return stardust.Parse(body, stardust.DUST)
	case kind == typeJSON, strings.HasSuffix(kind, "+json"):
		return stardust.Parse(body, stardust.JSON)
	}
	return nil, newProblem(stardust.StatusInvalidArgument, "content_type",
		"the content type is "+kind+": send "+typeJSON+" or "+typeDUST, http.StatusUnsupportedMediaType)
}

// encode returns a document in the format that the client asks for.
func encode(d *stardust.Document, accept string) (text []byte, contentType string, err error) {
	defer func() { _ = d.Close() }() // always nil
	if asksForDUST(accept) {
		text, err = d.DUST()
		return text, typeDUST, err
	}
	text, err = d.JSON()
	return text, typeJSON, err
}

func asksForDUST(accept string) bool {
	for one := range strings.SplitSeq(accept, ",") {
		if kind, _, err := mime.ParseMediaType(one); err == nil && kind == typeDUST {
			return true
		}
	}
	return false
}

// writeDocument answers with a document, which it closes.
func writeDocument(w http.ResponseWriter, r *http.Request, status int, d *stardust.Document) {
	text, contentType, err := encode(d, r.Header.Get("Accept"))
	if err != nil {
		writeProblem(w, r, err)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client has gone, then
}

// writeValue answers with a value that marshals as JSON, in the format that the
// client asks for.
func writeValue(w http.ResponseWriter, r *http.Request, status int, v any) {
	text, err := json.Marshal(v)
	if err == nil && asksForDUST(r.Header.Get("Accept")) {
		var d *stardust.Document
		if d, err = stardust.Parse(text, stardust.JSON); err == nil {
			writeDocument(w, r, status, d)
			return
		}
	}
	if err != nil {
		writeProblem(w, r, err)
		return
	}
	w.Header().Set("Content-Type", typeJSON)
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client has gone, then
}

// fresh serves what a function finds, which caches must ask for again.
func fresh[T any](find func(*http.Request) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		found, err := find(r)
		if err != nil {
			writeProblem(w, r, err)
			return
		}
		w.Header().Set("Cache-Control", "no-cache")
		writeValue(w, r, http.StatusOK, found)
	}
}
