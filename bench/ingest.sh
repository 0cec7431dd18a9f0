#!/bin/bash
# Ingest and interval queries at growing sizes, from seeded experiments. Prints Markdown tables.
#   bench/ingest.sh [SIZES...]
set -eu
sizes=${*:-100000 1000000 10000000}
cd "$(dirname "$0")/.."
bin=$PWD/build/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
TIMEFORMAT='%U %S'

# Peak resident set in MB: the kernel's own figure for waited-for children.
measured() { /usr/bin/time -f '%U %S %M' "$@" 2>&1 >/dev/null | tail -n 1; }
command -v /usr/bin/time >/dev/null || { echo "the package 'time' is missing" >&2; exit 1; }

echo "| threads | distinct stacks | samples | ingest, CPU s | M samples / CPU s | peak MB | experiment MB | database MB | bytes/sample |"
echo "|---|---|---|---|---|---|---|---|---|"
for shape in "1 32000" "16 32000" "4 1000000"; do
	read -r threads stacks <<<"$shape"
	for n in $sizes; do
		[ "$n" -ge "$stacks" ] || continue
		name=g.$threads.$stacks.$n.er
		"$bin/gen_experiment" --samples "$n" --threads "$threads" --stacks "$stacks" --depth 30 --seed 1 --duration-ms $((n / 1000 > 1 ? n / 1000 : 1)) -o "$name"
		experiment=$(du -bs "$name" | cut -f 1)
		read -r user system kb <<<"$(measured "$bin/ctxan" -q "$name" -r header)"
		database=$(stat -c %s "$name/ctxan.db")
		awk -v t="$threads" -v s="$stacks" -v n="$n" -v u="$user" -v y="$system" -v k="$kb" -v e="$experiment" -v d="$database" 'BEGIN {
			printf "| %d | %d | %d | %.2f | %.2f | %.0f | %.1f | %.1f | %.1f |\n", t, s, n, u + y, n / (u + y) / 1e6, k / 1024, e / 1e6, d / 1e6, d / n }'
	done
done
echo
echo "Queries after opening, 20 random intervals each: nodes visited, CPU ms of the query (median, largest), of making the functions report from its histogram, and of the whole command with opening (medians)."
echo
echo "| threads | distinct stacks | samples | share of the run | nodes, median | nodes, largest | query, ms | largest, ms | report, ms | whole command, ms |"
echo "|---|---|---|---|---|---|---|---|---|---|"
for shape in "1 32000" "16 32000" "4 1000000"; do
	read -r threads stacks <<<"$shape"
	for n in $sizes; do
		[ "$n" -ge "$stacks" ] || continue
		name=g.$threads.$stacks.$n.er
		for share in 1 10 40; do
			rm -f nodes ms print whole
			for i in $(seq 20); do
				begin=$(((i * 7919 + share) % (100 - share))).$((i * 37 % 100))
				end=$(awk -v b="$begin" -v s="$share" 'BEGIN { print b + s }')
				{ time "$bin/ctxan" -q "$name/ctxan.db" -r functions --limit 20 -i "$begin%:$end%" --explain >/dev/null 2>explain; } 2>time
				sed -n 's/.*: \([0-9]*\) nodes visited.*/\1/p' explain >>nodes
				sed -n 's/.* \([0-9.]*\) ms CPU for the query, \([0-9.]*\) ms for the report.*/\1/p' explain >>ms
				sed -n 's/.* \([0-9.]*\) ms CPU for the query, \([0-9.]*\) ms for the report.*/\2/p' explain >>print
				awk '{ print 1000 * ($1 + $2) }' time >>whole
			done
			for f in nodes ms print whole; do sort -n $f -o $f; done
			echo "| $threads | $stacks | $n | $share % | $(sed -n 10p nodes) | $(tail -n 1 nodes) | $(sed -n 10p ms) | $(tail -n 1 ms) | $(sed -n 10p print) | $(sed -n 10p whole) |"
		done
	done
done
