package azuretest

import (
	"os/exec"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/stardustdb/stardust/internal/peertest"
)

// The account that every emulator has, whose key is public.
const (
	Account = "devstoreaccount1"
	Key     = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

// Server is a running emulator. Its methods may be called concurrently.
type Server struct {
	// Endpoint is the URL of the account's blobs.
	Endpoint string
}

// Start starts an emulator, which stops when the test ends. It skips the test
// when Node.js or the emulator is not there.
func Start(t testing.TB) *Server {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("needs node")
	}
	program := peertest.Installed(t, "tools/azurite/node_modules/azurite/dist/src/blob/main.js")
	address := peertest.Start(t, func(host, port string) []string {
		return []string{
			node, program, "--blobHost", host, "--blobPort", port, "--inMemoryPersistence", "--silent",
			"--skipApiVersionCheck", "--disableTelemetry",
		}
	})
	return &Server{Endpoint: "http://" + address + "/" + Account}
}

// Container makes a container and returns its name.
func (s *Server) Container(t testing.TB, name string) string {
	t.Helper()
	key, err := container.NewSharedKeyCredential(Account, Key)
	if err != nil {
		t.Fatal(err)
	}
	client, err := container.NewClientWithSharedKeyCredential(s.Endpoint+"/"+name, key, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Create(t.Context(), nil); err != nil {
		t.Fatalf("create container %q: %v", name, err)
	}
	return name
}
