#!/bin/sh
# What counting an execution of a function costs: in the program itself, by a uprobe, by perf probe and by gdb, in one run. ns of the
# program's CPU time for each call, less those of the same program alone; the smallest of ROUNDS. Prints the table of bench/results/indicators.md.
#   bench/indicators.sh BUILD_DIR [ROUNDS]     (root; perf, gdb)
set -eu
build=$(cd "$1" && pwd)
rounds=${2:-5}
PATH=$build/bin:$PATH
work=$(mktemp -d)
trap 'perf probe -q -d "probe_calls:*" 2>/dev/null || :; rm -rf "$work"' EXIT
cd "$work"
cat >calls.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static volatile int sink;
__attribute__((noinline)) void leaf(void) { sink++; }
int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;
	struct timespec begin, end;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	for (long i = 0; i < n; i++)
		leaf();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	printf("%.2f\n", ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / (double)n);
	return 0;
}
END
cc -O2 -g -o calls calls.c
cc -O2 -g -fpatchable-function-entry=5 -o room calls.c
perf probe -q -x ./calls probe_calls:leaf=leaf >/dev/null 2>&1

# of HOW: one run's ns of a call.
of() {
	case $1 in
	bare) ./calls 50000000 ;;
	room) ./room 50000000 ;;
	memory) ctxrec -q -O -o out.er -F 49 --states off --indicator leaf -- ./room 50000000 ;;
	threshold) ctxrec -q -O -o out.er -F 49 --states off --indicator leaf:threshold=1000 -- ./room 50000000 ;;
	uprobe) ctxrec -q -O -o out.er -F 49 --states off --indicator leaf -- ./calls 100000 ;;
	probe) perf stat -e probe_calls:leaf -o stat.txt ./calls 100000 ;;
	probe-record) perf record -q -e probe_calls:leaf -o perf.data ./calls 100000 ;;
	gdb) gdb -batch -ex 'break *leaf' -ex 'ignore 1 1000000000' -ex 'run 2000' ./calls 2>/dev/null | grep -x '[0-9.]*' ;;
	esac
}
best() {
	for i in $(seq "$rounds"); do of "$1"; done | sort -g | head -n 1
}
base=$(best bare)
printf '| %s | ns for an execution |\n|---|---|\n' "counted by"
for how in room memory threshold uprobe probe probe-record gdb; do
	printf '| %s | %s |\n' "$how" "$(best $how | awk -v base="$base" '{ printf "%.1f", $1 - base }')"
done
printf '\nThe call alone: %s ns.\n' "$base"
