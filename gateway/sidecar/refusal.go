package sidecar

import (
	"errors"

	"github.com/stardustdb/stardust/gateway/s3"
	"github.com/stardustdb/stardust/gateway/s3/s3err"
	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/slatedb"
)

// refusal answers a call that the database's policy refuses, whatever the store
// behind it would say. Told of an internal error, a client would repeat it for
// ever; told why, somebody can mend its configuration. SlateDB repeats that, too,
// and says nothing, so the log has it.
func (o *Options) refusal(err error) *s3.Failure {
	var policy *mirror.PolicyError
	if !errors.As(err, &policy) {
		return nil
	}
	for _, refused := range []error{slatedb.ErrOtherRoot, slatedb.ErrMultipartMetadata, slatedb.ErrMutableSST} {
		if errors.Is(policy.Source, refused) {
			o.Logger.Warn("a call for what this sidecar does not serve was refused", "error", err)
			return s3err.RefusedByPolicy.Wrap(err, policy.Source)
		}
	}
	return nil
}
