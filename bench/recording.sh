#!/bin/bash
# Overhead of recording with call stacks: ctxrec and perf record, in turn, on python3 and on gcc's cc1. Prints a Markdown table.
#   bench/recording.sh [RUNS [BIN]]
set -eu
runs=${1:-7}
cd "$(dirname "$0")/.."
targets=$PWD/testdata/targets
bin=$(cd "${2:-build/bin}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
sh "$targets/gen_large_c.sh" 130 >large.c

# CPU seconds of a command and of the children it waited for.
TIMEFORMAT='%U %S'
cpu() { { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print $1 + $2 }'; }
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
size() { du -bc "$@" | tail -n 1 | cut -f 1; }

alone() { "$@"; }
cfi() { "$bin/ctxrec" -q -O --no-archive -F 999 --unwind cfi -o cfi.er -- "$@"; }
fp() { "$bin/ctxrec" -q -O --no-archive -F 999 --unwind fp -o fp.er -- "$@"; }
perf_g() { perf record -q -e cpu-clock -F 999 -g -o g.data -- "$@"; }
perf_dwarf() { perf record -q -e cpu-clock -F 999 --call-graph dwarf -o dwarf.data -- "$@"; }
ways="alone perf_g perf_dwarf fp cfi"

of_perf() { echo "$(size "$1") $(perf report -i "$1" --stdio --no-children -g none -n -F sample 2>/dev/null | awk '$1 ~ /^[0-9]+$/ { s += $1 } END { print s }')"; }
of_ours() { echo "$(size $(find "$1" -name profile -o -name frameinfo)) $("$bin/ctxan" -q "$1" -r functions --format csv --limit 1 | awk -F, 'NR == 2 { print $5 }')"; }

echo "CPU seconds of target and recorder together, medians of $runs rounds; ratios are medians of the rounds' ratios. 999 Hz."
echo
echo "| workload | recorder | CPU s | cfi : this | bytes/sample (samples) | cfi's bytes : this one's |"
echo "|---|---|---:|---:|---:|---:|"
measure() {
	workload=$1
	shift
	rm -f *.cpu
	for _ in $(seq "$runs"); do
		for way in $ways; do cpu $way "$@" >>$way.cpu; done
	done
	read -r our_bytes our_samples <<<"$(of_ours cfi.er)"
	for way in $ways; do
		case $way in
		alone) sizes="0 0" ;;
		perf_g) sizes=$(of_perf g.data) ;;
		perf_dwarf) sizes=$(of_perf dwarf.data) ;;
		*) sizes=$(of_ours $way.er) ;;
		esac
		ratio=$(paste cfi.cpu $way.cpu | awk '{ print $1 / $2 }' | median)
		echo "$sizes" | awk -v w="$workload" -v way=$way -v cpu="$(median <$way.cpu)" -v r="$ratio" -v b="$our_bytes" -v n="$our_samples" '{
			bytes = $2 ? sprintf("%.1f (%d) | %.5f", $1 / $2, $2, b / n / ($1 / $2)) : "|"
			printf "| %s | %s | %.2f | %.3f | %s |\n", w, way, cpu, r, bytes }'
	done
}
measure python3 /usr/bin/python3 "$targets/recursive.py" 9000
measure cc1 gcc -O2 -c large.c -o large.o
