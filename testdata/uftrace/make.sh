#!/bin/sh
# make.sh BUILD_DIR: records the directories of this folder anew, with uftrace, and keeps what uftrace says of them.
# Of the symbols only those of the programs and their library are kept. Fixed directory, because paths are recorded.
set -u
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
fail() { echo "make.sh: $*" >&2; exit 1; }

rm -rf /tmp/uftrace-testdata && mkdir /tmp/uftrace-testdata && cd /tmp/uftrace-testdata || exit 1
programs=$here/programs
. "$here/programs.sh"
record_all || fail "cannot be recorded"
# shellcheck disable=SC2086
CTX_KEEP_SAID=1 python3 "$here/../../tests/flow/uftrace_same.py" "$build/bin/call_sums" $names || fail "see above"
for directory in *.data; do
	for file in "$directory"/*.sym; do
		object=$(basename "$file" .sym)
		[ -e "$object" ] || rm "$file"
	done
done
tar -c --sort=name --owner=0 --group=0 --mtime=@0 ./*.data ./*.report ./*.dump ./*.graph | xz -9e >"$here/kept.tar.xz" || fail tar
rm -rf /tmp/uftrace-testdata
