package sidecar

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
	"github.com/stardustdb/stardust/objectstore/storetest"
	"github.com/stardustdb/stardust/slatedb"
)

const (
	accessKey = "test-access"
	secretKey = "test-secret"
)

// upstream is a memory store that remembers the GETs it answered and can be made
// to fail.
type upstream struct {
	objectstore.Store
	mu   sync.Mutex
	gets map[objectstore.Path]int
	down bool
}

func newUpstream(t *testing.T) *upstream {
	u := &upstream{gets: make(map[objectstore.Path]int)}
	u.Store = storetest.Faulty(memory.New(nil), storetest.FaultyOptions{Script: u.script})
	return u
}

func (u *upstream) script(op string, path objectstore.Path) storetest.Fault {
	u.mu.Lock()
	defer u.mu.Unlock()
	if op == "get" {
		u.gets[path]++
	}
	if u.down {
		return storetest.Fault{Before: storetest.ErrInjected}
	}
	return storetest.Fault{}
}

func (u *upstream) setDown(down bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.down = down
}

// getsOf counts the GETs of paths that contain a text.
func (u *upstream) getsOf(part string) (count int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for path, n := range u.gets {
		if strings.Contains(path.String(), part) {
			count += n
		}
	}
	return count
}

// load puts a fixture's objects into the store under a root.
func (u *upstream) load(t *testing.T, fixture, root string) {
	t.Helper()
	dir := os.DirFS(filepath.Join("..", "..", "slatedb", "testdata", fixture))
	err := fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(dir, name)
		if err == nil {
			_, err = u.Put(t.Context(), objectstore.Path(root+"/"+name), objectstore.Bytes(data), nil)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	// The fixtures hold metadata only; what an SST holds matters to SlateDB alone.
	m, err := slatedb.LatestManifest(t.Context(), u, objectstore.Path(root))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range m.SSTs() {
		data := bytes.Repeat([]byte(root+id.String()), 5_000)
		if _, err := u.Put(t.Context(), slatedb.SSTPath(objectstore.Path(root), id), objectstore.Bytes(data), nil); err != nil {
			t.Fatal(err)
		}
	}
}

func options(t *testing.T, u *upstream) Options {
	return Options{
		Upstream: u, Dir: t.TempDir(), Bucket: "mirror",
		Credentials: map[string]string{accessKey: secretKey},
		// No call may wait for another that its caller has still open.
		UpstreamCalls: 1,
		Database:      &slatedb.PolicyOptions{Root: new(objectstore.Path("db")), WithoutCompactionsPoll: true},
	}
}

// serve starts a sidecar and returns it with a client and its URL.
func serve(t *testing.T, o Options) (*Sidecar, *awss3.Client, string) {
	t.Helper()
	s, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		server.Close()
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	client := awss3.New(awss3.Options{
		BaseEndpoint: aws.String(server.URL), Region: "us-east-1", UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(accessKey, secretKey, ""),
		Retryer:     aws.NopRetryer{},
	})
	return s, client, server.URL
}

func get(t *testing.T, client *awss3.Client, key string) ([]byte, error) {
	t.Helper()
	out, err := client.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: aws.String("mirror"), Key: aws.String(key)})
	if err != nil {
		return nil, err
	}
	defer out.Body.Close()
	return io.ReadAll(out.Body)
}

func put(t *testing.T, client *awss3.Client, key string, data []byte) error {
	t.Helper()
	_, err := client.PutObject(t.Context(), &awss3.PutObjectInput{
		Bucket: aws.String("mirror"), Key: aws.String(key), Body: bytes.NewReader(data), IfNoneMatch: aws.String("*"),
	})
	return err
}

func page(t *testing.T, url string) (int, string) {
	t.Helper()
	response, err := http.Get(url) // the test's own server
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// ssts returns the paths of the SSTs of the latest manifest.
func ssts(t *testing.T, u *upstream) (paths []string) {
	t.Helper()
	m, err := slatedb.LatestManifest(t.Context(), u, "db")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range m.SSTs() {
		paths = append(paths, slatedb.SSTPath("db", id).String())
	}
	if len(paths) == 0 {
		t.Fatal("the fixture has no SSTs")
	}
	return paths
}

func TestEverySSTIsServedLocallyOnceReady(t *testing.T) {
	u := newUpstream(t)
	u.load(t, "a-small/db", "db")
	paths := ssts(t, u)
	s, client, url := serve(t, options(t, u))
	<-s.Ready()
	if status, text := page(t, url+"/readyz"); status != http.StatusOK {
		t.Errorf("readyz: %d %s", status, text)
	}
	before := u.getsOf("/compacted/")
	u.setDown(true)
	for _, path := range paths {
		got, err := get(t, client, path)
		if err != nil {
			t.Fatalf("%s with the upstream down: %v", path, err)
		}
		u.setDown(false)
		want, _, err := objectstore.ReadAll(t.Context(), u, objectstore.Path(path))
		u.setDown(true)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: other bytes than upstream (%v)", path, err)
		}
	}
	if after := u.getsOf("/compacted/"); after != before+len(paths) { // our own, to compare
		t.Errorf("%d GETs of SSTs reached the upstream", after-before-len(paths))
	}
	u.setDown(false)
}

