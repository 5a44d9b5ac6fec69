package slatedb_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stardustdb/stardust/internal/need"
	"github.com/stardustdb/stardust/internal/s3test"
	"github.com/stardustdb/stardust/objectstore/file"
	"github.com/stardustdb/stardust/slatedb"
)

// accessLog is the upstream's log of requests.
type accessLog string

// sstGet matches a GET of a compacted SST in the log.
var sstGet = regexp.MustCompile(`"GET [^" ]*/compacted/[^" ]*\.sst`)

// sstGets returns the GETs of compacted SSTs that the log has from an offset on,
// and where it ends.
func (l accessLog) sstGets(t *testing.T, from int) (gets []string, end int) {
	t.Helper()
	text, err := os.ReadFile(string(l))
	if err != nil {
		t.Fatal(err)
	}
	return sstGet.FindAllString(string(text[from:]), -1), len(text)
}

// rows is how many keys the tests put, size how long their values are.
const (
	rows = 20_000
	size = 200
)

// TestARealSlateDBReadsItsSSTsFromTheSidecar is the life of a database: written,
// flushed, compacted and collected through one sidecar, which is killed on the
// way; read through a second one that began with nothing.
func TestARealSlateDBReadsItsSSTsFromTheSidecar(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	need.Ask(t, need.Node, need.SlateDB)
	log := accessLog(filepath.Join(t.TempDir(), "access.log"))
	upstream := s3test.Start(t, &s3test.Options{AccessLog: string(log)})
	upstream.Bucket(t, bucket)
	bin := program(t)
	first := startSidecar(t, bin, upstream, t.TempDir())

	writer := first.worker()
	open := args{"url": "s3://mirror", "path": "db", "changes": smallSettings(), "cache": false}
	writer.do("open", open)
	writer.do("put", args{"from": 0, "to": rows, "generation": 1, "size": size})
	writer.do("flush", nil)
	writer.do("scan", args{"generation": 1, "size": size}).check(t, "after the first flush", rows)

	// Written anew, so that compaction has something to drop and the collector
	// something to delete.
	writer.do("put", args{"from": 0, "to": rows, "generation": 2, "size": size})
	writer.do("flush", nil)
	// SlateDB keeps a compaction's sources for a quarter of an hour, by a
	// checkpoint; what it collects sooner are old manifests and WAL SSTs.
	eventually(t, "SSTs are compacted into sorted runs, and old manifests collected", func() bool {
		_, err := os.Stat(filepath.Join(upstream.Dir, bucket, "db", "manifest", "00000000000000000001.manifest"))
		return os.IsNotExist(err) && sortedRuns(t, upstream) > 0
	})
	writer.do("scan", args{"generation": 2, "size": size}).check(t, "after compaction", rows)
	writer.do("shutdown", nil)

	t.Run("reopened after a kill, nothing acknowledged is missing", func(t *testing.T) {
		again := first.worker()
		again.do("open", open)
		again.send("put", args{"from": rows, "to": 2 * rows, "generation": 2, "size": size})
		eventually(t, "writes are under way", func() bool { return first.counters().Objects > 0 })
		first.kill()
		first.start()
		if a := again.receive("put"); a.Error != "" {
			t.Fatalf("the writer did not survive the kill: %s %s", a.Error, a.Detail)
		}
		again.do("flush", nil)
		again.do("scan", args{"generation": 2, "size": size}).check(t, "after the kill", 2*rows)
		again.do("shutdown", nil)
	})

	t.Run("a second node with an empty directory reads locally once ready", func(t *testing.T) {
		second := startSidecar(t, bin, upstream, t.TempDir())
		_, end := log.sstGets(t, 0)
		reader := second.worker()
		reader.do("open_reader", args{"url": "s3://mirror", "path": "db"})
		reader.do("scan", args{"generation": 2, "size": size}).check(t, "on the second node", 2*rows)
		if a := reader.do("get", args{"keys": span(0, 2*rows, 997), "generation": 2, "size": size}); len(a.Bad) > 0 {
			t.Errorf("wrong values: %v", a.Bad)
		}
		reader.do("shutdown", nil)
		if gets, _ := log.sstGets(t, end); len(gets) > 0 {
			t.Errorf("%d GETs of compacted SSTs reached the upstream after warming, such as %s", len(gets), gets[0])
		}
		compareWithUpstream(t, second, upstream)
		healFlippedBytes(t, second)
	})

	t.Run("the upstream is down for a while", func(t *testing.T) {
		survivor := first.worker()
		survivor.do("open", open)
		upstream.Stop()
		if a := survivor.do("get", args{"keys": span(0, rows, 1997), "generation": 2, "size": size}); len(a.Bad) > 0 {
			t.Errorf("wrong values while the upstream is down: %v", a.Bad)
		}
		if err := upstream.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		survivor.do("put", args{"from": 0, "to": 1000, "generation": 2, "size": size})
		survivor.do("flush", nil)
		survivor.do("scan", args{"generation": 2, "size": size}).check(t, "after the upstream came back", 2*rows)
		survivor.do("shutdown", nil)
	})
	compareWithUpstream(t, first, upstream)
	first.stop()
}

