package mirror_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
)

func TestOpenValidatesOptionsFirst(t *testing.T) {
	remote, policy := memory.New(nil), &hookPolicy{}
	for name, c := range map[string]struct {
		dir     string
		remote  objectstore.Store
		policy  mirror.Policy
		options mirror.Options
	}{
		"no directory":      {"", remote, policy, mirror.Options{}},
		"no remote":         {dir, nil, policy, mirror.Options{}},
		"no policy":         {dir, remote, nil, mirror.Options{}},
		"concurrency -1":    {dir, remote, policy, mirror.Options{DownloadConcurrency: -1}},
		"scan interval -1":  {dir, remote, policy, mirror.Options{RemoteScanInterval: -time.Second}},
		"index interval -1": {dir, remote, policy, mirror.Options{IndexInterval: -1}},
		"idle files -2":     {dir, remote, policy, mirror.Options{MaxIdleFiles: -2}},
		"retries -3":        {dir, remote, policy, mirror.Options{MaxRetries: -3}},
	} {
		c.options.VFS = vfs.NewFaulty(vfs.NewSimulated(), func(op vfs.Op, name string) error {
			t.Errorf("%s of %s before the options were checked", op, name)
			return nil
		})
		m, err := mirror.Open(t.Context(), c.dir, c.remote, c.policy, &c.options)
		var invalid *mirror.InvalidConfig
		if m != nil || !errors.As(err, &invalid) || !errors.Is(err, objectstore.ErrInvalidOption) || !objectstore.IsNonRetryable(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOpenMakesTheDirectory(t *testing.T) {
	root := t.TempDir()
	link := filepath.Join(root, "link")
	if err := os.Mkdir(filepath.Join(root, "target"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "target"), link); err != nil {
		t.Fatal(err)
	}
	t.Chdir(root)
	for _, dir := range []string{filepath.Join(root, "new", "deep"), "relative/dir", link} {
		m, err := mirror.Open(t.Context(), dir, memory.New(nil), &hookPolicy{}, nil)
		if err != nil {
			t.Fatalf("%s: %v", dir, err)
		}
		if _, err := m.Put(t.Context(), "a/x", objectstore.Bytes([]byte("bytes")), nil); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
		if err := m.Close(); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "LOCK")); err != nil {
			t.Errorf("%s: LOCK is not there after Close: %v", dir, err)
		}
	}
}

func TestOpenInADirectoryThatCannotBe(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "file")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]string{"a file": file, "under a file": filepath.Join(file, "sub")}
	if os.Getuid() != 0 {
		sealed := filepath.Join(root, "sealed")
		if err := os.Mkdir(sealed, 0o555); err != nil {
			t.Fatal(err)
		}
		cases["not writable"] = sealed
	}
	for name, dir := range cases {
		_, err := mirror.Open(t.Context(), dir, memory.New(nil), &hookPolicy{}, nil)
		var failure *mirror.Local
		if !errors.As(err, &failure) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "mine" {
		t.Errorf("the file was changed: %q, %v", data, err)
	}
}

