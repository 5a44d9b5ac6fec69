package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// nodeFolder holds SlateDB and the program that drives it, which the end-to-end
// tests use, too.
const nodeFolder = "e2e/slatedb"

// nodeLimit bounds every command of a worker: a SlateDB that can't reach its
// endpoint waits for ever.
const nodeLimit = 2 * time.Minute

// slateSources is the number of SSTs in L0 that a compaction begins with.
const slateSources = 4

// nodeInstalled reports whether SlateDB can take part, and says so when not.
func nodeInstalled() bool {
	_, err := exec.LookPath("node")
	if err == nil {
		_, err = os.Stat(filepath.Join(nodeFolder, "node_modules", "@slatedb", "uniffi", "package.json"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "SlateDB is not installed (make deps, Node.js) and takes no part:", err)
	}
	return err == nil
}

// nodeWorker is a SlateDB in a process of its own, driven by a JSON document a
// line.
type nodeWorker struct {
	ctx     context.Context //nolint:containedctx // the run's
	process *exec.Cmd
	in      io.WriteCloser
	answers chan []byte
}

type nodeArgs map[string]any

// nodeAnswer is what a worker says to a command.
type nodeAnswer struct {
	Error  string      `json:"error"`
	Detail string      `json:"detail"`
	Count  int         `json:"count"`
	Bad    []int       `json:"bad"`
	Micros nodeNumbers `json:"micros"`
}

// nodeNumbers is one number or a list of them.
type nodeNumbers []float64

func (n *nodeNumbers) UnmarshalJSON(text []byte) error {
	var one float64
	if json.Unmarshal(text, &one) == nil {
		*n = nodeNumbers{one}
		return nil
	}
	return json.Unmarshal(text, (*[]float64)(n))
}

// startNode starts a worker whose S3 endpoint is given; empty when it uses files.
// The caller stops it.
func (b *bench) startNode(endpoint string) (*nodeWorker, error) {
	cmd := exec.CommandContext(b.ctx, "node", "worker.mjs")
	cmd.Dir = nodeFolder
	cmd.Env = append(os.Environ(),
		"AWS_ENDPOINT="+endpoint, "AWS_ALLOW_HTTP=true", "AWS_REGION="+benchRegion, "AWS_DEFAULT_REGION="+benchRegion,
		"AWS_ACCESS_KEY_ID="+benchAccess, "AWS_SECRET_ACCESS_KEY="+benchSecret)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	w := &nodeWorker{b.ctx, cmd, in, make(chan []byte)}
	go func() {
		defer close(w.answers)
		for lines := bufio.NewReader(out); ; {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			w.answers <- line
		}
	}()
	return w, nil
}

// stop ends the process and waits for it.
func (w *nodeWorker) stop() {
	_ = w.in.Close()
	_ = w.process.Process.Kill()
	for range w.answers {
	}
	_ = w.process.Wait()
}

// do runs a command and returns its answer.
func (w *nodeWorker) do(op string, args nodeArgs) (*nodeAnswer, error) {
	message := nodeArgs{"op": op}
	maps.Copy(message, args)
	line, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	if _, err := w.in.Write(append(line, '\n')); err != nil {
		return nil, fmt.Errorf("SlateDB, %s: %w", op, err)
	}
	ctx, cancel := context.WithTimeout(w.ctx, nodeLimit)
	defer cancel()
	select {
	case line, ok := <-w.answers:
		answer := new(nodeAnswer)
		if !ok {
			return answer, fmt.Errorf("SlateDB, %s: the process ended", op)
		}
		if err := json.Unmarshal(line, answer); err != nil {
			return answer, fmt.Errorf("SlateDB, %s: %q: %w", op, line, err)
		}
		if answer.Error != "" {
			return answer, fmt.Errorf("SlateDB, %s: %s %s", op, answer.Error, answer.Detail)
		}
		return answer, nil
	case <-ctx.Done():
		return new(nodeAnswer), fmt.Errorf("SlateDB, %s: no answer: %w", op, ctx.Err())
	}
}

// slateSettings make a small database behave like a large one: many flushes and
// compactions of SSTs of a size.
func slateSettings(sst int) nodeArgs {
	return nodeArgs{
		"l0_sst_size_bytes": sst, "l0_max_ssts": 16, "max_unflushed_bytes": 64 * sst,
		"flush_interval": "100ms", "manifest_poll_interval": "300ms", "min_filter_keys": 10,
		"compactor_options": nodeArgs{
			"poll_interval": "300ms", "manifest_update_timeout": "300s", "max_sst_size": 2 * sst,
			"max_concurrent_compactions": 4, "max_fetch_tasks": 4,
			"scheduler_options": nodeArgs{"min_compaction_sources": fmt.Sprint(slateSources), "max_compaction_sources": "8"},
		},
		"garbage_collector_options": nil,
	}
}
