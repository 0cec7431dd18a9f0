#!/bin/sh
# performance.sh BASELINE COMMAND [ARGUMENT]...
#
# Records the command five times and compares it with the runs in BASELINE, a file of ctxan --archive that the CI server keeps
# (a cache, an artifact of the main branch). Writes performance.md and performance.xml. Exit status: 0 nothing became worse, 3 it did,
# 1 and 2 errors. Without a BASELINE the runs become it. UPDATE=yes replaces it, also after a failure: for the main branch.
set -eu
rules=${RULES:-$(dirname "$0")/performance.rules}
runs=${RUNS:-5}
rate=${RATE:-4999}
baseline=$1
shift

inputs=
run=1
while [ "$run" -le "$runs" ]; do
	rm -rf "new.$run.er"
	ctxrec -q -F "$rate" -o "new.$run.er" -- "$@"
	inputs=$inputs${inputs:+,}new.$run.er
	run=$((run + 1))
done

status=0
if [ -e "$baseline" ]; then
	ctxan -q "$baseline" "$inputs" --diff --rules "$rules" --format markdown -o performance.md || status=$?
	ctxan -q "$baseline" "$inputs" --diff --rules "$rules" --format junit -o performance.xml || status=$?
	# An error is no answer: the baseline stays.
	case $status in 0 | 3) ;; *) exit "$status" ;; esac
	cat performance.md
fi
if [ ! -e "$baseline" ] || [ "${UPDATE:-no}" = yes ]; then
	# These alone: a job with more RUNS may have left others. Their names are words.
	# shellcheck disable=SC2046
	ctxan -q --archive "$baseline" $(echo "$inputs" | tr , ' ')
fi
exit "$status"
