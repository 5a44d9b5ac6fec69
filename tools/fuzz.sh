#!/bin/sh
# Runs every fuzzer of the module for a while, one after the other:
#
#   tools/fuzz.sh 60s
#
# It stops at the first finding, whose input lies in the package's testdata.
set -eu
time=${1:-60s}
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"
git ls-files '*_test.go' | xargs grep -l '^func Fuzz' | xargs -n1 dirname | sort -u | while read -r folder; do
	grep -ho '^func Fuzz[A-Za-z0-9_]*' "$folder"/*_test.go | sed 's/^func //' | sort -u | while read -r fuzzer; do
		echo "$folder $fuzzer"
		# Minimizing may take longer than the fuzzing itself.
		go test "./$folder" -run '^$' -fuzz "^$fuzzer\$" -fuzztime "$time" -fuzzminimizetime 10x
	done
done
