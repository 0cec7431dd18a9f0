# Sourced by record_migrates.sh, record_migrates_shares.sh and record_migrates_kept.sh: migrates.er is a recording of testdata/targets/migrates.c, and
# migrates.out is the program's own output.

# used CPU: User CPU + System CPU, ns.
used() { ctxan -q migrates.er -r states "$@" --format json | jq '.rows[] | select(.thread_id == null) | .user + .system'; }
# of FUNCTION CPU: the same of a function, inclusive.
of() {
	name=$1
	shift
	for metric in user system; do
		ctxan -q --db migrates.plain.db migrates.er -r functions --no-inlines --limit 0 --metric $metric "$@" --format json |
			jq --arg f "$name" '[.rows[] | select(.function == $f) | .inclusive] | add // 0'
	done | awk '{ sum += $1 } END { printf "%.0f\n", sum }'
}
processors() { jq 'select(.used) | .cpu' migrates.out; }

# Sums, exactly: the processors are the whole, and so are halves of the run by processor.
check_migrates_sums() {
	sum=0
	for cpu in $(processors); do
		sum=$((sum + $(used --cpu "$cpu")))
	done
	[ "$sum" = "$(used)" ] || fail "the processors have $sum ns, the whole $(used)"
	end=$(ctxan -q migrates.er -r header --format json | jq '.intervals_ns[0][1]')
	half=$((end / 2))
	parts=0
	for cpu in $(processors); do
		for part in "0ns:${half}ns" "${half}ns:${end}ns"; do
			parts=$((parts + $(used --cpu "$cpu" -i "$part")))
		done
	done
	[ "$parts" = "$(used)" ] || fail "halves by processor have $parts ns, the whole $(used)"
}

# check_migrates_shares TAKEN_NS: next to what the program measured; TAKEN_NS is what the hypervisor took meanwhile.
check_migrates_shares() {
	for cpu in $(processors); do
		own=$(jq --argjson cpu "$cpu" 'select(.used and .cpu == $cpu) | .used' migrates.out)
		near "CPU time on processor $cpu" "$(used --cpu "$cpu")" "$own" 5 "$1"
		near "compute_here on processor $cpu" "$(of compute_here --cpu "$cpu")" "$own" 5 "$1"
	done
	life=$(jq 'select(.phase == "main") | .life_cpu' migrates.out)
	near "CPU time on all processors" "$(used)" "$life" 3 "$1"
	moves=$(jq 'select(.moves) | .moves' migrates.out)
	[ "$moves" -ge 50 ] || fail "only $moves moves"
}
