#!/bin/sh
# Tests on 32 bits what has no need of 64. Not every kernel runs such programs:
# where this one doesn't, the tests are only compiled, and the last line says so.
set -eu
cd "$(dirname -- "$0")/.."
export GOARCH=386 CGO_ENABLED=0
packages="./internal/dust ./internal/heap ./internal/catalog ./objectstore ./objectstore/memory ./slatedb/internal/fb ./slatedb/internal/fbverify"
root='Spec|Refused|Payload|Revision'

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf 'package main\n\nfunc main() {}\n' >"$work/main.go"
${GO:-go} build -o "$work/probe" "$work/main.go"
if "$work/probe" 2>/dev/null; then
	# shellcheck disable=SC2086 # a list of words
	${GO:-go} test -short $packages
	${GO:-go} test -run "$root" .
	echo "32-bit tests: run on this kernel"
else
	for package in $packages .; do
		${GO:-go} test -c -o "$work/test" "$package"
	done
	echo "32-bit tests: only compiled, since this kernel runs no 32-bit programs"
fi
