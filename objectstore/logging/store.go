package logging

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/internal/intercept"
)

// New returns a store that logs every call to inner when it ends: those that
// succeeded, or failed for a reason that is an answer (not found, a condition
// that did not hold), at level Debug; others at level Warn. A nil logger returns
// inner. Bytes and secrets are not logged; paths are.
func New(inner objectstore.Store, logger *slog.Logger) objectstore.Store {
	if logger == nil {
		return inner
	}
	logger = logger.With(slog.String("store", inner.String()))
	return intercept.View(intercept.New(inner, intercept.Hooks{
		Begin: func(ctx context.Context, call intercept.Call) (func(error), error) {
			begin := time.Now() //nolint:forbidigo // measures
			return func(err error) { log(ctx, logger, call, time.Since(begin), err) }, nil
		},
	}), inner)
}

func log(ctx context.Context, logger *slog.Logger, call intercept.Call, took time.Duration, err error) {
	level := slog.LevelDebug
	if err != nil && !isAnswer(err) {
		level = slog.LevelWarn
	}
	if !logger.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{slog.String("op", call.Op), slog.String("path", string(call.Path)), slog.Duration("took", took)}
	if call.To != "" {
		attrs = append(attrs, slog.String("to", string(call.To)))
	}
	if call.Size > 0 {
		attrs = append(attrs, slog.Int64("bytes", call.Size))
	}
	if err != nil {
		attrs = append(attrs, slog.Any("error", err))
	}
	logger.LogAttrs(ctx, level, "object store call", attrs...)
}

// isAnswer reports whether err tells the caller what it asked, or that the
// caller gave up.
func isAnswer(err error) bool {
	for _, answer := range [...]error{
		objectstore.ErrNotFound, objectstore.ErrUploadNotFound, objectstore.ErrAlreadyExists, objectstore.ErrPrecondition,
		objectstore.ErrNotModified, objectstore.ErrInvalidRange, context.Canceled,
	} {
		if errors.Is(err, answer) {
			return true
		}
	}
	return false
}
