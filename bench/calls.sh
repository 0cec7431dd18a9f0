#!/bin/bash
# ns for a call with its begin and end recorded, for each kind of hook: alone, with empty hooks, under ctxrec --calls, with --calls=summary and under uftrace, in turn; bytes for an event on disk.
# Prints a Markdown table: the smallest, and the median. uftrace is Debian's.
#   bench/calls.sh [RUNS [BIN [CALLS]]]
set -eu
runs=${1:-5}
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "${2:-$here/../build/bin}" && pwd)
calls=${3:-200000} # of a round; what they write fits a ring
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
build() { name=$1; shift; "$@" -O2 -o "$name" "$here/calls.c" 2>/dev/null; }
build plain gcc
build empty gcc -DEMPTY -finstrument-functions
build instrument gcc -finstrument-functions
build mcount gcc -pg
build fentry gcc -pg -mfentry
build patchable gcc -fpatchable-function-entry=5
hooks="instrument mcount fentry patchable"
build xray clang -fxray-instrument -fxray-instruction-threshold=1 && hooks="$hooks xray"
median() { sort -g | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "" }'; }
both() { sort -g "$1" | awk '{ v[NR] = $1 } END { if (NR) print v[1] " (" v[int((NR + 1) / 2)] ")" }'; }
for ((run = 0; run < runs; run++)); do
	./plain "$calls" 2>>plain.alone
	./empty "$calls" 2>>empty.alone
	for name in $hooks; do
		./$name "$calls" 2>>$name.alone
		"$bin/ctxrec" -q -O -o r.er --calls --trace-full wait -- ./$name "$calls" 2>&1 | grep -E '^[0-9.]+$' >>$name.ctxrec
		"$bin/ctxrec" -q -O -o s.er --calls=summary -- ./$name "$calls" 2>&1 | grep -E '^[0-9.]+$' >>$name.summary
		awk -v bytes="$(stat -c %s r.er/callevents)" -v calls="$calls" 'BEGIN { printf "%.2f\n", bytes / (40 * calls) }' >>$name.bytes
		if command -v uftrace >/dev/null && [ $name != xray ]; then
			patch=
			[ $name != patchable ] || patch="-P ."
			rm -rf uf
			# shellcheck disable=SC2086
			uftrace record $patch -d uf ./$name "$((calls / 10))" 2>&1 | grep -E '^[0-9.]+$' >>$name.uftrace || true
		fi
	done
done
echo "| hooks | alone | ctxrec --calls | --calls=summary | uftrace record | bytes an event |"
echo "|---|---:|---:|---:|---:|---:|"
echo "| none | $(both plain.alone) | | | | |"
echo "| empty ones of -finstrument-functions | $(both empty.alone) | | | | |"
for name in $hooks; do
	echo "| $name | $(both $name.alone) | $(both $name.ctxrec) | $(both $name.summary) | $([ ! -e $name.uftrace ] || both $name.uftrace) | $(median <$name.bytes) |"
done
