package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust/gateway/s3"
	"github.com/stardustdb/stardust/gateway/sidecar"
	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/slatedb"
)

// The environment variables that hold the endpoint's own keys.
const (
	envAccessKey = "STARDUST_ACCESS_KEY_ID"
	envSecretKey = "STARDUST_SECRET_ACCESS_KEY"
)

// serveFlags are those of mirror serve.
type serveFlags struct {
	mirrorFlags
	listen    string
	bucket    string
	accessKey string
	anonymous bool
	region    string
	certFile  string
	keyFile   string
	poll      time.Duration
	unchecked bool
	requests  int
	calls     int
	bandwidth byteSize
	origins   []string
}

func newMirrorServeCommand(e *env) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve a bucket through its mirror, as an S3 endpoint",
		Long: `Serve a bucket through its mirror, as an S3 endpoint: point a program's S3 client
here instead of at the bucket. With --policy slatedb the program is a SlateDB in any
language, and every read of a compacted SST is local.

Clients sign with the endpoint's own keys: the access key is --access-key or
$` + envAccessKey + `, the secret key $` + envSecretKey + `. Without any, a pair is
made up and printed. The upstream's keys are found as every AWS tool finds them.

Beside the bucket there are pages: /healthz, /readyz (200 once warm), /metrics
(Prometheus: requests, the mirror, and the calls to the upstream), /status and
/status.json. --verbose logs every request and every call to the upstream. SIGINT or SIGTERM finishes the requests under
way and stops.`,
		Example: `  stardust mirror serve --upstream s3://bucket --dir /var/lib/mirror --policy slatedb --root db --listen 127.0.0.1:9000
  stardust mirror serve --upstream file:///srv/objects --dir /var/lib/mirror --policy lru --limit 10GiB --anonymous`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if err := f.policy.check(cmd); err != nil {
				return err
			}
			if f.requests < 0 {
				return usagef("--max-requests %d: it cannot be negative", f.requests)
			}
			if f.calls < 0 {
				return usagef("--upstream-calls %d: it cannot be negative", f.calls)
			}
			if (f.certFile == "") != (f.keyFile == "") {
				return usagef("--tls-cert and --tls-key go together")
			}
			return e.serve(cmd.Context(), &f)
		},
	}
	f.addFlags(cmd)
	f.policy.addFlags(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", "127.0.0.1:9000", "address to listen on; one beyond loopback needs --tls-cert and --tls-key")
	flags.StringVar(&f.bucket, "bucket", "mirror", "the bucket's name for clients")
	flags.StringVar(&f.accessKey, "access-key", "", "the access key that clients sign with, rather than that in the environment")
	flags.BoolVar(&f.anonymous, "anonymous", false, "also serve unsigned requests; only on loopback addresses")
	flags.StringVar(&f.region, "region", "us-east-1", "the region that signatures name")
	flags.StringArrayVar(&f.origins, "cors-origin", nil, "let pages of this site, such as https://example.com, use the bucket with their keys; may be repeated")
	flags.StringVar(&f.certFile, "tls-cert", "", "file with the certificate chain, for TLS")
	flags.StringVar(&f.keyFile, "tls-key", "", "file with the certificate's key")
	flags.DurationVar(&f.poll, "compactions-poll", 0, "slatedb: how often to look for compactions' output (0: 5s, negative: never)")
	flags.DurationVar(&f.scan, "scan-interval", 0, "how often to look for objects deleted upstream (0: 10m, negative: never)")
	flags.BoolVar(&f.unchecked, "no-verification", false, "serve local bytes without checking them")
	flags.IntVar(&f.requests, "max-requests", 0, "serve this many requests at a time (0: 512)")
	flags.IntVar(&f.calls, "upstream-calls", 0, "make at most this many reads and this many writes upstream at a time (0: no bound)")
	flags.Var(&f.bandwidth, "upstream-bandwidth", "move at most this many bytes a second between here and the upstream, such as 50MiB (default: no bound)")
	return cmd
}

