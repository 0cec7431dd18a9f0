#!/bin/sh
# All checks before a change is merged: the release build with the fast and the live tests, formatting, clang-tidy, and one build by clang
# with the address and the undefined-behaviour sanitizers, with the fast tests.
#   tools/check.sh [--quick | --long]
#     --quick   only the release build and its tests
#     --long    besides: the long tests (comparisons with other programs on fresh recordings, readers from npm, speed), every
#               fuzz target for a minute, and the live tests with sanitizers
# Each test run ends with the list of skipped and repeated tests, with the reasons.
set -eu
cd "$(dirname "$0")/.."
mode=${1:-}
case $mode in
'' | --quick | --long) ;;
*) echo "tools/check.sh [--quick | --long]" >&2; exit 1 ;;
esac
folders="base model elf formats collect symbols unwind store ingest calltree timetree query compare rules report browse ctxan runtime agents fleet"
begin=$(date +%s)
step() { printf '== %s (after %d s)\n' "$1" $(($(date +%s) - begin)); }

step "packages"
. tools/install.sh
install_packages valgrind binutils bzip2 xz-utils sqlite3 jq linux-perf procps python3 golang-go libxml2-utils tidy
install_packages g++ gfortran clang libomp-dev llvm dwz zstd chromium dpkg-dev groff-base mandoc zsh fish python3-pyte
install_packages musl-tools
# The agent for Java and its tests; without it they are left out.
install_packages openjdk-17-jdk-headless || true
# For programs of 32 bits; not gcc-multilib, which excludes cross compilers. Where there is no such package they are left out.
[ "$(dpkg --print-architecture)" != amd64 ] || install_packages "gcc-$(gcc -dumpversion)-multilib" || true
# An installed node is kept.
command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1 || install_packages nodejs npm
# install_npm FOLDER [OPTION]: its packages, in the versions of its lock file. Tests download nothing: they are skipped if packages are missing.
install_npm() {
	[ "$1/node_modules/.package-lock.json" -nt "$1/package-lock.json" ] ||
		npm ci --prefix "$1" ${2:-} --no-audit --no-fund --no-update-notifier --silent </dev/null ||
		echo "npm packages of $1 are not available: the tests that need them are skipped" >&2
}
install_npm report/html
install_npm tests/browser

[ "$mode" = --quick ] || install_packages clang-format clang-tidy libclang-rt-dev lld

step "release build"
tools/build.sh -DCTX_WERROR=ON

# What starts no test takes the processors' idle time beside the tests. It is a process group of its own, so that it can be ended whole; it stays
# in this session, for the kernel shares time between sessions whatever their nice values are.
static_log=$(mktemp)
static_pid=
stop() {
	[ -z "$static_pid" ] || kill -- "-$static_pid" 2>/dev/null || true
	rm -f "$static_log"
}
trap stop EXIT
trap 'exit 1' INT TERM
if [ "$mode" != --quick ]; then
	step "formatting, sanitized build and clang-tidy begin beside the tests"
	python3 -c 'import os, sys; os.setpgid(0, 0); os.execvp(sys.argv[1], sys.argv[1:])' nice -n 19 tools/check_static.sh $folders >"$static_log" 2>&1 &
	static_pid=$!
fi
step "fast and live tests"
# Two jobs for each processor: tests that record and those of the browser wait half of their time.
tools/run_tests.sh build -L 'fast|live' -j $(($(nproc) * 2))
[ "$mode" = --quick ] && exit 0

step "formatting, sanitized build, clang-tidy: the rest"
status=0
wait "$static_pid" || status=$?
static_pid=
cat "$static_log"
[ "$status" = 0 ] || exit "$status"
if [ "$mode" = --long ]; then
	step "long tests"
	install_npm tests/flow/readers --ignore-scripts
	tools/run_tests.sh build -L long
	step "fuzz targets, a minute each"
	cmake --preset fuzz >/dev/null
	cmake --build --preset fuzz -j "$(nproc)"
	printf '%s\0' build-fuzz/bin/fuzz_* | xargs -0 -P "$(nproc)" -n 1 tools/fuzz.sh 60
fi
tier=fast
[ "$mode" = --long ] && tier='fast|live'
step "tests with sanitizers: $tier"
# Last, so that the test runner's closing lines close the output.
tools/run_tests.sh build-sanitize -L "$tier" -j $(($(nproc) + 1))
