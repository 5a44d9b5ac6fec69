package sidecar

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/stardustdb/stardust/mirror"
)

// renderStatus fills in status.html. nonce is that of the page's own script, as
// in the policy. It does without html/template, whose reflection would keep
// every exported method of the whole program: a quarter of its size.
func renderStatus(s Status, nonce string) string {
	c := &s.Counters
	busy, unhealed, failed := "", "", ""
	if s.State == string(warming) {
		busy = " busy"
	}
	if c.HealFailures > 0 {
		unhealed = ` class="bad"`
	}
	if s.Error != "" {
		failed = `<p class="bad" id="error">Warming failed and is tried again: ` + html.EscapeString(s.Error) + `</p>`
	}
	scan := "none yet"
	if !s.LastScan.IsZero() {
		scan = s.LastScan.UTC().Format("2006-01-02 15:04:05Z")
	}
	now := row("Queued downloads", `class="n" id="queued"`, humanize.Comma(int64(s.QueuedDownloads))) +
		row("Pending evictions", `class="n"`, humanize.Comma(int64(s.PendingEvictions))) +
		row("Paths with an operation in line", `class="n"`, humanize.Comma(int64(s.BusyPaths))) +
		row("Open files", `class="n"`, humanize.Comma(int64(s.OpenFiles))) +
		row("Latest remote scan", `class="n"`, scan)
	counters := row("Reads that downloaded first", `class="n"`, humanize.Comma(c.ReadThroughs)) +
		row("Reads that were not local", `class="n"`, humanize.Comma(c.NotLocal)) +
		row("Reads from upstream, by rule", `class="n"`, humanize.Comma(c.RemoteReads)) +
		row("Mirrored writes", `class="n"`, humanize.Comma(c.MirrorWrites)) +
		row("Downloads", `class="n" id="downloaded"`, humanize.Comma(c.Downloads)+" ("+size(c.DownloadedBytes)+")") +
		row("Evictions", `class="n"`, humanize.Comma(c.Evictions)) +
		row("Removed by remote scans", `class="n"`, humanize.Comma(c.ScanRemoved)) +
		trouble("Failed downloads", c.DownloadFailures) +
		trouble("Failed remote scans", c.ScanFailures) +
		trouble("Damaged blocks not healed", c.HealFailures) +
		trouble("Failures of the local disk", c.LocalErrors)
	// One pass: what is filled in is not looked at again.
	return strings.NewReplacer(
		"{{state}}", html.EscapeString(s.State), "{{busy}}", busy, "{{error}}", failed,
		"{{bucket}}", html.EscapeString(s.Bucket), "{{upstream}}", html.EscapeString(s.Upstream),
		"{{bytes}}", size(s.Bytes), "{{objects}}", humanize.Comma(s.Objects),
		"{{share}}", localShare(*c), "{{hits}}", humanize.Comma(c.Hits), "{{misses}}", humanize.Comma(misses(*c)),
		"{{unhealed}}", unhealed, "{{heals}}", humanize.Comma(c.Heals),
		"{{database}}", renderDatabase(s.Database), "{{downloads}}", renderDownloads(s.Downloads),
		"{{now}}", now, "{{counters}}", counters, "{{nonce}}", nonce,
	).Replace(statusPage)
}

func renderDatabase(d *DatabaseStatus) string {
	switch {
	case d == nil:
		return ""
	case !d.RootKnown:
		return `<p id="database">No SlateDB has been seen yet.</p>`
	}
	return fmt.Sprintf(`<p id="database">SlateDB at <span class="path">/%s</span>, manifest %d, %d SSTs retained, %d checkpoints.</p>`,
		html.EscapeString(d.Root), d.ManifestID, d.Retained, d.Checkpoints)
}

func renderDownloads(downloads []Download) string {
	if len(downloads) == 0 {
		return `<span class="soft">None under way.</span>`
	}
	var b strings.Builder
	b.WriteString(`<table id="downloads">
  <tr><th scope="col">Object</th><th scope="col" class="n">Size</th><th scope="col">Progress</th><th scope="col" class="n">Retries</th></tr>
`)
	for _, d := range downloads {
		path, of, done := html.EscapeString(d.Path), "…", percent(d.Done, d.Size)
		if d.Size >= 0 {
			of = size(d.Size)
		}
		fmt.Fprintf(&b, `  <tr><td class="path">%s</td><td class="n">%s</td><td class="progress"><progress max="100" value="%d" aria-label="%s"></progress> %d %%</td><td class="n">%d</td></tr>
`, path, of, done, path, done, d.Retries)
	}
	b.WriteString("</table>")
	return b.String()
}

// row is a row of one of the page's tables. Its texts are the page's own.
func row(what, attributes, value string) string {
	return `  <tr><th scope="row">` + what + "</th><td " + attributes + ">" + value + "</td></tr>\n"
}

// trouble is a row for something that should stay zero, and stands out when it
// doesn't.
func trouble(what string, n int64) string {
	class := `class="n"`
	if n > 0 {
		class = `class="n bad"`
	}
	return row(what, class, humanize.Comma(n))
}

func size(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }

func percent(done, size int64) int64 {
	if size <= 0 {
		return 0
	}
	return min(100, done*100/size)
}

// misses counts the mirrored reads that found no local copy.
func misses(c mirror.Counters) int64 { return c.ReadThroughs + c.NotLocal }

// localShare says how many of the mirrored reads were local. It rounds down, so
// that 100 % means all.
func localShare(c mirror.Counters) string {
	reads := c.Hits + misses(c)
	if reads == 0 {
		return "–"
	}
	return strconv.FormatInt(percent(c.Hits, reads), 10) + " %"
}
