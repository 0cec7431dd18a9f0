#!/bin/sh
# Runs tests with ctest, then lists skipped and repeated tests with the reasons; ctest's closing lines come last.
#   tools/run_tests.sh BUILD_DIR CTEST_ARGUMENT...
set -u
build=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
ctest --test-dir "$build" --output-on-failure --no-tests=error "$@" >"$log" 2>&1 &
trap 'kill $!; rm -f "$log"; exit 1' INT TERM
tail -f --pid=$! "$log" | sed -u '/^[0-9]*% tests passed/,$d'
wait $!
status=$?
awk '/^[0-9]+\/[0-9]+ Test(ing)?: / { name = $NF }
	/^(SKIP|REPEAT): / { kind = $1; sub(/^[A-Z]*: /, ""); printf "%s %s: %s\n", kind, name, $0; n[kind]++ }
	END { printf "== %d skips, %d repeats\n", n["SKIP:"], n["REPEAT:"] }' "$build/Testing/Temporary/LastTest.log"
sed -n '/^[0-9]*% tests passed/,$p' "$log"
exit $status
