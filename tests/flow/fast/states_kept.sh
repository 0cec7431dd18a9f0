# How long threads were in their states, against the clocks that the programs read themselves: kept recordings (testdata/states) of every level, of an ordinary
# user, of perf, of the three stories of locks, and of thread ids that the kernel used again.
. "$(dirname "$0")/../common.sh" "$@"
need python3 xz

# check NAME SCRIPT ARGUMENT...: exit status 77 says that a phase was refused when it was recorded; then it is not in the recording.
check() {
	name=$1 script=$2
	shift 2
	unpack "states/$name"
	python3 "$source_dir/tests/flow/$script.py" "$@" "$name.out" "$name.er" --measured || fail "$name"
}

check full record_states full
check syscalls record_states syscalls
check min record_states min
check user record_states user
for story in lock_convoy producer_consumer priority_inversion; do
	check $story record_lock_stories $story
done
check reuse_tids record_reused_tids

# perf's file; the program and the kernel's names are in a cache, as perf has it.
unpack states/perf
mv ids "$HOME/.debug"
python3 "$source_dir/tests/flow/record_states.py" perf perf.out perf.data --measured || fail "perf"

# Seconds, intervals and processors divide spans.
python3 "$source_dir/tests/flow/spans_divided.py" lock_convoy.er full.er perf.data || fail "spans_divided"
finish
