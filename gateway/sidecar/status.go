package sidecar

import (
	"time"

	"github.com/stardustdb/stardust/mirror"
)

// Status tells how a sidecar is doing, for the status page.
type Status struct {
	Upstream string `json:"upstream"`
	Bucket   string `json:"bucket"`
	State    string `json:"state"`
	Error    string `json:"error,omitempty"` // of the latest attempt to warm

	mirror.Gauges
	Downloads []Download      `json:"downloads"`
	Counters  mirror.Counters `json:"counters"`

	Database *DatabaseStatus `json:"database,omitempty"`
	LastScan time.Time       `json:"lastScan,omitzero"`
}

// Download is one download in flight.
type Download struct {
	Path    string `json:"path"`
	Size    int64  `json:"size"` // -1 when not known yet
	Done    int64  `json:"done"`
	Retries int    `json:"retries"`
}

// DatabaseStatus is what the sidecar knows of its SlateDB.
type DatabaseStatus struct {
	Root        string `json:"root"`
	RootKnown   bool   `json:"rootKnown"`
	ManifestID  uint64 `json:"manifestId"`
	Checkpoints int    `json:"checkpoints"`
	Retained    int    `json:"retained"` // SSTs that must not be evicted
}

// Status returns how the sidecar is doing now.
func (s *Sidecar) Status() Status {
	stats, warm := s.mirror.Handle().Stats(), s.warm.Load()
	status := Status{
		Upstream: s.options.Upstream.String(), Bucket: s.options.Bucket, State: string(s.state()),
		Gauges: stats.Gauges, Counters: stats.Counters, LastScan: stats.LastScan.Finished,
		Downloads: make([]Download, 0, len(stats.Downloads)),
	}
	if warm.err != nil {
		status.Error = warm.err.Error()
	}
	for _, d := range stats.Downloads {
		status.Downloads = append(status.Downloads, Download{d.Path.String(), d.Size, d.Done, d.Retries})
	}
	if s.database != nil {
		known := s.database.Status()
		status.Database = &DatabaseStatus{
			Root: known.Root.String(), RootKnown: known.RootKnown, ManifestID: known.ManifestID,
			Checkpoints: known.Checkpoints, Retained: known.Retained,
		}
	}
	return status
}
