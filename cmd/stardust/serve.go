package main

import (
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/accounts"
	"github.com/stardustdb/stardust/gateway/s3"
	"github.com/stardustdb/stardust/gateway/server"
)

// uploadsSuffix ends the name of the directory beside a database where uploads that
// take several requests wait for their last byte.
const uploadsSuffix = ".uploads"

// defaultServeMemory is what a server stays within unless it is told otherwise, and
// leastServeMemory what it needs.
const (
	defaultServeMemory byteSize = 256 << 20
	leastServeMemory   byteSize = 128 << 20
)

// databaseServeFlags are those of serve.
type databaseServeFlags struct {
	listen      []string
	socket      string
	accounts    string
	certFile    string
	keyFile     string
	hosts       []string
	readOnly    bool
	api         bool
	page        bool
	webdav      bool
	s3          bool
	region      string
	origins     []string
	maxUpload   byteSize
	memory      byteSize
	perClient   int
	requests    int
	stall       time.Duration
	keepUploads time.Duration
	// announce says where a listener is reached; nil means a notice.
	announce func(address string)
}

func newServeCommand(e *env) *cobra.Command {
	var f databaseServeFlags
	cmd := &cobra.Command{
		Use:     "serve FILE...",
		Short:   "Serve databases to browsers, WebDAV clients and programs",
		GroupID: groupTransfer,
		Long: `Serve databases: a web page, an interface for programs under /v1/, WebDAV under /dav/
and S3, all on the same address. With several databases, each is beneath the name of its
file, and there is no S3. A missing database is made.

Without --users everybody who reaches the address may do everything, so that it must
be on loopback. With --users FILE, which stardust user add makes, people log in with
passwords and programs send tokens. An address beyond loopback needs both --users and
TLS. S3 clients sign with the tokens that stardust token add --s3 makes, or without
--users with the keys in $` + envAccessKey + ` and $` + envSecretKey + `.

Beside them are /healthz, /readyz and /metrics (Prometheus). SIGINT or SIGTERM finishes
the requests under way and stops. docs/serve.md is the guide.`,
		Example: `  stardust serve files.db
  stardust serve files.db --listen 0.0.0.0:8443 --users accounts --tls-cert cert.pem --tls-key key.pem
  stardust serve files.db --read-only --socket /run/stardust.sock`,
		Args:              arguments(1, -1),
		ValidArgsFunction: e.complete(completeFile),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (f.certFile == "") != (f.keyFile == "") {
				return usagef("--tls-cert and --tls-key go together")
			}
			if !f.api && !f.webdav && !f.s3 {
				return usagef("there is nothing to serve: turn on --api, --webdav or --s3")
			}
			if f.memory < leastServeMemory {
				return usagef("--memory: a server needs %s at least", humanSize(int64(leastServeMemory)))
			}
			return e.serveDatabases(cmd.Context(), args, &f)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.listen, "listen", []string{"127.0.0.1:8080"}, "address to listen on; may be given several times, and empty for none")
	flags.StringVar(&f.socket, "socket", "", "Unix socket to listen on, for this user alone")
	flags.StringVar(&f.accounts, "users", "", "file with the users, the tokens and the key of share links")
	flags.StringVar(&f.certFile, "tls-cert", "", "file with the certificate chain, for TLS")
	flags.StringVar(&f.keyFile, "tls-key", "", "file with the certificate's key")
	flags.StringArrayVar(&f.hosts, "host", nil, "name by which browsers reach a server without users, besides localhost and addresses")
	flags.BoolVar(&f.readOnly, "read-only", false, "refuse every change; works while another process writes the database")
	flags.BoolVar(&f.api, "api", true, "serve the interface for programs")
	flags.BoolVar(&f.page, "page", true, "serve the web page, which needs the interface")
	flags.BoolVar(&f.webdav, "webdav", true, "serve WebDAV")
	flags.BoolVar(&f.s3, "s3", true, "serve S3 to clients that have keys")
	flags.StringVar(&f.region, "region", "us-east-1", "the region that S3 signatures name")
	flags.StringArrayVar(&f.origins, "cors-origin", nil, "let pages of this site, such as https://example.com, use S3 with their keys; may be repeated")
	flags.Var(&f.maxUpload, "max-upload", "largest file to accept, such as 10GiB (0: any)")
	f.memory = defaultServeMemory
	flags.Var(&f.memory, "memory", "memory that the process aims to stay within; more than a third is for uploads and chunks")
	flags.DurationVar(&f.keepUploads, "keep-uploads", 24*time.Hour, "how long an unfinished upload waits beside the database, in FILE"+uploadsSuffix+", to be resumed")
	flags.IntVar(&f.perClient, "max-connections", 0, "connections of one client's address (0: 256)")
	flags.IntVar(&f.requests, "max-requests", 0, "requests at a time (0: 1024)")
	flags.DurationVar(&f.stall, "stall", 0, "end a request whose client sends or takes nothing for this long (0: 1m)")
	return cmd
}

