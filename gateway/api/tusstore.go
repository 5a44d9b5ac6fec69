package api

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"

	"github.com/tus/tusd/v2/pkg/handler"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/grant"
	"github.com/stardustdb/stardust/gateway/internal/staging"
)

// Codes of problems that only uploads in several requests have.
const (
	codeTooMany = "too_many_uploads"
	codeBusy    = "busy"
)

// What accept tells NewUpload of a request's headers.
const (
	storedNew      = "new"
	storedReplaces = "replaces"
	storedPromised = "promised"
)

// tusStore is what the protocol's handler keeps uploads in: an area until they are
// whole, and then the database.
type tusStore struct {
	h    *Handler
	area *staging.Area
}

// accept looks at what an upload is to be before it begins.
func (s *tusStore) accept(event handler.HookEvent) (handler.HTTPResponse, handler.FileInfoChanges, error) {
	changes := handler.FileInfoChanges{Storage: map[string]string{}}
	err := func() error {
		ctx := event.Context
		if err := mayWrite(ctx); err != nil {
			return err
		}
		path, err := tusPath(ctx, event.Upload.MetaData)
		if err != nil {
			return err
		}
		header := event.HTTPRequest.Header
		if header.Get("If-None-Match") == "*" {
			changes.Storage[storedNew] = "*"
		}
		if match := header.Get("If-Match"); match != "" {
			d, err := stardust.ParseDigest(strings.Trim(match, `"`))
			if err != nil {
				return badRequest(`If-Match: give one "DIGEST"`)
			}
			changes.Storage[storedReplaces] = d.String()
		}
		if header.Get("Content-Digest") != "" {
			want, err := promisedDigest(header)
			if err != nil {
				return err
			}
			changes.Storage[storedPromised] = hex.EncodeToString(want)
		}
		u := &staging.Upload{Path: path, New: changes.Storage[storedNew] != "", Replaces: changes.Storage[storedReplaces]}
		tree := s.h.now(ctx)
		options, err := tusOptions(tree, u)
		if err == nil {
			err = tree.CheckPut(path, options)
		}
		return tusCondition(u, err)
	}()
	return handler.HTTPResponse{}, changes, tusError(err)
}

// tusPath returns the path in the tree that an upload is to be.
func tusPath(ctx context.Context, metadata handler.MetaData) (string, error) {
	path := metadata["path"]
	if path == "" {
		path = metadata["filename"]
	}
	if trim(path) == "" {
		return "", badRequest("Upload-Metadata: give the file's path: path BASE64")
	}
	return grant.From(ctx).Path(path), nil
}

// NewUpload implements handler.DataStore.
func (s *tusStore) NewUpload(ctx context.Context, info handler.FileInfo) (handler.Upload, error) {
	path, err := tusPath(ctx, info.MetaData)
	if err != nil {
		return nil, tusError(err)
	}
	g := grant.From(ctx)
	u, err := s.area.Create(staging.Upload{
		Owner: g.Name, Root: trim(g.Root), Path: path, Size: info.Size, Metadata: info.MetaData,
		New: info.Storage[storedNew] != "", Replaces: info.Storage[storedReplaces], Promised: info.Storage[storedPromised],
	})
	if err != nil {
		return nil, tusError(err)
	}
	return &tusUpload{s, u.ID}, nil
}

// GetUpload implements handler.DataStore: an upload of somebody else is not there.
func (s *tusStore) GetUpload(ctx context.Context, id string) (handler.Upload, error) {
	u, err := s.area.Get(id)
	if err != nil || !owns(grant.From(ctx), &u) {
		return nil, tusError(staging.ErrNotFound)
	}
	return &tusUpload{s, id}, nil
}

// AsTerminatableUpload implements handler.TerminaterDataStore.
func (s *tusStore) AsTerminatableUpload(u handler.Upload) handler.TerminatableUpload {
	return u.(*tusUpload) //nolint:forcetypeassert // the store makes no others
}

// tell adds to the last answer what the file is now.
func (s *tusStore) tell(event handler.HookEvent) (handler.HTTPResponse, error) {
	path, err := tusPath(event.Context, event.Upload.MetaData)
	if err != nil {
		return handler.HTTPResponse{}, tusError(err)
	}
	record, err := s.h.now(event.Context).Resolve(path)
	if err != nil {
		return handler.HTTPResponse{}, nil //nolint:nilerr // somebody has moved it already
	}
	return tusHeader("ETag", etag(record.Digest)).MergeWith(tusHeader("Stardust-Revision", revisionHeader(record.Revision))), nil
}

