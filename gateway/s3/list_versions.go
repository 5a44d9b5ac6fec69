package s3

import (
	"errors"
	"net/http"

	"github.com/stardustdb/stardust/gateway/s3/internal/document"
	"github.com/stardustdb/stardust/gateway/s3/s3err"
	"github.com/stardustdb/stardust/objectstore"
)

// versionPage is a page of a list of versions.
type versionPage struct {
	versions  []objectVersion
	prefixes  []string
	listing   listing
	truncated bool
	nextKey   string
	nextID    string
}

type objectVersion struct {
	meta   objectstore.ObjectMeta
	id     string
	latest bool
}

func (p *versionPage) full() bool {
	return p.listing.full(len(p.versions)+len(p.prefixes), p.nextKey)
}

// versions serves ListObjectVersions. On a Store that keeps no versions every
// object has one, "null".
func (x lists) versions() error {
	l, encode, err := x.listParameters("max-keys")
	if err != nil {
		return err
	}
	l.after = x.query.Get("key-marker")
	idMarker := x.query.Get("version-id-marker")
	if idMarker != "" && l.after == "" {
		return s3err.VersionMarkerAlone.New().Argument("version-id-marker", idMarker)
	}
	p := &versionPage{listing: l}
	if err := x.collectVersions(l, idMarker, p); err != nil {
		return err
	}
	d := document.ListVersions{
		Name: x.bucketName, Prefix: encode(l.prefix), KeyMarker: encode(l.after), VersionIDMarker: idMarker,
		MaxKeys: l.limit, Delimiter: encode(l.delimiter), IsTruncated: p.truncated,
		EncodingType: x.query.Get("encoding-type"), CommonPrefixes: commonPrefixes(p.prefixes, encode),
	}
	if p.truncated {
		if err := l.checkEnd(p.nextKey); err != nil {
			return err
		}
		d.NextKeyMarker, d.NextVersionIDMarker = encode(p.nextKey), p.nextID
	}
	owner := document.NewOwner(x.owner())
	for _, v := range p.versions {
		d.Version = append(d.Version, document.Version{
			Key: encode(string(v.meta.Path)), LastModified: document.Time(v.meta.LastModified),
			ETag: document.ETag(v.meta.ETag), Size: v.meta.Size, StorageClass: defaultStorageClass,
			VersionID: v.id, IsLatest: v.latest, Owner: owner,
		})
	}
	return x.writeDocument(http.StatusOK, d)
}

// collectVersions fills the page: what is left of the key at the marker, and
// then the keys after it.
func (x lists) collectVersions(l listing, idMarker string, p *versionPage) error {
	if l.limit == 0 {
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
			p.prefixes = append(p.prefixes, e.prefix)
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
func (x lists) addVersions(meta objectstore.ObjectMeta, marker string, p *versionPage) error {
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
