package simtest

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

// judge checks that an operation's outcome has a reason: every error is of the
// right type, and says what happened.
func (s *simulation) judge(l *life, o *op, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.dead {
		return
	}
	if complaint := s.complain(l, o, err); complaint != "" {
		s.fail(fmt.Sprintf("errors: %v ended with %v: %s", o, err, complaint))
	}
}

// complain returns what is wrong with an operation's outcome. s.mu is held.
func (s *simulation) complain(l *life, o *op, err error) string {
	if err == nil {
		if (o.kind == opPut || o.kind == opOverwrite) && !o.committed {
			return "the remote does not have it"
		}
		if (o.kind == opPut || o.kind == opOverwrite) && o.body == bodyBroken {
			return "the body was broken"
		}
		return ""
	}
	if errors.Is(err, errCrashed) {
		return "the mirror has not crashed"
	}
	// A caller that gave up gets the error of its context.
	if errors.Is(err, context.Canceled) {
		if !o.canceled {
			return "nobody canceled it"
		}
		return ""
	}
	var own *objectstore.Error
	isBody := errors.Is(err, errInjected) || errors.Is(err, io.ErrUnexpectedEOF)
	if !errors.As(err, &own) && !isBody {
		return "it is no objectstore.Error"
	}
	return s.complainOwn(l, o, err)
}

func (s *simulation) complainOwn(l *life, o *op, err error) string {
	var (
		notLocal  *mirror.NotLocal
		local     *mirror.Local
		committed *mirror.WriteCommitted
		policy    *mirror.PolicyError
	)
	typed := errors.As(err, &notLocal) || errors.As(err, &local) || errors.As(err, &committed) || errors.As(err, &policy)
	if typed && !objectstore.IsNonRetryable(err) {
		return "it is not marked as not retryable"
	}
	switch {
	case errors.As(err, &committed):
		if !o.committed && o.kind != opWriteManifest {
			return "the remote does not have it"
		}
		return s.cause(l, o, committed.Source)
	case errors.As(err, &local):
		if o.committed && (o.kind == opPut || o.kind == opMultipart || o.kind == opOverwrite) {
			return "the remote has it"
		}
		return s.cause(l, o, err)
	case errors.As(err, &notLocal):
		if o.kind != opGet && o.kind != opHead && o.kind != opReadMutable || o.read == mirror.ReadThrough {
			if !s.config.verify {
				return "this operation can't miss"
			}
		}
		return ""
	default:
		return s.cause(l, o, err)
	}
}

// cause checks that there was a reason for an error.
func (s *simulation) cause(l *life, o *op, err error) string {
	var local *mirror.Local
	switch {
	case errors.Is(err, objectstore.ErrClosed):
		if !l.closing {
			return "the mirror is open"
		}
	case errors.As(err, &local):
		damaged := s.config.verify && len(o.paths) > 0 && s.object(o.path()).rotten
		if l.localFaults == 0 && !damaged {
			return "the disk has not failed"
		}
	case errors.Is(err, errRefused):
		if !o.refused {
			return "the policy has not refused"
		}
	case errors.Is(err, objectstore.ErrNotFound):
		return s.causeNotFound(o)
	case errors.Is(err, objectstore.ErrAlreadyExists):
		if !o.create {
			return "it may overwrite"
		}
	case errors.Is(err, objectstore.ErrPrecondition):
		if !o.update {
			return "it has no condition"
		}
	case errors.Is(err, errSender):
		if o.body != bodyBroken {
			return "the body was whole"
		}
	case errors.Is(err, errInjected):
		download := o.kind == opFetch || o.kind == opFetchLater || (o.kind == opGet || o.kind == opReadMutable) && o.read == mirror.ReadRefetch
		if download && s.config.maxRetries.Or(objectstore.RetryForever) == objectstore.RetryForever {
			return "a download repeats this forever"
		}
		if download && !s.gaveUp(o) {
			return "the download made progress since its last failures"
		}
	case errors.Is(err, objectstore.ErrInvalidPart):
		if !o.race {
			return "every part has one form"
		}
	case errors.Is(err, objectstore.ErrUploadNotFound):
		if o.kind != opMultipart && o.kind != opOverwrite {
			return "there is no upload"
		}
	case s.config.verify && (l.localFaults > 0 || len(o.paths) > 0 && s.object(o.path()).rotten):
		// A damaged copy whose object has another ETag by now.
	case l.lies > 0:
		// A remote that announced a wrong length: the words are free.
	case o.body == bodyBroken && (o.kind == opPut || o.kind == opMultipart || o.kind == opOverwrite):
	default:
		return "there is no reason for it"
	}
	return ""
}

// gaveUp reports whether a download of one of an operation's paths has failed too
// often without progress. s.mu is held.
func (s *simulation) gaveUp(o *op) bool {
	for _, path := range o.paths {
		if ob := s.object(path); !isSingle(path) || ob.gaveUp > 0 && ob.gaveUp >= o.before[path].progressed {
			return true
		}
	}
	return false
}

// causeNotFound checks that the remote lacked one of an operation's objects at
// some moment of it.
func (s *simulation) causeNotFound(o *op) string {
	switch o.kind {
	case opFetch, opFetchLater, opGet, opHead, opDelete, opReadMutable, opDropMutable:
	default:
		return ""
	}
	for path, before := range o.before {
		ob := s.object(path)
		if !before.remote || ob.deletions != before.deletions {
			return ""
		}
	}
	return "the remote has had it all along"
}

// judgeOpen checks that an Open that failed had a reason.
func (s *simulation) judgeOpen(l *life) {
	var local *mirror.Local
	switch {
	case s.gentle || s.calm:
		s.failf("Open failed without a fault: %v", l.buildErr)
	case !errors.As(l.buildErr, &local) || l.localFaults == 0:
		s.failf("Open failed for no reason: %v", l.buildErr)
	}
	s.sched.log(fmt.Sprintf("life %d is not built: %v", l.number, l.buildErr))
}
