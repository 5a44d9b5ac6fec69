package s3

import (
	"net/http"

	"github.com/stardustdb/stardust/gateway/s3/s3err"
)

// operation is one of S3's.
type operation struct {
	name     string
	serve    func(*exchange) error
	noBucket bool // the bucket need not exist
}

// route finds the operation that the request asks for.
func (x *exchange) route() (operation, error) {
	switch {
	case x.r.Method == http.MethodOptions:
		return operation{}, s3err.CORSDisabled.New()
	case x.bucketName == "" && x.key == "":
		if x.r.Method != http.MethodGet {
			return operation{}, x.methodNotAllowed("SERVICE")
		}
		return operation{"ListBuckets", (*exchange).listBuckets, true}, nil
	case !validBucketName(x.bucketName):
		return operation{}, s3err.InvalidBucketName.New().With("BucketName", x.bucketName)
	case x.key == "":
		return x.routeBucket()
	default:
		return x.routeObject()
	}
}

func (x *exchange) methodNotAllowed(resource string) *Failure {
	return s3err.MethodNotAllowed.New().With("Method", x.r.Method).With("ResourceType", resource)
}

func (x *exchange) routeBucket() (operation, error) {
	if sub, ok := x.subresource(bucketSubresource); ok {
		return x.routeBucketSubresource(sub)
	}
	switch x.r.Method {
	case http.MethodHead:
		return operation{name: "HeadBucket", serve: (*exchange).headBucket}, nil
	case http.MethodPut:
		return operation{"CreateBucket", (*exchange).createBucket, true}, nil
	case http.MethodDelete:
		return operation{name: "DeleteBucket", serve: (*exchange).deleteBucket}, nil
	case http.MethodPost:
		if x.query.Has("delete") {
			return operation{name: "DeleteObjects", serve: (*exchange).deleteObjects}, nil
		}
		return operation{name: "PostObject", serve: (*exchange).notImplemented}, nil
	case http.MethodGet:
		switch {
		case x.query.Has("uploads"):
			return operation{name: "ListMultipartUploads", serve: (*exchange).listUploads}, nil
		case x.query.Has("versions"):
			return operation{name: "ListObjectVersions", serve: (*exchange).listVersions}, nil
		case x.query.Get("list-type") == "2":
			return operation{name: "ListObjectsV2", serve: (*exchange).listObjectsV2}, nil
		}
		return operation{name: "ListObjects", serve: (*exchange).listObjects}, nil
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
		return operation{name: "HeadObject", serve: (*exchange).headObject}, nil
	case http.MethodGet:
		if upload {
			return operation{name: "ListParts", serve: (*exchange).listParts}, nil
		}
		return operation{name: "GetObject", serve: (*exchange).getObject}, nil
	case http.MethodPut:
		switch {
		case (upload || x.query.Has("partNumber")) && copied:
			return operation{name: "UploadPartCopy", serve: (*exchange).uploadPartCopy}, nil
		case upload || x.query.Has("partNumber"):
			return operation{name: "UploadPart", serve: (*exchange).uploadPart}, nil
		case copied:
			return operation{name: "CopyObject", serve: (*exchange).copyObject}, nil
		}
		return operation{name: "PutObject", serve: (*exchange).putObject}, nil
	case http.MethodPost:
		switch {
		case x.query.Has("uploads"):
			return operation{name: "CreateMultipartUpload", serve: (*exchange).createUpload}, nil
		case upload:
			return operation{name: "CompleteMultipartUpload", serve: (*exchange).completeUpload}, nil
		}
	case http.MethodDelete:
		if upload {
			return operation{name: "AbortMultipartUpload", serve: (*exchange).abortUpload}, nil
		}
		return operation{name: "DeleteObject", serve: (*exchange).deleteObject}, nil
	}
	return operation{}, x.methodNotAllowed("OBJECT")
}

// subresource returns the first parameter that names one.
func (x *exchange) subresource(is func(string) bool) (string, bool) {
	for _, p := range x.query {
		if is(p.Key) {
			return p.Key, true
		}
	}
	return "", false
}

// notImplemented answers what S3 has and this endpoint does not.
func (x *exchange) notImplemented() error {
	return s3err.NotImplemented.New()
}
