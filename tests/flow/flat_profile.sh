# Sourced by record_perf.sh, record_perf_kept.sh and testdata/answers/make.sh: the flat profile of an experiment next to the one of a
# recording that perf made of another run of the same command. NAME.out and NAME.perf_out end with what the shell's "times" printed; NAME.perf and
# NAME.perf_samples are what `perf report` printed.

# record_both NAME COMMAND: NAME.er and NAME.data.
record_both() {
	ctxrec -q -O -F 999 -o $1.er -- sh -c "$2; times" >$1.out || fail "$1: ctxrec"
	perf record -q -e cpu-clock -F 999 -g -o $1.data -- sh -c "$2; times" >$1.perf_out 2>/dev/null || fail "$1: perf"
}

# say_perf NAME: perf's reports of NAME.data.
say_perf() {
	perf report -i $1.data --stdio --no-children -g none -F overhead,sym --percent-limit 0 2>/dev/null >$1.perf
	perf report -i $1.data --stdio --no-children -g none -n -F sample 2>/dev/null >$1.perf_samples
}

# "percent name" lines, largest first. Where there is no symbol perf prints the bare address, and ctxan <static>@0x.. if the
# unwind tables know the function: here both are <Unknown>. Clones and outlined parts are their function's.
ours() { ctxan -q "$1" -r functions --no-inlines --limit 0 --format json | jq -r '.weight as $w | .rows[] | select(.function != "<Total>") | "\(100 * .exclusive / $w) \(.function)"' |
	sed -E 's/<(static|Unknown)>@0x[-0-9a-fx]*$/<Unknown>/; s/ \[[a-z0-9_.]*\]$//'; }
theirs() { sed -n 's/^ *\([0-9.]*\)% *\[[.k]\] \(.*[^ ]\) *$/\1 \2/p' "$1" |
	awk '{ p = $1; sub(/^[^ ]* /, ""); if ($0 ~ /^0x[0-9a-f]*$/) $0 = "<Unknown>"
		sub(/(\.(cold|part|isra|constprop|clone)(\.[0-9]+)?)+$/, ""); t[$0] += p } END { for (s in t) print t[s], s }' | sort -rn; }

# CPU seconds of what a shell has waited for, from what its "times" printed last: "0m1.234s 0m0.056s".
seconds() { tail -n 1 "$1" | awk '{ for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); s += 60 * t[1] + t[2] } print s }'; }

# compare_flat NAME [FUNCTIONS]: FUNCTIONS is a file with the names that are compared, one a line; without it the hottest are.
# Samples are compared for each CPU second: on a machine that has other work the same program takes 1.5 s now and 1.9 s then.
compare_flat() {
	name=$1
	ours $name.er >$name.ours
	theirs $name.perf >$name.theirs
	n=$(ctxan -q $name.er -r functions --format json | jq .samples)
	m=$(awk '$1 ~ /^[0-9]+$/ { s += $1 } END { print s + 0 }' $name.perf_samples)
	near "$name: samples of a second next to perf's" "$(echo "$n $(seconds $name.out)" | awk '{ print $1 / $2 }')" "$(echo "$m $(seconds $name.perf_out)" | awk '{ print $1 / $2 }')" 15
	if [ $# -gt 1 ]; then
		awk 'NR == FNR { wanted[$0] = 1; next } { p = $1; sub(/^[^ ]* /, ""); if ($0 in wanted) print p, $0 }' "$2" $name.theirs >$name.compared
	else
		head -n 6 $name.theirs >$name.compared
	fi
	[ -s $name.compared ] || fail "$name: perf has no function that can be compared"
	# The shares agree within five standard deviations of two such samples, and 2 % for drift.
	while read -r percent symbol; do
		mine=$(awk -v s="$symbol" '{ p = $1; sub(/^[^ ]* /, ""); if ($0 == s) t += p } END { print t + 0 }' $name.ours)
		awk -v a="$mine" -v b="$percent" -v n="$n" 'BEGIN {
			d = a - b; if (d < 0) d = -d
			p = (a + b) / 200; limit = 2 + 500 * sqrt(2 * p * (1 - p) / n)
			exit !(d <= limit) }' ||
			echo "$symbol: $mine % here, $percent % with perf"
	done <$name.compared >$name.differences
	[ ! -s $name.differences ] || fail "$name: $(cat $name.differences)"
	echo "$name: $n samples here, $m with perf; hottest: $(head -n 1 $name.ours) / $(head -n 1 $name.theirs)"
}