// tusUpload is one upload.
type tusUpload struct {
	store *tusStore
	id    string
}

// GetInfo implements handler.Upload.
func (u *tusUpload) GetInfo(context.Context) (handler.FileInfo, error) {
	got, err := u.store.area.Get(u.id)
	return handler.FileInfo{ID: got.ID, Size: got.Size, Offset: safe(&got), MetaData: got.Metadata}, tusError(err)
}

// WriteChunk implements handler.Upload.
func (u *tusUpload) WriteChunk(_ context.Context, offset int64, from io.Reader) (int64, error) {
	n, err := u.store.area.Append(u.id, offset, from)
	if err != nil || n == 0 {
		return n, tusError(err)
	}
	if whole, err := u.store.area.Get(u.id); err != nil || whole.Offset < whole.Size {
		return n, tusError(err)
	}
	// A body that has more, or breaks off before it says that it has not, is not what
	// was promised: without its last byte the upload does not end.
	var more [1]byte
	if _, err := from.Read(more[:]); err != io.EOF {
		return n - 1, handler.ErrSizeExceeded
	}
	return n, nil
}

// GetReader implements handler.Upload, for downloads, which are off.
func (u *tusUpload) GetReader(context.Context) (io.ReadCloser, error) {
	return nil, handler.ErrNotImplemented
}

// Terminate implements handler.TerminatableUpload.
func (u *tusUpload) Terminate(context.Context) error { return tusError(u.store.area.Remove(u.id)) }

// FinishUpload implements handler.Upload: the file is written in one commit.
func (u *tusUpload) FinishUpload(ctx context.Context) error {
	// All bytes are here: a client that goes now need not send any again.
	tree := u.store.h.now(context.WithoutCancel(ctx))
	return tusError(u.store.area.Finish(u.id, func(whole *staging.Upload, from io.Reader) error {
		options, err := tusOptions(tree, whole)
		if err == nil && whole.Promised != "" {
			var want []byte
			if want, err = hex.DecodeString(whole.Promised); err == nil {
				from = newPromisedReader(from, want)
			}
		}
		if err == nil {
			_, err = u.store.h.lanes.Put(context.WithoutCancel(ctx), tree, whole.Path, from, options, nil)
		}
		return tusCondition(whole, err)
	}))
}

// tusOptions are those of the write that an upload becomes.
func tusOptions(tree stardust.Tree, u *staging.Upload) (*stardust.PutOptions, error) {
	options := &stardust.PutOptions{Parents: true, New: u.New}
	if u.Replaces == "" {
		return options, nil
	}
	record, err := tree.Resolve(u.Path)
	if err != nil {
		return nil, err
	}
	if record.Digest.String() != u.Replaces {
		return nil, staleDigest()
	}
	options.ExpectedRevision = record.Revision
	return options, nil
}

// tusCondition gives an error that a condition brought about the status that HTTP
// has for it.
func tusCondition(u *staging.Upload, err error) error {
	if err == nil || !u.New && u.Replaces == "" {
		return err
	}
	return conditionFailed(err)
}

// tusError gives an error the form that the protocol's handler answers with.
func tusError(err error) error {
	var known handler.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return err
	case errors.Is(err, staging.ErrNotFound):
		err = newProblem(stardust.StatusNotFound, "", err.Error(), http.StatusNotFound)
	case errors.Is(err, staging.ErrBusy):
		err = newProblem(stardust.StatusConflict, codeBusy, err.Error(), http.StatusLocked)
	case errors.Is(err, staging.ErrTooMany):
		err = newProblem(stardust.StatusUnavailable, codeTooMany, err.Error(), http.StatusTooManyRequests)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		err = newProblem(stardust.StatusIO, stardust.CodeNoSpace, "there is no space for more of this upload: what came is kept", http.StatusInsufficientStorage)
	}
	p := problemOf(err)
	text, failed := json.Marshal(p)
	if failed != nil {
		return failed
	}
	return handler.Error{ErrorCode: p.Code, Message: p.Message, HTTPResponse: handler.HTTPResponse{
		StatusCode: p.http, Body: string(text), Header: handler.HTTPHeader{"Content-Type": typeProblem},
	}}
}
