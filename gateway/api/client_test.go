package api_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/client"
	"github.com/stardustdb/stardust/gateway/api"
	"github.com/stardustdb/stardust/gateway/grant"
)

func openDB(t testing.TB) *stardust.DB {
	t.Helper()
	db, err := stardust.Open(filepath.Join(t.TempDir(), "db"), &stardust.Options{Plugins: stardust.Plugins{Objects: &stardust.ObjectsPlugin{}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// serve serves a database to whoever a grant is for, nil being all.
func serve(t testing.TB, h *api.Handler, g *grant.Grant) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g != nil {
			r = r.WithContext(grant.With(r.Context(), g))
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func text(t *testing.T, r io.ReadCloser, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Every operation that the OpenAPI document describes works as it describes it.
func TestTheClientDrivesEveryOperationOfTheDocument(t *testing.T) {
	h := api.New(openDB(t), &api.Options{Uploads: filepath.Join(t.TempDir(), "uploads")})
	d := newDocumented(t, h)
	c, err := client.New(serve(t, h, nil), &client.Options{HTTP: &http.Client{Transport: d}})
	if err != nil {
		t.Fatal(err)
	}
	driveObjects(t, c)
	driveFiles(t, c)
	driveHistory(t, c)
	driveUploads(t, c)
	driveSeveral(t, c)
	d.all()
}

func driveObjects(t *testing.T, c *client.Client) {
	t.Helper()
	ctx := t.Context()
	o := c.Objects(0)
	published, err := o.Upload(ctx, strings.NewReader("Hello, objects"))
	if err != nil || published.Size != 14 || published.Deduplicated {
		t.Fatalf("upload: %+v, %v", published, err)
	}
	if got, err := o.Open(ctx, published.Digest, 7, 0); text(t, got, err) != "objects" {
		t.Error("open reads another range")
	}
	created, err := o.Create(ctx, stardust.NewNode{Name: "notes"}, stardust.NewNode{Name: "hello.txt", Under: 1, Digest: &published.Digest})
	if err != nil || len(created) != 2 || created[1].Parent != created[0].Entity || created[1].Revision != 3 {
		t.Fatalf("create: %+v, %v", created, err)
	}
	file := created[1]
	if got, err := o.Get(ctx, file.Entity); err != nil || got != file {
		t.Errorf("get: %+v, %v", got, err)
	}
	if got, err := o.Lookup(ctx, 0, "notes"); err != nil || got != created[0] {
		t.Errorf("lookup: %+v, %v", got, err)
	}
	if got, err := o.Children(ctx, created[0].Entity); err != nil || len(got) != 1 || got[0] != file {
		t.Errorf("children: %+v, %v", got, err)
	}
	if got, err := o.Path(ctx, file.Entity); err != nil || strings.Join(got, "/") != "notes/hello.txt" {
		t.Errorf("path: %v, %v", got, err)
	}
	if got, err := o.Files(ctx, published.Digest); err != nil || len(got) != 1 || got[0] != file.Entity {
		t.Errorf("files: %v, %v", got, err)
	}
	if got, err := o.Manifest(ctx, published.Digest); err != nil || got.Size != 14 || len(got.Chunks) != 1 {
		t.Errorf("manifest: %+v, %v", got, err)
	}
	second, err := o.Upload(ctx, strings.NewReader("Revised"))
	if err != nil {
		t.Fatal(err)
	}
	updated, err := o.Update(ctx, file.Entity, second.Digest, file.Revision)
	if err != nil || updated.Digest != second.Digest {
		t.Errorf("update: %+v, %v", updated, err)
	}
	if _, err := o.Update(ctx, file.Entity, published.Digest, file.Revision); !errors.Is(err, stardust.StatusConflict) {
		t.Errorf("update of a stale revision: %v", err)
	}
	if got, err := c.Objects(file.Revision).Get(ctx, file.Entity); err != nil || got != file {
		t.Errorf("get as of %d: %+v, %v", file.Revision, got, err)
	}
	moved, err := o.Move(ctx, file.Entity, 0, "moved.txt", 0, false)
	if err != nil || moved.Name != "moved.txt" || moved.Parent != 0 {
		t.Errorf("move: %+v, %v", moved, err)
	}
	if err := o.Remove(ctx, created[0].Entity, 0); err != nil {
		t.Errorf("remove: %v", err)
	}
	if got, err := o.CallDUST(ctx, "path", "entity 2"); err != nil || !strings.Contains(got, "moved.txt") || strings.Contains(got, `"`) {
		t.Errorf("path in DUST: %q, %v", got, err)
	}
}

func driveFiles(t *testing.T, c *client.Client) {
	t.Helper()
	ctx := t.Context()
	record, err := c.Write(ctx, "a/ü b?.txt", strings.NewReader("first"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Read(ctx, "a/ü b?.txt", &client.ReadOptions{Offset: 1, Length: 3}); text(t, got, err) != "irs" {
		t.Error("read reads another range")
	}
	if _, err := c.Write(ctx, "a/ü b?.txt", strings.NewReader("x"), &client.WriteOptions{New: true}); !errors.Is(err, stardust.StatusConflict) {
		t.Errorf("write of what is there: %v", err)
	}
	if _, err := c.Write(ctx, "a/ü b?.txt", strings.NewReader("second"), &client.WriteOptions{Replaces: &record.Digest}); err != nil {
		t.Errorf("write: %v", err)
	}
	if _, err := c.Write(ctx, "a/ü b?.txt", strings.NewReader("third"), &client.WriteOptions{Replaces: &record.Digest}); !errors.Is(err, stardust.StatusConflict) {
		t.Errorf("write over another content: %v", err)
	}
	if got, err := c.Read(ctx, "a/ü b?.txt", &client.ReadOptions{At: record.Revision}); text(t, got, err) != "first" {
		t.Error("read at a revision reads another")
	}
	if _, err := c.MakeDirectory(ctx, "a/b/c"); err != nil {
		t.Errorf("make directory: %v", err)
	}
	if got, err := c.Copy(ctx, "a/ü b?.txt", record.Revision, "a/b/old.txt", false); err != nil || got.Digest != record.Digest {
		t.Errorf("copy: %+v, %v", got, err)
	}
	if _, err := c.Copy(ctx, "a", 0, "copy", false); err != nil {
		t.Errorf("copy of a directory: %v", err)
	}
	if got, err := c.Read(ctx, "copy/b/old.txt", nil); text(t, got, err) != "first" {
		t.Error("the copy has another content")
	}
	if _, err := c.Move(ctx, "copy", "a/moved", false); err != nil {
		t.Errorf("move: %v", err)
	}
	var names []string
	for child, err := range c.List(ctx, "a", 0) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, child.Name)
	}
	if strings.Join(names, "|") != "b|moved|ü b?.txt" {
		t.Errorf("list: %q", names)
	}
	if found, complete, err := c.Search(ctx, "a", "OLD", 0); err != nil || !complete || len(found) != 2 || found[0].Path != "/b/old.txt" {
		t.Errorf("search: %+v, %v, %v", found, complete, err)
	}
	checkArchives(ctx, t, c)
	if err := c.Remove(ctx, "a/moved", false); err == nil {
		t.Error("removed a directory that is not empty")
	}
	if err := c.Remove(ctx, "a/moved", true); err != nil {
		t.Errorf("remove: %v", err)
	}
	if _, err := c.Read(ctx, "a/moved/b/old.txt", nil); !errors.Is(err, stardust.StatusNotFound) {
		t.Errorf("read of what was removed: %v", err)
	}
}

func checkArchives(ctx context.Context, t *testing.T, c *client.Client) {
	t.Helper()
	archive, err := c.Archive(ctx, "a", "tar", 0)
	packed := text(t, archive, err)
	in := tar.NewReader(strings.NewReader(packed))
	contents := map[string]string{}
	for {
		header, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		contents[header.Name] = string(b)
	}
	if contents["b/old.txt"] != "first" || contents["ü b?.txt"] != "second" {
		t.Errorf("tar: %q", contents)
	}
	archive, err = c.Archive(ctx, "a", "zip", 0)
	packed = text(t, archive, err)
	z, err := zip.NewReader(bytes.NewReader([]byte(packed)), int64(len(packed)))
	if err != nil {
		t.Fatal(err)
	}
	f, err := z.Open("moved/b/old.txt")
	if text(t, f, err) != "first" {
		t.Error("zip: another content")
	}
}

func driveHistory(t *testing.T, c *client.Client) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	versions, err := c.History(ctx, "a/ü b?.txt")
	if err != nil || len(versions) != 2 || versions[0].Until != versions[1].Revision || versions[0].Time.IsZero() {
		t.Errorf("history: %+v, %v", versions, err)
	}
	info, err := c.Info(ctx)
	if err != nil || !info.Write || info.Bounded || info.LastRevision == 0 || info.Chunks == 0 {
		t.Errorf("info: %+v, %v", info, err)
	}
	transactions, err := c.Transactions(ctx, 0, 0)
	if err != nil || len(transactions) == 0 || transactions[0].Revision != 3 || len(transactions[0].Facts) == 0 {
		t.Errorf("transactions: %+v, %v", transactions, err)
	}
	commits, err := c.Commits(ctx, "a", 0, 0)
	if err != nil || len(commits) == 0 || commits[0].Changes[0].Action != "removed" || commits[0].Changes[0].Path != "/moved" {
		t.Errorf("commits: %+v, %v", commits, err)
	}
	// From the past on, and what is committed while the client listens.
	seen := 0
	for commit, err := range c.Changes(ctx, "a", versions[1].Revision) {
		if err != nil {
			t.Fatal(err)
		}
		seen++
		change := commit.Changes[0]
		if seen == 1 && (change.Action != "changed" || change.Path != "/ü b?.txt") {
			t.Errorf("the first change: %+v", change)
		}
		if commit.Revision == commits[0].Revision {
			if _, err := c.Write(ctx, "a/live.txt", strings.NewReader("x"), nil); err != nil {
				t.Fatal(err)
			}
		}
		if change.Path == "/live.txt" {
			if change.Action != "created" || change.Size != 1 {
				t.Errorf("the live change: %+v", change)
			}
			return
		}
	}
}

func driveUploads(t *testing.T, c *client.Client) {
	t.Helper()
	ctx := t.Context()
	const content = "an upload in pieces"
	id, err := c.BeginUpload(ctx, "b/uploaded.txt", int64(len(content)), &client.WriteOptions{New: true})
	if err != nil {
		t.Fatal(err)
	}
	if list, err := c.Uploads(ctx); err != nil || len(list) != 1 || list[0].ID != id || list[0].Path != "b/uploaded.txt" || list[0].Size != int64(len(content)) {
		t.Errorf("unfinished: %+v, %v", list, err)
	}
	if err := c.ContinueUpload(ctx, id, strings.NewReader(content)); err != nil {
		t.Errorf("continue: %v", err)
	}
	if err := c.ContinueUpload(ctx, id, strings.NewReader(content)); err != nil {
		t.Errorf("continue what has ended: %v", err)
	}
	if got, err := c.Read(ctx, "b/uploaded.txt", nil); text(t, got, err) != content {
		t.Error("the upload has another content")
	}
	if _, err := c.BeginUpload(ctx, "b/uploaded.txt", 5, &client.WriteOptions{New: true}); !errors.Is(err, stardust.StatusConflict) {
		t.Errorf("an upload of what is there: %v", err)
	}
	if id, err = c.BeginUpload(ctx, "b/canceled.txt", 5, nil); err != nil {
		t.Fatal(err)
	}
	if err := c.CancelUpload(ctx, id); err != nil {
		t.Errorf("cancel: %v", err)
	}
	if err := c.ContinueUpload(ctx, id, strings.NewReader("12345")); !errors.Is(err, stardust.StatusNotFound) {
		t.Errorf("continue what was canceled: %v", err)
	}
}

func driveSeveral(t *testing.T, c *client.Client) {
	t.Helper()
	ctx := t.Context()
	for _, path := range []string{"several/one", "several/two", "several/sub/three"} {
		if _, err := c.Write(ctx, path, strings.NewReader(path), nil); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := c.Outline(ctx, "several", 0); err != nil || got.Count != 3 || got.Bytes != 22 || got.Step != 1000 || len(got.After) != 0 {
		t.Errorf("outline: %+v, %v", got, err)
	}
	if got, complete, err := c.Largest(ctx, "several", 2); err != nil || !complete || len(got) != 2 || got[0].Path != "/sub/three" || got[1].Path != "/one" {
		t.Errorf("largest: %+v, %v, %v", got, complete, err)
	}
	before, complete, err := c.Growth(ctx)
	if err != nil || !complete || len(before) == 0 {
		t.Fatalf("growth: %+v, %v, %v", before, complete, err)
	}
	if _, err := c.MakeDirectory(ctx, "into"); err != nil {
		t.Fatal(err)
	}
	if err := c.MoveInto(ctx, "into", "several/one", "several/sub"); err != nil {
		t.Errorf("move into: %v", err)
	}
	if err := c.MoveInto(ctx, "into", "several/two", "several/missing"); !errors.Is(err, stardust.StatusNotFound) {
		t.Errorf("move of what is not there: %v", err)
	}
	if got, err := c.Read(ctx, "into/sub/three", nil); text(t, got, err) != "several/sub/three" {
		t.Error("what was moved has another content")
	}
	if err := c.RemoveAll(ctx, "into", "several/two"); err != nil {
		t.Errorf("remove: %v", err)
	}
	after, _, err := c.Growth(ctx)
	if err != nil {
		t.Fatal(err)
	}
	last, first := after[len(after)-1], before[len(before)-1]
	if last.Files != first.Files-3 || last.Bytes != first.Bytes-39 || last.Written != first.Written || last.Revision <= first.Revision {
		t.Errorf("growth: %+v after %+v", last, first)
	}
}
