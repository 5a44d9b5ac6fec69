package s3err

import "fmt"

// Row is a line of the table. The zero Row is none.
type Row uint8

// Code returns S3's error code, such as "NoSuchKey".
func (r Row) Code() string { return r.entry().code }

// Status returns the HTTP status that belongs to the code.
func (r Row) Status() int { return r.entry().status }

// String returns the code and the message as the table has them.
func (r Row) String() string { return r.Code() + ": " + r.entry().message }

// New makes a Failure. args are what the row's message has verbs for.
func (r Row) New(args ...any) *Failure { return r.Wrap(nil, args...) }

// Wrap makes a Failure with a cause, which may be nil.
func (r Row) Wrap(err error, args ...any) *Failure {
	message := r.entry().message
	if len(args) > 0 {
		message = fmt.Sprintf(message, args...)
	}
	return &Failure{Row: r, Message: message, Err: err}
}
