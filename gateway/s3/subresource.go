package s3

import (
	"net/http"

	"github.com/stardustdb/stardust/gateway/s3/internal/document"
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

// routeBucketSubresource answers what SDKs and tools ask about a bucket in
// passing, as a private bucket without any configuration would.
func (x *exchange) routeBucketSubresource(sub string) (operation, error) {
	name := subresourceName(x.r.Method, "Bucket", sub)
	switch {
	case x.r.Method == http.MethodPut && sub == "cors":
		return operation{name: name, serve: settings{x}.putCORS}, nil
	case x.r.Method == http.MethodDelete && sub == "cors":
		return operation{name: name, serve: settings{x}.deleteCORS}, nil
	case x.r.Method == http.MethodPut && sub == "acl":
		return operation{name: name, serve: settings{x}.putACL}, nil
	case x.r.Method != http.MethodGet:
		return operation{name: name, serve: x.notImplemented}, nil
	}
	serve := x.notImplemented
	switch sub {
	case "location":
		serve = settings{x}.location
	case "acl":
		serve = settings{x}.acl
	case "versioning":
		serve = x.answer(document.NewEmpty("VersioningConfiguration"))
	case "accelerate":
		serve = x.answer(document.NewEmpty("AccelerateConfiguration"))
	case "logging":
		serve = x.answer(document.NewEmpty("BucketLoggingStatus"))
	case "notification":
		serve = x.answer(document.NewEmpty("NotificationConfiguration"))
	case "requestPayment":
		serve = x.answer(document.RequestPaymentConfiguration{Payer: "BucketOwner"})
	case "ownershipControls":
		serve = x.answer(document.OwnershipControls{Ownership: "BucketOwnerEnforced"})
	case "policy", "policyStatus":
		serve = missing(s3err.NoSuchPolicy)
	case "cors":
		serve = settings{x}.getCORS
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
	serve := x.notImplemented
	switch x.r.Method + " " + sub {
	case "GET acl":
		serve = settings{x}.acl
	case "PUT acl":
		serve = settings{x}.putACL
	case "GET attributes":
		serve = objects{x}.attributes
	case "GET tagging":
		serve = tags{x}.get
	case "PUT tagging":
		serve = tags{x}.put
	case "DELETE tagging":
		serve = tags{x}.delete
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
func (x *exchange) answer(d any) func() error {
	return func() error { return x.writeDocument(http.StatusOK, d) }
}

// missing serves the error for a missing configuration.
func missing(row s3err.Row) func() error {
	return func() error { return row.New() }
}
