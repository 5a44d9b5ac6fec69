package sidecar

import (
	"errors"

	"github.com/stardustdb/stardust/gateway/s3"
	"github.com/stardustdb/stardust/gateway/s3/s3err"
	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/slatedb"
)

// refusal answers a call that the database's policy refuses, whatever the store
// behind it would say. After an internal error a client would retry forever;
// with the reason somebody can fix its configuration. SlateDB retries this too,
// and silently, so it is logged.
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