// sortedRuns returns how many sorted runs the latest manifest upstream has.
func sortedRuns(t *testing.T, upstream *s3test.Server) int {
	t.Helper()
	store, err := file.Open(filepath.Join(upstream.Dir, bucket), &file.Options{MustExist: true})
	if err != nil {
		t.Fatal(err)
	}
	m, err := slatedb.LatestManifest(t.Context(), store, "db")
	if err != nil {
		return 0 // collected while it was read
	}
	return len(m.Root.SortedRuns)
}

// compareWithUpstream checks that every local copy has its object's bytes. One
// that is evicted or deleted meanwhile is left out.
func compareWithUpstream(t *testing.T, s *sidecar, upstream *s3test.Server) {
	t.Helper()
	compared := 0
	for path, file := range s.localObjects() {
		local, err := os.ReadFile(file)
		remote, remoteErr := os.ReadFile(filepath.Join(upstream.Dir, bucket, filepath.FromSlash(path)))
		if os.IsNotExist(err) || os.IsNotExist(remoteErr) {
			continue
		}
		if err != nil || remoteErr != nil || !bytes.Equal(local, remote) {
			t.Errorf("%s differs from the upstream's: %v, %v", path, err, remoteErr)
		}
		compared++
	}
	if compared == 0 {
		t.Error("there was no local copy to compare")
	}
}

// healFlippedBytes damages every local copy and reads through the endpoint.
func healFlippedBytes(t *testing.T, s *sidecar) {
	t.Helper()
	flipped := 0
	for _, file := range s.localObjects() {
		data, err := os.ReadFile(file)
		if err != nil || len(data) == 0 {
			continue
		}
		data[len(data)/2] ^= 0x40
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		flipped++
	}
	reader := s.worker()
	reader.do("open_reader", args{"url": "s3://mirror", "path": "db"})
	reader.do("scan", args{"generation": 2, "size": size}).check(t, "with damaged local copies", 2*rows)
	reader.do("shutdown", nil)
	if heals := s.counters().Counters.Heals; heals == 0 {
		t.Errorf("%d copies were damaged and none was healed", flipped)
	}
}

// TestAFullLocalDiskCostsSpeedAndNothingElse runs a sidecar whose directory has
// room for a part of the database only.
func TestAFullLocalDiskCostsSpeedAndNothingElse(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	need.Ask(t, need.Node, need.SlateDB, need.Mount)
	dir := smallDisk(t, "2m")
	upstream := s3test.Start(t, nil)
	upstream.Bucket(t, bucket)
	s := startSidecar(t, program(t), upstream, dir)
	writer := s.worker()
	writer.do("open", args{"url": "s3://mirror", "path": "db", "changes": smallSettings(), "cache": false})
	writer.do("put", args{"from": 0, "to": rows, "generation": 1, "size": size}) // 4 MB and more
	writer.do("flush", nil)
	writer.do("scan", args{"generation": 1, "size": size}).check(t, "with a full local disk", rows)
	writer.do("shutdown", nil)
	s.stop()
	leftovers, err := filepath.Glob(filepath.Join(dir, "*.obj.[0-9]*"))
	if err != nil || len(leftovers) > 0 {
		t.Errorf("temporary files were left on the full disk: %v, %v", leftovers, err)
	}
}

// smallDisk mounts a file system of a size.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("mount: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil { // the test's own has ended
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return dir
}
