package main

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/stardustdb/stardust"
)

// subjectError says what an error is about.
type subjectError struct {
	subject string
	err     error
}

func (s *subjectError) Error() string { return s.subject + ": " + explain(s.err) }
func (s *subjectError) Unwrap() error { return s.err }

// about says what an error is about; nil stays nil.
func about(subject string, err error) error {
	if err == nil {
		return nil
	}
	return &subjectError{subject, err}
}

// explain returns an error in the words of someone who keeps files, not of
// someone who writes programs: which thing, what happened, what to do.
func explain(err error) string {
	switch e := err.(type) { //nolint:errorlint // each layer describes what it wraps
	case *stardust.Error:
		return explainStatus(e)
	case *stoppedError:
		return explain(e.err)
	case *fs.PathError:
		return e.Path + ": " + explain(e.Err)
	case *os.LinkError:
		return e.New + ": " + explain(e.Err)
	case *os.SyscallError:
		return explain(e.Err)
	case interface{ Unwrap() []error }:
		var parts []string
		for _, one := range e.Unwrap() {
			parts = append(parts, explain(one))
		}
		return strings.Join(parts, "; ")
	}
	return err.Error()
}

func explainStatus(e *stardust.Error) string {
	text := e.Message
	switch {
	case e.Code == stardust.CodeNameTaken:
		text = "something else has that name already"
	case e.Code == stardust.CodeLogMissing && e.Err != nil:
		text = explain(e.Err)
	case text == "" && e.Err != nil:
		text = explain(e.Err)
		if e.Status == stardust.StatusEvaluationFailed {
			text = "stored bytes are damaged: " + text
		}
	case text == "":
		text = strings.ReplaceAll(e.Status.String(), "_", " ")
	case e.Err != nil && e.Code == "" && (e.Status == stardust.StatusIO || e.Status == stardust.StatusEvaluationFailed):
		text += ": " + explain(e.Err)
	}
	if hint := hint(e); hint != "" {
		text += "; " + hint
	}
	return text
}

// hint says what can be done on the command line about an error of the
// database.
func hint(e *stardust.Error) string {
	switch {
	case e.Code == stardust.CodeOtherKind:
		return "import --delete replaces it, stardust rm -r removes it; its history stays either way"
	case e.Code == stardust.CodeInUse:
		return "--lock-timeout says how long to wait for it"
	case e.Code == stardust.CodeNotDatabase, e.Code == stardust.CodeNewerFormat:
		return "the file was left as it is"
	case e.Code == stardust.CodeLogMissing:
		return "put the log that belongs to the file back beside it, restore a backup, or open it as it was before with --accept-missing-log"
	case e.Status == stardust.StatusOutOfMemory:
		return "try again with fewer --workers"
	}
	return ""
}

// isMissing reports whether an error says that a node or file does not exist.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
