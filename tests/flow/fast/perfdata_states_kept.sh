# What threads do, of kept perf.data with scheduler events (testdata/perfdata), is what perf sched timehist said of the same file.
. "$(dirname "$0")/../common.sh" "$@"
need python3 xz
. "$source_dir/tests/flow/perfdata_states_kinds.sh"

unpack perfdata/states
python3 "$source_dir/tests/flow/perfdata_states.py" whole.data waiting-here >said.txt || fail "perf sched timehist said something else"
cat said.txt
grep -q '^whole.data: 5 threads of 5 compared' said.txt || fail "threads are left out"
headers
sleepers
finish
