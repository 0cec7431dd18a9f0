#!/bin/bash
# What recording costs: ctxrec next to perf record -g on the same workload, in turn. Prints a Markdown table.
#   bench/recording.sh [RUNS]
set -eu
runs=${1:-7}
cd "$(dirname "$0")/.."
bin=$PWD/build/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
seq 1 1500000 | awk '{ print $1 * 7919 % 1000003, $1 }' >rows.txt

# CPU seconds of a command and everything it waited for.
TIMEFORMAT='%U %S'
cpu() { { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print $1 + $2 }'; }
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
size() { du -bc "$@" | tail -n 1 | cut -f 1; }

workload=(xz -1 -T1 -k -c rows.txt)
echo "Workload: \`${workload[*]}\` (a text file of $(stat -c %s rows.txt) bytes), CPU seconds of target and recorder together, medians of $runs runs in turn."
echo
echo "| Hz | alone | perf record -g | ctxrec | ctxrec : perf | perf: bytes/sample | ctxrec: bytes/sample | ratio |"
echo "|---|---|---|---|---|---|---|---|"
for hz in 999 9999; do
	rm -f alone perf ours
	for _ in $(seq "$runs"); do
		rm -rf perf.data ours.er
		cpu "${workload[@]}" >>alone
		cpu perf record -q -e cpu-clock -F $hz -g -o perf.data -- "${workload[@]}" >>perf
		cpu "$bin/ctxrec" -q --no-archive -F $hz -o ours.er -- "${workload[@]}" >>ours
	done
	perf_samples=$(perf report -i perf.data --stdio --no-children -g none -n -F sample 2>/dev/null | awk '$1 ~ /^[0-9]+$/ { s += $1 } END { print s }')
	our_samples=$("$bin/ctxan" -q ours.er -r functions --format csv --limit 1 | awk -F, 'NR == 2 { print $5 }')
	awk -v hz=$hz -v a="$(median <alone)" -v p="$(median <perf)" -v o="$(median <ours)" -v pb="$(size perf.data)" -v ob="$(size ours.er/profile ours.er/frameinfo)" \
		-v pn="$perf_samples" -v on="$our_samples" 'BEGIN {
		printf "| %d | %.3f | %.3f | %.3f | %.3f | %.1f (%d) | %.1f (%d) | %.3f |\n", hz, a, p, o, o / p, pb / pn, pn, ob / on, on, ob / on / (pb / pn) }'
done
