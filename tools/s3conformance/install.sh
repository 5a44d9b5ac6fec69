#!/bin/sh
# Installs the client programs with which the tests of gateway/s3 try the S3
# endpoint: Debian's awscli and s3cmd when run as root, and the AWS SDK for
# JavaScript, pinned in js/package-lock.json. Node.js 20 must be there.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
if ! command -v /usr/bin/aws >/dev/null || ! command -v s3cmd >/dev/null; then
	if [ "$(id -u)" != 0 ]; then
		echo "install awscli and s3cmd with: sudo apt-get install awscli s3cmd" >&2
		exit 1
	fi
	apt-get install -y --no-install-recommends awscli s3cmd
fi
npm ci --prefix "$here/js" --no-audit --no-fund