func (e *env) serve(ctx context.Context, f *serveFlags) error {
	credentials, err := f.credentials(e)
	if err != nil {
		return err
	}
	serverOptions := s3.ServerOptions{Logger: e.logger()}
	if f.certFile != "" {
		certificate, err := tls.LoadX509KeyPair(f.certFile, f.keyFile)
		if err != nil {
			return about("the TLS certificate", err)
		}
		serverOptions.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	}
	// A taken port must show before the mirror begins to download.
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	if err := f.checkExposure(listener.Addr()); err != nil {
		return err
	}
	return e.withStore(ctx, f.upstream, func(store objectstore.Store) (err error) {
		options, err := f.options(e, store, credentials)
		if err != nil {
			return err
		}
		s, err := sidecar.New(ctx, options)
		if err != nil {
			return aboutStore(f.dir, err)
		}
		defer func() {
			if closed := s.Close(context.WithoutCancel(ctx)); err == nil {
				err = aboutStore(f.dir, closed)
			}
		}()
		scheme := "http"
		if serverOptions.TLS != nil {
			scheme = "https"
		}
		e.notice("serving %s at %s://%s/%s; its state is at %s://%s/status", redacted(f.upstream),
			scheme, listener.Addr(), f.bucket, scheme, listener.Addr())
		return s3.NewServer(s, serverOptions).Serve(ctx, listener)
	})
}

// checkExposure refuses an address that other machines reach unless what they
// send is encrypted and signed. It asks what the listener got, since a host name
// can be any address.
func (f *serveFlags) checkExposure(addr net.Addr) error {
	tcp, ok := addr.(*net.TCPAddr)
	switch {
	case ok && tcp.IP.IsLoopback():
		return nil
	case f.anonymous:
		return usagef("--listen %s with --anonymous would let every machine that reaches it read and write the bucket: leave out --anonymous, or listen on 127.0.0.1", f.listen)
	case f.certFile == "":
		return usagef("--listen %s without TLS would send objects readable over the network: give --tls-cert and --tls-key, or listen on 127.0.0.1 behind a proxy that speaks TLS", f.listen)
	}
	return nil
}

func (f *serveFlags) options(e *env, store objectstore.Store, credentials map[string]string) (sidecar.Options, error) {
	options := sidecar.Options{
		Upstream: store, Dir: f.dir, Bucket: f.bucket,
		Credentials: credentials, Anonymous: f.anonymous, Region: f.region, CORSOrigins: f.origins,
		WithoutVerification: f.unchecked,
		Mirror: mirror.Options{
			Identity: f.identity, DownloadConcurrency: f.downloads, RemoteScanInterval: max(f.scan, 0), WithoutRemoteScan: f.scan < 0,
		},
		UpstreamCalls: f.calls, UpstreamBytesPerSecond: int64(f.bandwidth),
		MaxConcurrentRequests: f.requests, Now: e.now, Logger: e.serviceLogger(),
	}
	if f.policy.name == "slatedb" {
		root, err := f.policy.slateRoot()
		options.Database = &slatedb.PolicyOptions{Root: root, CompactionsPollInterval: f.poll, WithoutCompactionsPoll: f.poll < 0}
		return options, err
	}
	policy, err := f.policy.build()
	options.Policy = policy
	options.Warm, options.WarmPrefix = f.policy.name == "all", f.policy.prefix
	return options, err
}

// credentials returns the endpoint's own keys. If none were given, they are
// made up and shown to the person who starts the server.
func (f *serveFlags) credentials(e *env) (map[string]string, error) {
	access, secret := cmp.Or(f.accessKey, os.Getenv(envAccessKey)), os.Getenv(envSecretKey)
	switch {
	case f.anonymous && access == "" && secret == "":
		return nil, nil
	case (access == "") != (secret == ""):
		return nil, errors.New("an access key needs a secret key and the other way round: set " + envAccessKey + " and " + envSecretKey)
	case secret != "":
		return map[string]string{access: secret}, nil
	}
	access, secret = "stardust", rand.Text()
	fmt.Fprintf(e.err, "made up for this run: %s=%s %s=%s\n", envAccessKey, access, envSecretKey, secret)
	return map[string]string{access: secret}, nil
}

// serviceLogger returns the log of a long-running command: what an operator
// wants to know, on standard error.
func (e *env) serviceLogger() *slog.Logger {
	if e.verbose {
		return e.logger()
	}
	level := slog.LevelInfo
	if e.quiet {
		level = slog.LevelWarn
	}
	return slog.New(slog.NewTextHandler(e.err, &slog.HandlerOptions{Level: level}))
}
