// Package gcstest runs fake-gcs-server, an emulator of Google Cloud Storage, as
// a real process for tests.
//
// In front of it stands a proxy in the test's own process that holds the
// conditions which the service documents for joins and copies and the emulator
// ignores. Those of uploads are the emulator's own.
package gcstest
