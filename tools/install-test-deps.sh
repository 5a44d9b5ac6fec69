#!/bin/sh
# Installs what the tests run beside Go, pinned by the project's own files:
#
#   - the S3 server versitygw and fake-gcs-server, an emulator of Google Cloud
#     Storage, into bin/ (tools/versitygw/go.mod, tools/fakegcs/go.mod)
#   - SlateDB, the AWS SDK for JavaScript, koffi, and Azurite, an emulator of Azure
#     Blob Storage, and what compiles the TypeScript client, by npm ci (package-lock.json)
#   - Debian's awscli, s3cmd, flatbuffers-compiler, litmus, rclone, cadaver and chromium, and for the C
#     library gcc, g++, clang, valgrind, pkg-config and python3, where apt-get
#     works
#
# It does nothing that is done already, and what it cannot install it names and
# leaves out: tools/needs lists in the end what the tests go without.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"

absent() { echo "not installed: $*" >&2; }

# Servers of others: their many dependencies stay out of this module's go.mod.
mkdir -p bin
build() { # folder of a go.mod, program, package
	want=$(cat "tools/$1/go.mod" "tools/$1/go.sum" | cksum)
	if [ -x "bin/$2" ] && [ "$(cat "bin/$2.stamp" 2>/dev/null)" = "$want" ]; then
		return
	fi
	echo "building $2"
	# Built beside and moved into place, so that nobody sees half a file.
	if go build -C "tools/$1" -ldflags='-s -w' -o "$root/bin/$2.new.$$" "$3"; then
		mv "bin/$2.new.$$" "bin/$2"
		echo "$want" >"bin/$2.stamp"
	else
		absent "$2: it did not build"
	fi
}

modules() { # folder of a package-lock.json
	want=$(cksum <"$1/package-lock.json")
	if [ "$(cat "$1/node_modules/.stamp" 2>/dev/null)" = "$want" ]; then
		return
	fi
	if ! command -v npm >/dev/null; then
		absent "the modules of $1: there is no npm"
		return
	fi
	echo "npm ci in $1"
	if (cd "$1" && npm ci --no-audit --no-fund --loglevel=error); then
		echo "$want" >"$1/node_modules/.stamp"
	else
		rm -rf "$1/node_modules" # half of it is worse than none
		absent "the modules of $1: npm ci failed"
	fi
}

packages() {
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
	[ -x /usr/bin/rclone ] || missing="$missing rclone"
	[ -x /usr/bin/cadaver ] || missing="$missing cadaver"
	[ -x /usr/bin/litmus ] || missing="$missing litmus"
	[ -x /usr/bin/chromium ] || missing="$missing chromium fonts-dejavu-core"
	if [ -z "$missing" ]; then
		return
	fi
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		absent "$missing: that takes root and apt-get"
		return
	fi
	echo "installing$missing"
	apt-get update -qq || absent "apt-get update failed"
	# One by one: a distribution that lacks one may have the others.
	for package in $missing; do
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" >/dev/null || absent "$package"
	done
}

packages # gcc first: cgo may need it
build versitygw versitygw github.com/versity/versitygw/cmd/versitygw
build fakegcs fake-gcs-server github.com/fsouza/fake-gcs-server
for folder in e2e/slatedb e2e/page client/typescript tools/s3conformance/js tools/azurite bindings/node; do
	modules "$folder"
done
