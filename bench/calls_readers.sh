#!/bin/bash
# Reading calls: a uftrace directory and a trace in JSON, by the readers alone and by the whole ingest with its report.
#   bench/calls_readers.sh BUILD_DIR [SLICES]
# SLICES of the trace, 7.5 M (1 GB) unless given. Files are written to $TMPDIR. RUNS=... overrides the number of runs (3).
set -eu -o pipefail
[ $# -ge 1 ] || { sed -n '2,4s/^# *//p' "$0" >&2; exit 1; }
command -v uftrace >/dev/null || { echo "bench/calls_readers.sh needs uftrace" >&2; exit 1; }
bin=$(realpath "$1")/bin
source_dir=$(realpath "$(dirname "$0")/..")
slices=${2:-7500000}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

gcc -pg "$source_dir/testdata/uftrace/programs/fib.c" -o fib
uftrace record --no-event --no-pager -b 64m -d fib.data ./fib 32 >/dev/null
python3 "$source_dir/tests/flow/traceevent_make.py" nested "$slices" >trace.json
ls -l fib.data/*.dat trace.json

for ((i = 0; i < ${RUNS:-3}; i++)); do
	echo "uftrace, reader: $("$bin/read_calls" uftrace fib.data)"
	echo "JSON, reader: $("$bin/read_calls" trace trace.json)"
	for input in fib.data trace.json; do
		rm -f times
		"$bin/measure" times "$bin/ctxan" "$input" -r functions --reingest --db scratch.db >/dev/null
		echo "$input, ingest and report: $(awk '{ print $1 " s of CPU, peak " $2 " MB" }' times)"
	done
done
