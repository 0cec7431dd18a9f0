#!/bin/bash
# Reading perf.data: ctxan next to perf itself, on the same files, in one run. Prints Markdown tables.
#   bench/perfdata.sh [--large] [--mixed FILE] BUILD_DIR [WORK_DIR]
# --large: 50 M samples too (7 GB of disk and an hour). --mixed: a recording with very many stacks, in file mode and
# not compressed, to be used beside the one made here. WORK_DIR keeps that recording; otherwise it is removed.
# SIZES="..." in the environment overrides the sizes. Recordings and files are written to WORK_DIR or $TMPDIR.
set -eu -o pipefail
sizes=${SIZES:-1000000 10000000}
mixed=
while :; do
	case ${1:-} in
	--large) sizes="$sizes 50000000" ;;
	--mixed) mixed=$(realpath "$2") && shift ;;
	*) break ;;
	esac
	shift
done
[ $# -ge 1 ] || { sed -n '2,6s/^# *//p' "$0" >&2; exit 1; }
here=$(cd "$(dirname "$0")" && pwd)
bin=$(realpath "$1")/bin
for program in perf perl sqlite3 xz python3 gcc; do
	command -v "$program" >/dev/null || { echo "bench/perfdata.sh needs $program" >&2; exit 1; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
work=$(realpath "${2:-$scratch}")
mkdir -p "$work"
cd "$scratch"

# Call graphs of perf use all memory: they are limited to four fifths of the free memory, and 15 minutes.
limit_kb=$(awk '/MemAvailable/ { print int($2 * 4 / 5) }' /proc/meminfo)

# Some 20 seconds of ordinary programs: a database, a compressor, an interpreter, a compiler.
workload() {
	seq 1 800000 | awk '{ print $1 "," $1 * 7919 % 1000003 "," $1 % 1009 ",name" $1 * 31 % 65537 }' >rows.csv
	sqlite3 rows.db "CREATE TABLE r(a INTEGER PRIMARY KEY, b, c, d)" ".mode csv" ".import rows.csv r" \
		"CREATE INDEX by_d ON r(d, b)" \
		"SELECT c, count(*), sum(b), max(d) FROM r GROUP BY c ORDER BY 3" \
		"SELECT count(*), max(x.d || y.c) FROM r x JOIN r y ON x.d = y.d WHERE x.b < y.b" \
		"SELECT substr(d, 1, 6) k, group_concat(b % 10, '') FROM r WHERE d LIKE '%7%' GROUP BY k" >rows.out
	xz -2 -T1 -k -c rows.csv >rows.xz
	python3 program.py rows.csv
	for source in "$here"/../{base,calltree,timetree,bench}/*.c; do
		gcc -D_GNU_SOURCE -I "$here/.." -O2 -g -c -o object.o "$source"
		gcc -D_GNU_SOURCE -I "$here/.." -O3 -c -o object.o "$source"
	done
}

record() {
	cat >program.py <<'PYTHON'
import collections, json, re, sys
rows = [line.rstrip().split(",") for line in open(sys.argv[1])]
for turn in range(2):
    words = collections.Counter(re.sub(r"[0-9]+", lambda m: str(int(m[0]) % 97), row[3]) for row in rows)
    rows.sort(key=lambda row: (row[3], int(row[1]) ^ turn))
    json.loads(json.dumps([rows, words]))
PYTHON
	export here
	export -f workload
	perf record -q -e cpu-clock -F 4999 -g -o "$1" -- bash -ec workload
	rm -f rows.* object.o program.py
}

# Runs a command; bin/measure adds "CPU-seconds peak-MB elapsed-seconds read-bytes" to the file NAME.
measured() {
	local name=$1
	shift
	"$bin/measure" "$name" "$@" >/dev/null 2>"$name.stderr" || tail -n 1 "$name.stderr" >&2
}

median() { # of a column of a file; "-" if it is empty, "failed" if all failed
	[ -s "$1" ] || { echo "-" && return; }
	awk -v c="$2" '$1 != "failed" { print $c }' "$1" | sort -n |
		awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "failed" }'
}

folded() { # perf script into the folding script: the CPU time of both, the larger of the two peaks
	rm -f one other
	"$bin/measure" one perf script -i "$1" 2>/dev/null | "$bin/measure" other perl "$here/stackcollapse.pl" >stacks || true
	cat one other | awk '{ s += $1; if ($2 > m) m = $2; if ($1 == "failed") f = 1 } END { print f ? "failed" : s " " m }' >>pipe
}

graph() { # the call graph of perf within its limits
	(ulimit -v "$limit_kb" && measured caller timeout 900 perf report -i "$1" --stdio --children -g caller)
}

number() { # VALUE FACTOR DIGITS; other text is kept
	awk -v v="$1" -v f="$2" -v d="$3" 'BEGIN { if (v + 0 == v) printf "%.*f", d, v * f; else printf "%s", v }'
}
ratio() { # of two values
	awk -v a="$1" -v b="$2" 'BEGIN { if (a + 0 == a && b + 0 == b && b > 0) printf "%.*f", a / b < 10, a / b; else printf "-" }'
}

whole_file() { # NAME FILE SAMPLES RUNS
	rm -f flat caller pipe ours stacks && touch stacks
	for _ in $(seq "$4"); do
		measured flat perf report -i "$2" --stdio --no-children -g none
		[ "$3" -gt 1000000 ] || folded "$2" # minutes above that, and linear
		rm -f "$scratch/x.db"
		measured ours "$bin/ctxan" -q "$2" --db "$scratch/x.db" -r header
	done
	[ "$3" -gt 1000000 ] || graph "$2"

	local f c s o database=-
	f=$(median flat 1) c=$(median caller 1) s=$(median pipe 1) o=$(median ours 1)
	[ ! -s x.db ] || database=$(stat -c %s x.db)
	echo "| $1 | $3 | $(number "$(stat -c %s "$2")" 1e-6 0) | $([ -s stacks ] && wc -l <stacks || echo -)" \
		"| $(number "$f" 1 2) | $(number "$(median flat 2)" 1 0)" \
		"| $(number "$c" 1 1) | $(number "$(median caller 2)" 1 0)" \
		"| $(number "$s" 1 2) | $(number "$(median pipe 2)" 1 0)" \
		"| $(number "$o" 1 2) | $(number "$(median ours 3)" 1 2) | $(ratio "$(number "$3" 1e-6 6)" "$o")" \
		"| $(number "$(median ours 2)" 1 0) | $(number "$database" 1e-6 1)" \
		"| $(ratio "$f" "$o") | $(ratio "$c" "$o") | $(ratio "$(median caller 2)" "$(median ours 2)") | $(ratio "$s" "$o") |"
}

begin_of() { # the I-th interval of SHARE per cent begins at this per cent
	awk -v i="$1" -v s="$2" 'BEGIN { printf "%d.%02d", (i * 7919 + s) % (100 - s), i * 37 % 100 }'
}

intervals() { # NAME FILE SAMPLES RUNS
	local first last begin from to share p o
	read -r first last <<<"$(perf report -i "$2" --header-only | awk -F ': *' '/time of first/ { f = $2 } /time of last/ { print f, $2 }')"
	for share in 1 40; do
		rm -f peer warm cold explain.all
		for i in $(seq 20); do
			begin=$(begin_of "$i" "$share")
			from=$(awk -v b="$begin" -v f="$first" -v l="$last" 'BEGIN { printf "%.6f", f + (l - f) * b / 100 }')
			to=$(awk -v b="$begin" -v s="$share" -v f="$first" -v l="$last" 'BEGIN { printf "%.6f", f + (l - f) * (b + s) / 100 }')
			[ "$i" -gt "$4" ] || measured peer perf report -i "$2" --stdio --no-children -g none --time "$from,$to"
			[ -s x.db ] || continue
			to=$(awk -v b="$begin" -v s="$share" 'BEGIN { print b + s }')
			measured warm "$bin/ctxan" -q x.db -r functions --limit 20 -i "$begin%:$to%" --explain
			cat warm.stderr >>explain.all
			[ "$i" -le 5 ] || continue
			drop_cache x.db
			measured cold "$bin/ctxan" -q x.db -r functions --limit 20 -i "$begin%:$to%"
		done
		touch explain.all
		sed -n 's/.*: \([0-9]*\) nodes visited.*/\1/p' explain.all >nodes
		sed -n 's/.* \([0-9]*\) bytes of blobs.*/\1/p' explain.all >blobs
		sed -n 's/.* \([0-9.]*\) ms CPU for the query, \([0-9.]*\) ms for the report.*/\1/p' explain.all >query
		p=$(median peer 1) o=$(median warm 1)
		echo "| $1 | $3 | $share % | $(number "$p" 1 2) | $(number "$(median peer 2)" 1 0)" \
			"| $(number "$o" 1e3 1) | $(number "$(median query 1)" 1 2) | $(median nodes 1) | $(number "$(median blobs 1)" 1e-3 0)" \
			"| $(number "$(median cold 3)" 1e3 0) | $(number "$(median cold 4)" 1e-3 0) | $(number "$(median warm 2)" 1 0) | $(ratio "$p" "$o") |" >>intervals.md
	done
}

# A file is cold if none of it is in the page cache; other files stay cached.
drop_cache() { sync "$1" && dd if="$1" iflag=nocache count=0 status=none; }

measure() { # NAME RECORDING gen_perfdata's options...
	local name=$1 recording=$2 n runs
	shift 2
	for n in $sizes; do
		runs=$([ "$n" -gt 1000000 ] && echo 1 || echo 3)
		"$bin/gen_perfdata" "$@" "$recording" "$scratch/x.data" "$n" >&2
		whole_file "$name" "$scratch/x.data" "$n" "$runs"
		intervals "$name" "$scratch/x.data" "$n" "$runs"
		rm -f "$scratch/x.data" "$scratch/x.db"
	done
}

all() {
	[ -s "$work/ordinary.data" ] || record "$work/ordinary.data"
	echo "| recording | samples | MB | stacks, folded | perf report, CPU s | peak MB | perf report -g caller, CPU s | peak MB | perf script + folding, CPU s | peak MB | ctxan ingest, CPU s | elapsed s | M samples / CPU s | peak MB | database MB | perf report : ctxan | -g caller : ctxan | peak : peak | folding : ctxan |"
	echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
	measure ordinary "$work/ordinary.data"
	measure "ordinary, one run" "$work/ordinary.data" --stretch
	if [ -n "$mixed" ]; then
		measure mixed "$mixed"
		sizes=${sizes% 50000000} # 25 M unique stacks are not realistic
		measure "mixed, diverse" "$mixed" --diverse 50
	fi
	echo
	echo "Intervals: CPU of \`perf report --time\` (flat) and of the whole command \`ctxan DATABASE -r functions -i\`, medians; what --explain says; and the same from a database that is not in the page cache."
	echo
	echo "| recording | samples | share of the run | perf report --time, CPU s | peak MB | ctxan, CPU ms | query alone, ms | nodes | blobs, kB | cold, elapsed ms | read from disk, kB | peak MB | perf : ctxan |"
	echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
	cat intervals.md
}

all
