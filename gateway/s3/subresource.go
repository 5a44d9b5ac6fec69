package s3

import (
	"errors"
	"net/http"
	"strings"

	"github.com/stardustdb/stardust/gateway/s3/s3err"
)

// bucketSubresource reports whether a query parameter names something that a
// bucket has besides its objects.
func bucketSubresource(name string) bool {
	switch name {
	case "accelerate", "acl", "analytics", "cors", "encryption", "intelligent-tiering", "inventory",
		"lifecycle", "location", "logging", "metadataConfiguration", "metadataTable", "metrics",
		"notification", "object-lock", "ownershipControls", "policy", "policyStatus",
		"publicAccessBlock", "replication", "requestPayment", "session", "tagging", "versioning",
		"website":
		return true
	}
	return false
}

// objectSubresource reports whether a query parameter names something that an
// object has besides its content.
func objectSubresource(name string) bool {
	switch name {
	case "acl", "attributes", "legal-hold", "renameObject", "restore", "retention", "select",
		"tagging", "torrent":
		return true
	}
	return false
}

// routeBucketSubresource answers what SDKs and tools ask of a bucket on their
// way: the answers of a private bucket on which nothing was configured.
func (x *exchange) routeBucketSubresource(sub string) (operation, error) {
	name := subresourceName(x.r.Method, "Bucket", sub)
	switch {
	case x.r.Method == http.MethodPut && sub == "acl":
		return operation{name: name, serve: (*exchange).putACL}, nil
	case x.r.Method != http.MethodGet:
		return operation{name: name, serve: (*exchange).notImplemented}, nil
	}
	serve := (*exchange).notImplemented
	switch sub {
	case "location":
		serve = (*exchange).getLocation
	case "acl":
		serve = (*exchange).getACL
	case "versioning":
		serve = answer("VersioningConfiguration", "")
	case "accelerate":
		serve = answer("AccelerateConfiguration", "")
	case "logging":
		serve = answer("BucketLoggingStatus", "")
	case "notification":
		serve = answer("NotificationConfiguration", "")
	case "requestPayment":
		serve = answer("RequestPaymentConfiguration", "<Payer>BucketOwner</Payer>")
	case "ownershipControls":
		serve = answer("OwnershipControls", "<Rule><ObjectOwnership>BucketOwnerEnforced</ObjectOwnership></Rule>")
	case "policy", "policyStatus":
		serve = missing(s3err.NoSuchPolicy)
	case "cors":
		serve = missing(s3err.NoSuchCORS)
	case "lifecycle":
		serve = missing(s3err.NoSuchLifecycle)
	case "website":
		serve = missing(s3err.NoSuchWebsite)
	case "tagging":
		serve = missing(s3err.NoSuchTagSet)
	case "encryption":
		serve = missing(s3err.NoSuchEncryption)
	case "replication":
		serve = missing(s3err.NoSuchReplication)
	case "object-lock":
		serve = missing(s3err.NoSuchBucketLock)
	case "publicAccessBlock":
		serve = missing(s3err.NoSuchPublicAccessBlock)
	case "analytics", "inventory", "metrics", "intelligent-tiering":
		if x.query.Has("id") {
			serve = missing(s3err.NoSuchConfiguration)
		}
	}
	return operation{name: name, serve: serve}, nil
}

func (x *exchange) routeObjectSubresource(sub string) (operation, error) {
	name := subresourceName(x.r.Method, "Object", sub)
	serve := (*exchange).notImplemented
	switch x.r.Method + " " + sub {
	case "GET acl":
		serve = (*exchange).getACL
	case "PUT acl":
		serve = (*exchange).putACL
	case "GET attributes":
		serve = (*exchange).getAttributes
	case "GET tagging":
		serve = (*exchange).getTagging
	case "PUT tagging":
		serve = (*exchange).putTagging
	case "DELETE tagging":
		serve = (*exchange).deleteTagging
	case "GET retention", "GET legal-hold":
		serve = missing(s3err.NoSuchObjectLock)
	}
	return operation{name: name, serve: serve}, nil
}

