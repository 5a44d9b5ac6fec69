package s3err

import "net/http"

// The rows of the table, by what they are about.
const (
	_ Row = iota

	// Signatures and access.
	AccessDenied
	AccessBehindDenied
	CredentialsBehindRefused
	BucketCreationDenied
	BucketDeletionDenied
	CORSDisabled
	CORSForbidden
	CORSOriginMissing
	CORSRequestMethod
	CORSRequestHeader
	CORSOriginWildcards
	CORSMethodUnsupported
	CORSHeaderInvalid
	DateMissing
	HeadersNotSigned
	RequestExpired
	RequestNotYetValid
	SignedChunksUnsigned
	UnknownAccessKey
	RequestTimeTooSkewed
	SignatureDoesNotMatch
	SignatureOtherDay
	AuthorizationHeaderMalformed
	CredentialParameterMalformed
	PresignedIncomplete
	PresignedAlgorithm
	PresignedDate
	PresignedOtherDay
	ExpiresNotANumber
	ExpiresNegative
	ExpiresTooLong
	TwoAuthMechanisms
	AuthMechanismUnsupported
	AuthorizationType
	AuthorizationWithoutSpace
	Signature4ANotImplemented
	InvalidToken
	PolicyInvalid
	PolicyFailed
	FormMalformed
	FormFieldMissing
	FormFile
	FormAlgorithm
	FormDate
	FormCredential
	OverridesAnonymous

	// Bodies and their checksums.
	ContentSHA256Mismatch
	ContentSHA256Missing
	ContentSHA256Invalid
	ContentMD5Mismatch
	ContentMD5Invalid
	DigestMissing
	ChecksumMismatch
	PartChecksumMismatch
	ChecksumUnsupported
	ChecksumHeaderInvalid
	ChecksumTrailerInvalid
	ChecksumTwice
	ChecksumNameInvalid
	ChecksumNotSent
	ChecksumTypeMismatch
	ChecksumTypeAlone
	ChecksumTypeUnfit
	ChecksumModeMismatch
	PartChecksumMissing
	PartChecksumInvalid
	ChecksumUnverifiable
	TrailerUnsupported
	TrailerUnannounced
	TrailerMalformed
	ContentLengthMissing
	IncompleteBody
	ChunksCut
	ChunkLineTooLong
	EntityTooLarge
	MalformedXML
	RequestTimeout

	// Requests.
	InvalidURIEncoding
	TooManyParameters
	MethodNotAllowed
	NotImplemented
	BehindNotImplemented
	RefusedByPolicy
	EncodingInvalid
	LimitInvalid
	PartMarkerInvalid
	MaxBucketsInvalid
	ContinuationTokenInvalid
	VersionMarkerAlone
	NamesUnprintable
	ACLUnknown
	ACLNotSupported
	DirectiveUnknown
	OwnershipInvalid

	// Buckets.
	NoSuchBucket
	NoBucketBehind
	InvalidBucketName
	BucketOwned
	BucketNotEmpty
	LocationInvalid
	NoSuchPolicy
	NoSuchCORS
	NoSuchLifecycle
	NoSuchWebsite
	NoSuchTagSet
	NoSuchEncryption
	NoSuchReplication
	NoSuchBucketLock
	NoSuchPublicAccessBlock
	NoSuchConfiguration

	// Objects.
	NoSuchKey
	NoSuchVersion
	VersionInvalid
	DeleteConditionInvalid
	KeyTooLong
	KeyInvalid
	KeyUnfit
	ArgumentUnfit
	NotModified
	PreconditionFailed
	OperationAborted
	InvalidRange
	StorageClassInvalid
	RedirectInvalid
	MetadataTooLarge
	MetadataReserved
	AttributeInvalid
	AttributesMissing
	TagsUnreadable
	TooManyTags
	TagKeyInvalid
	TagValueInvalid
	TagTwice
	CopySourceIncomplete
	CopySourceEncoding
	CopySourceBucket
	CopyOntoItself
	CopyRangeForm
	CopyRangeBeyond
	LockIncomplete
	LegalHoldInvalid
	LockModeInvalid
	RetainDateInvalid
	RetainDatePast
	LockNotConfigured
	NoSuchObjectLock

	// Multipart uploads.
	NoSuchUpload
	UploadIDMissing
	PartNumberInvalid
	PartNumberTooSmall
	PartNumberOutside
	PartNumberWithRange
	InvalidPart
	InvalidPartOrder
	EntityTooSmall
	ObjectSizeInvalid
	ObjectSizeNegative
	ObjectSizeMismatch

	// The endpoint's own trouble.
	InternalError
	ShuttingDown
	TooManyRequests
	TooManyBodies
	TooManyUploads
	BehindTooSlow
	NoSpace

	end // of the table
)

