# Sourced by perfdata_states and perfdata_states_kept: recordings of testdata/targets/waits.c, whole.data by perf sched record, bound.data of the program alone
# with switch records and stacks.

# states_from NAME WANTED: checks the source of the states in the header.
states_from() {
	line=$(ctxan -q "$1.data" -r header | grep -i '^ *states')
	case $line in
	*"$2"*) ;;
	*) fail "$1: header: $line" ;;
	esac
}
headers() {
	states_from whole "from sched:sched_switch; no switch records, no stacks, no clock samples, no syscalls"
	states_from bound "from sched:sched_switch and switch records; no clock samples, no syscalls"
}

# The program sleeps about 4 * 240 ms; its threads run when SWITCH says so.
sleepers() {
	ctxan -q bound.data -r states --format json >bound.json || fail "bound.data"
	python3 - <<'END' || fail "the sleeping thread of bound.data"
import json
rows = [row for row in json.load(open("bound.json"))["rows"] if row["thread"] is not None]
best = max(row["SLEEP"] for row in rows)
assert best > 230e6, rows
assert sum(row["USER_LOCK"] for row in rows) > 100e6, rows
END
}
