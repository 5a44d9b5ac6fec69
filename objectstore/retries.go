package objectstore

import "strconv"

// Retries says how often a call that failed for a passing reason is repeated: a
// positive number is the greatest number of repetitions; zero is the default of
// the options that it is in.
type Retries int

const (
	// RetryForever repeats until the call succeeds, fails for good, or its
	// context ends.
	RetryForever Retries = -1
	// NoRetries repeats nothing.
	NoRetries Retries = -2
)

// Valid reports whether r is a number of repetitions, [RetryForever],
// [NoRetries] or zero.
func (r Retries) Valid() bool { return r >= NoRetries }

// Or returns r, or byDefault when r is zero.
func (r Retries) Or(byDefault Retries) Retries {
	if r == 0 {
		return byDefault
	}
	return r
}

// Allow reports whether a call may be repeated that has been repeated done
// times. Zero allows nothing; see [Retries.Or].
func (r Retries) Allow(done int) bool {
	return r == RetryForever || r > 0 && done < int(r)
}

// String returns "forever", "none", "default" or the number.
func (r Retries) String() string {
	switch r {
	case RetryForever:
		return "forever"
	case NoRetries:
		return "none"
	case 0:
		return "default"
	}
	return strconv.Itoa(int(r))
}
