package s3_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stardustdb/stardust/gateway/s3"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
)

// signForm adds the fields that sign a policy with these conditions.
func signForm(fields map[string]string, secret, conditions string) {
	now := time.Now().UTC()
	day, region := now.Format("20060102"), "us-east-1"
	fields["x-amz-algorithm"] = "AWS4-HMAC-SHA256"
	fields["x-amz-credential"] = accessKey + "/" + day + "/" + region + "/s3/aws4_request"
	fields["x-amz-date"] = now.Format("20060102T150405Z")
	policy := fmt.Sprintf(`{"expiration":%q,"conditions":[{"bucket":%q},["starts-with","$key",""],["starts-with","$x-amz-algorithm",""],["starts-with","$x-amz-credential",""],["starts-with","$x-amz-date",""]%s]}`,
		now.Add(time.Hour).Format(time.RFC3339), testBucket, conditions)
	fields["policy"] = base64.StdEncoding.EncodeToString([]byte(policy))
	key := []byte("AWS4" + secret)
	for _, text := range []string{day, region, "s3", "aws4_request", fields["policy"]} {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(text))
		key = mac.Sum(nil)
	}
	fields["x-amz-signature"] = hex.EncodeToString(key)
}

// formBody writes a form; the file comes last but for one more field.
func formBody(t *testing.T, fields map[string]string, name string, file []byte) (contentType string, body []byte) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for name, value := range fields {
		if err := w.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	part, err := w.CreateFormFile("file", name)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = part.Write(file)
	_ = w.WriteField("after", "is ignored")
	_ = w.Close()
	return w.FormDataContentType(), b.Bytes()
}

func postForm(t *testing.T, e *endpoint, fields map[string]string, file []byte) answered {
	t.Helper()
	contentType, body := formBody(t, fields, "photo.jpg", file)
	return do(t, plain(t, e, http.MethodPost, "/"+testBucket, bytes.NewReader(body), "Content-Type", contentType))
}

func TestFormsStoreTheirFile(t *testing.T) {
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			e := start(t, store, s3.Options{MinPartSize: -1})
			small, large := []byte("hello"), bytes.Repeat([]byte("0123456789abcdef"), 9<<16) // 9 MiB
			fields := map[string]string{"key": "photos/${filename}", "Content-Type": "image/jpeg", "x-amz-meta-a": "b"}
			signForm(fields, secretKey, `,["starts-with","$content-type","image/"],{"x-amz-meta-a":"b"}`)
			for _, file := range [][]byte{small, large, nil} {
				if a := postForm(t, e, fields, file); a.status != http.StatusNoContent || a.header.Get("ETag") == "" {
					t.Fatalf("%d bytes: %d %s", len(file), a.status, a.body)
				}
				result, err := store.Get(t.Context(), "photos/photo.jpg", nil)
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(result.Body)
				_ = result.Body.Close()
				if err != nil || !bytes.Equal(got, file) || result.Attributes.ContentType != "image/jpeg" || result.Attributes.Metadata["a"] != "b" {
					t.Errorf("%d bytes of %d, %+v, %v", len(got), len(file), result.Attributes, err)
				}
			}
			fields = map[string]string{"key": "k", "success_action_redirect": "https://a.example/done?x=1"}
			signForm(fields, secretKey, `,["starts-with","$success_action_redirect",""]`)
			a := postForm(t, e, fields, small)
			if got := a.header.Get("Location"); a.status != http.StatusSeeOther || !strings.HasPrefix(got, "https://a.example/done?bucket="+testBucket) || !strings.Contains(got, "x=1") {
				t.Errorf("a redirect: %d to %s", a.status, got)
			}
			fields = map[string]string{"key": "k", "content-md5": "XUFAKrxLKna5cZ2REBfFkg==", "x-amz-checksum-crc32": "NhCmhg=="} // of hello
			signForm(fields, secretKey, `,["starts-with","$content-md5",""],["starts-with","$x-amz-checksum-crc32",""]`)
			if a := postForm(t, e, fields, small); a.status != http.StatusNoContent || a.header.Get("X-Amz-Checksum-Crc32") != "NhCmhg==" {
				t.Errorf("its digests: %d %s", a.status, a.body)
			}
			fields = map[string]string{"key": "k", "success_action_status": "201"}
			signForm(fields, secretKey, `,{"success_action_status":"201"}`)
			if a := postForm(t, e, fields, small); a.status != http.StatusCreated || !strings.Contains(string(a.body), "<Key>k</Key>") {
				t.Errorf("a document: %d %s", a.status, a.body)
			}
		})
	}
}

