#!/bin/sh
# Installs what the tests run beside Go: the S3 server versitygw, pinned in
# tools/versitygw/go.mod, into bin/. Does nothing when that version is there.
# Its many dependencies stay out of this module's go.mod.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"
mkdir -p bin
want=$(cat tools/versitygw/go.mod tools/versitygw/go.sum | cksum)
if [ -x bin/versitygw ] && [ "$(cat bin/versitygw.stamp 2>/dev/null)" = "$want" ]; then
	exit 0
fi
# Built beside and moved into place, so that nobody sees half a file.
go build -C tools/versitygw -o "$root/bin/versitygw.new.$$" github.com/versity/versitygw/cmd/versitygw
mv "bin/versitygw.new.$$" bin/versitygw
echo "$want" >bin/versitygw.stamp
