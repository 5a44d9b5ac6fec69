package s3_test

import (
	"bytes"
	"encoding/base64"
	"hash/crc32"
	"io"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/stardustdb/stardust/gateway/s3"
)

// uploadParts uploads parts with a CRC32 each, which is what SDKs do.
func uploadParts(t *testing.T, c *awss3.Client, key string, kind types.ChecksumType, datas ...[]byte) (id *string, parts []types.CompletedPart) {
	t.Helper()
	created, err := c.CreateMultipartUpload(t.Context(), &awss3.CreateMultipartUploadInput{
		Bucket: aws.String(testBucket), Key: &key, ChecksumAlgorithm: types.ChecksumAlgorithmCrc32, ChecksumType: kind,
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, data := range datas {
		number := aws.Int32(int32(i + 1))
		part, err := c.UploadPart(t.Context(), &awss3.UploadPartInput{
			Bucket: aws.String(testBucket), Key: &key, UploadId: created.UploadId, PartNumber: number, Body: bytes.NewReader(data),
			ChecksumAlgorithm: types.ChecksumAlgorithmCrc32,
		})
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, types.CompletedPart{PartNumber: number, ETag: part.ETag, ChecksumCRC32: part.ChecksumCRC32})
	}
	return created.UploadId, parts
}

func crcOf(data []byte) *string {
	h := crc32.NewIEEE()
	h.Write(data)
	return aws.String(base64.StdEncoding.EncodeToString(h.Sum(nil)))
}

func TestAWrongChecksumOfTheWholeIsRefusedAndTheRightOneKept(t *testing.T) {
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			e := start(t, store, s3.Options{MinPartSize: -1})
			c := e.client()
			one, two := bytes.Repeat([]byte("1"), 1000), bytes.Repeat([]byte("2"), 333)
			all := append(bytes.Clone(one), two...)
			complete := func(kind types.ChecksumType, sum *string, damage bool) (*awss3.CompleteMultipartUploadOutput, error) {
				id, parts := uploadParts(t, c, "key", kind, one, two)
				if damage {
					parts[1].ChecksumCRC32 = crcOf(one)
				}
				return c.CompleteMultipartUpload(t.Context(), &awss3.CompleteMultipartUploadInput{
					Bucket: aws.String(testBucket), Key: aws.String("key"), UploadId: id, ChecksumType: kind, ChecksumCRC32: sum,
					MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
				})
			}
			if _, err := complete(types.ChecksumTypeFullObject, aws.String("AAAAAA=="), false); codeOf(err) != "BadDigest" {
				t.Errorf("a wrong checksum of the whole: %v", err)
			}
			if _, err := complete(types.ChecksumTypeComposite, aws.String("AAAAAA==-2"), false); codeOf(err) != "BadDigest" {
				t.Errorf("a wrong composite checksum: %v", err)
			}
			if _, err := complete(types.ChecksumTypeFullObject, nil, true); codeOf(err) != "InvalidPart" {
				t.Errorf("a wrong checksum of a part: %v", err)
			}
			if _, err := c.HeadObject(t.Context(), &awss3.HeadObjectInput{Bucket: aws.String(testBucket), Key: aws.String("key")}); err == nil {
				t.Error("a refused completion made an object")
			}
			out, err := complete(types.ChecksumTypeComposite, nil, false)
			if err != nil || aws.ToString(out.ChecksumCRC32) == "" || out.ChecksumType != types.ChecksumTypeComposite {
				t.Errorf("composite: %+v, %v", out, err)
			}
			out, err = complete(types.ChecksumTypeFullObject, crcOf(all), false)
			if err != nil || aws.ToString(out.ChecksumCRC32) != *crcOf(all) || out.ChecksumType != types.ChecksumTypeFullObject {
				t.Fatalf("the right checksum: %+v, %v", out, err)
			}
			if name == "plain" {
				return // it keeps what it was told at the start alone
			}
			got, err := c.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: aws.String(testBucket), Key: aws.String("key"), ChecksumMode: types.ChecksumModeEnabled})
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(got.Body)
			if err != nil || !bytes.Equal(data, all) || aws.ToString(got.ChecksumCRC32) != *crcOf(all) {
				t.Errorf("%d bytes with checksum %s, %v", len(data), aws.ToString(got.ChecksumCRC32), err)
			}
			got, err = c.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: aws.String(testBucket), Key: aws.String("key"), PartNumber: aws.Int32(2)})
			if err != nil {
				t.Fatal(err)
			}
			if data, err := io.ReadAll(got.Body); err != nil || !bytes.Equal(data, two) || aws.ToInt32(got.PartsCount) != 2 {
				t.Errorf("part 2 is %d bytes of %d parts, %v", len(data), aws.ToInt32(got.PartsCount), err)
			}
			_, err = c.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: aws.String(testBucket), Key: aws.String("key"), PartNumber: aws.Int32(3)})
			if codeOf(err) != "InvalidPartNumber" {
				t.Errorf("part 3: %v", err)
			}
		})
	}
}

