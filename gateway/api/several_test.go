package api_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/client"
	"github.com/stardustdb/stardust/gateway/api"
	"github.com/stardustdb/stardust/gateway/grant"
)

func connect(t *testing.T, base string) *client.Client {
	t.Helper()
	c, err := client.New(base, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A directory of several thousand goes in one commit, so that nobody sees a part of
// it and undoing it is one step.
func TestARecursiveRemovalIsOneCommit(t *testing.T) {
	db := openDB(t)
	nodes := []stardust.NewNode{{Name: "top"}}
	for i := range 4000 {
		nodes = append(nodes, stardust.NewNode{Name: fmt.Sprintf("%04d", i), Under: 1 + i/500*500})
	}
	made, err := db.Tree().Create(nodes...)
	if err != nil {
		t.Fatal(err)
	}
	if err := connect(t, serve(t, api.New(db, nil), nil)).Remove(t.Context(), "top", true); err != nil {
		t.Fatal(err)
	}
	commits := 0
	for _, err := range db.Transactions(made[0].Revision + 1) {
		if err != nil {
			t.Fatal(err)
		}
		commits++
	}
	if commits != 1 {
		t.Errorf("%d commits", commits)
	}
}

// With an outline any page of a large directory is one request.
func TestAnOutlineLeadsToEveryPage(t *testing.T) {
	db := openDB(t)
	nodes := []stardust.NewNode{{Name: "many"}}
	for i := range 2500 {
		nodes = append(nodes, stardust.NewNode{Name: fmt.Sprintf("n%05d", i), Under: 1})
	}
	made, err := db.Tree().Create(nodes...)
	if err != nil {
		t.Fatal(err)
	}
	h := api.New(db, nil)
	c := connect(t, serve(t, h, nil))
	outline, err := c.Outline(t.Context(), "many", 0)
	if err != nil || outline.Count != 2500 || !slices.Equal(outline.After, []string{"n00999", "n01999"}) || outline.Revision != made[0].Revision {
		t.Fatalf("%+v, %v", outline, err)
	}
	// It is of the revision: what comes later is in another.
	if _, err := c.Write(t.Context(), "many/a", strings.NewReader("12345"), nil); err != nil {
		t.Fatal(err)
	}
	if now, err := c.Outline(t.Context(), "many", 0); err != nil || now.Count != 2501 || now.Bytes != 5 || now.After[0] != "n00998" {
		t.Errorf("after a write: %+v, %v", now, err)
	}
	if then, err := c.Outline(t.Context(), "many", outline.Revision); err != nil || then.Count != 2500 {
		t.Errorf("as it was: %+v, %v", then, err)
	}
	if _, err := c.Outline(t.Context(), "many/a", 0); err == nil {
		t.Error("a file has an outline")
	}
	bounded := connect(t, serve(t, h, &grant.Grant{Root: "many", At: outline.Revision}))
	if then, err := bounded.Outline(t.Context(), "", 0); err != nil || then.Count != 2500 {
		t.Errorf("of a link: %+v, %v", then, err)
	}
	if _, err := bounded.Outline(t.Context(), "", 1); err == nil {
		t.Error("a link shows another revision")
	}
}

func TestAnArchiveOfSomeHasThemAlone(t *testing.T) {
	db := openDB(t)
	base := serve(t, api.New(db, nil), nil)
	c := connect(t, base)
	for _, path := range []string{"d/one", "d/two", "d/sub/x", "d/sub/deep/y"} {
		if _, err := c.Write(t.Context(), path, strings.NewReader(path), nil); err != nil {
			t.Fatal(err)
		}
	}
	resp, text := tus(t, http.MethodGet, base+"/v1/files/d?format=zip&only=one&only=sub", nil, nil)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %s", resp.Status, text)
	}
	z, err := zip.NewReader(bytes.NewReader([]byte(text)), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != "d/"+f.Name {
			t.Errorf("%s: %q, %v", f.Name, got, err)
		}
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"one", "sub/", "sub/deep/", "sub/deep/y", "sub/x"}) {
		t.Errorf("it has %q", names)
	}
	if resp, text := tus(t, http.MethodGet, base+"/v1/files/d?format=zip&only=missing", nil, nil); resp.StatusCode != http.StatusNotFound {
		t.Errorf("what is not there: %s %s", resp.Status, text)
	}
}

// What was forgotten is no part of the history any more, and the rest adds up.
func TestGrowthIsToldAfterForgetting(t *testing.T) {
	db := openDB(t)
	c := connect(t, serve(t, api.New(db, nil), nil))
	for _, file := range []struct{ path, content string }{{"a", "1"}, {"b", "22"}, {"a", "333"}, {"b", "4444"}, {"c", "55555"}} {
		if _, err := c.Write(t.Context(), file.path, strings.NewReader(file.content), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Remove(t.Context(), "a", false); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Forget(t.Context(), &stardust.ForgetOptions{KeepLast: 2}); err != nil {
		t.Fatal(err)
	}
	points, complete, err := c.Growth(t.Context())
	if err != nil || !complete || len(points) == 0 {
		t.Fatalf("%+v, %v, %v", points, complete, err)
	}
	if last := points[len(points)-1]; last.Files != 2 || last.Bytes != 9 || last.Written != 12 {
		t.Errorf("at last %+v", last)
	}
}

func TestSeveralObeyTheGrant(t *testing.T) {
	db := openDB(t)
	c := connect(t, serve(t, api.New(db, nil), nil))
	for _, path := range []string{"in/one", "out/two"} {
		if _, err := c.Write(t.Context(), path, strings.NewReader(path), nil); err != nil {
			t.Fatal(err)
		}
	}
	h := api.New(db, &api.Options{Uploads: filepath.Join(t.TempDir(), "uploads")})
	reader := connect(t, serve(t, h, &grant.Grant{Root: "in"}))
	if err := reader.RemoveAll(t.Context(), "one"); err == nil {
		t.Error("who may only read removes")
	}
	if err := reader.MoveInto(t.Context(), "", "one"); err == nil {
		t.Error("who may only read moves")
	}
	if _, _, err := reader.Growth(t.Context()); err == nil {
		t.Error("who is bounded sees the growth of all")
	}
	writer := connect(t, serve(t, h, &grant.Grant{Root: "in", Write: true}))
	for _, path := range []string{"out/two", "../out/two", "/", ""} {
		if err := writer.RemoveAll(t.Context(), path); err == nil {
			t.Errorf("%q: removed", path)
		}
	}
	if found, _, err := writer.Largest(t.Context(), "", 9); err != nil || len(found) != 1 || found[0].Path != "/one" {
		t.Errorf("largest: %+v, %v", found, err)
	}
	if err := writer.RemoveAll(t.Context(), "one"); err != nil {
		t.Error(err)
	}
	if _, err := db.Tree().Resolve("out/two"); err != nil {
		t.Error(err)
	}
}