// entry is what a row says.
type entry struct {
	code    string
	status  int
	message string // in the form of package fmt
}

// entry returns the row itself: the one place of codes, statuses and messages. The
// messages are in the wording of S3 where clients are known to look at it.
func (r Row) entry() entry {
	return [end]entry{
		AccessDenied:                 {"AccessDenied", http.StatusForbidden, "Access Denied."},
		AccessBehindDenied:           {"AccessDenied", http.StatusForbidden, "The store behind this endpoint denies access."},
		CredentialsBehindRefused:     {"AccessDenied", http.StatusForbidden, "The store behind this endpoint refuses our credentials."},
		BucketCreationDenied:         {"AccessDenied", http.StatusForbidden, "This endpoint creates no buckets."},
		BucketDeletionDenied:         {"AccessDenied", http.StatusForbidden, "This endpoint deletes no buckets."},
		CORSDisabled:                 {"AccessForbidden", http.StatusForbidden, "CORSResponse: CORS is not enabled for this bucket."},
		CORSForbidden:                {"AccessForbidden", http.StatusForbidden, "CORSResponse: This CORS request is not allowed. This is usually because the evalution of Origin, request method / Access-Control-Request-Method or Access-Control-Request-Headers are not whitelisted by the resource's CORS spec."},
		CORSOriginMissing:            {"BadRequest", http.StatusBadRequest, "Insufficient information. Origin request header needed."},
		CORSRequestMethod:            {"BadRequest", http.StatusBadRequest, "Invalid Access-Control-Request-Method: %s"},
		CORSRequestHeader:            {"BadRequest", http.StatusBadRequest, "Access-Control-Request-Headers \"%s\" contains invalid character."},
		CORSOriginWildcards:          {"InvalidRequest", http.StatusBadRequest, "AllowedOrigin \"%s\" can not have more than one wildcard."},
		CORSMethodUnsupported:        {"InvalidRequest", http.StatusBadRequest, "Found unsupported HTTP method in CORS config. Unsupported method is %s"},
		CORSHeaderInvalid:            {"InvalidRequest", http.StatusBadRequest, "AllowedHeader \"%s\" contains invalid character."},
		DateMissing:                  {"AccessDenied", http.StatusForbidden, "AWS authentication requires a valid Date or x-amz-date header."},
		HeadersNotSigned:             {"AccessDenied", http.StatusForbidden, "There were headers present in the request which were not signed"},
		RequestExpired:               {"AccessDenied", http.StatusForbidden, "Request has expired."},
		RequestNotYetValid:           {"AccessDenied", http.StatusForbidden, "Request is not yet valid"},
		SignedChunksUnsigned:         {"AccessDenied", http.StatusForbidden, "A body of signed chunks needs a signed request."},
		UnknownAccessKey:             {"InvalidAccessKeyId", http.StatusForbidden, "The AWS Access Key Id you provided does not exist in our records."},
		RequestTimeTooSkewed:         {"RequestTimeTooSkewed", http.StatusForbidden, "The difference between the request time and the current time is too large."},
		SignatureDoesNotMatch:        {"SignatureDoesNotMatch", http.StatusForbidden, "The request signature we calculated does not match the signature you provided. Check your key and signing method."},
		SignatureOtherDay:            {"SignatureDoesNotMatch", http.StatusForbidden, "Date in Credential scope does not match the date of the request: %s is not %s."},
		AuthorizationHeaderMalformed: {"AuthorizationHeaderMalformed", http.StatusBadRequest, "The authorization header is malformed; %s"},
		CredentialParameterMalformed: {"AuthorizationQueryParametersError", http.StatusBadRequest, "Error parsing the X-Amz-Credential parameter; %s"},
		PresignedIncomplete:          {"AuthorizationQueryParametersError", http.StatusBadRequest, "Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters."},
		PresignedAlgorithm:           {"AuthorizationQueryParametersError", http.StatusBadRequest, `X-Amz-Algorithm only supports "%s"`},
		PresignedDate:                {"AuthorizationQueryParametersError", http.StatusBadRequest, `X-Amz-Date must be in the ISO8601 Long Format "yyyyMMdd'T'HHmmss'Z'"`},
		PresignedOtherDay:            {"AuthorizationQueryParametersError", http.StatusBadRequest, "Invalid credential date %q. This date is not the same as X-Amz-Date: %q."},
		ExpiresNotANumber:            {"AuthorizationQueryParametersError", http.StatusBadRequest, "X-Amz-Expires should be a number"},
		ExpiresNegative:              {"AuthorizationQueryParametersError", http.StatusBadRequest, "X-Amz-Expires must be non-negative"},
		ExpiresTooLong:               {"AuthorizationQueryParametersError", http.StatusBadRequest, "X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be less than %d seconds"},
		TwoAuthMechanisms:            {"InvalidArgument", http.StatusBadRequest, "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string parameter or the Authorization header should be specified"},
		AuthMechanismUnsupported:     {"InvalidRequest", http.StatusBadRequest, "The authorization mechanism you have provided is not supported. Please use %s."},
		AuthorizationType:            {"InvalidArgument", http.StatusBadRequest, "Unsupported Authorization Type"},
		AuthorizationWithoutSpace:    {"InvalidArgument", http.StatusBadRequest, "Authorization header is invalid -- one and only one ' ' (space) required."},
		Signature4ANotImplemented:    {"NotImplemented", http.StatusNotImplemented, "Signature Version 4A (%s) is not supported. Please use %s."},
		InvalidToken:                 {"InvalidToken", http.StatusBadRequest, "The provided token is malformed or otherwise invalid."},
		PolicyInvalid:                {"InvalidPolicyDocument", http.StatusBadRequest, "Invalid Policy: %s"},
		PolicyFailed:                 {"AccessDenied", http.StatusForbidden, "Invalid according to Policy: %s"},
		FormMalformed:                {"MalformedPOSTRequest", http.StatusBadRequest, "The body of your POST request is not well-formed multipart/form-data."},
		FormFieldMissing:             {"InvalidArgument", http.StatusBadRequest, "Bucket POST must contain a field named '%s'.  If it is specified, please check the order of the fields."},
		FormFile:                     {"InvalidArgument", http.StatusBadRequest, "POST requires exactly one file upload per request."},
		FormAlgorithm:                {"InvalidArgument", http.StatusBadRequest, "Only %s is supported"},
		FormDate:                     {"InvalidArgument", http.StatusBadRequest, "X-Amz-Date must be formated via ISO8601 Long format"},
		FormCredential:               {"InvalidArgument", http.StatusBadRequest, "%s"},
		OverridesAnonymous:           {"InvalidRequest", http.StatusBadRequest, "Request specific response headers cannot be used for anonymous GET requests."},

		ContentSHA256Mismatch:  {"XAmzContentSHA256Mismatch", http.StatusBadRequest, "The provided 'x-amz-content-sha256' header does not match what was computed."},
		ContentSHA256Missing:   {"InvalidRequest", http.StatusBadRequest, "Missing required header for this request: x-amz-content-sha256"},
		ContentSHA256Invalid:   {"InvalidArgument", http.StatusBadRequest, "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-UNSIGNED-PAYLOAD-TRAILER, STREAMING-AWS4-HMAC-SHA256-PAYLOAD, STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER, STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD, STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER or a valid sha256 value."},
		ContentMD5Mismatch:     {"BadDigest", http.StatusBadRequest, "The Content-MD5 you specified did not match what we received."},
		ContentMD5Invalid:      {"InvalidDigest", http.StatusBadRequest, "The Content-Md5 you specified is not valid."},
		DigestMissing:          {"InvalidRequest", http.StatusBadRequest, "Missing required header for this request: Content-MD5 OR x-amz-checksum-*"},
		ChecksumMismatch:       {"BadDigest", http.StatusBadRequest, "The %s you specified did not match the calculated checksum."},
		PartChecksumMismatch:   {"BadDigest", http.StatusBadRequest, "The %s you specified for part %d did not match what we received."},
		ChecksumUnsupported:    {"InvalidRequest", http.StatusBadRequest, "Checksum algorithm provided is unsupported. Please try again with any of the valid types: [CRC32, CRC32C, CRC64NVME, MD5, SHA1, SHA256, SHA512, XXHASH128, XXHASH3, XXHASH64]"},
		ChecksumHeaderInvalid:  {"InvalidRequest", http.StatusBadRequest, "Value for %s header is invalid."},
		ChecksumTrailerInvalid: {"InvalidRequest", http.StatusBadRequest, "Value for %s trailing header is invalid."},
		ChecksumTwice:          {"InvalidRequest", http.StatusBadRequest, "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed."},
		ChecksumNameInvalid:    {"InvalidRequest", http.StatusBadRequest, "The algorithm type you specified in x-amz-checksum- header is invalid."},
		ChecksumNotSent:        {"InvalidRequest", http.StatusBadRequest, "x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or x-amz-trailer headers were found."},
		ChecksumTypeMismatch:   {"InvalidRequest", http.StatusBadRequest, "Checksum Type mismatch occurred, expected checksum Type: %s, actual checksum Type: %s"},
		ChecksumTypeAlone:      {"InvalidRequest", http.StatusBadRequest, "The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header."},
		ChecksumTypeUnfit:      {"InvalidRequest", http.StatusBadRequest, "The %s checksum type cannot be used with the %s checksum algorithm."},
		ChecksumModeMismatch:   {"InvalidRequest", http.StatusBadRequest, "The upload was created using the %s checksum mode. The complete request must use the same checksum mode."},
		PartChecksumMissing:    {"InvalidRequest", http.StatusBadRequest, "The upload was created using a %s checksum. The complete request must include the checksum for each part. It was missing for part %d in the request."},
		PartChecksumInvalid:    {"InvalidArgument", http.StatusBadRequest, "Invalid Base64 or multiple checksums present in request"},
		ChecksumUnverifiable:   {"InvalidRequest", http.StatusBadRequest, "The %s of the whole object cannot be verified: the %s of its parts is not known to this endpoint. Create the upload with x-amz-checksum-algorithm and upload the parts again, or complete it without."},
		TrailerUnsupported:     {"InvalidRequest", http.StatusBadRequest, "The value specified in the x-amz-trailer header is not supported"},
		TrailerUnannounced:     {"InvalidRequest", http.StatusBadRequest, "The x-amz-trailer header needs an x-amz-content-sha256 that ends in -TRAILER."},
		TrailerMalformed:       {"MalformedTrailerError", http.StatusBadRequest, "The request contained trailing data that was not well-formed or did not conform to our published schema."},
		ContentLengthMissing:   {"MissingContentLength", http.StatusLengthRequired, "You must provide the Content-Length HTTP header."},
		IncompleteBody:         {"IncompleteBody", http.StatusBadRequest, "You did not provide the number of bytes specified by the Content-Length HTTP header"},
		ChunksCut:              {"IncompleteBody", http.StatusBadRequest, "The request body terminated unexpectedly"},
		ChunkLineTooLong:       {"InvalidRequest", http.StatusBadRequest, "A line of the aws-chunked body is longer than %d bytes."},
		EntityTooLarge:         {"EntityTooLarge", http.StatusBadRequest, "Your proposed upload exceeds the maximum allowed object size."},
		MalformedXML:           {"MalformedXML", http.StatusBadRequest, "The XML you provided was not well-formed or did not validate against our published schema."},
		RequestTimeout:         {"RequestTimeout", http.StatusBadRequest, "Your socket connection to the server was not read from or written to within the timeout period."},

		InvalidURIEncoding:       {"InvalidURI", http.StatusBadRequest, "The query is not correctly percent-encoded."},
		TooManyParameters:        {"InvalidURI", http.StatusBadRequest, "The query has more than %d parameters."},
		MethodNotAllowed:         {"MethodNotAllowed", http.StatusMethodNotAllowed, "The specified method is not allowed against this resource."},
		NotImplemented:           {"NotImplemented", http.StatusNotImplemented, "A header you provided implies functionality that is not implemented."},
		BehindNotImplemented:     {"NotImplemented", http.StatusNotImplemented, "The store behind this endpoint cannot do this."},
		RefusedByPolicy:          {"InvalidRequest", http.StatusBadRequest, "%v"},
		EncodingInvalid:          {"InvalidArgument", http.StatusBadRequest, "Invalid Encoding Method specified in Request"},
		LimitInvalid:             {"InvalidArgument", http.StatusBadRequest, "Argument %s must be an integer between 0 and 2147483647"},
		PartMarkerInvalid:        {"InvalidArgument", http.StatusBadRequest, "Provided %s not an integer or within integer range"},
		MaxBucketsInvalid:        {"InvalidArgument", http.StatusBadRequest, "Argument max-buckets must be an integer between 1 and %d."},
		ContinuationTokenInvalid: {"InvalidArgument", http.StatusBadRequest, "The continuation token provided is incorrect"},
		VersionMarkerAlone:       {"InvalidArgument", http.StatusBadRequest, "A version-id marker cannot be specified without a key marker."},
		NamesUnprintable:         {"InvalidRequest", http.StatusBadRequest, "XML cannot hold the names from here on. Please ask for them with encoding-type=url."},
		ACLUnknown:               {"InvalidArgument", http.StatusBadRequest, "The canned ACL %q does not exist."},
		ACLNotSupported:          {"AccessControlListNotSupported", http.StatusBadRequest, "The bucket does not allow ACLs"},
		DirectiveUnknown:         {"InvalidArgument", http.StatusBadRequest, "Unknown %s directive."},
		OwnershipInvalid:         {"InvalidArgument", http.StatusBadRequest, "Invalid x-amz-object-ownership header: %s"},

		NoSuchBucket:            {"NoSuchBucket", http.StatusNotFound, "The specified bucket does not exist."},
		NoBucketBehind:          {"NoSuchBucket", http.StatusNotFound, "The bucket behind this endpoint does not exist."},
		InvalidBucketName:       {"InvalidBucketName", http.StatusBadRequest, "The specified bucket is not valid."},
		BucketOwned:             {"BucketAlreadyOwnedByYou", http.StatusConflict, "Your previous request to create the named bucket succeeded and you already own it."},
		BucketNotEmpty:          {"BucketNotEmpty", http.StatusConflict, "The bucket you tried to delete is not empty."},
		LocationInvalid:         {"InvalidLocationConstraint", http.StatusBadRequest, "The specified location-constraint is not valid"},
		NoSuchPolicy:            {"NoSuchBucketPolicy", http.StatusNotFound, "The bucket policy does not exist"},
		NoSuchCORS:              {"NoSuchCORSConfiguration", http.StatusNotFound, "The CORS configuration does not exist"},
		NoSuchLifecycle:         {"NoSuchLifecycleConfiguration", http.StatusNotFound, "The lifecycle configuration does not exist"},
		NoSuchWebsite:           {"NoSuchWebsiteConfiguration", http.StatusNotFound, "The specified bucket does not have a website configuration"},
		NoSuchTagSet:            {"NoSuchTagSet", http.StatusNotFound, "The TagSet does not exist"},
		NoSuchEncryption:        {"ServerSideEncryptionConfigurationNotFoundError", http.StatusNotFound, "The server side encryption configuration was not found"},
		NoSuchReplication:       {"ReplicationConfigurationNotFoundError", http.StatusNotFound, "The replication configuration was not found"},
		NoSuchBucketLock:        {"ObjectLockConfigurationNotFoundError", http.StatusNotFound, "Object Lock configuration does not exist for this bucket"},
		NoSuchPublicAccessBlock: {"NoSuchPublicAccessBlockConfiguration", http.StatusNotFound, "The public access block configuration was not found"},
		NoSuchConfiguration:     {"NoSuchConfiguration", http.StatusNotFound, "The specified configuration does not exist."},

		NoSuchKey:              {"NoSuchKey", http.StatusNotFound, "The specified key does not exist."},
		NoSuchVersion:          {"NoSuchVersion", http.StatusNotFound, "The specified version does not exist."},
		VersionInvalid:         {"InvalidArgument", http.StatusBadRequest, "Invalid version id specified"},
		DeleteConditionInvalid: {"InvalidArgument", http.StatusBadRequest, "The condition of the deletion is not a time or a number of bytes."},
		KeyTooLong:             {"KeyTooLongError", http.StatusBadRequest, "Your key is too long"},
		KeyInvalid:             {"InvalidArgument", http.StatusBadRequest, "The key is not valid UTF-8 without NUL."},
		KeyUnfit:               {"InvalidArgument", http.StatusBadRequest, "The store behind this endpoint cannot hold an object with this key."},
		ArgumentUnfit:          {"InvalidArgument", http.StatusBadRequest, "The store behind this endpoint refuses an argument."},
		NotModified:            {"NotModified", http.StatusNotModified, "Not modified."},
		PreconditionFailed:     {"PreconditionFailed", http.StatusPreconditionFailed, "At least one of the pre-conditions you specified did not hold."},
		OperationAborted:       {"OperationAborted", http.StatusConflict, "A conflicting conditional operation is currently in progress against this resource. Please try again."},
		InvalidRange:           {"InvalidRange", http.StatusRequestedRangeNotSatisfiable, "The requested range is not satisfiable"},
		StorageClassInvalid:    {"InvalidStorageClass", http.StatusBadRequest, "The storage class you specified is not valid"},
		RedirectInvalid:        {"InvalidRedirectLocation", http.StatusBadRequest, "The website redirect location must have a prefix of 'http://' or 'https://' or '/'."},
		MetadataTooLarge:       {"MetadataTooLarge", http.StatusBadRequest, "Your metadata headers exceed the maximum allowed metadata size"},
		MetadataReserved:       {"InvalidArgument", http.StatusBadRequest, "User metadata may not begin with %s, which this endpoint uses itself."},
		AttributeInvalid:       {"InvalidArgument", http.StatusBadRequest, "Invalid attribute name specified."},
		AttributesMissing:      {"InvalidRequest", http.StatusBadRequest, "The x-amz-object-attributes header specifying the attributes to be retrieved is either missing or empty"},
		TagsUnreadable:         {"InvalidArgument", http.StatusBadRequest, "The header 'x-amz-tagging' shall be encoded as UTF-8 then URLEncoded URL query parameters without tag name duplicates."},
		TooManyTags:            {"BadRequest", http.StatusBadRequest, "Object tags cannot be greater than %d"},
		TagKeyInvalid:          {"InvalidTag", http.StatusBadRequest, "The TagKey you have provided is invalid"},
		TagValueInvalid:        {"InvalidTag", http.StatusBadRequest, "The TagValue you have provided is invalid"},
		TagTwice:               {"InvalidTag", http.StatusBadRequest, "Cannot provide multiple Tags with the same key"},
		CopySourceIncomplete:   {"InvalidArgument", http.StatusBadRequest, "Invalid copy source object key"},
		CopySourceEncoding:     {"InvalidArgument", http.StatusBadRequest, "Invalid copy source encoding"},
		CopySourceBucket:       {"InvalidArgument", http.StatusBadRequest, "Invalid copy source bucket name"},
		CopyOntoItself:         {"InvalidRequest", http.StatusBadRequest, "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes."},
		CopyRangeForm:          {"InvalidArgument", http.StatusBadRequest, "The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the zero-based offsets of the first and last bytes to copy"},
		CopyRangeBeyond:        {"InvalidArgument", http.StatusBadRequest, "Range specified is not valid for source object of size: %d"},
		LockIncomplete:         {"InvalidArgument", http.StatusBadRequest, "x-amz-object-lock-retain-until-date and x-amz-object-lock-mode must both be supplied"},
		LegalHoldInvalid:       {"InvalidArgument", http.StatusBadRequest, "Legal Hold must be either of 'ON' or 'OFF'"},
		LockModeInvalid:        {"InvalidArgument", http.StatusBadRequest, "Unknown wormMode directive."},
		RetainDateInvalid:      {"InvalidArgument", http.StatusBadRequest, "The retain until date must be provided in ISO 8601 format"},
		RetainDatePast:         {"InvalidArgument", http.StatusBadRequest, "The retain until date must be in the future!"},
		LockNotConfigured:      {"InvalidRequest", http.StatusBadRequest, "Bucket is missing Object Lock Configuration"},
		NoSuchObjectLock:       {"NoSuchObjectLockConfiguration", http.StatusNotFound, "The specified object does not have a ObjectLock configuration"},

		NoSuchUpload:        {"NoSuchUpload", http.StatusNotFound, "The specified multipart upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed."},
		UploadIDMissing:     {"InvalidArgument", http.StatusBadRequest, "This operation does not accept a query-string without uploadId."},
		PartNumberInvalid:   {"InvalidArgument", http.StatusBadRequest, "Part number must be an integer between 1 and %d, inclusive."},
		PartNumberTooSmall:  {"InvalidArgument", http.StatusBadRequest, "PartNumber must be >= 1"},
		PartNumberOutside:   {"InvalidPartNumber", http.StatusRequestedRangeNotSatisfiable, "The requested partnumber is not satisfiable."},
		PartNumberWithRange: {"InvalidRequest", http.StatusBadRequest, "Cannot specify both Range header and partNumber query parameter"},
		InvalidPart:         {"InvalidPart", http.StatusBadRequest, "One or more of the specified parts could not be found.  The part may not have been uploaded, or the specified entity tag may not match the part's entity tag."},
		InvalidPartOrder:    {"InvalidPartOrder", http.StatusBadRequest, "The list of parts was not in ascending order. Parts must be ordered by part number."},
		EntityTooSmall:      {"EntityTooSmall", http.StatusBadRequest, "Your proposed upload is smaller than the minimum allowed size"},
		ObjectSizeInvalid:   {"InvalidRequest", http.StatusBadRequest, "Value for x-amz-mp-object-size header is invalid."},
		ObjectSizeNegative:  {"InvalidRequest", http.StatusBadRequest, "Value for x-amz-mp-object-size header is less than zero: '%d'"},
		ObjectSizeMismatch:  {"InvalidRequest", http.StatusBadRequest, "The provided 'x-amz-mp-object-size' header value %d does not match what was computed: %d"},

		InternalError:   {"InternalError", http.StatusInternalServerError, "We encountered an internal error. Please try again."},
		ShuttingDown:    {"ServiceUnavailable", http.StatusServiceUnavailable, "The store is shutting down. Please try again."},
		TooManyRequests: {"SlowDown", http.StatusServiceUnavailable, "Please reduce your request rate: this endpoint serves %d requests at a time."},
		TooManyBodies:   {"SlowDown", http.StatusServiceUnavailable, "Please reduce your request rate: the memory for request bodies is in use."},
		TooManyUploads:  {"SlowDown", http.StatusServiceUnavailable, "There are more multipart uploads in progress than this endpoint keeps. Please complete or abort some."},
		BehindTooSlow:   {"SlowDown", http.StatusServiceUnavailable, "The store behind this endpoint is too slow. Please reduce your request rate."},
		NoSpace:         {"InsufficientStorage", http.StatusInsufficientStorage, "There is no space left in the store."},
	}[r]
}
