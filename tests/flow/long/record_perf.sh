# The flat profile of programs that were not written for this project, next to perf's.
. "$(dirname "$0")/../common.sh" "$@"
need jq perf sqlite3 xz
need_perf

write_query 400000

# "percent name" lines, largest first. Where there is no symbol perf prints the bare address, and ctxan <static>@0x.. if the
# unwind tables know the function: here both are <Unknown>. Clones and outlined parts are their function's.
ours() { ctxan -q "$1" -r functions --format json | jq -r '.weight as $w | .rows[] | select(.function != "<Total>") | "\(100 * .exclusive / $w) \(.function)"' |
	sed -E 's/<static>@0x[0-9a-f]*$/<Unknown>/; s/ \[[a-z0-9_.]*\]$//'; }
theirs() { perf report -i "$1" --stdio --no-children -g none -F overhead,sym --percent-limit 0 2>/dev/null | sed -n 's/^ *\([0-9.]*\)% *\[[.k]\] \(.*[^ ]\) *$/\1 \2/p' |
	awk '{ p = $1; sub(/^[^ ]* /, ""); if ($0 ~ /^0x[0-9a-f]*$/) $0 = "<Unknown>"
		sub(/(\.(cold|part|isra|constprop|clone)(\.[0-9]+)?)+$/, ""); t[$0] += p } END { for (s in t) print t[s], s }' | sort -rn; }

# CPU seconds of what a shell has waited for, from what its "times" printed last: "0m1.234s 0m0.056s".
seconds() { tail -n 1 "$1" | awk '{ for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); s += 60 * t[1] + t[2] } print s }'; }

# Samples are compared for each CPU second: on a machine that has other work the same program takes 1.5 s now and 1.9 s then.
compare() {
	failures=0
	name=$1
	shift
	ctxrec -q -O -F 999 -o $name.er -- sh -c "$*; times" >$name.out || fail "$name: ctxrec"
	perf record -q -e cpu-clock -F 999 -g -o $name.data -- sh -c "$*; times" >$name.perf_out 2>/dev/null || fail "$name: perf"
	ours $name.er >$name.ours
	theirs $name.data >$name.theirs
	n=$(ctxan -q $name.er -r functions --format json | jq .samples)
	m=$(perf report -i $name.data --stdio --no-children -g none -n -F sample 2>/dev/null | awk '$1 ~ /^[0-9]+$/ { s += $1 } END { print s + 0 }')
	near "$name: samples of a second next to perf's" "$(echo "$n $(seconds $name.out)" | awk '{ print $1 / $2 }')" "$(echo "$m $(seconds $name.perf_out)" | awk '{ print $1 / $2 }')" 15
	# The shares of the hottest functions agree within five standard deviations of two such samples, and 2 % for drift.
	head -n 6 $name.theirs | while read -r percent symbol; do
		mine=$(awk -v s="$symbol" '{ p = $1; sub(/^[^ ]* /, ""); if ($0 == s) t += p } END { print t + 0 }' $name.ours)
		awk -v a="$mine" -v b="$percent" -v n="$n" 'BEGIN {
			d = a - b; if (d < 0) d = -d
			p = (a + b) / 200; limit = 2 + 500 * sqrt(2 * p * (1 - p) / n)
			exit !(d <= limit) }' ||
			echo "$symbol: $mine % here, $percent % with perf"
	done >$name.differences
	[ ! -s $name.differences ] || fail "$name: $(cat $name.differences)"
	echo "$name: $n samples here, $m with perf; hottest: $(head -n 1 $name.ours) / $(head -n 1 $name.theirs)"
	[ $failures = 0 ]
}

three_times compare sqlite 'sqlite3 :memory: <query.sql' || finish
three_times compare xz 'xz -3 -c rows.csv >rows.xz'
finish
