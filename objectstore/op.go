package objectstore

// The names of a Store's operations, as decorators report them in metrics, logs
// and faults. The multipart ones stand for the methods of [Upload] and of
// [MultipartStore] alike.
const (
	OpOpen              = "open" // of the store itself
	OpGet               = "get"
	OpHead              = "head"
	OpPut               = "put"
	OpDelete            = "delete"
	OpDeleteAll         = "delete all"
	OpList              = "list"
	OpListWithDelimiter = "list with delimiter"
	OpCopy              = "copy"
	OpRename            = "rename"
	OpTags              = "tags"
	OpCreateMultipart   = "create multipart"
	OpUploadPart        = "upload part"
	OpCompleteMultipart = "complete multipart"
	OpAbortMultipart    = "abort multipart"
	OpListParts         = "list parts"
	OpListMultiparts    = "list multiparts"
	OpVersions          = "versions" // of a [VersionLister]
)
