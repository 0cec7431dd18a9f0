#!/bin/bash
# Experiments of gprofng: ctxan next to gprofng itself, on the same files, in one run. Prints Markdown tables.
#   bench/gprofng.sh [--large] BUILD_DIR
# --large: 10 M samples too. Files are written to $TMPDIR. STACKS="..." and RUNS=... in the environment override the numbers.
set -eu -o pipefail
large=
[ "${1:-}" != --large ] || { large=1 && shift; }
[ $# -eq 1 ] || { sed -n '2,4s/^# *//p' "$0" >&2; exit 1; }
command -v gprofng >/dev/null || { echo "bench/gprofng.sh needs gprofng (binutils)" >&2; exit 1; }
bin=$(realpath "$1")/bin
runs=${RUNS:-5}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
libc=$(ldd "$bin/ctxan" | awk '/libc\.so/ { print $3 }')
sqlite=$(ldd "$bin/ctxan" | awk '/libsqlite3/ { print $3 }')

# Runs a command; bin/measure adds "CPU-seconds peak-MB elapsed-seconds read-bytes" to the file NAME.
measured() {
	local name=$1
	shift
	timeout 900 "$bin/measure" "$name" "$@" >"$name.out" 2>"$name.err" || echo failed >>"$name"
}

median() { # of a column of a file
	[ -s "$1" ] || { echo "-" && return; }
	awk -v c="$2" '$1 != "failed" { print $c }' "$1" | sort -n |
		awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "failed" }'
}

number() { # VALUE DIGITS; other text is kept
	awk -v v="$1" -v d="$2" 'BEGIN { if (v + 0 == v) printf "%.*f", d, v; else printf "%s", v }'
}
ratio() { # of two values
	awk -v a="$1" -v b="$2" 'BEGIN { if (a + 0 == a && b + 0 == b && b > 0) printf "%.*f", a / b < 10, a / b; else printf "-" }'
}

# The comparison is valid only if both totals are equal.
same_total() {
	local theirs ours
	theirs=$(awk '/<Total>/ { print $1; exit }' functions.out)
	ours=$(awk '/<Total>/ { print $1; exit }' first.out)
	[ "$theirs" = "$ours" ] || { echo "totals differ: gprofng $theirs, ctxan $ours" >&2; exit 1; }
}

compare() { # SAMPLES STACKS RUNS [ctxan's options...]
	local samples=$1 stacks=$2 runs=$3
	shift 3
	rm -rf x.er functions callers first second first-callers second-callers
	"$bin/gen_gprofng" --samples "$samples" --stacks "$stacks" --object "$bin/ctxan" --object "$libc" --map "$sqlite" -o x.er
	cat x.er/* >/dev/null 2>&1 || true # into the page cache
	for run in $(seq "$runs"); do
		measured functions gprofng display text -functions x.er
		# Takes minutes with very many stacks: run once then.
		[ "$stacks" -gt 20000 ] && [ "$run" -gt 1 ] || measured callers gprofng display text -callers-callees x.er
		rm -f x.db && measured first "$bin/ctxan" -q x.er --db x.db -r functions "$@"
		same_total
		measured second "$bin/ctxan" -q x.er --db x.db -r functions "$@"
		measured second-callers "$bin/ctxan" -q x.er --db x.db -r callers-callees "$@"
		rm -f x.db && measured first-callers "$bin/ctxan" -q x.er --db x.db -r callers-callees "$@"
	done
	local f c o s oc sc
	f=$(median functions 1) c=$(median callers 1) o=$(median first 1) s=$(median second 1)
	oc=$(median first-callers 1) sc=$(median second-callers 1)
	echo "| $(number "$(awk -v n="$samples" 'BEGIN { print n / 1e6 }')" 0) M | $stacks$([ $# -eq 0 ] || echo ", ctxan $*")" \
		"| $(number "$f" 2) | $(number "$(median functions 2)" 0) | $(number "$c" 2) | $(number "$(median callers 2)" 0)" \
		"| $(number "$o" 3) | $(number "$(median first 2)" 0) | $(number "$s" 4) | $(number "$oc" 3) | $(number "$sc" 4)" \
		"| $(number "$(stat -c %s x.db | awk '{ print $1 / 1e6 }')" 1)" \
		"| **$(ratio "$f" "$o")** | **$(ratio "$f" "$s")** | $(ratio "$c" "$oc") | $(ratio "$c" "$sc") | $(ratio "$(median functions 2)" "$(median first 2)") |"
}

cat <<'TABLE'
| samples | distinct stacks | gprofng -functions, CPU s | peak MB | gprofng -callers-callees, CPU s | peak MB | ctxan -r functions, first, CPU s | peak MB | second, CPU s | -r callers-callees, first, CPU s | second, CPU s | database MB | -functions : first | -functions : second | -callers-callees : first | -callers-callees : second | peak : peak |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
TABLE
for stacks in ${STACKS:-200 5000 100000}; do
	compare 1000000 "$stacks" "$runs"
done
compare 1000000 5000 "$runs" --debug-root /nonexistent
[ -z "$large" ] || compare 10000000 5000 1
