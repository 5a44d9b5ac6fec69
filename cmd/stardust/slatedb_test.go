package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// slateFixtures are the databases that a real SlateDB wrote.
const slateFixtures = "../../slatedb/testdata"

// expectedManifest is what is known of a manifest without our own decoder.
type expectedManifest struct {
	ID             uint64   `json:"id"`
	FormatVersion  int      `json:"format_version"`
	SSTsReferenced []string `json:"ssts_referenced"`
	Checkpoints    []struct {
		ID          string  `json:"id"`
		ManifestID  uint64  `json:"manifest_id"`
		ExpireTimeS *int64  `json:"expire_time_s"`
		Name        *string `json:"name"`
	} `json:"checkpoints"`
	ExternalDBs []struct {
		Path   string   `json:"path"`
		SSTIDs []string `json:"sst_ids"`
	} `json:"external_dbs"`
}

// printed returns the members of the JSON that manifest --json must print.
func (m *expectedManifest) printed() map[string]any {
	checkpoints, external := []any{}, []any{}
	for _, c := range m.Checkpoints {
		checkpoints = append(checkpoints, map[string]any{
			"id": c.ID, "manifest_id": c.ManifestID, "expire_time_s": c.ExpireTimeS, "name": c.Name,
		})
	}
	for _, x := range m.ExternalDBs {
		external = append(external, map[string]any{"path": x.Path, "sst_ids": x.SSTIDs})
	}
	return map[string]any{
		"id": m.ID, "format_version": m.FormatVersion, "ssts": m.SSTsReferenced,
		"checkpoints": checkpoints, "external_dbs": external, "segments": []any{},
	}
}

// manifest --json prints every manifest of every fixture as it is known to be;
// without --id the latest.
func TestManifestsAreWhatTheFixturesSay(t *testing.T) {
	sets, err := filepath.Glob(filepath.Join(slateFixtures, "*", "expected.json"))
	if err != nil || len(sets) < 4 {
		t.Fatalf("fixtures: %q, %v", sets, err)
	}
	for _, set := range sets {
		text, err := os.ReadFile(set)
		if err != nil {
			t.Fatal(err)
		}
		var expected struct {
			Databases map[string]struct {
				Manifests        []expectedManifest `json:"manifests"`
				LatestManifestID uint64             `json:"latest_manifest_id"`
			} `json:"databases"`
		}
		if err := json.Unmarshal(text, &expected); err != nil {
			t.Fatal(err)
		}
		store, err := filepath.Abs(filepath.Dir(set))
		if err != nil {
			t.Fatal(err)
		}
		for name, database := range expected.Databases {
			if len(database.Manifests) == 0 {
				t.Fatalf("%s of %s has no manifests", name, set)
			}
			for _, m := range database.Manifests {
				got := manifestJSON(t, store, name, "--id", strconv.FormatUint(m.ID, 10))
				if want := asJSON(t, m.printed()); !reflect.DeepEqual(got, want) {
					t.Errorf("%s/%s, manifest %d:\n%v, want\n%v", filepath.Base(store), name, m.ID, got, want)
				}
			}
			if got := manifestJSON(t, store, name)["id"]; got != float64(database.LatestManifestID) {
				t.Errorf("%s/%s: the latest manifest is %v, want %d", filepath.Base(store), name, got, database.LatestManifestID)
			}
		}
	}
}

// manifestJSON runs slatedb manifest --json within the test's process.
func manifestJSON(t *testing.T, store, root string, flags ...string) (document map[string]any) {
	t.Helper()
	e, out := testEnv()
	args := append([]string{"slatedb", "manifest", store, "--root", root, "--json"}, flags...)
	if code := run(t.Context(), e, args); code != 0 {
		t.Fatalf("%v: exit code %d, %s", args, code, e.err)
	}
	if strings.Count(out.String(), "\n") != 1 {
		t.Errorf("%v prints more than one line", args)
	}
	if err := json.Unmarshal([]byte(out.String()), &document); err != nil {
		t.Fatal(err)
	}
	return document
}

func asJSON(t *testing.T, v any) (document map[string]any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &document)
	}
	if err != nil {
		t.Fatal(err)
	}
	return document
}
