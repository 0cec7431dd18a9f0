# What kept recordings (testdata/states) waited for: the program `states` waits in each phase for a known thing in a known function; and the waits are all
# the waiting that the states have, in any interval.
. "$(dirname "$0")/../common.sh" "$@"
need jq xz

rows() { ctxan -q "$@" -r waits --format json --limit 0; }
# kind RECORDING CALLER KIND: all waits of the caller are of this kind, and there are some.
kind() {
	kinds=$(jq -r --arg f "$2" '[.rows[] | select(.caller == $f and .state != "STOPPED").kind] | unique | join(",")' "$1.json")
	[ "$kinds" = "$3" ] || fail "$1: $2 waits for '$kinds', not for '$3'"
}

for level in full syscalls min; do
	unpack states/$level
	rows $level.er >$level.json || fail "$level"
	kind $level nap timer
	kind $level wait_for_lock mutex
	kind $level finish join
done
for level in full min; do
	kind $level wait_for_input pipe
	kind $level touch_late_pages "page fault"
	kind $level serve_pages poll,timer
	kind $level wait_for_waiter timer
done
# An ordinary user's recording has no stacks of waits.
unpack states/user
rows user.er | jq -e '[.rows[] | .kind, .caller] == ["other", null, "start", null]' >one.txt || fail "user: $(rows user.er)"
# That the recorder was not ready is no wait of the program.
for level in full min user; do
	rows $level.er | jq -e '[.rows[] | select(.kind == "start") | .waits == 1 and .max_ns == .wait_ns and .caller == null] == [true]' >one.txt || fail "$level: start"
	rows $level.er -i 100: | jq -e '[.rows[] | select(.kind == "start")] == []' >one.txt || fail "$level: start after 100 ms"
done
# Who ended them is known only where wakers were recorded.
[ "$(jq '[.rows[] | select(.waker != null)] | length' min.json)" = 0 ] || fail "min: wakers"
[ "$(jq -r '.rows[] | select(.caller == "wait_for_lock").waker' full.json)" = holder ] || fail "full: the lock is not the holder's"
[ "$(jq -r '.rows[] | select(.caller == "wait_for_lock").waker_function' full.json)" = hold_lock ] || fail "full: where the lock was given back"
[ "$(jq -r '.rows[] | select(.caller == "wait_for_input").waker' full.json)" = writer ] || fail "full: the input is not the writer's"

# A static program of musl; perf's recording with the kernel's names of a cache.
unpack recordings/convoy
rows convoy.er >convoy.json || fail "convoy"
[ "$(jq -r '.rows[0] | .kind + " " + .caller' convoy.json)" = "timer work" ] || fail "convoy: $(jq -c '.rows[0]' convoy.json)"

waiting() { ctxan -q "$@" -r states --format json | jq '.rows[0] | .TFAULT + .DFAULT + .KFAULT + .USER_LOCK + .SLEEP + .STOPPED'; }
for recording in full.er min.er user.er convoy.er; do
	for interval in : 10%:20% 300:700 99%:; do
		states=$(waiting $recording -i $interval)
		waits=$(ctxan -q $recording -r waits -i $interval --format json --limit 0 | jq '[.rows[].wait_ns] | add // 0')
		[ "$states" = "$waits" ] || fail "$recording $interval: $states ns of waiting in states, $waits in waits"
	done
done
locks=$(ctxan -q full.er -r waits --metric lock --format json | jq '[.rows[].wait_ns] | add')
[ "$locks" = "$(ctxan -q full.er -r states --format json | jq '.rows[0].USER_LOCK')" ] || fail "waits of one metric: $locks"
ctxan -q full.er -r waits=wait_for_lock --format json | jq -e '.rows | length == 1 and .[0].kind == "mutex"' >one.txt || fail "waits=FUNCTION"
ctxan -q phases.er -r waits 2>err.txt && fail "waits of nothing"
finish
