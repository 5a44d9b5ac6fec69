package container

import "fmt"

// logFate is what is to be done with the log that lies beside a file.
type logFate int

const (
	logAbsent  logFate = iota // there is none, or one that never began
	logOurs                   // it is the file's own and complete
	logSpent                  // it was the file's own, and all of it is in the file
	logForeign                // it belongs to another file, or to another time of this one
)

// evidence is what is known of a file's log when nobody writes.
type evidence struct {
	head, trailer         note
	headKind, trailerKind noteKind
	log                   *scannedLog
	oneNote               bool // the file is of version 1, and has no trailer
}

// judge says what the log beside a file is. It never guesses: the file's notes
// say which log belongs to it and how far that must reach, and an error that
// wraps ErrLogMissing, ErrLogDamaged or ErrTornCopy says that something is
// lacking.
func (e *evidence) judge() (logFate, error) {
	head, unsure := e.head, false
	// A trailer that moved leaves free space, where a record may lie by the time
	// that somebody who copies the file comes to it.
	if !e.oneNote && e.trailerKind != noteWhole && e.trailerKind != noteDamaged {
		return logForeign, fmt.Errorf("%w: its second note has moved meanwhile, or is lost", ErrTornCopy)
	}
	switch e.headKind {
	case noteZero, noteOld:
		if e.trailerKind != noteWhole {
			return e.judgeOld()
		}
		head, unsure = e.trailer, true
	case noteDamaged, noteGone:
		if e.trailerKind != noteWhole {
			return logForeign, fmt.Errorf("%w: both notes that tell which log belongs to the file are damaged", ErrLogDamaged)
		}
		head, unsure = e.trailer, true
	}
	need := head.log
	if !unsure && e.trailerKind == noteWhole {
		var err error
		if need, err = e.compare(); err != nil {
			return logForeign, err
		}
	}
	return e.weigh(head, need, unsure)
}

// judgeOld is for files of version 1, whose note says only whether somebody had
// the file open.
func (e *evidence) judgeOld() (logFate, error) {
	l := e.log
	switch {
	case e.headKind == noteZero && l.header:
		return logForeign, nil
	case e.headKind == noteZero, l.exists && l.size == 0:
		return logAbsent, nil
	case !l.exists:
		return logAbsent, fmt.Errorf("%w: it was not closed, and no log lies beside it", ErrLogMissing)
	case l.broken:
		return logOurs, fmt.Errorf("%w: frame %d, with commits after it", ErrLogDamaged, l.bad)
	case !l.header:
		return logAbsent, nil
	}
	return logOurs, nil
}

// compare compares the two notes and returns the mark that the log must reach.
// They are written together, then synced, when a log begins or ends; a crash may
// leave one of them from before. In a copy that was torn they are further apart.
func (e *evidence) compare() (mark, error) {
	head, tail := &e.head, &e.trailer
	torn := func(why string) (mark, error) {
		return mark{}, fmt.Errorf("%w: %s", ErrTornCopy, why)
	}
	switch {
	case tail.moved:
		return torn("the file grew meanwhile")
	case !head.log.exists() && tail.sequence > head.sequence && tail.spent.salts != head.spent.salts:
		return torn("a log began and ended meanwhile")
	case tail.log.salts == head.log.salts:
		return further(head.log, tail.log), nil
	case tail.sequence > head.sequence:
		if tail.log.exists() && (tail.log.frames > 0 || e.log.header && e.log.salts == tail.log.salts) {
			return torn("a log began meanwhile")
		}
		if !head.log.exists() {
			return mark{}, nil
		}
		if tail.spent.salts != head.log.salts {
			return torn("more than one log began or ended meanwhile")
		}
		return further(head.log, tail.spent), nil
	case head.log.exists() && e.log.header && e.log.salts == head.log.salts, head.log.frames > 0:
		return torn("its end is older than its head")
	}
	return head.log, nil
}

// weigh compares the log with the mark that it must reach.
func (e *evidence) weigh(head note, need mark, unsure bool) (logFate, error) {
	l := e.log
	switch {
	case !need.exists() && !l.header:
		return logAbsent, nil
	case l.header && head.spent.exists() && l.salts == head.spent.salts && need.frames == 0:
		return logSpent, nil
	case !need.exists():
		return logForeign, nil
	case need.frames == 0 && !unsure && !l.header && !l.broken:
		return logAbsent, nil
	case need.frames == 0 && !unsure && l.header && l.salts != need.salts:
		return logForeign, nil
	case !l.exists || l.size == 0:
		return logAbsent, fmt.Errorf("%w: %s", ErrLogMissing, lacking(need.frames))
	case l.broken:
		return logOurs, fmt.Errorf("%w: frame %d, with commits after it", ErrLogDamaged, l.bad)
	case !l.header:
		return logForeign, fmt.Errorf("%w: its header", ErrLogDamaged)
	case l.salts != need.salts:
		return logForeign, fmt.Errorf("%w: the one beside it is another's; %s", ErrLogMissing, lacking(need.frames))
	case l.commits < need.frames && l.size < logHeader+int64(need.frames)*frameSize:
		return logOurs, fmt.Errorf("%w: the log has %d frames of at least %d, it has been cut or is older than the file", ErrLogMissing, l.commits, need.frames)
	case l.commits < need.frames:
		return logOurs, fmt.Errorf("%w: only its first %d frames are whole, %d were", ErrLogDamaged, l.commits, need.frames)
	case need.frames > 0 && l.sums[need.frames] != need.sum:
		return logOurs, fmt.Errorf("%w: frame %d is another than the file knows", ErrLogDamaged, need.frames)
	}
	return logOurs, nil
}

func lacking(frames uint64) string {
	if frames == 0 {
		return "what it held is not known"
	}
	return fmt.Sprintf("it held at least %d frames of commits", frames)
}
