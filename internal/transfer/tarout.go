package transfer

import (
	"archive/tar"
	"context"
	"io"
	"time"

	"github.com/stardustdb/stardust/internal/attributes"
)

// WriteTar writes a node, with everything beneath it, as a tar archive in the PAX
// form. An error ends it: an archive has no room for what is left out.
func WriteTar(ctx context.Context, from Source, entity int64, to io.Writer, preserve Preserve) error {
	w := &tarWriter{Writer: tar.NewWriter(to), from: from, links: make(map[linkGroup]string)}
	for node, err := range from.Walk(entity) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if node.Path == "" && !node.File {
			continue
		}
		if node.Path == "" {
			node.Path = node.Name
		}
		preserve.Filter(&node.Attributes)
		if err := w.node(&node); err != nil {
			return err
		}
	}
	return w.Close()
}

// tarWriter is an archive that is written.
type tarWriter struct {
	*tar.Writer
	from  Source
	links map[linkGroup]string // the first names of files that have several
}

func (w *tarWriter) node(node *Node) error {
	header, err := w.header(node)
	if err == nil {
		err = w.WriteHeader(header)
	}
	if err != nil || header.Typeflag != tar.TypeReg {
		return err
	}
	return w.from.WriteContent(node, w)
}

// header describes a node as tar does. Of one whose permissions are not known
// it says what a umask of 022 would.
func (w *tarWriter) header(node *Node) (*tar.Header, error) {
	kept := &node.Attributes
	h := &tar.Header{Name: node.Path, ModTime: kept.MTime, Format: tar.FormatPAX}
	if h.ModTime.IsZero() {
		h.ModTime = time.Unix(0, 0)
	}
	switch {
	case !node.File:
		h.Typeflag, h.Mode, h.Name = tar.TypeDir, 0o755, h.Name+"/"
	case kept.Type == attributes.Symlink:
		var target targetBuffer
		if err := w.from.WriteContent(node, &target); err != nil {
			return nil, err
		}
		h.Typeflag, h.Mode, h.Linkname = tar.TypeSymlink, 0o777, string(target.text)
	default:
		h.Typeflag, h.Mode, h.Size = tar.TypeReg, 0o644, node.Size
	}
	tarDescribe(h, kept)
	if h.Typeflag == tar.TypeReg && kept.Link != "" {
		group := linkGroup{kept.Link, node.Digest}
		if first, there := w.links[group]; there {
			h.Typeflag, h.Linkname, h.Size = tar.TypeLink, first, 0
		} else {
			w.links[group] = node.Path
		}
	}
	return h, nil
}