func subresourceName(method, kind, sub string) string {
	verb := method
	switch method {
	case http.MethodGet:
		verb = "Get"
	case http.MethodPut:
		verb = "Put"
	case http.MethodDelete:
		verb = "Delete"
	}
	return verb + kind + "?" + sub
}

// answer serves a document with a fixed content.
func answer(root, content string) func(*exchange) error {
	return func(x *exchange) error {
		d := newDocument(root, namespace)
		d.b.WriteString(content)
		x.writeDocument(http.StatusOK, d)
		return nil
	}
}

// missing serves the error that says that nothing was configured.
func missing(row s3err.Row) func(*exchange) error {
	return func(*exchange) error { return row.New() }
}

// getLocation serves GetBucketLocation; the first region has no name there.
func (x *exchange) getLocation() error {
	region := x.h.options.Region
	if region == "us-east-1" {
		region = ""
	}
	d := newDocument("LocationConstraint", namespace)
	appendXMLText(&d.b, region)
	x.writeDocument(http.StatusOK, d)
	return nil
}

// getACL serves the access control list of a private bucket or object: its
// owner may do everything.
func (x *exchange) getACL() error {
	if x.path != "" {
		if _, err := x.head(); err != nil {
			return err
		}
	}
	d := newDocument("AccessControlPolicy", namespace)
	d.user("Owner", x.owner())
	d.open("AccessControlList")
	d.open("Grant")
	d.b.WriteString(`<Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser">`)
	d.text("ID", x.owner())
	d.text("DisplayName", x.owner())
	d.close("Grantee")
	d.text("Permission", "FULL_CONTROL")
	d.close("Grant")
	d.close("AccessControlList")
	x.writeDocument(http.StatusOK, d)
	return nil
}

// putACL accepts the canned lists that change nothing.
func (x *exchange) putACL() error {
	if err := x.checkACL(); err != nil {
		return err
	}
	if x.r.Header.Get("X-Amz-Acl") == "" {
		if err := x.checkPolicyDocument(); err != nil {
			return err
		}
	}
	if x.path != "" {
		if _, err := x.head(); err != nil {
			return err
		}
	}
	x.w.Header().Set("Content-Length", "0")
	x.writeStatus(http.StatusOK)
	return nil
}

// checkPolicyDocument accepts a list that gives the owner full control and
// nobody else anything.
func (x *exchange) checkPolicyDocument() error {
	var list struct {
		Grant []struct {
			Grantee struct {
				ID string
			}
			Permission string
		}
	}
	err := x.readDocument("AccessControlPolicy", false, func(c xmlChild) error {
		if c.name() != "AccessControlList" {
			return c.skip()
		}
		return c.decode(&list)
	})
	if err != nil {
		return err
	}
	if len(list.Grant) == 0 {
		return malformedXML(errors.New("no grants"))
	}
	for _, grant := range list.Grant {
		if strings.TrimSpace(grant.Grantee.ID) != x.owner() || strings.TrimSpace(grant.Permission) != "FULL_CONTROL" {
			return s3err.ACLNotSupported.New()
		}
	}
	return nil
}

// checkACL refuses headers that would open an object to others.
func (x *exchange) checkACL() error {
	switch acl := x.header("X-Amz-Acl"); acl {
	case "", "private", "bucket-owner-full-control", "bucket-owner-read":
	case "public-read", "public-read-write", "authenticated-read", "aws-exec-read", "log-delivery-write":
		return s3err.ACLNotSupported.New()
	default:
		return s3err.ACLUnknown.New(acl).Argument("x-amz-acl", acl)
	}
	for _, name := range [...]string{"Read", "Write", "Read-Acp", "Write-Acp", "Full-Control"} {
		if x.header("X-Amz-Grant-"+name) != "" {
			return s3err.ACLNotSupported.New()
		}
	}
	return nil
}