func TestFormsThatAreNotAllowedStoreNothing(t *testing.T) {
	store := memory.New(nil)
	e := start(t, store, s3.Options{MinPartSize: -1})
	large := make([]byte, 17<<20)
	for name, test := range map[string]struct {
		conditions string
		change     func(map[string]string)
		file       []byte
		code       string
	}{
		"nobody signed":           {"", func(f map[string]string) { clear(f); f["key"] = "k" }, nil, "AccessDenied"},
		"another secret":          {"", func(f map[string]string) { signForm(f, "wrong", "") }, nil, "SignatureDoesNotMatch"},
		"another policy":          {"", func(f map[string]string) { f["policy"] += "AA==" }, nil, "SignatureDoesNotMatch"},
		"an extra field":          {"", func(f map[string]string) { f["x-amz-meta-x"] = "y" }, nil, "AccessDenied"},
		"another key":             {`,{"key":"other"}`, func(map[string]string) {}, nil, "AccessDenied"},
		"an unsigned field":       {"", func(f map[string]string) { delete(f, "x-amz-date") }, nil, "InvalidArgument"},
		"no key":                  {"", func(f map[string]string) { delete(f, "key") }, nil, "InvalidArgument"},
		"too short":               {`,["content-length-range",2,9]`, func(map[string]string) {}, []byte("1"), "EntityTooSmall"},
		"too long":                {`,["content-length-range",0,9]`, func(map[string]string) {}, []byte("1234567890"), "EntityTooLarge"},
		"too long in parts":       {`,["content-length-range",0,10000000]`, func(map[string]string) {}, large, "EntityTooLarge"},
		"another checksum":        {`,["starts-with","$x-amz-checksum-crc32",""]`, func(f map[string]string) { f["x-amz-checksum-crc32"] = "AAAAAA==" }, []byte("x"), "BadDigest"},
		"another MD5":             {`,["starts-with","$content-md5",""]`, func(f map[string]string) { f["content-md5"] = "AAAAAAAAAAAAAAAAAAAAAA==" }, []byte("x"), "BadDigest"},
		"another MD5 of parts":    {`,["starts-with","$content-md5",""]`, func(f map[string]string) { f["content-md5"] = "AAAAAAAAAAAAAAAAAAAAAA==" }, large, "BadDigest"},
		"open to all":             {`,{"acl":"public-read"}`, func(f map[string]string) { f["acl"] = "public-read" }, nil, "AccessControlListNotSupported"},
		"a field of great length": {"", func(f map[string]string) { f["x-ignore-a"] = strings.Repeat("a", 200<<10) }, nil, "MalformedPOSTRequest"},
	} {
		fields := map[string]string{"key": "k"}
		signForm(fields, secretKey, test.conditions)
		test.change(fields)
		if a := postForm(t, e, fields, test.file); a.Code != test.code {
			t.Errorf("%s: %d %s, want %s", name, a.status, a.body, test.code)
		}
	}
	fields := map[string]string{"key": "k"}
	signForm(fields, secretKey, "")
	for name, size := range map[string]int{"cut in the file": 1000, "cut in a part": 9 << 20} {
		contentType, body := formBody(t, fields, "a", make([]byte, size))
		if a := do(t, plain(t, e, http.MethodPost, "/"+testBucket, bytes.NewReader(body[:len(body)-300]), "Content-Type", contentType)); a.Code != "MalformedPOSTRequest" {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	for meta, err := range store.List(t.Context(), nil) {
		t.Errorf("stored: %v, %v", meta.Path, err)
	}
	for upload, err := range objectstore.MultipartStore(store).ListMultiparts(t.Context(), "") {
		t.Errorf("an upload is left: %+v, %v", upload, err)
	}
}
