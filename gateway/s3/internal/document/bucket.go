package document

import "encoding/xml"

// Owner names someone by their access key.
type Owner struct {
	ID, DisplayName string
}

// NewOwner returns the owner of that name.
func NewOwner(id string) *Owner { return &Owner{ID: id, DisplayName: id} }

// ListAllMyBucketsResult answers ListBuckets.
type ListAllMyBucketsResult struct {
	XMLName           xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListAllMyBucketsResult"`
	Owner             *Owner
	Buckets           Buckets
	Prefix            string `xml:",omitempty"`
	ContinuationToken string `xml:",omitempty"`
}

// Buckets are the buckets of a list.
type Buckets struct {
	Bucket []Bucket
}

// Bucket is one of them.
type Bucket struct {
	Name         string
	CreationDate string
	BucketRegion string
}

// LocationConstraint answers GetBucketLocation.
type LocationConstraint struct {
	XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ LocationConstraint"`
	Region  string   `xml:",chardata"`
}

// AccessControlPolicy answers GetBucketAcl and GetObjectAcl.
type AccessControlPolicy struct {
	XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ AccessControlPolicy"`
	Owner   *Owner
	Grants  []Grant `xml:"AccessControlList>Grant"`
}

// Grant is what somebody may do.
type Grant struct {
	Grantee    Grantee
	Permission string
}

// Grantee is that somebody.
type Grantee struct {
	Instance string `xml:"xmlns:xsi,attr"`
	Type     string `xml:"xsi:type,attr"`
	Owner
}

// FullControl is the list of a private bucket or object: its owner may do everything.
func FullControl(owner string) AccessControlPolicy {
	grantee := Grantee{Instance: "http://www.w3.org/2001/XMLSchema-instance", Type: "CanonicalUser", Owner: *NewOwner(owner)}
	return AccessControlPolicy{Owner: NewOwner(owner), Grants: []Grant{{Grantee: grantee, Permission: "FULL_CONTROL"}}}
}

// Empty is the document of a setting that was never made, such as
// VersioningConfiguration.
type Empty struct {
	XMLName xml.Name
}

// NewEmpty returns the document with that root element.
func NewEmpty(root string) Empty { return Empty{XMLName: Name(root)} }

// Name returns the name of a root element in S3's namespace.
func Name(root string) xml.Name { return xml.Name{Space: space, Local: root} }

// RequestPaymentConfiguration answers GetBucketRequestPayment.
type RequestPaymentConfiguration struct {
	XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ RequestPaymentConfiguration"`
	Payer   string
}

// OwnershipControls answers GetBucketOwnershipControls.
type OwnershipControls struct {
	XMLName   xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ OwnershipControls"`
	Ownership string   `xml:"Rule>ObjectOwnership"`
}