func TestCopiesHaveTheChecksumThatIsAskedFor(t *testing.T) {
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			c := start(t, store, s3.Options{MinPartSize: -1}).client()
			data := bytes.Repeat([]byte("copy me "), 100_000)
			bucket := aws.String(testBucket)
			if _, err := c.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: bucket, Key: aws.String("from"), Body: bytes.NewReader(data), ContentType: aws.String("a/b")}); err != nil {
				t.Fatal(err)
			}
			for _, to := range []string{"to", "from"} { // onto itself, too
				copied, err := c.CopyObject(t.Context(), &awss3.CopyObjectInput{
					Bucket: bucket, Key: &to, CopySource: aws.String(testBucket + "/from"), ChecksumAlgorithm: types.ChecksumAlgorithmCrc32,
				})
				if err != nil || aws.ToString(copied.CopyObjectResult.ChecksumCRC32) != *crcOf(data) {
					t.Fatalf("%s: %+v, %v", to, copied, err)
				}
				got, err := c.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: bucket, Key: &to, ChecksumMode: types.ChecksumModeEnabled})
				if err != nil {
					t.Fatal(err)
				}
				read, err := io.ReadAll(got.Body)
				if err != nil || !bytes.Equal(read, data) || aws.ToString(got.ChecksumCRC32) != *crcOf(data) || aws.ToString(got.ContentType) != "a/b" {
					t.Errorf("%s: %d bytes, %v, %v", to, len(read), got.ChecksumCRC32, err)
				}
			}
			created, err := c.CreateMultipartUpload(t.Context(), &awss3.CreateMultipartUploadInput{
				Bucket: bucket, Key: aws.String("parts"), ChecksumAlgorithm: types.ChecksumAlgorithmCrc32, ChecksumType: types.ChecksumTypeFullObject,
			})
			if err != nil {
				t.Fatal(err)
			}
			part, err := c.UploadPartCopy(t.Context(), &awss3.UploadPartCopyInput{
				Bucket: bucket, Key: aws.String("parts"), UploadId: created.UploadId, PartNumber: aws.Int32(1),
				CopySource: aws.String(testBucket + "/from"), CopySourceRange: aws.String("bytes=8-15"),
			})
			if err != nil || aws.ToString(part.CopyPartResult.ChecksumCRC32) != *crcOf([]byte("copy me ")) {
				t.Fatalf("%+v, %v", part, err)
			}
			listed, err := c.ListParts(t.Context(), &awss3.ListPartsInput{Bucket: bucket, Key: aws.String("parts"), UploadId: created.UploadId})
			if err != nil || len(listed.Parts) != 1 || aws.ToString(listed.Parts[0].ChecksumCRC32) != *crcOf([]byte("copy me ")) || listed.ChecksumType != types.ChecksumTypeFullObject {
				t.Errorf("the list of parts: %+v, %v", listed, err)
			}
			out, err := c.CompleteMultipartUpload(t.Context(), &awss3.CompleteMultipartUploadInput{
				Bucket: bucket, Key: aws.String("parts"), UploadId: created.UploadId, ChecksumCRC32: crcOf([]byte("copy me ")),
				MultipartUpload: &types.CompletedMultipartUpload{Parts: []types.CompletedPart{{PartNumber: aws.Int32(1), ETag: part.CopyPartResult.ETag}}},
			})
			if err != nil || aws.ToString(out.ChecksumCRC32) != *crcOf([]byte("copy me ")) {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
}
