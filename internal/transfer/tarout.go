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
func WriteTar(ctx context.Context, from Source, entity int64, to io.Writer) error {
	w := tar.NewWriter(to)
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
		if err := writeTarNode(w, from, &node); err != nil {
			return err
		}
	}
	return w.Close()
}

func writeTarNode(w *tar.Writer, from Source, node *Node) error {
	header, err := tarHeader(from, node)
	if err == nil {
		err = w.WriteHeader(header)
	}
	if err != nil || header.Typeflag != tar.TypeReg {
		return err
	}
	return from.WriteContent(node, w)
}

// tarHeader describes a node as tar does. Of one whose permissions are not known
// it says what a umask of 022 would.
func tarHeader(from Source, node *Node) (*tar.Header, error) {
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
		if err := from.WriteContent(node, &target); err != nil {
			return nil, err
		}
		h.Typeflag, h.Mode, h.Linkname = tar.TypeSymlink, 0o777, string(target.text)
	default:
		h.Typeflag, h.Mode, h.Size = tar.TypeReg, 0o644, node.Size
	}
	if kept.HasMode {
		h.Mode = int64(kept.Mode)
	}
	if o := kept.Owner; o != nil {
		h.Uid, h.Gid, h.Uname, h.Gname = int(o.UID), int(o.GID), o.User, o.Group
	}
	for name, value := range kept.Xattrs {
		if h.PAXRecords == nil {
			h.PAXRecords = make(map[string]string)
		}
		h.PAXRecords[paxXattr+name] = string(value)
	}
	return h, nil
}

// paxXattr begins the names of the records that hold extended attributes.
const paxXattr = "SCHILY.xattr."
