package transfer

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/stardustdb/stardust/internal/attributes"
	"github.com/stardustdb/stardust/internal/digest"
)

// writeFile brings a file of the tree to its place, unless it is there already.
func (ex *exporter) writeFile(ctx context.Context, f *exportFile) (Outcome, error) {
	node := &f.node
	outcome := Created
	info, err := f.dir.there(node.Name)
	if err != nil {
		return Failed, err
	}
	if node.Attributes.Type == attributes.Symlink {
		return ex.writeLink(ctx, f, info)
	}
	if f.dir == nil {
		ex.update(func(r *Report) { r.Bytes += node.Size })
		return Created, nil
	}
	root := f.dir.root
	if info != nil {
		same, err := sameContent(ctx, root, node, info)
		if err != nil {
			return Failed, err
		}
		if same {
			ex.update(func(r *Report) { r.Bytes += node.Size })
			return Unchanged, ex.refresh(root, node.Name, info, &node.Attributes)
		}
		if err := ex.makeWay(ctx, f.dir, node, info); err != nil {
			return Failed, err
		}
		outcome = Updated
	}
	if ex.options.DryRun {
		ex.update(func(r *Report) { r.Bytes += node.Size })
		return outcome, nil
	}
	if info != nil && !info.Mode().IsRegular() {
		info = nil // a link has no permissions to take over
	}
	var written int64
	err = ex.save(root, node.Name, info, &node.Attributes, ex.sparse, func(w io.Writer) error {
		return ex.from.WriteContent(node, io.MultiWriter(w, &ex.collector, counter{&written}))
	})
	if _, there := errors.AsType[*LostAttributesError](err); err != nil && !there {
		ex.lose(written)
	}
	return outcome, err
}

// sameContent reports whether a file has the node's content already.
func sameContent(ctx context.Context, root *os.Root, n *Node, info fs.FileInfo) (bool, error) {
	if !info.Mode().IsRegular() || info.Size() != n.Size {
		return false, nil
	}
	file, err := openRegular(root, n.Name, info)
	if err != nil {
		return false, err
	}
	defer func() { _ = file.Close() }() // reading loses nothing
	h := sha256.New()
	if _, err := io.Copy(h, &contextReader{ctx, file}); err != nil {
		return false, err
	}
	return digest.Digest(h.Sum(nil)) == n.Digest, nil
}

type counter struct{ n *int64 }

func (c counter) Write(p []byte) (int, error) {
	*c.n += int64(len(p))
	return len(p), nil
}
