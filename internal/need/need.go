package need

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// Thing names something that a machine has or lacks.
type Thing string

// What tests ask for.
const (
	Race          Thing = "race"          // a C compiler, with which the race detector builds
	Run386        Thing = "386"           // a kernel that runs 32-bit programs
	Versitygw     Thing = "versitygw"     // the S3 server, built into bin/
	Node          Thing = "node"          // Node.js 20 or later
	SlateDB       Thing = "slatedb"       // SlateDB for Node.js, by npm
	AWSJavaScript Thing = "aws-js"        // the AWS SDK for JavaScript, by npm
	AWS           Thing = "aws"           // Debian's awscli
	S3cmd         Thing = "s3cmd"         // Debian's s3cmd
	Flatc         Thing = "flatc"         // the FlatBuffers compiler, pinned
	Chromium      Thing = "chromium"      // a browser
	Playwright    Thing = "playwright"    // drives a browser, by npm
	TypeScript    Thing = "typescript"    // compiles the TypeScript client, by npm
	Rclone        Thing = "rclone"        // Debian's rclone
	Cadaver       Thing = "cadaver"       // Debian's WebDAV client
	Litmus        Thing = "litmus"        // Debian's tests of WebDAV
	GCS           Thing = "fake-gcs"      // an emulator of Google Cloud Storage, built into bin/
	Azurite       Thing = "azurite"       // an emulator of Azure Blob Storage, by npm
	CC            Thing = "cc"            // a C compiler, for the C library
	CXX           Thing = "g++"           // a C++ compiler, for its header
	Clang         Thing = "clang"         // a second C compiler
	Valgrind      Thing = "valgrind"      // looks for leaks in programs that use it
	Attributes    Thing = "xattr"         // extended attributes in the temporary directory
	Mount         Thing = "mount"         // the right to mount a tmpfs
	Ordinary      Thing = "ordinary user" // a user whom permissions bind
	Case          Thing = "case"          // names that differ in case are different files
	Symlinks      Thing = "symlinks"      // symbolic links in the temporary directory
	FUSE          Thing = "fuse"          // /dev/fuse and fusermount3, to mount a database
	SQLite3       Thing = "sqlite3"       // Debian's sqlite3
	Git           Thing = "git"           // git
	Rsync         Thing = "rsync"         // rsync
)

// WithoutVariable names an environment variable with things, separated by
// commas, that count as absent: it shows what a poorer machine would do.
const WithoutVariable = "STARDUST_WITHOUT"

// entry is what is known of a thing.
type entry struct {
	thing Thing
	loses string // what is not tested without it
	get   string // how to get it; empty when only another machine has it
	find  func() (path string, err error)
}

