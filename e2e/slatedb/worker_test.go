package slatedb_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stardustdb/stardust/internal/need"
)

// commandLimit bounds every command of a worker: a SlateDB that can't reach its
// endpoint waits for ever.
const commandLimit = 90 * time.Second

// worker is a process with a SlateDB in it; see worker.mjs.
type worker struct {
	t       *testing.T
	process *exec.Cmd
	in      io.WriteCloser
	answers chan []byte
}

// answer is what a worker says to a command.
type answer struct {
	Error  string  `json:"error"`
	Detail string  `json:"detail"`
	Put    int     `json:"put"`
	Count  int     `json:"count"`
	Bad    []int   `json:"bad"`
	Micros numbers `json:"micros"`
}

// numbers is one number or a list of them.
type numbers []int64

func (n *numbers) UnmarshalJSON(text []byte) error {
	var one int64
	if json.Unmarshal(text, &one) == nil {
		*n = numbers{one}
		return nil
	}
	return json.Unmarshal(text, (*[]int64)(n))
}

// newWorker starts a worker whose object store is the S3 endpoint, or what its
// URLs say when the endpoint is empty.
func newWorker(t *testing.T, endpoint, access, secret string) *worker {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), need.Program(t, need.Node), "worker.mjs")
	cmd.Env = append(os.Environ(),
		"AWS_ENDPOINT="+endpoint, "AWS_ALLOW_HTTP=true", "AWS_REGION=us-east-1", "AWS_DEFAULT_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID="+access, "AWS_SECRET_ACCESS_KEY="+secret)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w := &worker{t, cmd, in, make(chan []byte, 16)}
	go func() {
		defer close(w.answers)
		for lines := bufio.NewReaderSize(out, 1<<20); ; {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			w.answers <- line
		}
	}()
	t.Cleanup(w.stop)
	return w
}

// stop ends the process and waits for it and its reader.
func (w *worker) stop() {
	_ = w.in.Close()
	_ = w.process.Process.Kill()
	for range w.answers {
	}
	_ = w.process.Wait()
}

type args map[string]any

// send gives the worker a command; receive waits for its answer.
func (w *worker) send(op string, a args) {
	w.t.Helper()
	message := args{"op": op}
	maps.Copy(message, a)
	line, err := json.Marshal(message)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.in.Write(append(line, '\n')); err != nil {
		w.t.Fatalf("%s: %v", op, err)
	}
}

func (w *worker) receive(op string) answer {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), commandLimit)
	defer cancel()
	select {
	case line, ok := <-w.answers:
		var a answer
		if !ok {
			w.t.Fatalf("%s: the SlateDB process ended", op)
		}
		if err := json.Unmarshal(line, &a); err != nil {
			w.t.Fatalf("%s: %q: %v", op, line, err)
		}
		return a
	case <-ctx.Done():
		w.t.Fatalf("%s: no answer within %v", op, commandLimit)
		return answer{}
	}
}

// do runs a command that must succeed.
func (w *worker) do(op string, a args) answer {
	w.t.Helper()
	w.send(op, a)
	got := w.receive(op)
	if got.Error != "" {
		w.t.Fatalf("%s: %s %s", op, got.Error, got.Detail)
	}
	return got
}

// smallSettings make SSTs, flushes, compactions and collections frequent.
func smallSettings() args {
	age := func(age string) args { return args{"interval": "1s", "min_age": age} }
	return args{
		"l0_sst_size_bytes": 65536, "l0_max_ssts": 16, "max_unflushed_bytes": 4194304,
		"flush_interval": "100ms", "manifest_poll_interval": "300ms", "min_filter_keys": 10,
		"compactor_options": args{
			"poll_interval": "300ms", "manifest_update_timeout": "300s", "max_sst_size": 131072,
			"max_concurrent_compactions": 4, "max_fetch_tasks": 4,
			"scheduler_options": args{"min_compaction_sources": "4", "max_compaction_sources": "8"},
		},
		"garbage_collector_options": args{
			"manifest_options": age("2s"), "wal_options": age("2s"),
			"compacted_options": age("2s"), "compactions_options": age("2s"),
		},
	}
}

// span returns the keys [from, to) in steps.
func span(from, to, step int) (keys []int) {
	for i := from; i < to; i += step {
		keys = append(keys, i)
	}
	return keys
}

func (a answer) check(t *testing.T, what string, want int) {
	t.Helper()
	if len(a.Bad) > 0 || a.Count != want {
		t.Errorf("%s: %d rows, want %d; wrong: %s", what, a.Count, want, fmt.Sprint(a.Bad))
	}
}
