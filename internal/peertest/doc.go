// Package peertest runs servers that others wrote as real processes of a test:
// see gcstest and azuretest, which know them.
package peertest