func (e *env) serveDatabases(ctx context.Context, files []string, f *databaseServeFlags) (err error) {
	options := &server.ServerOptions{
		Hosts: f.hosts, MaxConnections: f.perClient, MaxRequests: f.requests, Stall: f.stall, Logger: e.serviceLogger(),
	}
	if f.certFile != "" {
		certificate, err := tls.LoadX509KeyPair(f.certFile, f.keyFile)
		if err != nil {
			return about("the TLS certificate", err)
		}
		options.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	}
	var people *accounts.File
	if f.accounts != "" {
		if people, err = accounts.Open(f.accounts, false); err != nil {
			return about("--users", err)
		}
	}
	listeners, err := f.listeners(ctx)
	if err != nil {
		return err
	}
	defer func() {
		for _, listener := range listeners {
			_ = listener.Close() // serving closes it, too
		}
	}()
	defer f.limitMemory()()
	closing, stop := context.WithCancel(ctx)
	defer stop()
	sites, end, err := e.sites(files, f, people, closing.Done())
	defer func() {
		if closed := end(); err == nil {
			err = closed
		}
	}()
	if err != nil {
		return err
	}
	announce := f.announce
	if announce == nil {
		announce = func(address string) { e.notice("serving %s at %s", strings.Join(files, ", "), address) }
	}
	for _, listener := range listeners {
		announce(address(listener, options.TLS != nil))
	}
	return server.NewServer(sites, options).Serve(ctx, listeners...)
}

// limitMemory lets the collector work harder before the process takes more than it
// was given, unless whoever runs it has set the runtime's own limit. It returns what
// undoes that.
func (f *databaseServeFlags) limitMemory() (undo func()) {
	if os.Getenv("GOMEMLIMIT") != "" || f.memory == 0 {
		return func() {}
	}
	old := debug.SetMemoryLimit(int64(f.memory) * 3 / 4)
	return func() { debug.SetMemoryLimit(old) }
}

// sites opens the databases. The caller calls end, also after an error.
func (e *env) sites(files []string, f *databaseServeFlags, people *accounts.File, closing <-chan struct{}) (sites []*server.Site, end func() error, err error) {
	var open []*stardust.DB
	var endpoints []*s3.Handler
	end = func() error {
		var all error
		for _, endpoint := range endpoints {
			all = errors.Join(all, endpoint.Close(context.Background()))
		}
		for _, db := range open {
			all = errors.Join(all, db.Close())
		}
		return all
	}
	seen := make(map[string]bool)
	for _, file := range files {
		options := e.options(f.readOnly)
		options.Logger = e.serviceLogger()
		options.MemoryBudget = int64(f.memory) * 3 / 8 / int64(len(files))
		db, err := stardust.Open(file, options)
		if err != nil {
			return nil, end, openFailure(file, err)
		}
		open = append(open, db)
		name := ""
		if len(files) > 1 {
			name = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
			if name == "" || seen[name] || strings.ContainsAny(name, "/%?# ") {
				return nil, end, usagef("%s: its name cannot be part of an address: give each database a plain name of its own", quote(file))
			}
			seen[name] = true
		}
		site := &server.Options{
			Name: name, Accounts: people, ReadOnly: f.readOnly, MaxUpload: int64(f.maxUpload), Secure: f.certFile != "",
			WithoutAPI: !f.api, WithoutPage: !f.page, WithoutWebDAV: !f.webdav,
			KeepUploads: f.keepUploads, Closing: closing, Logger: e.serviceLogger(), Now: e.now,
		}
		if !f.readOnly {
			site.Uploads = file + uploadsSuffix
		}
		if f.s3 && name == "" {
			endpoint, err := e.s3Handler(db, f, people)
			if err != nil {
				return nil, end, err
			}
			if endpoint != nil {
				site.S3, endpoints = endpoint, append(endpoints, endpoint)
			}
		}
		sites = append(sites, server.NewSite(db, site))
	}
	return sites, end, nil
}

// listeners opens all of them, or none.
func (f *databaseServeFlags) listeners(ctx context.Context) (listeners []net.Listener, err error) {
	defer func() {
		if err != nil {
			for _, listener := range listeners {
				_ = listener.Close()
			}
			listeners = nil
		}
	}()
	for _, at := range f.listen {
		if at == "" {
			continue
		}
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at)
		if err != nil {
			return listeners, err
		}
		listeners = append(listeners, listener)
		if err := f.checkExposure(at, listener.Addr()); err != nil {
			return listeners, err
		}
	}
	if f.socket != "" {
		listener, err := listenUnix(ctx, f.socket)
		if err != nil {
			return listeners, err
		}
		listeners = append(listeners, listener)
	}
	if len(listeners) == 0 {
		return nil, usagef("there is nothing to listen on: give --listen or --socket")
	}
	return listeners, nil
}

// checkExposure refuses an address that other machines reach unless what they
// send is encrypted, and they have to log in. It asks what the listener got, since
// a host name can be any address.
func (f *databaseServeFlags) checkExposure(at string, addr net.Addr) error {
	tcp, ok := addr.(*net.TCPAddr)
	switch {
	case ok && tcp.IP.IsLoopback():
		return nil
	case f.accounts == "":
		return usagef("--listen %s without users would let every machine that reaches it do everything: give --users FILE, which stardust user add makes, or listen on 127.0.0.1", at)
	case f.certFile == "":
		return usagef("--listen %s without TLS would send passwords readable over the network: give --tls-cert and --tls-key, or listen on 127.0.0.1 behind a proxy that speaks TLS", at)
	}
	return nil
}

// listenUnix listens on a socket for this user alone, replacing one that a
// process left behind.
func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSocket != 0 {
		conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
		if err == nil {
			_ = conn.Close()
			return nil, usagef("--socket %s: another process listens there", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	return bindPrivately(ctx, path)
}

func address(listener net.Listener, secure bool) string {
	scheme := "http"
	switch {
	case listener.Addr().Network() == "unix":
		return "unix:" + listener.Addr().String()
	case secure:
		scheme = "https"
	}
	return scheme + "://" + listener.Addr().String() + "/"
}
