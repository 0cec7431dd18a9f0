#!/bin/sh
# Detects flaky tests: runs the fast and the live tier N times in a row beside two busy loops on each processor, and stops at a failure.
#   tools/steady.sh [N] [CTEST_ARGUMENT...]      N: 20; build/ must be there (tools/build.sh)
set -eu
cd "$(dirname "$0")/.."
times=${1:-20}
[ $# = 0 ] || shift
loops=""
trap 'kill $loops 2>/dev/null' EXIT
trap 'exit 1' INT TERM
i=0
while [ $i -lt $(($(nproc) * 2)) ]; do
	sh -c 'while :; do :; done' &
	loops="$loops $!"
	i=$((i + 1))
done
run=1
while [ "$run" -le "$times" ]; do
	begin=$(date +%s)
	if ! tools/run_tests.sh build -L 'fast|live' -j "$(($(nproc) * 2))" "$@" >build/steady.log 2>&1; then
		cat build/steady.log
		echo "run $run of $times failed; $((run - 1)) passed"
		exit 1
	fi
	echo "run $run of $times passed in $(($(date +%s) - begin)) s: $(grep -E '^== ' build/steady.log), $(grep -E '% tests passed' build/steady.log)"
	run=$((run + 1))
done
echo "$times runs of $times passed"
