// Package s3test runs a real S3 server for tests.
//
// There is one noun: a [Server], a process of versitygw over a temporary
// directory, on a free port of the loopback interface. The test that starts it
// ends it, by its process id.
package s3test
