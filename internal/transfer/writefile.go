package transfer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/stardustdb/stardust/internal/digest"
)

// writeFile brings a file of the tree to its place, unless it is there already.
func (ex *exporter) writeFile(ctx context.Context, f *exportFile) (Outcome, error) {
	root, node := f.dir.root, &f.node
	outcome := Created
	info, err := root.Lstat(node.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		info = nil
	case err != nil:
		return Failed, err
	case !info.Mode().IsRegular():
		return Failed, fmt.Errorf("a %s of that name is in the way", kindOf(info.Mode()))
	default:
		same, err := sameContent(ctx, root, node, info)
		if err != nil {
			return Failed, err
		}
		if same {
			ex.update(func(r *Report) { r.Bytes += node.Size })
			return Unchanged, nil
		}
		if !ex.replace {
			return Failed, errors.New("a file with other content is there already; say replace to overwrite it")
		}
		outcome = Updated
	}
	var written int64
	err = Save(root, node.Name, info, &node.Attributes, func(w io.Writer) error {
		return ex.from.WriteContent(node, io.MultiWriter(w, &ex.collector, counter{&written}))
	})
	if err != nil {
		ex.lose(written)
	}
	return outcome, err
}

// sameContent reports whether a file has the node's content already.
func sameContent(ctx context.Context, root *os.Root, n *Node, info fs.FileInfo) (bool, error) {
	if info.Size() != n.Size {
		return false, nil
	}
	file, err := root.Open(n.Name)
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
