// Package intercept is what decorators of a Store are made of.
//
// A [Store] passes every call on to an inner store and runs its [Hooks] around
// it. [View] hides the optional interfaces that the inner store lacks, so that a
// decorated store promises no more than the inner one can do.
package intercept
