# What threads do, of perf.data with scheduler events, is what perf sched timehist says of the same file, recorded here.
. "$(dirname "$0")/../common.sh" "$@"
need perf python3 cc
. "$source_dir/tests/flow/perfdata_states_kinds.sh"

cc -O1 -g -fno-omit-frame-pointer -pthread -o waiting-here "$source_dir/testdata/targets/waits.c" || fail "the program"

perf sched record -o whole.data -- ./waiting-here >record.out 2>&1 ||
	skip "perf sched record is refused here: $(grep -v '^$' record.out | head -n 1)"
perf sched timehist -i whole.data --state >/dev/null 2>&1 || skip "this perf has no perf sched timehist --state"

# On a busy machine a file lacks switches that nobody can know of; then both guess, and it is recorded anew.
recorded_and_compared() {
	perf sched record -o whole.data -- ./waiting-here >record.out 2>&1 || fail "perf sched record: $(head -n 1 record.out)"
	python3 "$source_dir/tests/flow/perfdata_states.py" whole.data waiting-here
	status=$?
	return $status
}
repeat 5 recorded_and_compared ||
	if [ $status = 77 ]; then
		leave_out "every thread of whole.data lacks switches"
	else
		fail "perf sched timehist says something else"
	fi

perf record -q -g --switch-events -e sched:sched_switch -e sched:sched_waking -o bound.data -- ./waiting-here >record.out 2>&1 || {
	leave_out "perf record of tracepoints is refused here: $(head -n 1 record.out)"
	finish
}
headers
sleepers
finish
