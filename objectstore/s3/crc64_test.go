package s3_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"hash/crc64"
	"io"
	"net/http"
	"strconv"
	"testing"

	"github.com/stardustdb/stardust/objectstore"
)

// TestBytesThatDoNotMatchTheirChecksumAreErrors: the two kinds of checksum that
// objects usually have, one compared by us and the other by the SDK.
func TestBytesThatDoNotMatchTheirChecksumAreErrors(t *testing.T) {
	data := bytes.Repeat([]byte("what the object holds "), 50_000)
	const nvme = 0x9a6c9329ac4bc9b5 // the polynomial, reversed
	sums := map[string]string{
		"X-Amz-Checksum-Crc64nvme": base64.StdEncoding.EncodeToString(
			binary.BigEndian.AppendUint64(nil, crc64.Checksum(data, crc64.MakeTable(nvme)))),
		"X-Amz-Checksum-Crc32": base64.StdEncoding.EncodeToString(
			binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(data))),
	}
	damaged := bytes.Clone(data)
	damaged[len(damaged)/2] ^= 1
	for header, sum := range sums {
		for _, c := range []struct {
			name     string
			body     []byte
			sum      string
			answered bool
		}{
			{"the right bytes", data, sum, true},
			{"damaged bytes", damaged, sum, false},
			{"bytes whose checksum is one of parts", damaged, sum + "-3", true},
		} {
			s := fake(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("X-Amz-Checksum-Mode") != "ENABLED" {
					t.Errorf("%s: the checksum was not asked for", c.name)
				}
				w.Header().Set(header, c.sum)
				w.Header().Set("Content-Length", strconv.Itoa(len(c.body)))
				_, _ = w.Write(c.body)
			})
			result, err := s.Get(t.Context(), "object", nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(result.Body)
			result.Body.Close()
			if (err == nil) != c.answered || objectstore.IsTransient(err) == c.answered {
				t.Errorf("%s, %s: %v", header, c.name, err)
			}
			if c.answered && !bytes.Equal(got, c.body) {
				t.Errorf("%s, %s: other bytes were read", header, c.name)
			}
		}
	}
}
