package s3_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/stardustdb/stardust/gateway/s3"
	"github.com/stardustdb/stardust/internal/need"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
)

var (
	conformance = flag.Bool("conformance", false, "run every test of versitygw's suite and print the table of docs/s3.md")
	only        = flag.String("conformance-only", "", "with -conformance, run the tests that match this regular expression and print their output")
)

// TestConformance runs tests of versitygw's command against the endpoint, each
// in a process of its own. Without -conformance only those in
// testdata/conformance.txt run, which all must pass; with it, all that apply.
func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a program many times")
	}
	versity := need.Program(t, need.Versitygw)
	versity, err := filepath.Abs(versity)
	if err != nil {
		t.Fatal(err)
	}
	names := regressions(t)
	if *conformance {
		names = slices.DeleteFunc(suite(t, versity), func(name string) bool { return notApplicable(name) != "" })
	}
	if *only != "" {
		names = slices.DeleteFunc(names, func(name string) bool { return !regexp.MustCompile(*only).MatchString(name) })
	}
	// Some tests run the command again as ./versitygw.
	dir := t.TempDir()
	if err := os.Symlink(versity, filepath.Join(dir, "versitygw")); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	passed := make(map[string]bool)
	var group errgroup.Group
	group.SetLimit(4)
	for _, name := range names {
		group.Go(func() error {
			out, err := runVersity(t, dir, name)
			mu.Lock()
			defer mu.Unlock()
			passed[name] = err == nil
			switch {
			case *only != "":
				t.Logf("%s: %v\n%s", name, err, out)
			case err != nil && !*conformance:
				t.Errorf("%s: %v\n%s", name, err, out)
			}
			return nil
		})
	}
	_ = group.Wait()
	if *conformance {
		report(t, suite(t, versity), passed)
		if *rewrite && *only == "" {
			writeRegressions(t, passed)
		}
	}
}

// runVersity runs one test, against an endpoint of its own because all use the
// same names of buckets.
func runVersity(t *testing.T, dir, name string) (string, error) {
	var configurations sync.Map
	e := start(t, nil, s3.Options{
		SaveCORS: func(_ context.Context, bucket string, text []byte) error {
			configurations.Store(bucket, text)
			return nil
		},
		LoadCORS: func(_ context.Context, bucket string) ([]byte, error) {
			text, _ := configurations.Load(bucket)
			b, _ := text.([]byte)
			return b, nil
		},
		CreateBucket: func(context.Context, string) (objectstore.Store, error) { return memory.New(nil), nil },
		DeleteBucket: func(context.Context, string, objectstore.Store) error { return nil },
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "./versitygw", "test", "--access", accessKey, "--secret", secretKey, "--endpoint", e.url, name)
	// Nothing else of the environment, such as AWS_CA_BUNDLE, which it can't use.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.TempDir(), "AWS_CONFIG_FILE=/dev/null"}
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err == nil && !strings.Contains(string(out), "PASS ") {
		err = fmt.Errorf("no test passed")
	}
	return string(out), err
}

// writeRegressions writes the list of tests that must pass: those that did.
func writeRegressions(t *testing.T, passed map[string]bool) {
	t.Helper()
	text := "# Tests of versitygw 1.8.0 that pass against the endpoint and must go on to do so,\n# one a line: TestConformance runs them. -conformance -rewrite writes this.\n"
	for _, name := range slices.Sorted(keysOf(passed)) {
		if passed[name] {
			text += name + "\n"
		}
	}
	if err := os.WriteFile(filepath.Join("testdata", "conformance.txt"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// regressions reads the list of tests that must pass.
func regressions(t *testing.T) []string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "conformance.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var names []string
	for scanner := bufio.NewScanner(f); scanner.Scan(); {
		if name := strings.TrimSpace(scanner.Text()); name != "" && !strings.HasPrefix(name, "#") {
			names = append(names, name)
		}
	}
	return names
}

// suite asks the command for all its tests.
func suite(t *testing.T, versity string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), versity, "test", "--help").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var names []string
	for _, match := range regexp.MustCompile(`(?m)^\s+(\w+_\w+)\s+Runs \S+ integration test`).FindAllStringSubmatch(string(out), -1) {
		names = append(names, match[1])
	}
	slices.Sort(names)
	return names
}

// notApplicable names the feature that a test is about, when this endpoint does
// not have it by design, and "" otherwise.
func notApplicable(name string) string {
	for _, feature := range [...]struct{ name, pattern string }{
		{"users, roles and sessions", `^(S3)?IAM|_iam_|_as_user$|_as_admin$|^CreateUser|^ListBuckets_as|^Authentication_date_mismatch$|^CreateBucket_existing_bucket$|no_access$|_not_owned_`},
		{"policies and access control lists", `^AccessControl|Policy|Acl_|_acl$|_acl_|^PublicBucket|_public$|grants|canned_acl`},
		{"versions", `^Versioning|ListObjectVersions_(?!VD)|BucketVersioning|versionId`},
		{"object lock", `^WORM|LockConfiguration|Retention|LegalHold|legal_hold|object_lock|bucket_lock|retain_until|retention|^PutObject_racey_success$`},
		{"websites", `Website|^Hosting`},
		{"ownership controls", `OwnershipControls|ownership`},
		{"tags of buckets", `BucketTagging|CreateBucket_(long_tags|invalid_tags|duplicate_keys|tag_count)`},
		{"the rules of versitygw's file system", `_dir_obj_with_data$|_dir_obj$|_overwrite_(same_)?(file|dir)_obj|_name_too_long$|with_slashes$|invalid_object_names$|^GetObject_directory_success$`},
		{"versitygw's own features", `^Posix|^Scoutfs|^ScoutFS|_not_implemented$|^RouterGet|data_integrity|^DataIntegrityETag|^ServerAccessLog|_false_negative_|^Sidecar|^Admin|^NoAclMode|^Server_`},
	} {
		pattern := strings.ReplaceAll(feature.pattern, "(?!VD)", "[^V]")
		if regexp.MustCompile(pattern).MatchString(name) {
			return feature.name
		}
	}
	return ""
}

// report prints the table of docs/s3.md and the tests that failed.
func report(t *testing.T, all []string, passed map[string]bool) {
	type row struct{ passed, failed, not int }
	rows := make(map[string]*row)
	var total row
	var failures []string
	for _, name := range all {
		group, _, _ := strings.Cut(name, "_")
		if rows[group] == nil {
			rows[group] = &row{}
		}
		ok, ran := passed[name]
		switch {
		case !ran:
			rows[group].not++
			total.not++
		case ok:
			rows[group].passed++
			total.passed++
		default:
			rows[group].failed++
			total.failed++
			failures = append(failures, name)
		}
	}
	var b strings.Builder
	fmt.Fprintln(&b, "| group | passed | failed | not applicable |\n| --- | --- | --- | --- |")
	for _, group := range slices.Sorted(keysOf(rows)) {
		r := rows[group]
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", group, r.passed, r.failed, r.not)
	}
	fmt.Fprintf(&b, "| **all** | %d | %d | %d |\n", total.passed, total.failed, total.not)
	t.Logf("\n%s\nfailed: %s", &b, strings.Join(failures, " "))
}

func keysOf[V any](m map[string]V) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for key := range m {
			if !yield(key) {
				return
			}
		}
	}
}

func hostOf(t *testing.T, raw string) string {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}
