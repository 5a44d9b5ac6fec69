package s3

import (
	"encoding/xml"
	"errors"
	"net/http"

	"github.com/stardustdb/stardust/gateway/s3/internal/cors"
	"github.com/stardustdb/stardust/gateway/s3/internal/document"
	"github.com/stardustdb/stardust/gateway/s3/s3err"
	"github.com/stardustdb/stardust/objectstore"
)

// configuration returns the CORS configuration of the request's bucket, nil when
// there is none: the one that a client gave to it, or Options.CORSOrigins.
func (x *exchange) configuration() (*cors.Configuration, error) {
	if x.options.LoadCORS != nil && x.bucketName != "" {
		text, err := x.options.LoadCORS(x.r.Context(), x.bucketName)
		if err != nil {
			return nil, err
		}
		if text != nil {
			c := new(cors.Configuration)
			return c, xml.Unmarshal(text, c)
		}
	}
	if len(x.options.CORSOrigins) > 0 {
		return cors.Origins(x.options.CORSOrigins...), nil
	}
	return nil, nil
}

// preflight answers a browser that asks what a page of another site may do.
// Such requests are never signed.
func (x *exchange) preflight() error {
	q, err := cors.Read(x.r.Header, "")
	switch {
	case err != nil:
		return err
	case q.Origin == "":
		return s3err.CORSOriginMissing.New()
	}
	if x.bucket, err = x.h.bucket(x.r.Context(), x.bucketName); err != nil {
		return err
	}
	c, err := x.configuration()
	switch {
	case err != nil:
		return err
	case c == nil:
		return s3err.CORSDisabled.New().With("Method", q.Method).With("ResourceType", x.resource())
	}
	grant, ok := c.Grant(q)
	if !ok {
		return s3err.CORSForbidden.New().With("Method", q.Method).With("ResourceType", x.resource())
	}
	grant.Preflight(x.w.Header(), q)
	x.writeEmpty()
	return nil
}

func (q *request) resource() string {
	if q.key != "" {
		return "OBJECT"
	}
	return "BUCKET"
}

// allowPage sets the headers that let a page of another site read the answer,
// errors included, if the bucket's configuration allows it.
func (x *exchange) allowPage() error {
	if x.r.Header.Get("Origin") == "" {
		return nil
	}
	q, err := cors.Read(x.r.Header, x.r.Method)
	if err != nil {
		return err
	}
	c, err := x.configuration()
	if errors.Is(err, objectstore.ErrNoBucket) {
		return nil // that is told to those who may know
	}
	if err != nil {
		return err
	}
	if grant, ok := c.Grant(q); ok {
		grant.Answer(x.w.Header(), q)
	}
	return nil
}

// getCORS serves GetBucketCors.
func (x settings) getCORS() error {
	c, err := x.configuration()
	switch {
	case err != nil:
		return err
	case c == nil:
		return s3err.NoSuchCORS.New().With("BucketName", x.bucketName)
	}
	c.XMLName = document.Name("CORSConfiguration")
	return x.writeDocument(http.StatusOK, c)
}

// putCORS serves PutBucketCors.
func (x settings) putCORS() error {
	if x.options.SaveCORS == nil {
		return s3err.NotImplemented.New()
	}
	var c cors.Configuration
	err := x.readDocument("CORSConfiguration", false, func(child xmlChild) error {
		if child.name() != "CORSRule" {
			return child.skip()
		}
		if len(c.Rules) == cors.MaxRules {
			return errors.New("too many rules")
		}
		var rule cors.Rule
		if err := child.decode(&rule); err != nil {
			return err
		}
		c.Rules = append(c.Rules, rule)
		return nil
	})
	if err != nil {
		return err
	}
	if err := c.Check(); err != nil {
		return err
	}
	text, err := xml.Marshal(c)
	if err != nil {
		return err
	}
	if err := x.options.SaveCORS(x.r.Context(), x.bucketName, text); err != nil {
		return err
	}
	x.writeEmpty()
	return nil
}

// deleteCORS serves DeleteBucketCors.
func (x settings) deleteCORS() error {
	if x.options.SaveCORS == nil {
		return s3err.NotImplemented.New()
	}
	if err := x.options.SaveCORS(x.r.Context(), x.bucketName, nil); err != nil {
		return err
	}
	x.writeStatus(http.StatusNoContent)
	return nil
}