func TestNotReadyWhileTheUpstreamIsDown(t *testing.T) {
	u := newUpstream(t)
	u.load(t, "a-small/db", "db")
	u.setDown(true)
	_, _, url := serve(t, options(t, u))
	if status, _ := page(t, url+"/readyz"); status != http.StatusServiceUnavailable {
		t.Errorf("readyz: %d", status)
	}
	if status, _ := page(t, url+"/healthz"); status != http.StatusOK {
		t.Errorf("healthz: %d", status)
	}
	u.setDown(false)
}

func TestADamagedLocalBlockIsHealedWithinTheRequest(t *testing.T) {
	u := newUpstream(t)
	u.load(t, "a-small/db", "db")
	o := options(t, u)
	s, client, url := serve(t, o)
	<-s.Ready()
	path := ssts(t, u)[0]
	files, err := filepath.Glob(filepath.Join(o.Dir, "*"+filepath.Base(path)+".obj"))
	if err != nil || len(files) != 1 {
		t.Fatalf("local files of %s: %v, %v", path, files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	want := bytes.Clone(data)
	data[len(data)/2] ^= 1
	if err := os.WriteFile(files[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := get(t, client, path)
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("damaged bytes were served: %v", err)
	}
	if heals := s.Status().Counters.Heals; heals != 1 {
		t.Errorf("%d heals", heals)
	}
	if _, text := page(t, url+"/metrics"); !strings.Contains(text, "stardust_mirror_heals_total 1") {
		t.Error("the metrics do not show the heal")
	}
}

func TestAWriteWhoseLocalPartFailsIsAcknowledgedAndReadable(t *testing.T) {
	u := newUpstream(t)
	full := errors.New("no room")
	var failing sync.Map
	o := options(t, u)
	o.Mirror.VFS = vfs.NewFaulty(vfs.OS{}, func(op vfs.Op, name string) error {
		if _, on := failing.Load("on"); on && op == vfs.OpWrite {
			return full
		}
		return nil
	})
	s, client, _ := serve(t, o)
	<-s.Ready()
	failing.Store("on", true)
	path := "db/compacted/01M8TRA0DD5VQHK85KPG14R4CH.sst"
	data := bytes.Repeat([]byte("sst"), 100_000)
	if err := put(t, client, path, data); err != nil {
		t.Fatalf("the upstream has it, yet: %v", err)
	}
	if got, err := get(t, client, path); err != nil || !bytes.Equal(got, data) {
		t.Errorf("reading it while the disk fails: %d bytes, %v", len(got), err)
	}
	failing.Delete("on")
	if got, err := get(t, client, path); err != nil || !bytes.Equal(got, data) {
		t.Errorf("reading it: %d bytes, %v", len(got), err)
	}
	if !s.Mirror().Handle().Contains(objectstore.Path(path)) {
		t.Error("the read did not make it local")
	}
}

func TestAnotherDatabaseIsNeverAnsweredFromThisOne(t *testing.T) {
	u := newUpstream(t)
	u.load(t, "a-small/db", "db")
	u.load(t, "b-checkpoints/db", "other")
	s, client, _ := serve(t, options(t, u))
	<-s.Ready()
	// The client must not take the refusal for an error that passes.
	_, err := get(t, client, "other/manifest/00000000000000000016.manifest")
	if err == nil || !strings.Contains(err.Error(), "InvalidRequest") || !strings.Contains(err.Error(), `not of the database under "db"`) {
		t.Errorf("a manifest of another database was answered with %v", err)
	}
	path := "other/compacted/01M8TRB79STZRHH2KEP6ZZK9G5.sst"
	got, err := get(t, client, path)
	want, _, wantErr := objectstore.ReadAll(t.Context(), u, objectstore.Path(path))
	if err != nil || wantErr != nil || !bytes.Equal(got, want) {
		t.Errorf("an SST of another database: %v, %v", err, wantErr)
	}
	if s.Mirror().Handle().Contains(objectstore.Path(path)) {
		t.Error("an SST of another database was kept")
	}
}

func TestOptionsThatMakeNoSenseAreRefused(t *testing.T) {
	u := newUpstream(t)
	for name, change := range map[string]func(*Options){
		"no upstream":       func(o *Options) { o.Upstream = nil },
		"no bucket":         func(o *Options) { o.Bucket = "" },
		"bucket is a page":  func(o *Options) { o.Bucket = "metrics" },
		"no keys":           func(o *Options) { o.Credentials = nil },
		"no policy":         func(o *Options) { o.Database = nil },
		"two policies":      func(o *Options) { o.Policy = &mirror.KeepAll{} },
		"no directory":      func(o *Options) { o.Dir = "" },
		"downloads below 1": func(o *Options) { o.Mirror.DownloadConcurrency = -1 },
	} {
		o := options(t, u)
		change(&o)
		if s, err := New(t.Context(), o); err == nil {
			s.Close(t.Context())
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestWrongKeysAreRefused(t *testing.T) {
	u := newUpstream(t)
	_, _, url := serve(t, options(t, u))
	client := awss3.New(awss3.Options{
		BaseEndpoint: aws.String(url), Region: "us-east-1", UsePathStyle: true, Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider(accessKey, "wrong", ""),
	})
	if _, err := get(t, client, "x"); err == nil || !strings.Contains(err.Error(), "SignatureDoesNotMatch") {
		t.Errorf("%v", err)
	}
}

// Whatever the mirror counts is on both pages, with the same number.
func TestStatusAndMetricsHoldTheSameNumbers(t *testing.T) {
	u := newUpstream(t)
	o := options(t, u)
	o.Database, o.Policy = nil, &mirror.KeepAll{WithoutWarming: true}
	s, client, url := serve(t, o)
	<-s.Ready()
	u.load(t, "a-small/db", "db")
	for range 2 {
		if _, err := get(t, client, "db/manifest/00000000000000000018.manifest"); err != nil {
			t.Fatal(err)
		}
	}
	_, text := page(t, url+"/status.json")
	var status map[string]any
	if err := json.Unmarshal([]byte(text), &status); err != nil {
		t.Fatal(err)
	}
	_, metrics := page(t, url+"/metrics")
	same := func(numbers reflect.Type, members any) {
		for field := range numbers.Fields() {
			tag := field.Tag
			n, ok := members.(map[string]any)[tag.Get("json")].(float64)
			if line := fmt.Sprintf("\nstardust_mirror_%s %v\n", tag.Get("metric"), n); !ok || !strings.Contains(metrics, line) {
				t.Errorf("%s: status.json says %v (%v), /metrics not", field.Name, n, ok)
			}
		}
	}
	same(reflect.TypeFor[mirror.Gauges](), status)
	same(reflect.TypeFor[mirror.Counters](), status["counters"])
	if s := s.Status(); s.Objects == 0 || s.Counters.Hits == 0 || s.Counters.ReadThroughs == 0 {
		t.Errorf("nothing was counted: %+v", s)
	}
}

func TestStatusPageShowsWhatIsLocal(t *testing.T) {
	u := newUpstream(t)
	u.load(t, "a-small/db", "db")
	s, _, url := serve(t, options(t, u))
	<-s.Ready()
	code, text := page(t, url+"/status")
	if code != http.StatusOK || !strings.Contains(text, `id="state">warm<`) || !strings.Contains(text, "/db</span>, manifest 18") {
		t.Errorf("status page: %d\n%s", code, text)
	}
	_, text = page(t, url+"/status.json")
	for _, member := range []string{`"objects": `, `"queuedDownloads": 0`, `"notLocal": 0`, `"heals": 0`, `"manifestId": 18`, `"retained": `, `"downloads": []`} {
		if !strings.Contains(text, member) {
			t.Errorf("status.json has no %s:\n%s", member, text)
		}
	}
	var status Status
	if err := json.Unmarshal([]byte(text), &status); err != nil || status.Objects != int64(len(ssts(t, u))) || !status.Database.RootKnown {
		t.Errorf("status: %+v, %v", status, err)
	}
	response, err := http.Post(url+"/status", "text/plain", nil) // the test's own server
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST of the status page: %d", response.StatusCode)
	}
}

func TestOtherPoliciesServeTheirObjects(t *testing.T) {
	u := newUpstream(t)
	for _, key := range []string{"keep/a", "keep/b", "other/c"} {
		if _, err := u.Put(t.Context(), objectstore.Path(key), objectstore.Bytes([]byte(key)), nil); err != nil {
			t.Fatal(err)
		}
	}
	o := options(t, u)
	o.Database, o.Policy = nil, &mirror.KeepAll{Prefix: "keep/", WithoutWarming: true}
	o.Warm, o.WarmPrefix = true, "keep/"
	s, client, _ := serve(t, o)
	<-s.Ready()
	if n := s.Status().Objects; n != 2 {
		t.Errorf("%d objects are local", n)
	}
	for _, key := range []string{"keep/a", "other/c"} {
		if got, err := get(t, client, key); err != nil || string(got) != key {
			t.Errorf("%s: %q, %v", key, got, err)
		}
	}
}
