#!/bin/sh
# Everything that must hold: both builds (release; address and undefined-behaviour sanitizers), all tests with ctest, formatting, clang-tidy, a short run of every fuzz target.
#   tools/check.sh [--quick]     --quick: the release build and its tests only
set -eu
cd "$(dirname "$0")/.."
quick=${1:-}

. tools/install.sh
install_packages valgrind binutils bzip2 xz-utils sqlite3 jq linux-perf procps python3 golang-go libxml2-utils tidy
install_packages g++ clang llvm dwz zstd
# For the page: a browser, and node with the packages that its sources and tests are pinned to. A node that is already there stays.
install_packages chromium
command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1 || install_packages nodejs npm
for folder in report/html tests/browser; do
	[ "$folder/node_modules/.package-lock.json" -nt "$folder/package-lock.json" ] && continue
	npm ci --prefix "$folder" --no-audit --no-fund --no-update-notifier --silent </dev/null ||
		echo "npm packages of $folder are not to be had: the tests that need them are skipped" >&2
done
tools/build.sh -DCTX_WERROR=ON
ctest --test-dir build --output-on-failure -j "$(nproc)" -E '^flow\.record' --timeout 300
# Recordings share the processors with nothing else.
ctest --test-dir build --output-on-failure -R '^flow\.record' --timeout 300 --no-tests=ignore
[ "$quick" = --quick ] && exit 0

install_packages clang clang-format clang-tidy libclang-rt-dev
echo "== formatting"
find base model formats collect symbols unwind store ingest calltree timetree report ctxan tests fuzz bench testdata \
	-name '*.[ch]' -print0 2>/dev/null | xargs -0 clang-format --dry-run --Werror
echo "== clang, warnings are errors"
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz -j "$(nproc)"
echo "== clang-tidy"
find base model formats collect symbols unwind store ingest calltree timetree report ctxan -name '*.c' -print0 2>/dev/null |
	xargs -0 -P "$(nproc)" -n 8 clang-tidy --quiet -p build-fuzz 2>/dev/null
echo "== sanitizers"
cmake --preset asan >/dev/null
cmake --build --preset asan -j "$(nproc)"
echo "== fuzz targets, briefly"
# One at a time on each processor.
printf '%s\0' build-fuzz/bin/fuzz_* | xargs -0 -P "$(nproc)" -n 1 sh -c '
	name=${1##*/}
	work=$(mktemp -d)
	if "$1" -max_total_time=4 -rss_limit_mb=2048 -verbosity=0 -print_final_stats=0 "$work" "fuzz/corpus/$name" >"$work.log" 2>&1; then
		echo "fuzz: $name ok"
	else
		cat "$work.log"
		echo "fuzz: $name failed"
		exit 255
	fi
	rm -rf "$work" "$work.log"' sh
# Last, so that the test runner's closing lines close the output.
# What only compares numbers with those of other programs, minutes of them, says nothing more there.
ctest --test-dir build-asan --output-on-failure -j "$(nproc)" --timeout 600 -E '^flow\.(gprofng_same|export_gprofng|symbols_same|perfdata_same|record_states)$'
