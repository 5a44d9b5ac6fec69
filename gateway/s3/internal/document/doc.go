// Package document holds the XML documents that the endpoint sends, each a struct as
// encoding/xml writes it, with the elements in S3's order.
//
// XML 1.0 cannot hold all that a key can: what it cannot hold is sent as U+FFFD, so
// that every document is well-formed; [Holds] tells which names come through. Clients
// that ask for encoding-type=url never meet that.
package document
