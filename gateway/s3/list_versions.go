package s3

import (
	"errors"
	"net/http"

	"github.com/stardustdb/stardust/gateway/s3/s3err"
	"github.com/stardustdb/stardust/objectstore"
)

// versionPage is a page of a list of versions.
type versionPage struct {
	versions  []objectVersion
	prefixes  []entry
	limit     int
	truncated bool
	nextKey   string
	nextID    string
}

type objectVersion struct {
	meta   objectstore.ObjectMeta
	id     string
	latest bool
}

func (p *versionPage) full() bool { return len(p.versions)+len(p.prefixes) >= p.limit }

// listVersions serves ListObjectVersions. On a Store that keeps no versions every
// object has one, "null".
func (x *exchange) listVersions() error {
	l, encode, err := x.listParameters()
	if err != nil {
		return err
	}
	l.after = x.query.Get("key-marker")
	idMarker := x.query.Get("version-id-marker")
	if idMarker != "" && l.after == "" {
		return s3err.VersionMarkerAlone.New().Argument("version-id-marker", idMarker)
	}
	p := &versionPage{limit: l.limit}
	if err := x.collectVersions(l, idMarker, p); err != nil {
		return err
	}
	d := newDocument("ListVersionsResult", namespace)
	d.text("Name", x.bucketName)
	d.text("Prefix", encode(l.prefix))
	d.text("KeyMarker", encode(l.after))
	d.text("VersionIdMarker", idMarker)
	d.number("MaxKeys", int64(l.limit))
	d.optional("Delimiter", encode(l.delimiter))
	d.flag("IsTruncated", p.truncated)
	if p.truncated {
		d.text("NextKeyMarker", encode(p.nextKey))
		d.optional("NextVersionIdMarker", p.nextID)
	}
	if encoding := x.query.Get("encoding-type"); encoding != "" {
		d.text("EncodingType", encoding)
	}
	for _, v := range p.versions {
		d.open("Version")
		x.appendObject(d, v.meta, encode)
		d.text("VersionId", v.id)
		d.flag("IsLatest", v.latest)
		d.user("Owner", x.owner())
		d.close("Version")
	}
	appendPrefixes(d, page{entries: p.prefixes}, encode)
	x.writeDocument(http.StatusOK, d)
	return nil
}

// collectVersions fills the page: what is left of the key at the marker, and then
// the keys behind it.
func (x *exchange) collectVersions(l listing, idMarker string, p *versionPage) error {
	if p.limit == 0 {
		return nil
	}
	if idMarker != "" && idMarker != "null" {
		if path, err := parseKey(l.after); err == nil {
			if err := x.addVersions(objectstore.ObjectMeta{Path: path}, idMarker, p); err != nil {
				return err
			}
		}
	}
	if p.truncated {
		return nil
	}
	keys, err := l.run(x.r.Context(), x.bucket.store)
	if err != nil {
		return err
	}
	for _, e := range keys.entries {
		if p.full() {
			p.truncated = true
			return nil
		}
		if e.prefix != "" {
			p.prefixes = append(p.prefixes, e)
			p.nextKey, p.nextID = e.prefix, ""
			continue
		}
		if err := x.addVersions(e.meta, "", p); err != nil || p.truncated {
			return err
		}
	}
	p.truncated = keys.truncated
	return nil
}

// addVersions adds the versions of an object, the latest first: all that a Store
// keeps, or the one that there is. Those up to the marker are left out.
func (x *exchange) addVersions(meta objectstore.ObjectMeta, marker string, p *versionPage) error {
	lister, ok := x.bucket.store.(objectstore.VersionLister)
	if !ok {
		p.versions = append(p.versions, objectVersion{meta, "null", true})
		p.nextKey, p.nextID = string(meta.Path), "null"
		return nil
	}
	latest, skip := true, marker != ""
	for version, err := range lister.Versions(x.r.Context(), meta.Path) {
		switch {
		case errors.Is(err, objectstore.ErrNotFound):
			return nil // deleted meanwhile
		case err != nil:
			return err
		case skip:
			skip = version.Version != marker
		case p.full():
			p.truncated = true
			return nil
		default:
			p.versions = append(p.versions, objectVersion{version, version.Version, latest})
			p.nextKey, p.nextID = string(meta.Path), version.Version
		}
		latest = false
	}
	return nil
}
