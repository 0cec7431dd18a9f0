# How long threads are in their states, against the clocks that the programs read themselves, on fresh recordings: ctxrec's, an ordinary user's, perf's. A busy
# neighbour or a hypervisor that takes the CPU moves these; the same comparison of kept recordings is flow.states_kept.
. "$(dirname "$0")/../common.sh" "$@"
need python3 perf setpriv
need_perf
[ "$(id -u)" = 0 ] || skip "wake-ups, and an ordinary user beside them, need root"
need_tracefs || skip "$tracefs_is_missing"
flow=$source_dir/tests/flow
programs=$build/bin/examples

# measure LEVEL PHASE...: of the program `states`.
measure() {
	level=$1
	shift
	ctxrec -q -O --states "$level" -o "$level.er" -- states "$@" >"$level.out" &&
		python3 "$flow/record_states.py" "$level" "$level.out" "$level.er" --measured
}
repeat 3 measure full || fail "states, full"
repeat 3 measure syscalls burn nap lock system || fail "states, syscalls"
repeat 3 measure min || fail "states, min"

mkdir user && chown 65534 user && chmod 755 "$work"
measure_as_user() {
	(cd user && setpriv --reuid=65534 --regid=65534 --clear-groups ctxrec -q -O --no-archive -o user.er -- "$programs/states" >user.out) &&
		python3 "$flow/record_states.py" user user/user.out user/user.er --measured
}
repeat 3 measure_as_user || fail "states, user"

tell() {
	ctxrec -q -O -o "$1.er" -- "$1" >"$1.out" && python3 "$flow/record_lock_stories.py" "$1" "$1.out" "$1.er" --measured
}
for story in lock_convoy producer_consumer priority_inversion; do
	repeat 3 tell $story || fail "$story"
done

# perf's own recording of switches. Without "stop": perf takes a command that is stopped for one that has ended.
measure_perf() {
	perf record -e cpu-clock/freq=499/ -e sched:sched_switch --switch-events --call-graph dwarf,4096 -m 16M -o perf.data -- \
		states burn nap input lock data code text kernel compete system trap >perf.out 2>perf.err || { cat perf.err; return 1; }
	if grep lost perf.err; then return 1; fi
	python3 "$flow/record_states.py" perf perf.out perf.data --measured
}
repeat 3 measure_perf || fail "states, perf"
finish
