package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/accounts"
	"github.com/stardustdb/stardust/gateway/api"
	"github.com/stardustdb/stardust/gateway/server"
	"github.com/stardustdb/stardust/internal/need"
)

// updateVariable asks to write the OpenAPI document and the TypeScript types anew.
const updateVariable = "STARDUST_UPDATE_TYPESCRIPT"

// longVariable asks for what takes long.
const longVariable = "STARDUST_LONG"

func openDB(t *testing.T) *stardust.DB {
	t.Helper()
	db, err := stardust.Open(filepath.Join(t.TempDir(), "db"), &stardust.Options{Plugins: stardust.Plugins{Objects: &stardust.ObjectsPlugin{}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// run runs a command in the client's folder and returns what it says.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = "typescript"
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// tool returns a program that npm installed for the client.
func tool(name string) string { return filepath.Join("node_modules", ".bin", name) }

// The OpenAPI document beside the TypeScript client is the server's own, and the
// types are made from it by the first test that asks for long ones.
func TestTheTypeScriptClientIsOfThisInterface(t *testing.T) {
	text, err := api.New(openDB(t), &api.Options{Uploads: filepath.Join(t.TempDir(), "uploads")}).OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	var document bytes.Buffer
	if err := json.Indent(&document, text, "", " "); err != nil {
		t.Fatal(err)
	}
	document.WriteByte('\n')
	path := filepath.Join("typescript", "openapi.json")
	update := os.Getenv(updateVariable) != ""
	if update {
		if err := os.WriteFile(path, document.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, document.Bytes()) {
		t.Fatalf("%s is not the server's document (%v): %s=1 go test ./client rewrites it", path, err, updateVariable)
	}
	if !update && os.Getenv(longVariable) == "" {
		return
	}
	need.Ask(t, need.Node, need.TypeScript)
	schema := filepath.Join("src", "schema.d.ts")
	if !update {
		schema = filepath.Join(t.TempDir(), "schema.d.ts")
	}
	run(t, tool("openapi-typescript"), "openapi.json", "--output", schema)
	if update {
		return
	}
	want, err := os.ReadFile(schema)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join("typescript", "src", "schema.d.ts")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the types are not of the document (%v): %s=1 go test ./client rewrites them", err, updateVariable)
	}
}

// The client compiles, with every check, and works against a real server.
func TestTheTypeScriptClientWorks(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles TypeScript")
	}
	need.Ask(t, need.TypeScript)
	node := need.Program(t, need.Node)
	people, err := accounts.Open(filepath.Join(t.TempDir(), "accounts"), true)
	if err != nil {
		t.Fatal(err)
	}
	token, err := people.AddToken(accounts.Token{Name: "program", Write: true}, false)
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	run(t, tool("tsc"), "-p", "tsconfig.test.json", "--outDir", out)
	if err := os.WriteFile(filepath.Join(out, "package.json"), []byte(`{"type":"module"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	site := server.NewSite(openDB(t), &server.Options{Accounts: people, Uploads: filepath.Join(t.TempDir(), "uploads"), Closing: ctx.Done()})
	served := make(chan error, 1)
	go func() { served <- server.NewServer([]*server.Site{site}, nil).Serve(ctx, listener) }()
	t.Logf("%s", run(t, node, filepath.Join(out, "test", "client.js"), "http://"+listener.Addr().String(), token))
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
