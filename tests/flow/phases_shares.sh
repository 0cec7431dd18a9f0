# Sourced by record_phases_shares.sh and record_phases_kept.sh: the shares of time that a recording of testdata/phases.c must show, in the whole run
# and in intervals.

# The shares are those of compiled functions: the code that burns time is inlined into all of them.
json() { ctxan -q "$experiment" --no-inlines --format json "$@"; }
# The functions that burn time call nothing but the clock. On a busy machine the kernel interrupts and switches them: its own functions have that time,
# and the share of the function with them below is the one that is known: shares=inclusive. In a recording of an idle machine it is shares=exclusive.
percent() { json -r functions "$@" >f.json; jq -r --arg f "$name" --arg shares "$shares" '([.rows[] | select(.function == $f) | .[$shares]] | add // 0) * 100 / .weight' f.json; }
inclusive() { json -r functions "$@" >f.json; jq -r --arg f "$name" '([.rows[] | select(.function == $f) | .inclusive] | add // 0) * 100 / .weight' f.json; }
within() { awk -v v="$2" -v e="$3" -v t="$4" 'BEGIN { d = v - e; exit !(d <= t && -d <= t) }' || fail "$1: $2 % instead of $3 %"; }

# check_phases_shares EXPERIMENT TAKEN_NS exclusive|inclusive: TAKEN_NS is what the hypervisor took meanwhile.
check_phases_shares() {
	experiment=$1
	taken=$2
	shares=$3

	# Shares of all CPU time, as the head of phases.c states them.
	for line in work_a:46.7 work_b:20 multiply:13.3 phase_report:10 tokenize:6.7 build_ast:3.3; do
		name=${line%%:*}
		within "$name in the whole run" "$(percent)" "${line#*:}" 3
	done
	total=$(json -r functions | jq .weight)
	near "CPU time of three seconds" "$total" 3000000000 5 "$taken"

	# Threads: one third each; the workers' shares.
	for t in 0 1 2; do
		near "thread $t" "$(json -r functions --thread $t | jq .weight)" 1000000000 6 "$taken"
	done
	for worker in worker-1 worker-2; do
		name=work_a
		within "work_a in $worker" "$(percent --thread $worker)" 70 5
		name=work_b
		within "work_b in $worker" "$(percent --thread $worker)" 30 5
	done

	# Phases of the main thread, by intervals: the phase ends where the thread has used 300 and 700 ms of CPU time.
	ctxan -q "$experiment" --sql 'select time_ns from samples where thread = 0 and metric = 0 order by time_ns' | sed 1d >times
	n=$(wc -l <times)
	t1=$(sed -n "$((n * 30 / 100))p" times)
	t2=$(sed -n "$((n * 70 / 100))p" times)
	for line in "phase_parse 0ns:${t1}ns" "phase_solve ${t1}ns:${t2}ns" "phase_report ${t2}ns:"; do
		name=${line% *}
		within "$name in its interval" "$(inclusive --thread 0 -i "${line#* }")" 100 4
	done
	name=tokenize
	within "tokenize in the first phase" "$(percent --thread 0 -i 0ns:${t1}ns)" 66.7 7

	# The recursion of the second phase: five deep, counted once.
	name=solve_step
	within "solve_step in the second phase" "$(inclusive --thread 0 -i ${t1}ns:${t2}ns)" 100 4
	name=multiply
	within "multiply in the second phase" "$(inclusive --thread 0 -i ${t1}ns:${t2}ns)" 100 4
}
