#!/bin/sh
# Installs what the tests run beside Go, pinned by the project's own files:
#
#   - the S3 server versitygw and fake-gcs-server, an emulator of Google Cloud
#     Storage, into bin/ (tools/versitygw/go.mod, tools/fakegcs/go.mod)
#   - SlateDB, the AWS SDK for JavaScript, koffi, and Azurite, an emulator of Azure
#     Blob Storage, by npm ci (package-lock.json)
#   - Debian's awscli, s3cmd, flatbuffers-compiler and chromium, and for the C
#     library gcc, g++, clang, valgrind, pkg-config and python3, where apt-get
#     works
#
# It does nothing that is done already.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"

# Servers of others: their many dependencies stay out of this module's go.mod.
mkdir -p bin
build() { # folder of a go.mod, program, package
	want=$(cat "tools/$1/go.mod" "tools/$1/go.sum" | cksum)
	if [ ! -x "bin/$2" ] || [ "$(cat "bin/$2.stamp" 2>/dev/null)" != "$want" ]; then
		echo "building $2"
		# Built beside and moved into place, so that nobody sees half a file.
		go build -C "tools/$1" -o "$root/bin/$2.new.$$" "$3"
		mv "bin/$2.new.$$" "bin/$2"
		echo "$want" >"bin/$2.stamp"
	fi
}
build versitygw versitygw github.com/versity/versitygw/cmd/versitygw
build fakegcs fake-gcs-server github.com/fsouza/fake-gcs-server

for folder in e2e/slatedb tools/s3conformance/js tools/azurite bindings/node; do
	want=$(cksum <"$folder/package-lock.json")
	if [ "$(cat "$folder/node_modules/.stamp" 2>/dev/null)" != "$want" ]; then
		echo "npm ci in $folder"
		(cd "$folder" && npm ci --no-audit --no-fund --loglevel=error)
		echo "$want" >"$folder/node_modules/.stamp"
	fi
done

missing=
[ -x /usr/bin/aws ] || missing="$missing awscli"
[ -x /usr/bin/s3cmd ] || missing="$missing s3cmd"
[ -x /usr/bin/flatc ] || missing="$missing flatbuffers-compiler"
[ -x /usr/bin/gcc ] || missing="$missing gcc libc6-dev"
[ -x /usr/bin/g++ ] || missing="$missing g++"
[ -x /usr/bin/clang ] || missing="$missing clang"
[ -x /usr/bin/pkg-config ] || missing="$missing pkg-config"
[ -x /usr/bin/python3 ] || missing="$missing python3"
[ -x /usr/bin/valgrind ] || missing="$missing valgrind libc6-dbg"
[ -x /usr/bin/chromium ] || missing="$missing chromium fonts-dejavu-core"
if [ -n "$missing" ]; then
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		echo "installing$missing"
		apt-get update -qq
		# shellcheck disable=SC2086 # a list of words
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
	else
		echo "not installed, and their tests will say so:$missing" >&2
	fi
fi
