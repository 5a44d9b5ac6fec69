// Package patience lets many clients share a database's memory: requests wait for
// their turn instead of failing when the budget has no room just then.
//
// There are two nouns. [Lanes] are the places of large uploads under way: a body that
// is small, or has only begun, needs none, and one that is too slow loses its place
// when others wait. A [Reader] reads a payload and waits when its next chunk finds no
// room.
package patience
