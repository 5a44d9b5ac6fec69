package document

import "encoding/xml"

// CopyObjectResult answers CopyObject.
type CopyObjectResult struct {
	XMLName      xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ CopyObjectResult"`
	ETag         string   `xml:",omitempty"`
	LastModified string
	Checksum
}

// GetObjectAttributesResponse answers GetObjectAttributes.
type GetObjectAttributesResponse struct {
	XMLName      xml.Name  `xml:"http://s3.amazonaws.com/doc/2006-03-01/ GetObjectAttributesResponse"`
	ETag         string    `xml:",omitempty"` // without quotes, here alone
	Checksum     *Checksum `xml:",omitempty"`
	StorageClass string    `xml:",omitempty"`
	ObjectSize   *int64    `xml:",omitempty"`
}

// Checksum is a checksum of an object, in an element of its algorithm's name.
type Checksum struct {
	Value *Element `xml:",omitempty"`
	Kind  string   `xml:"ChecksumType,omitempty"`
}

// Element is one whose name is not fixed.
type Element struct {
	Name, Text string
}

// MarshalXML implements xml.Marshaler.
func (e Element) MarshalXML(encoder *xml.Encoder, _ xml.StartElement) error {
	return encoder.EncodeElement(e.Text, xml.StartElement{Name: xml.Name{Local: e.Name}})
}

// NewElement returns the element of that name.
func NewElement(name, text string) *Element { return &Element{name, text} }

// PostResponse answers PostObject.
type PostResponse struct {
	XMLName  xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ PostResponse"`
	Location string
	Bucket   string
	Key      string
	ETag     string
}

// DeleteResult answers DeleteObjects.
type DeleteResult struct {
	XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ DeleteResult"`
	Error   []DeleteError
	Deleted []Deleted
}

// Deleted is an object that is gone.
type Deleted struct {
	Key string
}

// DeleteError is an object that was not deleted.
type DeleteError struct {
	Key, Code, Message string
}

// Tagging answers GetObjectTagging.
type Tagging struct {
	XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ Tagging"`
	TagSet  TagSet
}

// TagSet are the tags of an object.
type TagSet struct {
	Tag []Tag
}

// Tag is one of them.
type Tag struct {
	Key, Value string
}

// Error tells why a request failed. It has no namespace.
type Error struct {
	XMLName    xml.Name `xml:"Error"`
	Code       string
	Message    string
	BucketName string `xml:",omitempty"`
	Key        string `xml:",omitempty"`
	Fields     []*Element
	Resource   string
	RequestID  string `xml:"RequestId"`
	HostID     string `xml:"HostId"`
}
