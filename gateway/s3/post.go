package s3

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/stardustdb/stardust/gateway/s3/internal/auth"
	"github.com/stardustdb/stardust/gateway/s3/internal/checksum"
	"github.com/stardustdb/stardust/gateway/s3/internal/document"
	"github.com/stardustdb/stardust/gateway/s3/internal/policy"
	"github.com/stardustdb/stardust/gateway/s3/s3err"
	"github.com/stardustdb/stardust/objectstore"
)

const (
	// maxForm bounds a form without its file, in bytes.
	maxForm = 128 << 10
	// formPiece is how much of a form's file is kept in memory: its length is
	// known only at its end, and a longer file is stored in parts of that size.
	formPiece = 8 << 20
)

// forms are uploads from forms of web pages.
type forms struct{ *exchange }

// form is a form up to its file.
type form struct {
	fields map[string]string // by their names in lower case
	file   io.Reader
	policy *policy.Policy // nil when nobody signed
}

// post serves PostObject. What signs it is in the form.
func (x forms) post() error {
	if err := x.allowPage(); err != nil {
		return err
	}
	f, err := x.read()
	if err != nil {
		return err
	}
	if x.identity, err = x.h.auth.VerifyForm(f.fields); err != nil {
		return err
	}
	if err := x.checkPolicy(&f); err != nil {
		return err
	}
	key, ok := f.fields["key"]
	if !ok {
		return s3err.FormFieldMissing.New("key").Argument("key", "")
	}
	x.key = key
	if x.path, err = parseKey(key); err != nil {
		return err
	}
	if err := x.allow(x.bucketName, key, true); err != nil {
		return err
	}
	if x.bucket, err = x.h.bucket(x.r.Context(), x.bucketName); err != nil {
		return err
	}
	return x.store(&f)
}

// read reads the form up to its file.
func (x forms) read() (f form, err error) {
	kind, parameters, err := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	switch {
	case kind != "multipart/form-data":
		return f, s3err.PreconditionFailed.New().With("Condition", "Bucket POST must be of the enclosure-type multipart/form-data")
	case err != nil || parameters["boundary"] == "":
		return f, s3err.FormMalformed.Wrap(err)
	case x.r.ContentLength < 0:
		return f, s3err.ContentLengthMissing.New()
	}
	limit := &io.LimitedReader{R: x.raw(), N: maxForm}
	reader := multipart.NewReader(limit, parameters["boundary"])
	f.fields = make(map[string]string)
	for {
		part, err := reader.NextRawPart()
		if err != nil {
			if errors.Is(err, io.EOF) && limit.N > 0 && len(f.fields) > 0 {
				return f, s3err.FormFile.New()
			}
			return f, s3err.FormMalformed.Wrap(err)
		}
		name := strings.ToLower(part.FormName())
		if name == "file" {
			limit.N = x.r.ContentLength
			f.file = part
			f.fields["key"] = strings.ReplaceAll(f.fields["key"], "${filename}", part.FileName())
			if f.fields["key"] == "" {
				delete(f.fields, "key")
			}
			return f, nil
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return f, s3err.FormMalformed.Wrap(err)
		}
		if _, twice := f.fields[name]; name == "" || twice {
			return f, s3err.FormMalformed.New()
		}
		f.fields[name] = string(value)
	}
}

// checkPolicy compares the form with its policy.
func (x forms) checkPolicy(f *form) (err error) {
	if x.identity.AccessKey == "" {
		return nil
	}
	if f.policy, err = policy.Parse(f.fields["policy"]); err != nil {
		return err
	}
	f.fields["bucket"] = x.bucketName
	return f.policy.Check(f.fields, x.options.Clock())
}

// headers turns the fields into headers, so that they are read like those of a
// PUT.
func (x forms) headers(f *form) error {
	h := make(http.Header)
	for name, value := range f.fields {
		if slices.Contains(auth.FormFields(), name) {
			continue
		}
		switch name {
		case "key", "bucket", "tagging":
		case "acl":
			h.Set("X-Amz-Acl", value)
		default:
			if sum, ok := strings.CutPrefix(name, "x-amz-checksum-"); ok {
				if _, known := checksum.Parse(sum); !known && sum != "algorithm" && sum != "type" {
					return s3err.ChecksumNameInvalid.New()
				}
			}
			h.Set(name, value)
		}
	}
	x.r = x.r.Clone(x.r.Context())
	x.r.Header = h
	return nil
}

