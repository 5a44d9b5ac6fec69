package s3

import (
	"net/http"

	"github.com/stardustdb/stardust/gateway/s3/s3err"
)

// operation is one of S3's.
type operation struct {
	name     string
	serve    func() error
	noBucket bool // the bucket need not exist
	open     bool // for everyone, unsigned
}

// route finds the operation that the request asks for.
func (x *exchange) route() (operation, error) {
	switch {
	case x.bucketName == "" && x.key == "":
		if x.r.Method != http.MethodGet {
			return operation{}, x.methodNotAllowed("SERVICE")
		}
		return operation{name: "ListBuckets", serve: buckets{x}.list, noBucket: true}, nil
	case !validBucketName(x.bucketName):
		return operation{}, s3err.InvalidBucketName.New().With("BucketName", x.bucketName)
	case x.r.Method == http.MethodOptions:
		return operation{name: "PreflightCORS", serve: x.preflight, open: true}, nil
	case x.key == "":
		return x.routeBucket()
	default:
		return x.routeObject()
	}
}

func (q *request) methodNotAllowed(resource string) *Failure {
	return s3err.MethodNotAllowed.New().With("Method", q.r.Method).With("ResourceType", resource)
}

func (x *exchange) routeBucket() (operation, error) {
	if sub, ok := x.subresource(bucketSubresource); ok {
		return x.routeBucketSubresource(sub)
	}
	switch x.r.Method {
	case http.MethodHead:
		return operation{name: "HeadBucket", serve: buckets{x}.head}, nil
	case http.MethodPut:
		return operation{name: "CreateBucket", serve: buckets{x}.create, noBucket: true}, nil
	case http.MethodDelete:
		return operation{name: "DeleteBucket", serve: buckets{x}.delete}, nil
	case http.MethodPost:
		if x.query.Has("delete") {
			return operation{name: "DeleteObjects", serve: deletes{x}.many}, nil
		}
		return operation{name: "PostObject", serve: forms{x}.post, open: true}, nil
	case http.MethodGet:
		switch {
		case x.query.Has("uploads"):
			return operation{name: "ListMultipartUploads", serve: lists{x}.uploads}, nil
		case x.query.Has("versions"):
			return operation{name: "ListObjectVersions", serve: lists{x}.versions}, nil
		case x.query.Get("list-type") == "2":
			return operation{name: "ListObjectsV2", serve: lists{x}.objectsV2}, nil
		}
		return operation{name: "ListObjects", serve: lists{x}.objects}, nil
	}
	return operation{}, x.methodNotAllowed("BUCKET")
}

func (x *exchange) routeObject() (operation, error) {
	if sub, ok := x.subresource(objectSubresource); ok {
		return x.routeObjectSubresource(sub)
	}
	_, copied := x.r.Header["X-Amz-Copy-Source"]
	switch upload := x.query.Has("uploadId"); x.r.Method {
	case http.MethodHead:
		return operation{name: "HeadObject", serve: objects{x}.head}, nil
	case http.MethodGet:
		if upload {
			return operation{name: "ListParts", serve: lists{x}.parts}, nil
		}
		return operation{name: "GetObject", serve: objects{x}.get}, nil
	case http.MethodPut:
		switch {
		case (upload || x.query.Has("partNumber")) && copied:
			return operation{name: "UploadPartCopy", serve: copies{x}.part}, nil
		case upload || x.query.Has("partNumber"):
			return operation{name: "UploadPart", serve: multiparts{x}.part}, nil
		case copied:
			return operation{name: "CopyObject", serve: copies{x}.object}, nil
		}
		return operation{name: "PutObject", serve: objects{x}.put}, nil
	case http.MethodPost:
		switch {
		case x.query.Has("uploads"):
			return operation{name: "CreateMultipartUpload", serve: multiparts{x}.create}, nil
		case upload:
			return operation{name: "CompleteMultipartUpload", serve: multiparts{x}.complete}, nil
		}
	case http.MethodDelete:
		if upload {
			return operation{name: "AbortMultipartUpload", serve: multiparts{x}.abort}, nil
		}
		return operation{name: "DeleteObject", serve: deletes{x}.one}, nil
	}
	return operation{}, x.methodNotAllowed("OBJECT")
}

// notImplemented answers what S3 has and this endpoint does not.
func (x *exchange) notImplemented() error {
	return s3err.NotImplemented.New()
}
