package api

import (
	"archive/tar"
	"archive/zip"
	"cmp"
	"context"
	"io"
	"net/http"
	"path"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/internal/patience"
)

// archive streams everything beneath a directory as it is at one revision.
func (h *Handler) archive(w http.ResponseWriter, r *http.Request, tree stardust.Tree, directory stardust.Record, format string) {
	header := w.Header()
	header.Set("Cache-Control", "no-cache")
	header.Set("Content-Disposition", disposition("attachment", cmp.Or(directory.Name, "files")+"."+format))
	sent := &sentWriter{w: w}
	var archive archiveWriter
	if format == "tar" {
		header.Set("Content-Type", "application/x-tar")
		archive = &tarWriter{tar.NewWriter(sent)}
	} else {
		header.Set("Content-Type", "application/zip")
		archive = &zipWriter{zip.NewWriter(sent)}
	}
	err := writeArchive(r.Context(), tree, directory, r.URL.Query()["only"], archive)
	if err == nil {
		err = archive.close()
	}
	if err != nil && sent.err == nil {
		h.brokenOff(w, r, sent.n == 0, err)
	}
}

// sentWriter notes whether anything was sent, and whether that failed.
type sentWriter struct {
	w   io.Writer
	n   int64
	err error
}

func (s *sentWriter) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	s.n += int64(n)
	if err != nil {
		s.err = err
	}
	return n, err
}

// archiveWriter is a format of archives.
type archiveWriter interface {
	directory(path string) error
	file(path string, size int64) (io.Writer, error)
	close() error
}

// writeArchive writes everything beneath a directory, or only some of its children.
func writeArchive(ctx context.Context, tree stardust.Tree, directory stardust.Record, only []string, archive archiveWriter) error {
	if len(only) == 0 {
		return writeTree(ctx, tree, directory, "", archive)
	}
	for _, name := range only {
		child, err := tree.Lookup(directory.Entity, name)
		if err == nil {
			err = writeTree(ctx, tree, child, name, archive)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeTree writes a node and what is beneath it under a name; the empty one leaves
// the node itself out.
func writeTree(ctx context.Context, tree stardust.Tree, node stardust.Record, name string, archive archiveWriter) error {
	for entry, err := range tree.Walk(node.Entity) {
		if err != nil {
			return err
		}
		entry.Path = path.Join(name, entry.Path)
		switch {
		case entry.Path == "":
		case entry.Record.Kind == stardust.KindDirectory:
			err = archive.directory(entry.Path + "/")
		default:
			err = writeFile(ctx, tree, entry, archive)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func writeFile(ctx context.Context, tree stardust.Tree, entry stardust.Entry, archive archiveWriter) error {
	reader, err := patience.Open(ctx, tree, entry.Record.Digest)
	if err != nil {
		return err
	}
	defer func() { _ = reader.Close() }() // always nil
	to, err := archive.file(entry.Path, entry.Record.Size)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, reader)
	return err
}

type tarWriter struct{ w *tar.Writer }

func (t *tarWriter) directory(path string) error {
	return t.w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: path, Mode: 0o755, Format: tar.FormatPAX})
}

func (t *tarWriter) file(path string, size int64) (io.Writer, error) {
	return t.w, t.w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path, Size: size, Mode: 0o644, Format: tar.FormatPAX})
}

func (t *tarWriter) close() error { return t.w.Close() }

type zipWriter struct{ w *zip.Writer }

func (z *zipWriter) directory(path string) error {
	_, err := z.w.Create(path)
	return err
}

func (z *zipWriter) file(path string, _ int64) (io.Writer, error) {
	return z.w.CreateHeader(&zip.FileHeader{Name: path, Method: zip.Store})
}

func (z *zipWriter) close() error { return z.w.Close() }
