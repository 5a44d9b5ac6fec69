package intercept

import (
	"context"
	"errors"
	"iter"
)

// Seq runs the hooks of s around the iteration of a sequence. An error that
// ends the sequence is yielded once, last, whether the sequence or a hook made
// it.
func Seq[T any](ctx context.Context, s *Store, call Call, open func(context.Context) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		stopped := false
		err := s.hooks.do(ctx, call, func(ctx context.Context) error {
			for item, err := range open(ctx) {
				if err != nil {
					return err
				}
				if !yield(item, nil) {
					stopped = true
					return nil
				}
			}
			return nil
		})
		if err != nil && !stopped {
			var zero T
			yield(zero, err)
		}
	}
}

// yielded is an error that the consumer of a bulk delete has seen already, with
// its path.
type yielded struct{ err error }

func (y *yielded) Error() string { return y.err.Error() }
func (y *yielded) Unwrap() error { return y.err }

func wasYielded(err error) bool {
	var y *yielded
	return errors.As(err, &y)
}
