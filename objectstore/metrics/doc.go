// Package metrics counts and times the calls to an object store for Prometheus.
//
// There are two nouns: [Collectors], which the caller registers where it likes,
// and the store that [New] makes around another one.
package metrics
