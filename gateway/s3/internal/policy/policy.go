// Package policy reads the policies of form uploads (POST): what the fields of a form
// may be that somebody with a key allowed a browser to send.
//
// A [Policy] says until when, and has conditions on the fields and on the length of
// the file. Errors are [s3err.Failure]s.
package policy

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stardustdb/stardust/gateway/s3/s3err"
)

// maxConditions bounds the conditions of a policy.
const maxConditions = 200

// Policy is a policy.
type Policy struct {
	expiration time.Time
	conditions []condition
	// Least and Most bound the length of the file in bytes.
	Least, Most int64
}

// condition is one on a field.
type condition struct {
	prefix bool // the value begins so; else it is so
	field  string
	value  string
	text   string // as errors name it
}

// Parse parses a policy in Base64.
func Parse(text string) (*Policy, error) {
	if text == "" {
		return nil, s3err.PolicyInvalid.New("Expecting '{' but found End-of-Input")
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, s3err.PolicyInvalid.Wrap(err, "invalid Base64 encoding.")
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, s3err.PolicyInvalid.Wrap(err, "Invalid JSON.")
	}
	for name := range fields {
		if name != "expiration" && name != "conditions" {
			return nil, s3err.PolicyInvalid.New(fmt.Sprintf("Unexpected: %q", name))
		}
	}
	p := &Policy{Most: 1<<63 - 1}
	if p.expiration, err = parseExpiration(fields["expiration"]); err != nil {
		return nil, err
	}
	if fields["conditions"] == nil {
		return nil, s3err.PolicyInvalid.New("Policy missing conditions.")
	}
	var conditions []json.RawMessage
	if err := json.Unmarshal(fields["conditions"], &conditions); err != nil {
		return nil, s3err.PolicyInvalid.Wrap(err, "Invalid 'conditions' value: must be a List.")
	}
	if len(conditions) > maxConditions {
		return nil, s3err.PolicyInvalid.New("too many conditions.")
	}
	for _, raw := range conditions {
		if err := p.add(raw); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func parseExpiration(raw json.RawMessage) (time.Time, error) {
	if raw == nil {
		return time.Time{}, s3err.PolicyInvalid.New("Policy missing expiration.")
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return time.Time{}, s3err.PolicyInvalid.Wrap(err, "Invalid JSON.")
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, s3err.PolicyInvalid.Wrap(err, fmt.Sprintf("Invalid 'expiration' value: '%s'", text))
	}
	return t, nil
}

// add adds a condition: an object with one field, or a list of an operation and its
// arguments.
func (p *Policy) add(raw json.RawMessage) error {
	var simple map[string]json.RawMessage
	if json.Unmarshal(raw, &simple) == nil && simple != nil {
		if len(simple) != 1 {
			return s3err.PolicyInvalid.New("Invalid Simple-Condition: Simple-Conditions must have exactly one property specified.")
		}
		for field, raw := range simple {
			var value string
			if err := json.Unmarshal(raw, &value); err != nil {
				return s3err.PolicyInvalid.Wrap(err, "Invalid Simple-Condition: value must be a string.")
			}
			p.conditions = append(p.conditions, condition{
				field: strings.ToLower(field), value: value, text: fmt.Sprintf(`["eq", "$%s", %q]`, field, value),
			})
		}
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return s3err.PolicyInvalid.New("Invalid condition test: must be a List or Object.")
	}
	if len(list) == 0 {
		return s3err.PolicyInvalid.New("Invalid Condition: missing operation identifier.")
	}
	var operation string
	if err := json.Unmarshal(list[0], &operation); err != nil {
		return s3err.PolicyInvalid.Wrap(err, "Invalid JSON.")
	}
	switch operation = strings.ToLower(operation); operation {
	case "eq", "starts-with", "content-length-range":
	default:
		return s3err.PolicyInvalid.New(fmt.Sprintf("Invalid Condition: unknown operation '%s'.", operation))
	}
	if len(list) != 3 {
		return s3err.PolicyInvalid.New(fmt.Sprintf("Invalid %s: wrong number of arguments.", operation))
	}
	if operation == "content-length-range" {
		least, errLeast := number(list[1])
		most, errMost := number(list[2])
		if errLeast != nil || errMost != nil {
			return s3err.PolicyInvalid.New("Invalid JSON.")
		}
		p.Least, p.Most = max(p.Least, least), min(p.Most, most)
		return nil
	}
	c := condition{prefix: operation == "starts-with", text: compact(raw)}
	if json.Unmarshal(list[1], &c.field) != nil || json.Unmarshal(list[2], &c.value) != nil {
		return s3err.PolicyInvalid.New("Invalid JSON.")
	}
	field, ok := strings.CutPrefix(c.field, "$")
	if !ok {
		return s3err.PolicyFailed.New("Policy Condition failed: " + c.text)
	}
	c.field = strings.ToLower(field)
	p.conditions = append(p.conditions, c)
	return nil
}

// number reads a number of bytes, which may be in quotes.
func number(raw json.RawMessage) (int64, error) {
	n, err := strconv.ParseUint(strings.Trim(string(raw), `"`), 10, 63)
	return int64(n), err
}

func compact(raw json.RawMessage) string {
	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list) // it was one before
	parts := make([]string, len(list))
	for i, item := range list {
		parts[i] = strings.TrimSpace(string(item))
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// Check compares the fields of a form, by their names in lower case, with the policy.
// Every field must have a condition, but for those that sign it and those that begin
// with x-ignore-.
func (p *Policy) Check(fields map[string]string, now time.Time) error {
	if !now.Before(p.expiration) {
		return s3err.PolicyFailed.New("Policy expired.")
	}
	known := make(map[string]bool)
	for _, c := range p.conditions {
		known[c.field] = true
		if !c.holds(fields[c.field]) {
			return s3err.PolicyFailed.New("Policy Condition failed: " + c.text)
		}
	}
	var extra []string
	for field := range fields {
		switch {
		case known[field], strings.HasPrefix(field, "x-ignore-"):
		case field == "policy", field == "x-amz-signature", field == "file":
		default:
			extra = append(extra, field)
		}
	}
	if len(extra) > 0 {
		slices.Sort(extra)
		return s3err.PolicyFailed.New("Extra input fields: " + strings.Join(extra, ", "))
	}
	return nil
}

func (c condition) holds(value string) bool {
	if !c.prefix {
		return value == c.value
	}
	if c.field != "content-type" {
		return strings.HasPrefix(value, c.value)
	}
	for item := range strings.SplitSeq(value, ",") {
		if !strings.HasPrefix(strings.TrimSpace(item), c.value) {
			return false
		}
	}
	return true
}

// CheckLength compares the length of the file with the policy.
func (p *Policy) CheckLength(n int64) error {
	switch {
	case n < p.Least:
		return s3err.EntityTooSmall.New().With("ProposedSize", strconv.FormatInt(n, 10)).With("MinSizeAllowed", strconv.FormatInt(p.Least, 10))
	case n > p.Most:
		return s3err.EntityTooLarge.New().With("ProposedSize", strconv.FormatInt(n, 10)).With("MaxSizeAllowed", strconv.FormatInt(p.Most, 10))
	}
	return nil
}
