package file_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/file"
)

// The test binary is also the other process: with this variable set to a
// directory it increments the counter there and prints what it did.
const workerVariable = "STARDUST_FILE_TEST_WORKER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(workerVariable); dir != "" {
		if err := work(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// increments is how often each process increments the counter.
const increments = 40

// work increments a counter by conditional updates, and tries to create each
// of some objects, which the other processes try as well.
func work(dir string) error {
	s, err := file.Open(dir, &file.Options{NoSync: true})
	if err != nil {
		return err
	}
	defer s.Close()
	ctx := context.Background()
	for range increments {
		for {
			data, meta, err := objectstore.ReadAll(ctx, s, "counter")
			if err != nil {
				return err
			}
			n, err := strconv.Atoi(string(data))
			if err != nil {
				return err
			}
			_, err = s.Put(ctx, "counter", objectstore.Bytes(fmt.Append(nil, n+1)), &objectstore.PutOptions{
				Mode: objectstore.Update, UpdateVersion: objectstore.UpdateVersion{ETag: meta.ETag},
				Attributes: objectstore.Attributes{ContentLanguage: strconv.Itoa(n + 1)},
			})
			if err == nil {
				break
			}
			if !errors.Is(err, objectstore.ErrPrecondition) {
				return err
			}
		}
	}
	for i := range increments {
		path := objectstore.Path(fmt.Sprintf("created/%d/object", i))
		_, err := s.Put(ctx, path, objectstore.Bytes(fmt.Append(nil, os.Getpid())), &objectstore.PutOptions{Mode: objectstore.Create})
		switch {
		case err == nil:
			fmt.Println("created", path, os.Getpid())
		case !errors.Is(err, objectstore.ErrAlreadyExists):
			return err
		}
	}
	return nil
}

func TestConditionsHoldBetweenProcesses(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	put(t, s, "counter", "0", nil)
	const processes = 4
	var workers []*exec.Cmd
	var outputs [processes]strings.Builder
	for i := range processes {
		worker := exec.Command(os.Args[0])
		worker.Env = append(os.Environ(), workerVariable+"="+dir)
		worker.Stdout, worker.Stderr = &outputs[i], os.Stderr
		if err := worker.Start(); err != nil {
			t.Fatal(err)
		}
		workers = append(workers, worker)
	}
	for _, worker := range workers {
		if err := worker.Wait(); err != nil {
			t.Fatalf("a process failed: %v", err)
		}
	}
	want := strconv.Itoa(processes * increments)
	data, _, err := objectstore.ReadAll(t.Context(), s, "counter")
	if err != nil || string(data) != want {
		t.Fatalf("the counter is %s (%v), want %s", data, err, want)
	}
	if result, err := s.Get(t.Context(), "counter", &objectstore.GetOptions{Head: true}); err != nil || result.Attributes.ContentLanguage != want {
		t.Fatalf("its attributes are those of %q, %v", result.Attributes.ContentLanguage, err)
	}
	created := 0
	for i := range outputs {
		for line := range strings.Lines(outputs[i].String()) {
			var path, pid string
			if _, err := fmt.Sscanf(line, "created %s %s", &path, &pid); err != nil {
				continue
			}
			created++
			if data, _, err := objectstore.ReadAll(t.Context(), s, objectstore.Path(path)); err != nil || string(data) != pid {
				t.Errorf("%s says that %s created %s, which holds %q, %v", pid, pid, path, data, err)
			}
		}
	}
	if created != increments {
		t.Errorf("%d creates succeeded, want %d", created, increments)
	}
}
