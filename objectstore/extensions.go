package objectstore

import "reflect"

// Extensions carry values of other layers through a call's options, one per
// type, such as the call tag that a mirror's policy routes by. The zero value
// is empty. Drivers ignore what they don't know.
//
// An Extensions value is immutable: [WithExtension] returns a new one, so it
// may be shared between goroutines.
type Extensions struct {
	first *extension
}

type extension struct {
	key   reflect.Type
	value any
	next  *extension
}

// WithExtension returns e with value added, replacing an earlier value of the
// same type.
func WithExtension[T any](e Extensions, value T) Extensions {
	return Extensions{&extension{reflect.TypeFor[T](), value, e.first}}
}

// ExtensionOf returns the value of type T in e, and whether there is one.
func ExtensionOf[T any](e Extensions) (T, bool) {
	key := reflect.TypeFor[T]()
	for x := e.first; x != nil; x = x.next {
		if x.key == key {
			return x.value.(T), true
		}
	}
	var zero T
	return zero, false
}
