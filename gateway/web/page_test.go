package web_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/server"
	"github.com/stardustdb/stardust/internal/need"
)

// shotsVariable names the directory that gets screenshots of the page.
const shotsVariable = "STARDUST_SCREENSHOTS"

// The page works in a real browser: what it does is listed in e2e/page/page.mjs.
func TestThePageWorksInABrowser(t *testing.T) {
	need.Ask(t, need.Playwright)
	node, chromium := need.Program(t, need.Node), need.Program(t, need.Chromium)
	db, err := stardust.Open(filepath.Join(t.TempDir(), "db"), &stardust.Options{Plugins: stardust.Plugins{Objects: &stardust.ObjectsPlugin{}}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	fill(t, db.Tree())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() {
		site := server.NewSite(db, &server.Options{Closing: ctx.Done()})
		served <- server.NewServer([]*server.Site{site}, nil).Serve(ctx, listener)
	}()
	cmd := exec.CommandContext(t.Context(), node, "page.mjs", "http://"+listener.Addr().String()+"/", chromium, os.Getenv(shotsVariable))
	cmd.Dir = filepath.Join("..", "..", "e2e", "page")
	out, err := cmd.CombinedOutput()
	cancel()
	if stopped := <-served; stopped != nil {
		t.Errorf("the end of the server: %v", stopped)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	} else {
		t.Logf("%s", out)
	}
}

// fill makes what the page is shown with.
func fill(t *testing.T, tree stardust.Tree) {
	t.Helper()
	picture := image.NewRGBA(image.Rect(0, 0, 320, 200))
	for x := range 320 {
		for y := range 200 {
			picture.Set(x, y, color.RGBA{uint8(40 + x/2), uint8(30 + y/2), uint8(160 + x/4), 255})
		}
	}
	var encoded bytes.Buffer
	if err := png.Encode(&encoded, picture); err != nil {
		t.Fatal(err)
	}
	for _, file := range [][2]string{
		{"docs/guide.md", "# Guide\n\nThe first way to do it.\nWhat stays.\n"},
		{"docs/guide.md", "# Guide\n\nThe second way to do it, which is better.\nWhat stays.\n"},
		{"docs/plan.txt", strings.Repeat("A line of the plan.\n", 40)},
		{"pictures/star.png", encoded.String()},
		{"readme.txt", "Hello.\n"},
		{"notes.md", "# Notes\n"},
		{"report.pdf", "%PDF-1.4\n"},
		{"song.mp3", strings.Repeat("x", 300_000)},
		{"film.webm", strings.Repeat("y", 3_000_000)},
		{"archive.tar", strings.Repeat("z", 12_000)},
	} {
		if _, err := tree.Put(file[0], strings.NewReader(file[1]), &stardust.PutOptions{Parents: true}); err != nil {
			t.Fatal(err)
		}
	}
	nodes := []stardust.NewNode{{Name: "many"}}
	for i := range 900 {
		nodes = append(nodes, stardust.NewNode{Name: fmt.Sprintf("%04d", i), Under: 1})
	}
	if _, err := tree.Create(nodes...); err != nil {
		t.Fatal(err)
	}
}
