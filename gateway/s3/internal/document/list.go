package document

import "encoding/xml"

// ListObjects answers ListObjects, the first version. Owners are always there.
type ListObjects struct {
	XMLName        xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListBucketResult"`
	Name           string
	Prefix         string
	Marker         string
	MaxKeys        int
	Delimiter      string `xml:",omitempty"`
	IsTruncated    bool
	NextMarker     string `xml:",omitempty"`
	EncodingType   string `xml:",omitempty"`
	Contents       []Object
	CommonPrefixes []CommonPrefix
}

// ListObjectsV2 answers ListObjectsV2.
type ListObjectsV2 struct {
	XMLName               xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListBucketResult"`
	Name                  string
	Prefix                string
	StartAfter            string `xml:",omitempty"`
	ContinuationToken     string `xml:",omitempty"`
	NextContinuationToken string `xml:",omitempty"`
	KeyCount              int
	MaxKeys               int
	Delimiter             string `xml:",omitempty"`
	IsTruncated           bool
	EncodingType          string `xml:",omitempty"`
	Contents              []Object
	CommonPrefixes        []CommonPrefix
}

// Object is an object of a list.
type Object struct {
	Key          string
	LastModified string
	ETag         string `xml:",omitempty"`
	Size         int64
	StorageClass string
	Owner        *Owner `xml:",omitempty"`
}

// CommonPrefix stands for all names that begin with it.
type CommonPrefix struct {
	Prefix string
}

// ListVersions answers ListObjectVersions.
type ListVersions struct {
	XMLName             xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListVersionsResult"`
	Name                string
	Prefix              string
	KeyMarker           string
	VersionIDMarker     string `xml:"VersionIdMarker"`
	MaxKeys             int
	Delimiter           string `xml:",omitempty"`
	IsTruncated         bool
	NextKeyMarker       string `xml:",omitempty"`
	NextVersionIDMarker string `xml:"NextVersionIdMarker,omitempty"`
	EncodingType        string `xml:",omitempty"`
	Version             []Version
	CommonPrefixes      []CommonPrefix
}

// Version is a version of an object.
type Version struct {
	Key          string
	LastModified string
	ETag         string `xml:",omitempty"`
	Size         int64
	StorageClass string
	VersionID    string `xml:"VersionId"`
	IsLatest     bool
	Owner        *Owner
}
