package auth

import (
	"encoding/hex"
	"strings"
	"time"

	"github.com/stardustdb/stardust/gateway/s3/s3err"
)

// FormFields are the fields that sign a form upload.
func FormFields() []string {
	return []string{"policy", "x-amz-signature", "x-amz-credential", "x-amz-date", "x-amz-algorithm"}
}

// VerifyForm finds out who signed the policy of a form upload, by the form's fields
// under their names in lower case. Without any of [FormFields] nobody did. Whether the
// policy allows the form is the caller's to check.
func (v *Verifier) VerifyForm(fields map[string]string) (Identity, error) {
	given := 0
	missing := ""
	for _, name := range FormFields() {
		if _, ok := fields[name]; ok {
			given++
		} else if missing == "" {
			missing = name
		}
	}
	switch {
	case given == 0 && v.options.Anonymous:
		return Identity{}, nil
	case given == 0:
		return Identity{}, s3err.AccessDenied.New()
	case missing != "":
		return Identity{}, s3err.FormFieldMissing.New(missing).Argument(missing, "")
	}
	if algorithm := fields["x-amz-algorithm"]; algorithm != signAlgorithm {
		return Identity{}, s3err.FormAlgorithm.New(signAlgorithm).Argument("X-Amz-Algorithm", algorithm)
	}
	at, err := time.Parse(signTimeFormat, fields["x-amz-date"])
	if err != nil {
		return Identity{}, s3err.FormDate.New().Argument("X-Amz-Date", fields["x-amz-date"])
	}
	credential := fields["x-amz-credential"]
	sc, err := parseCredential(credential, s3err.FormCredential)
	switch {
	case err != nil:
		return Identity{}, err.(*s3err.Failure).Argument("x-amz-credential", credential) //nolint:errorlint // because makes nothing else
	case sc.region != v.options.Region:
		return Identity{}, because(s3err.FormCredential, "the region %q is wrong; expecting %q", sc.region, v.options.Region).Argument("x-amz-credential", credential)
	}
	now := v.options.Clock()
	if at.Sub(now) > maxSkew || now.Sub(at) > maxPresignedSeconds*time.Second {
		return Identity{}, s3err.PolicyFailed.New("Policy expired.")
	}
	key, ok := v.keys.key(sc)
	if !ok {
		return Identity{}, s3err.UnknownAccessKey.New().With("AWSAccessKeyId", sc.accessKey)
	}
	signature := fields["x-amz-signature"]
	if !equalSignatures(key.sign([]byte(fields["policy"])), signature) {
		return Identity{}, s3err.SignatureDoesNotMatch.New().With("AWSAccessKeyId", sc.accessKey).
			With("SignatureProvided", signature).With("StringToSign", fields["policy"]).
			With("StringToSignBytes", spaced(fields["policy"]))
	}
	return Identity{AccessKey: sc.accessKey}, nil
}

// spaced returns the bytes of a text in hexadecimal digits, apart.
func spaced(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(hex.EncodeToString([]byte{s[i]}))
	}
	return b.String()
}
