package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
	"github.com/stardustdb/stardust/objectstore/storetest"
)

func TestFaultyWithoutScriptConforms(t *testing.T) {
	storetest.Run(t, func(*testing.T) objectstore.Store {
		return storetest.Faulty(memory.New(nil), storetest.FaultyOptions{})
	}, storetest.Features{ListKeys: 10})
}

// once is a script that does fault to calls of op.
func once(op string, fault storetest.Fault) storetest.Script {
	return func(o string, _ objectstore.Path) storetest.Fault {
		if o == op {
			return fault
		}
		return storetest.Fault{}
	}
}

func TestFaultBeforeHasNoEffect(t *testing.T) {
	inner := memory.New(nil)
	boom := objectstore.Transient(errors.New("boom"), 0)
	s := storetest.Faulty(inner, storetest.FaultyOptions{Script: once(objectstore.OpPut, storetest.Fault{Before: boom})})
	_, err := s.Put(t.Context(), "object", objectstore.Bytes([]byte("x")), nil)
	if !errors.Is(err, boom) || !objectstore.IsTransient(err) {
		t.Fatalf("put: %v", err)
	}
	if _, err := objectstore.Head(t.Context(), inner, "object"); !errors.Is(err, objectstore.ErrNotFound) {
		t.Fatalf("head: %v", err)
	}
}

func TestFaultAfterLosesTheAnswerOnly(t *testing.T) {
	inner := memory.New(nil)
	boom := errors.New("boom")
	s := storetest.Faulty(inner, storetest.FaultyOptions{Script: once(objectstore.OpPut, storetest.Fault{After: boom})})
	if _, err := s.Put(t.Context(), "object", objectstore.Bytes([]byte("x")), nil); !errors.Is(err, boom) {
		t.Fatalf("put: %v", err)
	}
	if data, _, err := objectstore.ReadAll(t.Context(), inner, "object"); err != nil || string(data) != "x" {
		t.Fatalf("object is %q, %v", data, err)
	}
}

func TestFaultyBodies(t *testing.T) {
	inner := memory.New(nil)
	if _, err := inner.Put(t.Context(), "object", objectstore.Bytes([]byte("0123456789")), nil); err != nil {
		t.Fatal(err)
	}
	read := func(fault storetest.Fault) (string, error) {
		s := storetest.Faulty(inner, storetest.FaultyOptions{Script: once(objectstore.OpGet, fault)})
		result, err := s.Get(t.Context(), "object", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer result.Body.Close()
		data, err := io.ReadAll(result.Body)
		return string(data), err
	}
	if data, err := read(storetest.Fault{Cut: true, CutAt: 4}); data != "0123" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("cut: %q, %v", data, err)
	}
	if data, err := read(storetest.Fault{Short: true, CutAt: 4}); data != "0123" || err != nil {
		t.Errorf("short: %q, %v", data, err)
	}
	if data, err := read(storetest.Fault{Flip: true, FlipAt: 3}); data != "012"+"\xcc"+"456789" || err != nil {
		t.Errorf("flip: %q, %v", data, err)
	}
}

func TestFaultyCutSendStoresNothing(t *testing.T) {
	for _, multipart := range []bool{false, true} {
		inner := memory.New(nil)
		s := storetest.Faulty(inner, storetest.FaultyOptions{Script: func(string, objectstore.Path) storetest.Fault {
			return storetest.Fault{CutSend: true, CutAt: 3}
		}})
		body := objectstore.Stream(strings.NewReader("0123456789"), 10)
		var err error
		if multipart {
			upload, e := s.PutMultipart(t.Context(), "object", nil)
			if e != nil {
				t.Fatal(e)
			}
			err = upload.PutPart(t.Context(), 1, body)
		} else {
			_, err = s.Put(t.Context(), "object", body, nil)
		}
		if !objectstore.IsTransient(err) || !errors.Is(err, storetest.ErrInjected) {
			t.Fatalf("multipart %v: %v", multipart, err)
		}
		if _, err := objectstore.Head(t.Context(), inner, "object"); !errors.Is(err, objectstore.ErrNotFound) {
			t.Fatalf("head: %v", err)
		}
	}
}

func TestFaultyDelaysByItsClock(t *testing.T) {
	var slept time.Duration
	s := storetest.Faulty(memory.New(nil), storetest.FaultyOptions{
		Script: once(objectstore.OpList, storetest.Fault{Delay: time.Hour}),
		Sleep:  func(_ context.Context, d time.Duration) error { slept += d; return nil },
	})
	for _, err := range s.List(t.Context(), nil) {
		t.Fatal("the store is empty, and yields ", err)
	}
	if slept != time.Hour {
		t.Fatalf("slept %v", slept)
	}
}

// TestSeededDependsOnNothingElse runs the same calls in one goroutine and in
// many, and compares what happened to each.
func TestSeededDependsOnNothingElse(t *testing.T) {
	rates := storetest.Rates{Before: 0.2, After: 0.2, Cut: 0.2, Flip: 0.2, Delay: 0.2, CutSend: 0.2}
	run := func(seed uint64, parallel bool) map[string]string {
		script := storetest.Seeded(seed, rates)
		got := map[string]string{}
		var mu sync.Mutex
		var group sync.WaitGroup
		for p := range 8 {
			work := func() {
				path := objectstore.Path(fmt.Sprint("path", p))
				for n := range 50 {
					fault := script(objectstore.OpPut, path)
					mu.Lock()
					got[fmt.Sprint(path, n)] = fmt.Sprintf("%+v", fault)
					mu.Unlock()
				}
			}
			if parallel {
				group.Go(work)
			} else {
				work()
			}
		}
		group.Wait()
		return got
	}
	one, same, other := run(1, false), run(1, true), run(2, false)
	differ := 0
	faults := 0
	for key, fault := range one {
		if same[key] != fault {
			t.Fatalf("%s: %s in one goroutine, %s in many", key, fault, same[key])
		}
		if other[key] != fault {
			differ++
		}
		if strings.Contains(fault, "injected") {
			faults++
		}
	}
	if differ == 0 {
		t.Error("another seed makes the same faults")
	}
	if faults < 80 || faults > 220 {
		t.Errorf("%d of 400 calls failed, want about 144", faults)
	}
}
