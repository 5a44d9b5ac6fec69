package azure

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"

	"github.com/stardustdb/stardust/objectstore"
)

// PutMultipart implements objectstore.Store. Nothing is sent before the first
// part.
func (s *Store) PutMultipart(ctx context.Context, path objectstore.Path, options *objectstore.MultipartOptions) (objectstore.Upload, error) {
	if options == nil {
		options = &objectstore.MultipartOptions{}
	}
	h, metadata, err := headers(options.Attributes)
	conditions, conditionErr := writing(options.Mode, options.UpdateVersion)
	if err := errors.Join(check(ctx, path), err, conditionErr); err != nil {
		return nil, s.fail(objectstore.OpCreateMultipart, path, err)
	}
	u := &upload{
		store: s, path: path, mode: options.Mode,
		commit: &blockblob.CommitBlockListOptions{
			HTTPHeaders: h, Metadata: metadata, Tags: maps.Clone(options.Tags), AccessConditions: conditions,
		},
		blocks: map[int]string{},
	}
	_, _ = rand.Read(u.id[:]) // never fails
	return u, nil
}

// upload is a multipart upload whose parts are blocks of the blob to be.
type upload struct {
	store  *Store
	path   objectstore.Path
	mode   objectstore.PutMode
	commit *blockblob.CommitBlockListOptions
	id     [12]byte

	mu     sync.Mutex
	sent   uint32         // counts parts, so that each is a block of its own
	blocks map[int]string // by part number
	state  state
}

type state int

const (
	open state = iota
	completed
	aborted
)

// PutPart implements objectstore.Upload.
func (u *upload) PutPart(ctx context.Context, number int, body objectstore.Body) error {
	if err := u.putPart(ctx, number, body); err != nil {
		return u.store.fail(objectstore.OpUploadPart, u.path, err)
	}
	return nil
}

func (u *upload) putPart(ctx context.Context, number int, body objectstore.Body) error {
	if err := objectstore.CheckPartNumber(number); err != nil {
		return err
	}
	if err := errors.Join(ctx.Err(), body.Validate()); err != nil {
		return err
	}
	block, err := u.next()
	if err != nil {
		return err
	}
	if body.Size() > 0 { // the service takes no empty block
		sent, source := newSent(ctx, body)
		if _, err := u.store.blob(u.path).StageBlock(ctx, block, sent, nil); err != nil {
			return source.Cause(err)
		}
	} else {
		block = ""
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.blocks[number] = block
	return nil
}

// next returns the name of a new block. All blocks of a blob have names of one
// length.
func (u *upload) next() (string, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.state != open {
		return "", fmt.Errorf("%w: it has ended", objectstore.ErrUploadNotFound)
	}
	u.sent++
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(slices.Clone(u.id[:]), u.sent)), nil
}

// Complete implements objectstore.Upload.
func (u *upload) Complete(ctx context.Context) (*objectstore.PutResult, error) {
	result, err := u.complete(ctx)
	if err != nil {
		return nil, u.store.fail(objectstore.OpCompleteMultipart, u.path, err)
	}
	return result, nil
}

func (u *upload) complete(ctx context.Context) (*objectstore.PutResult, error) {
	u.mu.Lock()
	ended := u.state != open
	var blocks []string
	for _, number := range slices.Sorted(maps.Keys(u.blocks)) {
		if block := u.blocks[number]; block != "" {
			blocks = append(blocks, block)
		}
	}
	u.mu.Unlock()
	if ended {
		return nil, fmt.Errorf("%w: it has ended", objectstore.ErrUploadNotFound)
	}
	answer, err := u.store.blob(u.path).CommitBlockList(ctx, blocks, u.commit)
	if err != nil {
		return nil, u.explain(ctx, writeError(err, u.mode))
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.state = completed
	return &objectstore.PutResult{ETag: unquote(answer.ETag), Version: value(answer.VersionID)}, nil
}

// explain tells why blocks are gone: another write of the object, which is what
// a condition would have said had the service looked at it first.
func (u *upload) explain(ctx context.Context, err error) error {
	if !errors.Is(err, objectstore.ErrInvalidPart) {
		return err
	}
	options := &objectstore.GetOptions{}
	found, headErr := head(ctx, u.store.blob(u.path), u.path, options)
	exists := headErr == nil
	var current *objectstore.ObjectMeta
	if exists {
		current = &found.Meta
	}
	if exists || errors.Is(classify(headErr), objectstore.ErrNotFound) {
		if refused := u.mode.Check(u.update(), current); refused != nil {
			return fmt.Errorf("%w (%w)", refused, err)
		}
	}
	return fmt.Errorf("another write of the object discarded the parts: %w", err)
}

func (u *upload) update() objectstore.UpdateVersion {
	return objectstore.UpdateVersion{ETag: unquote(u.commit.AccessConditions.ModifiedAccessConditions.IfMatch)}
}

// Abort implements objectstore.Upload. The service drops blocks that are not
// committed by itself, after a week or when the object is written.
func (u *upload) Abort(context.Context) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.state == open {
		u.state = aborted
	}
	return nil
}
