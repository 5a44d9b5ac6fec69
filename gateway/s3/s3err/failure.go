package s3err

import "fmt"

// Failure is an error as S3 tells it to clients.
type Failure struct {
	Row     Row
	Message string // for people
	// Fields are further elements of the error document, by name.
	Fields map[string]string
	// Err is the cause, for the log only; it never reaches the client.
	Err error
}

// With adds an element to the error document and returns f.
func (f *Failure) With(name, value string) *Failure {
	if f.Fields == nil {
		f.Fields = make(map[string]string)
	}
	f.Fields[name] = value
	return f
}

// Argument says which argument has a wrong value, and which, and returns f.
func (f *Failure) Argument(name, value string) *Failure {
	return f.With("ArgumentName", name).With("ArgumentValue", value)
}

// Code returns S3's error code, such as "NoSuchKey".
func (f *Failure) Code() string { return f.Row.Code() }

// Status returns the HTTP status that belongs to the code.
func (f *Failure) Status() int { return f.Row.Status() }

// Error implements error.
func (f *Failure) Error() string {
	if f.Err != nil {
		return fmt.Sprintf("%s: %s: %v", f.Code(), f.Message, f.Err)
	}
	return f.Code() + ": " + f.Message
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }
