package api

import (
	"mime"
	"path"
	"strings"
)

// disposition names a file to save or show.
func disposition(kind, name string) string {
	value := mime.FormatMediaType(kind, map[string]string{"filename": name})
	if value == "" {
		return kind
	}
	return value
}

// binaryType is the type of files that are only saved.
const binaryType = "application/octet-stream"

// shown returns the type as which a browser may show a file, going by its name:
// none that it would run, whatever is stored. Files of other types are only
// saved.
func shown(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".png":
		return "image/png"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".gif":
		return "image/gif"
	case ".webp":
		return "image/webp"
	case ".avif":
		return "image/avif"
	case ".bmp":
		return "image/bmp"
	case ".ico":
		return "image/x-icon"
	case ".mp3":
		return "audio/mpeg"
	case ".wav":
		return "audio/wav"
	case ".flac":
		return "audio/flac"
	case ".m4a":
		return "audio/mp4"
	case ".oga", ".ogg", ".opus":
		return "audio/ogg"
	case ".mp4", ".m4v":
		return "video/mp4"
	case ".webm":
		return "video/webm"
	case ".ogv":
		return "video/ogg"
	case ".pdf":
		return "application/pdf"
	case ".txt", ".md", ".csv", ".log", ".json", ".yaml", ".yml", ".toml", ".go", ".py", ".js", ".ts", ".c", ".h", ".rs", ".sh", ".css", ".html", ".xml", ".svg":
		return "text/plain; charset=utf-8"
	}
	return binaryType
}