// entries lists all things. Programs beside a path in /usr/bin may be others of
// the same name, so that Debian's are asked for by path.
func entries() []entry {
	const deps = "make deps"
	return []entry{
		{Race, "data races: the tests run without the race detector", "apt-get install gcc libc6-dev", raceDetector},
		{Run386, "32 bits: those tests are only compiled", "", run386},
		{Versitygw, "the S3 driver, commands and endpoint against a real server", deps, built("versitygw")},
		{Node, "the end-to-end tests and the JavaScript client", "install Node.js 20 or later", node},
		{SlateDB, "a real SlateDB behind the sidecar", deps + ", with npm", module("e2e/slatedb/node_modules/@slatedb/uniffi")},
		{AWSJavaScript, "the S3 endpoint with the SDK for JavaScript", deps + ", with npm", module("tools/s3conformance/js/node_modules/@aws-sdk/client-s3")},
		{AWS, "the S3 endpoint with the AWS command line", "apt-get install awscli", program("/usr/bin/aws")},
		{S3cmd, "the S3 endpoint with s3cmd", "apt-get install s3cmd", program("s3cmd")},
		{Flatc, "that the generated FlatBuffers code is current", "apt-get install flatbuffers-compiler", flatc},
		{Chromium, "the pages in a browser", "apt-get install chromium", program("chromium", "chromium-browser", "google-chrome")},
		{Playwright, "the page of a database in a browser", deps + ", with npm", module("e2e/page/node_modules/playwright-core")},
		{TypeScript, "the TypeScript client", deps + ", with npm", module("client/typescript/node_modules/typescript")},
		{Rclone, "WebDAV with rclone", "apt-get install rclone", program("rclone")},
		{Cadaver, "WebDAV with cadaver", "apt-get install cadaver", present("cadaver")},
		{Litmus, "WebDAV with the tests of others", "apt-get install litmus", present("litmus")},
		{GCS, "the driver for Google Cloud Storage against an emulator", deps, built("fake-gcs-server")},
		{Azurite, "the driver for Azure against an emulator", deps + ", with npm", module("tools/azurite/node_modules/azurite")},
		{CC, "the C library", "apt-get install gcc libc6-dev", program("cc")},
		{CXX, "the C library's header in C++", "apt-get install g++", program("g++")},
		{Clang, "the C library with clang", "apt-get install clang", program("clang")},
		{Valgrind, "leaks of the C library", "apt-get install valgrind", program("valgrind")},
		{Attributes, "what runs versitygw", "set TMPDIR to a file system with extended attributes", attributes},
		{Mount, "a full local disk under the sidecar", "run as root", mount},
		{Ordinary, "read-only places, as an ordinary user meets them", "run as another user than root", ordinary},
		{Case, "names that differ in case or spelling as files", "set TMPDIR to a file system that tells case apart", caseSensitive},
		{Symlinks, "symbolic links", "set TMPDIR to a file system with symbolic links", symlinks},
		{FUSE, "the mount", "apt-get install fuse3; load the module fuse, or give the container /dev/fuse", fuse},
		{SQLite3, "SQLite on the mount", "apt-get install sqlite3", program("sqlite3")},
		{Git, "git on the mount", "apt-get install git", program("git")},
		{Rsync, "rsync on the mount", "apt-get install rsync", program("rsync")},
	}
}

// Ask skips the test when one of the things is absent, and says how to get it.
func Ask(t testing.TB, things ...Thing) {
	t.Helper()
	for _, thing := range things {
		if _, err := find(thing); err != nil {
			t.Skip(err)
		}
	}
}

// Program returns the path of a thing that is a program, or skips the test.
func Program(t testing.TB, thing Thing) string {
	t.Helper()
	path, err := find(thing)
	if err != nil {
		t.Skip(err)
	}
	return path
}

// Here returns nil when the machine has a thing, and otherwise an error that
// says what is absent and how to get it.
func Here(thing Thing) error {
	_, err := find(thing)
	return err
}

// Answer is what the machine says about a thing.
type Answer struct {
	Thing  Thing
	Absent error  // nil when it is here
	Loses  string // what is not tested without it
}

// All asks for everything.
func All() []Answer {
	var answers []Answer
	for _, e := range entries() {
		answers = append(answers, Answer{e.thing, Here(e.thing), e.loses})
	}
	return answers
}

func find(thing Thing) (string, error) {
	all := entries()
	i := slices.IndexFunc(all, func(e entry) bool { return e.thing == thing })
	if i < 0 {
		return "", fmt.Errorf("%q is nothing that can be asked for", thing)
	}
	path, err := "", error(nil)
	if without(thing) {
		err = errors.New("left out by " + WithoutVariable)
	} else {
		path, err = all[i].find()
	}
	if err == nil {
		return path, nil
	}
	if all[i].get == "" {
		return "", fmt.Errorf("%s is absent: %w", thing, err)
	}
	return "", fmt.Errorf("%s is absent: %w (%s)", thing, err, all[i].get)
}

func without(thing Thing) bool {
	return slices.Contains(strings.Split(os.Getenv(WithoutVariable), ","), string(thing))
}
