# Sourced by record_unwind_share.sh and unwind_kept.sh: how many samples of an experiment made with --keep-stacks reach their thread's root, and whether
# libdw makes the same of the same registers and copied stacks.

# is_at_least WHAT VALUE LIMIT
is_at_least() { awk -v v="$2" -v l="$3" 'BEGIN { exit !(v >= l) }' || fail "$1: $2 is less than $3"; }

# check_unwound NAME SAMPLES: NAME.er, which has at least so many samples. Sets samples, root (%) and joined.
check_unwound() {
	ctxan -q $1.er -r functions --format json --limit 0 >$1.json || fail "$1: ctxan"
	samples=$(jq '.samples' $1.json)
	root=$(jq '([.rows[] | select(.function | startswith("<Truncated-stack")) | .inclusive] | add // 0) as $t | 100 * (1 - $t / .weight)' $1.json)
	joined=$(ctxan -q $1.er -r header | sed -n 's/^unwinding .*(\([0-9]*\) with callers of.*/\1/p')
	is_at_least "$1: samples" "$samples" "$2"
	# 98 %, less two standard errors of that many samples: chance must not decide.
	is_at_least "$1: % of samples to the root" "$root" "$(echo "$samples" | awk '{ print 98 - 200 * sqrt(0.98 * 0.02 / $1) }')"
}

# compare_with_libdw NAME: sets agreement (%), alone (% to the root without callers taken over), ours and theirs (frames per CPU second).
compare_with_libdw() {
	unwind_compare $1.er >$1.compare || fail "$1: unwind_compare"
	agreement=$(sed -n 's/^explained: .*agreement \([0-9.]*\) %$/\1/p' $1.compare)
	alone=$(awk '$1 == "ours" { print $7 }' $1.compare)
	ours=$(awk '$1 == "ours" { print $4 }' $1.compare)
	theirs=$(awk '$1 == "libdw" { print $4 }' $1.compare)
	compared=$(awk '$1 == "samples" { print $2 + 0 }' $1.compare)
	is_at_least "$1: compared stacks" "$compared" $((samples * 9 / 10))
	is_at_least "$1: % as libdw" "${agreement:-0}" 99
	echo "$1: $(grep '^identical' $1.compare), $(grep '^explained' $1.compare)"
}