func TestSecondMirrorOfADirectoryIsRefused(t *testing.T) {
	for name, fs := range map[string]vfs.FS{"os": vfs.OS{}, "simulated": vfs.NewSimulated()} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			remote := memory.New(nil)
			first, err := mirror.Open(t.Context(), dir, remote, &hookPolicy{}, &mirror.Options{VFS: fs})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := first.Put(t.Context(), "a/x", objectstore.Bytes([]byte("bytes")), nil); err != nil {
				t.Fatal(err)
			}
			_, err = mirror.Open(t.Context(), dir, remote, &hookPolicy{}, &mirror.Options{VFS: fs})
			var invalid *mirror.InvalidConfig
			if !errors.As(err, &invalid) || !errors.Is(err, vfs.ErrLocked) || !strings.Contains(err.Error(), dir) {
				t.Errorf("second: %v", err)
			}
			if !first.Handle().Contains("a/x") {
				t.Error("the first lost its copy")
			}
			if err := first.Close(); err != nil {
				t.Fatal(err)
			}
			second, err := mirror.Open(t.Context(), dir, remote, &hookPolicy{}, &mirror.Options{VFS: fs})
			if err != nil {
				t.Fatalf("after the first closed: %v", err)
			}
			if err := second.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestDirectoryOfAnotherRemoteOrANewerFormatIsRefusedAndLeftAlone(t *testing.T) {
	for name, lock := range map[string]string{
		"another remote": `{"format":1,"identity":"s3://other"}`,
		"newer format":   `{"format":2,"identity":"memory","more":true}`,
		"not JSON":       `pid 1234`,
		"no format":      `{"identity":"memory"}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEnv(t, nil)
				e.open()
				e.put("a/x", "bytes")
				e.close()
				e.disk.WriteFile(dir+"/LOCK", []byte(lock))
				e.disk.WriteFile(dir+"/754128269b532c9827ffa09d3afb6118.x.obj.5", []byte("temp"))
				before := e.files()
				_, err := e.build(e.Context())
				var invalid *mirror.InvalidConfig
				if !errors.As(err, &invalid) || !strings.Contains(err.Error(), "LOCK") {
					t.Fatalf("build: %v", err)
				}
				if after := e.files(); !slices.Equal(before, after) {
					t.Errorf("files were %v, are %v", before, after)
				}
				if data, err := e.disk.ReadFile(dir + "/LOCK"); err != nil || string(data) != lock {
					t.Errorf("LOCK is %q, %v", data, err)
				}
				// Refused, the lock is free again.
				e.disk.WriteFile(dir+"/LOCK", []byte(`{"format":1,"identity":"memory"}`))
				e.open()
				e.wantLocal("a/x", "bytes")
				e.close()
			})
		})
	}
}

func TestIdentityIsTheRemotesNameOrTheOneGiven(t *testing.T) {
	bubbleWith(t, func(o *mirror.Options) { o.Identity = "s3://bucket/prefix" }, func(e *env) {
		data, err := e.disk.ReadFile(dir + "/LOCK")
		var lock struct {
			Format   int
			Identity string
		}
		if err != nil || json.Unmarshal(data, &lock) != nil || lock.Format != 1 || lock.Identity != "s3://bucket/prefix" {
			t.Errorf("LOCK is %q, %v", data, err)
		}
	})
}

func TestStartupRemovesTemporaryFilesAndLeavesForeignOnes(t *testing.T) {
	bubble(t, func(e *env) {
		e.put("a/x", "bytes")
		kept := e.files()
		prefix := kept[0][:32]
		temps := []string{prefix + ".y.obj.1", prefix + ".y.obj.meta.2", prefix + ".x.obj.18446744073709551615", "0123456789abcdef0123456789abcdef.z.obj.007"}
		foreign := []string{
			"notes.txt", "x.obj", "x.obj.5", prefix + ".x", prefix + ".x.meta", prefix + ".x.obj.tmp",
			strings.ToUpper(prefix) + ".x.obj.5", prefix + "x.obj.5", prefix + ".y.obj.99999999999999999999999", prefix + ".obj", prefix,
		}
		for _, name := range slices.Concat(temps, foreign) {
			e.disk.WriteFile(filepath.Join(dir, name), []byte("?"))
		}
		if err := e.disk.MkdirAll(filepath.Join(dir, prefix+".sub.obj")); err != nil {
			t.Fatal(err)
		}
		e.reopen()
		want := slices.Sorted(slices.Values(slices.Concat(kept, foreign, []string{prefix + ".sub.obj"})))
		if got := e.files(); !slices.Equal(got, want) {
			t.Errorf("files %v, want %v", got, want)
		}
		if s := e.h.Stats().Startup; s.Temporary != len(temps) || s.Invalid != 0 || s.Recovered != 1 {
			t.Errorf("startup: %+v", s)
		}
		e.wantLocal("a/x", "bytes")
	})
}

func TestManyTemporaryFilesGoWithoutDelayingBuild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, nil)
		if err := e.disk.MkdirAll(dir); err != nil {
			t.Fatal(err)
		}
		const n = 3000
		for i := range n {
			e.disk.WriteFile(fmt.Sprintf("%s/0123456789abcdef0123456789abcdef.x.obj.%d", dir, i), []byte("?"))
		}
		removed := 0
		gate := make(chan struct{})
		e.onDisk(func(op vfs.Op, _ string) error {
			if op == vfs.OpRemove {
				if removed++; removed > 1000 {
					<-gate
				}
			}
			return nil
		})
		e.open() // although removals are stuck
		e.store("a/x", "bytes")
		e.fetch("a/x")
		e.wantLocal("a/x", "bytes")
		close(gate)
		synctest.Wait()
		if len(e.files()) != 2 {
			t.Errorf("%d files are left", len(e.files()))
		}
		e.close()
	})
}

func TestStartupRemovesInvalidEntries(t *testing.T) {
	for name, spoil := range map[string]func(e *env){
		"no meta":    func(e *env) { _ = e.disk.Remove(e.file(".x.obj.meta")) },
		"no object":  func(e *env) { _ = e.disk.Remove(e.file(".x.obj")) },
		"empty meta": func(e *env) { e.disk.WriteFile(e.file(".x.obj.meta"), nil) },
		"zeroed meta": func(e *env) {
			data, _ := e.disk.ReadFile(e.file(".x.obj.meta"))
			e.disk.WriteFile(e.file(".x.obj.meta"), make([]byte, len(data)+1))
		},
		"damaged meta": func(e *env) {
			data, _ := e.disk.ReadFile(e.file(".x.obj.meta"))
			e.disk.WriteFile(e.file(".x.obj.meta"), []byte(strings.Replace(string(data), `"size":5`, `"size": 5`, 1)))
		},
		"meta of another path": func(e *env) {
			e.put("a/other", "bytes")
			data, _ := e.disk.ReadFile(e.file(".other.obj.meta"))
			e.disk.WriteFile(e.file(".x.obj.meta"), append(data, ' ')[:len(data)])
			_ = e.m.Delete(e.Context(), "a/other")
		},
		"shorter object": func(e *env) { e.disk.WriteFile(e.file(".x.obj"), []byte("byte")) },
		"longer object":  func(e *env) { e.disk.WriteFile(e.file(".x.obj"), []byte("bytes!")) },
		"empty object":   func(e *env) { e.disk.WriteFile(e.file(".x.obj"), nil) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(e *env) {
				e.put("a/x", "bytes")
				e.put("b/good", "bytes")
				spoil(e)
				e.close()
				_ = e.disk.Remove(dir + "/INDEX")
				e.open()
				e.wantAbsent("a/x")
				e.wantLocal("b/good", "bytes")
				if s := e.h.Stats().Startup; s.Invalid != 1 || s.Recovered != 1 || len(e.files()) != 2 {
					t.Errorf("startup: %+v; files %v", s, e.files())
				}
				e.fetch("a/x")
				e.wantLocal("a/x", "bytes")
			})
		})
	}
}

func TestSizePreservingCorruptionPassesStartup(t *testing.T) {
	bubble(t, func(e *env) {
		e.put("a/x", "bytes")
		e.close()
		e.damage(".x.obj", 0)
		e.open()
		e.policy.routeReads(mirror.ReadLocal)
		if got, err := e.read("a/x", nil); err != nil || got == "bytes" {
			t.Errorf("read %q, %v", got, err)
		}
	})
}

func TestStartupRecoversEveryPathAndItsMetadata(t *testing.T) {
	bubble(t, func(e *env) {
		for i := range 300 {
			path := objectstore.Path(fmt.Sprintf("d%d/%d", i%7, i))
			e.put(path, fmt.Sprint("data ", i))
		}
		for round, index := range []bool{true, false} {
			e.close()
			if !index {
				_ = e.disk.Remove(dir + "/INDEX")
			}
			e.open()
			for i := range 300 {
				e.wantLocal(objectstore.Path(fmt.Sprintf("d%d/%d", i%7, i)), fmt.Sprint("data ", i))
			}
			if s := e.h.Stats().Startup; s.Recovered != 300 || (s.FromIndex == 300) != index {
				t.Errorf("round %d: %+v", round, s)
			}
		}
	})
}

func TestStartupBeginsTheScanAndThePolicysRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, scanning(time.Minute))
		e.store("a/x", "bytes")
		ran, ended := false, false
		e.policy.run = func(ctx context.Context, h mirror.Handle) error {
			ran = true
			if err := h.Fetch("a/x").Wait(ctx); err != nil {
				t.Error(err)
			}
			<-ctx.Done()
			ended = true
			return ctx.Err()
		}
		e.open()
		synctest.Wait()
		if !ran || !e.h.Contains("a/x") || e.h.Stats().LastScan.Finished.IsZero() {
			t.Error("no background work")
		}
		e.close()
		if !ended {
			t.Error("Close did not wait for Run")
		}
	})
}

func TestUnreadableMetadataFailsBuildAndIsNotRemoved(t *testing.T) {
	bubble(t, func(e *env) {
		e.put("a/x", "bytes")
		e.close()
		_ = e.disk.Remove(dir + "/INDEX")
		before := e.files()
		e.failOn(vfs.OpOpen, ".obj.meta", syscall.EACCES)
		_, err := e.build(e.Context())
		var failure *mirror.Local
		if !errors.As(err, &failure) || !strings.Contains(err.Error(), ".x.obj.meta") {
			t.Errorf("build: %v", err)
		}
		e.onDisk(nil)
		if !slices.Equal(before, e.files()) {
			t.Errorf("files were %v, are %v", before, e.files())
		}
		e.open()
		e.wantLocal("a/x", "bytes")
	})
}

func TestOpenWhoseCallerGivesUpReleasesTheLock(t *testing.T) {
	bubble(t, func(e *env) {
		e.put("a/x", "bytes")
		e.close()
		ctx, cancel := context.WithCancel(e.Context())
		cancel()
		if _, err := e.build(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("build: %v", err)
		}
		e.open()
		e.wantLocal("a/x", "bytes")
	})
}

func TestTemporaryNamesGoOnAfterThoseLeftOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, nil)
		if err := e.disk.MkdirAll(dir); err != nil {
			t.Fatal(err)
		}
		e.disk.WriteFile(dir+"/0123456789abcdef0123456789abcdef.x.obj.41", []byte("?"))
		e.open()
		open := e.gateOn("put", "a/x")
		done := background(func() error {
			_, err := e.m.Put(e.Context(), "a/x", objectstore.Bytes(nil), nil)
			return err
		})
		synctest.Wait()
		e.file(".x.obj.42")
		open(nil)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		e.close()
	})
}
