#!/bin/bash
# Overhead per switch of recording thread states: two threads that wake each other, under ctxrec --states off|min|full, with and without a budget (full_all), and under
# perf record -e sched:sched_switch -g and perf sched record, in turn. Needs root. Prints a Markdown table.
#   bench/switches.sh [RUNS [BIN [TURNS]]]
set -eu
runs=${1:-5}
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "${2:-$here/../build/bin}" && pwd)
turns=${3:-200000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
${CC:-cc} -O2 -D_GNU_SOURCE -pthread -o ping_pong "$here/ping_pong.c"

# CPU seconds of a command and of the children it waited for; the target's output is written to the file `target`.
TIMEFORMAT='%U %S'
cpu() { { time "$@" >target 2>messages; } 2>&1 | awk '{ print $1 + $2 }'; }
median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
size() { du -bc "$@" | tail -n 1 | cut -f 1; }

alone() { "$@"; }
ours() { states=$1; shift; "$bin/ctxrec" -O --no-archive -F 99 --states "$states" -o "r.er" -- "$@"; }
off() { ours off "$@"; }
min() { ours min "$@"; }
full() { ours full "$@"; }
full_all() { "$bin/ctxrec" -O --no-archive -F 99 --states full --budget off -o "r.er" -- "$@"; }
full_fp() { "$bin/ctxrec" -O --no-archive -F 99 --unwind fp --states full -o "r.er" -- "$@"; }
perf_switch_g() { perf record -q -e sched:sched_switch -g -o r.data -- "$@"; }
perf_sched() { perf sched record -o r.data -- "$@"; }
ways="alone off min full full_all full_fp perf_switch_g perf_sched"

# Bytes on disk and lost records of the last recording.
of_last() {
	case $1 in
	alone) echo "0 0" ;;
	perf_*) echo "$(size r.data) $(perf script -i r.data -F time --show-lost-events 2>/dev/null | awk '/LOST/ { s += $NF } END { print s + 0 }')" ;;
	*) echo "$(size r.er) $(awk 'match($0, /[0-9]+ samples lost/) { split(substr($0, RSTART), w, " "); n = w[1] } END { print n + 0 }' messages)" ;;
	esac
}

echo "CPU time of target and recorder together per switch, medians of $runs rounds (in turn), $turns turns of two switches each."
echo
echo "| target | recorder | switches/s | CPU us/switch | beside alone | lost | bytes/switch |"
echo "|---|---|---:|---:|---:|---:|---:|"
for kind in pipe futex; do
	for cpus in 1 2; do
		rm -f *.row
		for _ in $(seq "$runs"); do
			for way in $ways; do
				seconds=$(cpu $way ./ping_pong $kind $cpus "$turns")
				echo "$(cat target) $seconds $(of_last $way)" | awk '{ print $1 / $2, $3 * 1e6 / $1, $5, $4 / $1 }' >>$way.row
			done
		done
		alone_us=$(awk '{ print $2 }' alone.row | median)
		for way in $ways; do
			for column in 1 2 3 4; do awk -v c=$column '{ print $c }' $way.row | median; done | tr '\n' ' ' |
				awk -v t="$kind, $cpus CPU" -v w=$way -v a="$alone_us" '{
					printf "| %s | %s | %d | %.2f | +%.2f | %d | %.1f |\n", t, w, $1, $2, $2 - a, $3, $4 }'
		done
	done
done
