package s3

import (
	"errors"
	"net/http"
	"strings"

	"github.com/stardustdb/stardust/gateway/s3/internal/document"
	"github.com/stardustdb/stardust/gateway/s3/s3err"
)

// settings serve what a bucket or an object has besides its content.
type settings struct{ *exchange }

// location serves GetBucketLocation; the first region has no name there.
func (x settings) location() error {
	region := x.options.Region
	if region == "us-east-1" {
		region = ""
	}
	return x.writeDocument(http.StatusOK, document.LocationConstraint{Region: region})
}

// acl serves the access control list of a private bucket or object: its
// owner may do everything.
func (x settings) acl() error {
	if x.path != "" {
		if _, err := x.stat(); err != nil {
			return err
		}
	}
	return x.writeDocument(http.StatusOK, document.FullControl(x.owner()))
}

// putACL accepts the canned lists that change nothing.
func (x settings) putACL() error {
	if err := x.checkACL(); err != nil {
		return err
	}
	if x.r.Header.Get("X-Amz-Acl") == "" {
		if err := x.checkPolicyDocument(); err != nil {
			return err
		}
	}
	if x.path != "" {
		if _, err := x.stat(); err != nil {
			return err
		}
	}
	x.writeEmpty()
	return nil
}

// checkPolicyDocument accepts a list that gives the owner full control and
// nobody else anything.
func (x settings) checkPolicyDocument() error {
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
func (q *request) checkACL() error {
	switch acl := q.header("X-Amz-Acl"); acl {
	case "", "private", "bucket-owner-full-control", "bucket-owner-read":
	case "public-read", "public-read-write", "authenticated-read", "aws-exec-read", "log-delivery-write":
		return s3err.ACLNotSupported.New()
	default:
		return s3err.ACLUnknown.New(acl).Argument("x-amz-acl", acl)
	}
	for _, name := range [...]string{"Read", "Write", "Read-Acp", "Write-Acp", "Full-Control"} {
		if q.header("X-Amz-Grant-"+name) != "" {
			return s3err.ACLNotSupported.New()
		}
	}
	return nil
}
