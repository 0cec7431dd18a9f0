#!/bin/bash
# CPU time of the thread that begins a parallel region whose body takes 10 us, bare and recorded, in turn (testdata/targets/openmp_cost.c): libgomp, whose functions are stood in front of, and
# libomp, by its interface for tools. Instructions of a region, where valgrind is there. Prints a Markdown table.
#   bench/openmp.sh [ROUNDS [BIN [OTHER_BIN]]]; OTHER_BIN: those of another version, which takes its turn, too
set -eu
rounds=${1:-10}
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "${2:-$here/../build/bin}" && pwd)
other=${3:+$(cd "$3" && pwd)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset OMP_TOOL OMP_TOOL_LIBRARIES

least() { sort -g | head -1; }
median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
bare() { "$@"; }
recorded() { "$bin/ctxrec" -q -O -o r.er --openmp -- "$@"; }
before() { "$other/ctxrec" -q -O -o r.er --openmp -- "$@"; }
samples() { "$bin/ctxrec" -q -O -o r.er --openmp=off -- "$@"; }
ways="bare samples ${other:+before} recorded"

# Instructions of a region in the master: the difference of two runs, divided.
instructions() {
	way=$1 program=$2
	for n in 1000 11000; do
		$way valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" $n 2>&1 | awk '/Collected/ { print $4 }'
	done | awk '{ v[NR] = $1 } END { if (NR == 2) printf "%d", (v[2] - v[1]) / 10000; else printf "-" }'
}

cat >regions.c <<'END'
#include <stdlib.h>
int main(int argc, char **argv)
{
	for (int i = 0, n = argc > 1 ? atoi(argv[1]) : 1; i < n; i++) {
#pragma omp parallel num_threads(1)
		__asm__ volatile("" ::: "memory");
	}
	return 0;
}
END

echo "| runtime | recorder | ns of a region of 10 us: least | median | beside bare, least | medians | median of pairs | ns of an empty region, least | instructions of it |"
echo "|---|---|---:|---:|---:|---:|---:|---:|---:|"
for compiler in gcc clang; do
	$compiler -O2 -fopenmp "$here/../testdata/targets/openmp_cost.c" -o cost 2>/dev/null && $compiler -O2 -fopenmp regions.c -o regions 2>/dev/null || continue
	steps=$(for _ in 1 2 3; do ./cost | cut -d' ' -f2; done | median)
	rm -f ./*.row
	for _ in $(seq "$rounds"); do
		for way in $ways; do
			$way ./cost "$steps" | cut -d' ' -f1 >>"$way.row"
			$way ./cost 0 | cut -d' ' -f1 >>"$way.empty.row"
		done
	done
	for way in $ways; do
		of_pairs=$(paste bare.row "$way.row" | awk '{ print $2 / $1 }' | median)
		counted=-; ! command -v valgrind >/dev/null || counted=$(instructions "$way" ./regions)
		awk -v c=$compiler -v w="$way" -v l="$(least <"$way.row")" -v m="$(median <"$way.row")" -v bl="$(least <bare.row)" -v bm="$(median <bare.row)" -v p="$of_pairs" -v e="$(least <"$way.empty.row")" -v i="$counted" '
			BEGIN { printf "| %s | %s | %d | %d | %.3f | %.3f | %.3f | %d | %s |\n", c, w, l, m, l / bl, m / bm, p, e, i }'
	done
done
