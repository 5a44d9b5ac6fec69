package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/file"
	"github.com/stardustdb/stardust/objectstore/memory"
	"github.com/stardustdb/stardust/objectstore/metrics"
	"github.com/stardustdb/stardust/objectstore/storetest"
)

func TestStoreConforms(t *testing.T) {
	storetest.Run(t, func(*testing.T) objectstore.Store {
		return metrics.New(memory.New(nil), metrics.NewCollectors(nil))
	}, storetest.Features{ListKeys: 50})
}

// gather returns all values by name and labels.
func gather(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			name := strings.TrimPrefix(family.GetName(), "stardust_objectstore_")
			for _, label := range metric.GetLabel() {
				name += " " + label.GetValue()
			}
			values[name] = metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + float64(metric.GetHistogram().GetSampleCount())
		}
	}
	return values
}

func TestCallsAreCounted(t *testing.T) {
	collectors := metrics.NewCollectors(prometheus.Labels{"store": "x"})
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(collectors); err != nil {
		t.Fatal(err)
	}
	s := metrics.New(memory.New(nil), collectors)
	create := &objectstore.PutOptions{Mode: objectstore.Create}
	for range 2 {
		_, _ = s.Put(t.Context(), "object", objectstore.Bytes([]byte("12345")), create)
	}
	result, err := s.Get(t.Context(), "object", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := gather(t, registry); got["requests_in_flight get x"] != 1 || got["requests_total get ok x"] != 0 {
		t.Errorf("while the body is open: %v", got)
	}
	if _, err := io.ReadAll(result.Body); err != nil {
		t.Fatal(err)
	}
	_ = result.Body.Close()
	_, _ = s.Get(t.Context(), "missing", nil)
	_, _ = objectstore.Head(t.Context(), s, "object")
	for _, err := range s.List(t.Context(), nil) {
		if err != nil {
			t.Error(err)
		}
		break
	}
	got := gather(t, registry)
	for name, want := range map[string]float64{
		"requests_total put ok x": 1, "requests_total put exists x": 1, "requests_total get ok x": 1,
		"requests_total get not_found x": 1, "requests_total head ok x": 1, "requests_total list ok x": 1,
		"bytes_total sent x": 5, "bytes_total received x": 5, "request_seconds get x": 2,
		"requests_in_flight get x": 0, "requests_in_flight list x": 0,
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
}

func TestLocalFilesStayFiles(t *testing.T) {
	inner, err := file.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close()
	s := metrics.New(inner, metrics.NewCollectors(nil))
	if _, err := s.Put(t.Context(), "object", objectstore.Bytes([]byte("x")), nil); err != nil {
		t.Fatal(err)
	}
	result, err := s.Get(t.Context(), "object", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer result.Body.Close()
	if _, ok := result.Body.(objectstore.FileBody); !ok {
		t.Fatalf("body is a %T: a server cannot send it by itself", result.Body)
	}
}

func TestResultsHaveNames(t *testing.T) {
	for want, err := range map[string]error{
		"ok": nil, "not_found": &objectstore.Error{Err: fmt.Errorf("x: %w", objectstore.ErrNotFound)},
		"canceled": context.Canceled, "transient": objectstore.Transient(errors.New("x"), 0), "error": errors.New("x"),
		"no_space": objectstore.ErrNoSpace, "denied": objectstore.ErrUnauthenticated,
	} {
		if got := metrics.Result(err); got != want {
			t.Errorf("%v is %q, want %q", err, got, want)
		}
	}
}
