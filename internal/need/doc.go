// Package need asks the machine for what a test needs, before the test begins:
// a program, a kernel that runs 32-bit code, the right to mount. A test that
// lacks something is skipped and says what, and how to get it; nothing fails in
// the middle. The command tools/needs lists all of it.
package need
