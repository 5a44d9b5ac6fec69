package web_test

import (
	"bytes"
	"context"
	"errors"
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
	"time"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/accounts"
	"github.com/stardustdb/stardust/gateway/server"
	"github.com/stardustdb/stardust/internal/need"
)

// longVariable asks for what takes long.
const longVariable = "STARDUST_LONG"

// shotsVariable names the directory that gets screenshots of the page.
const shotsVariable = "STARDUST_SCREENSHOTS"

// The page works in a real browser: what it does is listed in e2e/page/page.mjs.
func TestThePageWorksInABrowser(t *testing.T) {
	t.Parallel()
	drive(t, "page.mjs", func(*stardust.DB, string) (*server.Options, []string) { return new(server.Options), nil })
}

// Uploads go on after a bad network and a reload: see e2e/page/uploads.mjs.
func TestUploadsGoOnAfterABreak(t *testing.T) {
	t.Parallel()
	drive(t, "uploads.mjs", func(*stardust.DB, string) (*server.Options, []string) { return new(server.Options), nil })
}

// A directory of a million entries costs no more than a screen of them: see
// e2e/page/million.mjs.
func TestAMillionEntriesAreShown(t *testing.T) {
	if os.Getenv(longVariable) == "" {
		t.Skip("takes a minute: set " + longVariable + "=1")
	}
	drive(t, "million.mjs", func(db *stardust.DB, _ string) (*server.Options, []string) {
		directory, err := db.Tree().Create(stardust.NewNode{Name: "million"})
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < 1_000_000; {
			nodes := make([]stardust.NewNode, min(4000, 1_000_000-n))
			for i := range nodes {
				nodes[i] = stardust.NewNode{Name: fmt.Sprintf("n%07d", n+i), Parent: directory[0].Entity}
			}
			if _, err := db.Tree().Create(nodes...); err != nil {
				t.Fatal(err)
			}
			n += len(nodes)
		}
		return new(server.Options), nil
	})
}

// Users log in, and links show what they are for: see e2e/page/people.mjs.
func TestThePageIsForThoseWhoMay(t *testing.T) {
	t.Parallel()
	drive(t, "people.mjs", func(db *stardust.DB, base string) (*server.Options, []string) {
		people, err := accounts.Open(filepath.Join(t.TempDir(), "accounts"), true)
		if err != nil {
			t.Fatal(err)
		}
		const password = "correct horse"
		old, err := db.Tree().Resolve("docs/guide.md")
		if err != nil {
			t.Fatal(err)
		}
		expires := time.Now().Add(time.Hour)
		file, err := people.Sign(&accounts.Link{Root: "readme.txt", Expires: expires})
		if err != nil {
			t.Fatal(err)
		}
		directory, err := people.Sign(&accounts.Link{Root: "docs", At: old.Revision - 1, Expires: expires})
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(people.SetUser(accounts.User{Name: "ann", Write: true}, password), people.SetUser(accounts.User{Name: "guest", Root: "docs"}, password))
		if err != nil {
			t.Fatal(err)
		}
		return &server.Options{Accounts: people}, []string{base + "s/" + file + "/", base + "s/" + directory + "/"}
	})
}

// drive runs a script against a server.
func drive(t *testing.T, script string, prepare func(db *stardust.DB, base string) (*server.Options, []string)) {
	t.Helper()
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
	base := "http://" + listener.Addr().String() + "/"
	options, arguments := prepare(db, base)
	ctx, cancel := context.WithCancel(t.Context())
	options.Closing, options.Uploads = ctx.Done(), filepath.Join(t.TempDir(), "uploads")
	served := make(chan error, 1)
	go func() {
		served <- server.NewServer([]*server.Site{server.NewSite(db, options)}, nil).Serve(ctx, listener)
	}()
	arguments = append([]string{script, base, chromium}, append(arguments, os.Getenv(shotsVariable))...)
	cmd := exec.CommandContext(t.Context(), node, arguments...)
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
