package storeurl

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/stardustdb/stardust/objectstore"
)

// Params are the parameters of a URL. An [Opener] asks for those that it knows.
type Params struct {
	values url.Values
	known  []string
	errs   []error
}

func newParams(query string) (*Params, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, fmt.Errorf("%w: parameters: %w", objectstore.ErrInvalidOption, err)
	}
	return &Params{values: values}, nil
}

// String sets *value when the URL has the parameter.
func (p *Params) String(name string, value *string) {
	if text, ok := p.take(name); ok {
		*value = text
	}
}

// Bool sets *value when the URL has the parameter. One without a value is true.
func (p *Params) Bool(name string, value *bool) {
	text, ok := p.take(name)
	if !ok {
		return
	}
	if text == "" {
		*value = true
		return
	}
	parsed, err := strconv.ParseBool(text)
	if err != nil {
		p.errs = append(p.errs, fmt.Errorf("%w: parameter %s is %q, not true or false", objectstore.ErrInvalidOption, name, text))
		return
	}
	*value = parsed
}

func (p *Params) take(name string) (string, bool) {
	p.known = append(p.known, name)
	values, ok := p.values[name]
	if !ok {
		return "", false
	}
	if len(values) > 1 {
		p.errs = append(p.errs, fmt.Errorf("%w: parameter %s is given %d times", objectstore.ErrInvalidOption, name, len(values)))
	}
	return values[0], true
}

// Err returns what is wrong with the parameters, as ErrInvalidOption: invalid
// values, and names that nobody asked for.
func (p *Params) Err() error {
	for name := range p.values {
		if slices.Contains(p.known, name) {
			continue
		}
		known := "none"
		if len(p.known) > 0 {
			known = strings.Join(p.known, ", ")
		}
		p.errs = append(p.errs, fmt.Errorf("%w: parameter %q; known are %s", objectstore.ErrInvalidOption, name, known))
	}
	return errors.Join(p.errs...)
}
