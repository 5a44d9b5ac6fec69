package s3

import (
	"context"
	"encoding/base64"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/minio/crc64nvme"
)

// crc64Header carries the checksum that S3 gives objects by default.
const crc64Header = "X-Amz-Checksum-Crc64nvme"

// withFastCRC64 checks the CRC64NVME of an answer itself, since the SDK's
// implementation takes as long as all the rest of a download. It hides the
// checksum from the SDK, which still checks those of other kinds.
func withFastCRC64(o *s3.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		// The innermost, so that it sees the answer before the SDK's check.
		return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("FastCRC64", checkCRC64), middleware.After)
	})
}

func checkCRC64(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
	out, metadata, err := next.HandleDeserialize(ctx, in)
	response, ok := out.RawResponse.(*smithyhttp.Response)
	if err != nil || !ok || response.StatusCode != http.StatusOK {
		return out, metadata, err
	}
	// One with a "-" is of the parts' checksums, and can't be compared.
	want := response.Header.Get(crc64Header)
	if want != "" && !strings.Contains(want, "-") {
		response.Header.Del(crc64Header)
		response.Body = &crc64Body{ReadCloser: response.Body, sum: crc64nvme.New(), want: want}
	}
	return out, metadata, err
}

// crc64Body fails at its end when the bytes before are not those of a checksum.
type crc64Body struct {
	io.ReadCloser
	sum  hash.Hash64
	want string // in base64
}

func (b *crc64Body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	_, _ = b.sum.Write(p[:n])
	if err == io.EOF {
		if got := base64.StdEncoding.EncodeToString(b.sum.Sum(nil)); got != b.want {
			return n, fmt.Errorf("the bytes have the CRC64NVME %s, and the object %s", got, b.want)
		}
	}
	return n, err
}
