# A budget for recording waits: a program that waits thousands of times at three places, with as few copies of stacks as possible. Each wait has its right
# stack, or one that says that it is not known; times, counts and sums are those of every switch. How much is recognised depends on the machine.
. "$(dirname "$0")/../common.sh" "$@"
need python3
need_perf
need_tracefs || leave_out "states full: $tracefs_is_missing"

for states in full min; do
	ctxrec -q -O --budget 0 --states $states -o $states.er -- wait_places >$states.out 2>$states.err || {
		leave_out "states $states are refused here: $(head -n 1 $states.err)"
		continue
	}
	python3 "$source_dir/tests/flow/record_budget.py" $states.out $states.er || fail "states $states"
done

ctxrec -q -O --budget off -o off.er -- wait_places 100 >off.out 2>off.err || fail "--budget off: $(head -n 1 off.err)"
! ctxan -q off.er -r header | grep -q -- --budget || fail "--budget off: stacks were sampled"
expect 1 "budget" ctxrec --budget 10%5 -- true
expect 1 "budget" ctxrec --budget -1 -- true
finish
