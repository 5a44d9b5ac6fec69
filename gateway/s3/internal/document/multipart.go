package document

import "encoding/xml"

// InitiateMultipartUploadResult answers CreateMultipartUpload.
type InitiateMultipartUploadResult struct {
	XMLName  xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ InitiateMultipartUploadResult"`
	Bucket   string
	Key      string
	UploadID string `xml:"UploadId"`
}

// CompleteMultipartUploadResult answers CompleteMultipartUpload.
type CompleteMultipartUploadResult struct {
	XMLName  xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ CompleteMultipartUploadResult"`
	Location string
	Bucket   string
	Key      string
	ETag     string `xml:",omitempty"`
	Checksum
}

// CopyPartResult answers UploadPartCopy.
type CopyPartResult struct {
	XMLName      xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ CopyPartResult"`
	LastModified string
	ETag         string `xml:",omitempty"`
	Checksum
}

// ListParts answers ListParts.
type ListParts struct {
	XMLName              xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListPartsResult"`
	Bucket               string
	Key                  string
	UploadID             string `xml:"UploadId"`
	Initiator, Owner     *Owner
	StorageClass         string
	PartNumberMarker     int
	NextPartNumberMarker int
	MaxParts             int
	IsTruncated          bool
	ChecksumAlgorithm    string `xml:",omitempty"`
	ChecksumType         string `xml:",omitempty"`
	Part                 []Part
}

// Part is a part of an upload.
type Part struct {
	PartNumber   int
	LastModified string
	ETag         string `xml:",omitempty"`
	Size         int64
	Checksum     *Element `xml:",omitempty"`
}

// ListUploads answers ListMultipartUploads.
type ListUploads struct {
	XMLName            xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListMultipartUploadsResult"`
	Bucket             string
	KeyMarker          string
	UploadIDMarker     string `xml:"UploadIdMarker"`
	NextKeyMarker      string `xml:",omitempty"`
	NextUploadIDMarker string `xml:"NextUploadIdMarker,omitempty"`
	Prefix             string
	Delimiter          string `xml:",omitempty"`
	EncodingType       string `xml:",omitempty"`
	MaxUploads         int
	IsTruncated        bool
	Upload             []Upload
	CommonPrefixes     []CommonPrefix
}

// Upload is an upload in progress.
type Upload struct {
	Key              string
	UploadID         string `xml:"UploadId"`
	Initiator, Owner *Owner
	StorageClass     string
	Initiated        string

	ChecksumAlgorithm string `xml:",omitempty"`
	ChecksumType      string `xml:",omitempty"`
}