// store writes the file and answers.
func (x forms) store(f *form) error {
	if err := x.headers(f); err != nil {
		return err
	}
	if err := x.refuseUnsupported(); err != nil {
		return err
	}
	attributes, err := x.givenAttributes()
	if err != nil {
		return err
	}
	var tags map[string]string
	if text := f.fields["tagging"]; text != "" {
		if tags, err = parseTagging(strings.NewReader(text)); err != nil {
			return err
		}
	}
	file := &formFile{part: f.file, policy: f.policy, most: x.options.MaxPutSize}
	p, err := auth.FormFile(file, x.r.Header, x.lookup)
	if err != nil {
		return err
	}
	reserveChecksum(&attributes, p.Declared())
	result, err := x.write(file, p, attributes, tags)
	if err != nil {
		return err
	}
	return x.answerForm(f, result, p.Declared())
}

// formFile is the file of a form. It ends with an error when its length is not
// allowed.
type formFile struct {
	part   io.Reader
	policy *policy.Policy // nil when nobody signed
	most   int64          // whatever a policy allows
	size   int64          // that was read
}

// Read implements io.Reader.
func (f *formFile) Read(b []byte) (int, error) {
	n, err := f.part.Read(b)
	f.size += int64(n)
	if errors.Is(err, io.EOF) {
		if refused := f.check(true); refused != nil {
			err = refused
		}
	}
	return n, err
}

// check compares the length with what is allowed; until the file has ended it may
// only be too long.
func (f *formFile) check(ended bool) error {
	if f.policy != nil && (ended || f.size > f.policy.Most) {
		if err := f.policy.CheckLength(f.size); err != nil {
			return err
		}
	}
	if f.size > f.most {
		return s3err.EntityTooLarge.New()
	}
	return nil
}

// write stores the file, as p verifies it: in one write, or in parts if it is long.
// Nothing is stored of a file that differs from what the form promises.
func (x forms) write(file *formFile, p *auth.Payload, attributes objectstore.Attributes, tags map[string]string) (*objectstore.PutResult, error) {
	piece := min(formPiece, x.options.MaxBufferedBytes, x.r.ContentLength+1)
	release, err := x.takeMemory(piece)
	if err != nil {
		return nil, err
	}
	defer release()
	ctx, buffer := x.r.Context(), make([]byte, piece)
	read := func() (n int, last bool, err error) {
		n, err = io.ReadFull(p, buffer)
		switch err { // of a file that breaks off p has a Failure
		case nil:
			return n, false, file.check(false)
		case io.EOF, io.ErrUnexpectedEOF:
			return n, true, nil
		}
		return n, false, asBodyFailure(err)
	}
	n, last, err := read()
	if err != nil {
		return nil, err
	}
	if last {
		return x.bucket.store.Put(ctx, x.path, objectstore.Bytes(buffer[:n]), &objectstore.PutOptions{
			Attributes: attributes, Tags: tags, Extensions: x.extensions(),
		})
	}
	upload, err := x.bucket.store.PutMultipart(ctx, x.path, &objectstore.MultipartOptions{Attributes: attributes, Tags: tags, Extensions: x.extensions()})
	if err != nil {
		return nil, err
	}
	for number := 1; ; number++ {
		if n > 0 {
			err = upload.PutPart(ctx, number, objectstore.Bytes(buffer[:n]))
		}
		if err == nil && last {
			break
		}
		if err == nil {
			n, last, err = read()
		}
		if err != nil {
			return nil, errors.Join(err, upload.Abort(ctx))
		}
	}
	return upload.Complete(ctx)
}

// asBodyFailure is the failure of a body that breaks off.
func asBodyFailure(err error) error {
	if failure, ok := errors.AsType[*Failure](err); ok {
		return failure
	}
	return s3err.FormMalformed.Wrap(err)
}

// answerForm answers as the form asks: with a redirect, a document or nothing.
func (x forms) answerForm(f *form, result *objectstore.PutResult, declared checksum.Declared) error {
	h := x.w.Header()
	location := strings.TrimSuffix(x.location(), "/") + "/" + auth.Escape(x.key, true)
	x.setWritten(result, declared)
	h.Set("Location", location)
	redirect := f.fields["success_action_redirect"]
	if redirect == "" {
		redirect = f.fields["redirect"]
	}
	if target, err := url.Parse(redirect); redirect != "" && err == nil && (target.Scheme == "http" || target.Scheme == "https") {
		q := target.Query()
		q.Set("bucket", x.bucketName)
		q.Set("key", x.key)
		q.Set("etag", document.ETag(result.ETag))
		target.RawQuery = q.Encode()
		h.Set("Location", target.String())
		x.writeStatus(http.StatusSeeOther)
		return nil
	}
	switch f.fields["success_action_status"] {
	case "200":
		x.writeEmpty()
	case "201":
		return x.writeDocument(http.StatusCreated, document.PostResponse{
			Location: location, Bucket: x.bucketName, Key: x.key, ETag: document.ETag(result.ETag),
		})
	default:
		x.writeStatus(http.StatusNoContent)
	}
	return nil
}
