# A thread that moves between two processors: what it used is apportioned to each as it measured itself, and both are the whole.
. "$(dirname "$0")/../common.sh" "$@"
need jq
need_perf

# used CPU: User CPU + System CPU, ns.
used() { ctxan -q migrates.er -r states "$@" --format json | jq '.rows[] | select(.thread_id == null) | .user + .system'; }
# of FUNCTION CPU: the same of a function, inclusive.
of() {
	name=$1
	shift
	for metric in user system; do
		ctxan -q migrates.er -r functions --no-inlines --limit 0 --metric $metric "$@" --format json |
			jq --arg f "$name" '[.rows[] | select(.function == $f) | .inclusive] | add // 0'
	done | awk '{ sum += $1 } END { printf "%.0f\n", sum }'
}

record_and_check() {
	failures=0
	before=$(stolen)
	ctxrec -q -O -o migrates.er -- migrates >migrates.out || fail "recording"
	taken=$(($(stolen) - before))
	grep -q refused migrates.out && skip "$(jq -r 'select(.refused) | .refused' migrates.out)"

	sum=0
	for cpu in $(jq 'select(.used) | .cpu' migrates.out); do
		own=$(jq --argjson cpu "$cpu" 'select(.used and .cpu == $cpu) | .used' migrates.out)
		near "CPU time on processor $cpu" "$(used --cpu "$cpu")" "$own" 5 "$taken"
		near "compute_here on processor $cpu" "$(of compute_here --cpu "$cpu")" "$own" 5 "$taken"
		sum=$((sum + $(used --cpu "$cpu")))
	done
	[ "$sum" = "$(used)" ] || fail "the processors have $sum ns, the whole $(used)"
	life=$(jq 'select(.phase == "main") | .life_cpu' migrates.out)
	near "CPU time on all processors" "$(used)" "$life" 3 "$taken"
	moves=$(jq 'select(.moves) | .moves' migrates.out)
	[ "$moves" -ge 50 ] || fail "only $moves moves"
	# Halves of the run by processor are the whole too.
	end=$(ctxan -q migrates.er -r header --format json | jq '.intervals_ns[0][1]')
	half=$((end / 2))
	parts=0
	for cpu in $(jq 'select(.used) | .cpu' migrates.out); do
		for part in "0ns:${half}ns" "${half}ns:${end}ns"; do
			parts=$((parts + $(used --cpu "$cpu" -i "$part")))
		done
	done
	[ "$parts" = "$(used)" ] || fail "halves by processor have $parts ns, the whole $(used)"
	[ $failures = 0 ]
}
three_times record_and_check
finish
