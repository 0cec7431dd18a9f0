# kill -9 of the recorder in mid-run: all but about the last second is there. record_killed_kept checks the same on a kept recording.
. "$(dirname "$0")/../common.sh" "$@"
need jq
need_perf

record_and_check() {
	failures=0
	rm -f target.pid
	ctxrec -q -O -o killed.er -- sh -c 'echo $$ >target.pid; while :; do :; done' &
	recorder=$!
	while [ ! -s target.pid ]; do sleep 0.1; done
	target=$(cat target.pid)
	while [ "$(awk '{ print $14 + $15 }' "/proc/$target/stat")" -lt 400 ]; do sleep 0.1; done
	kill -9 $recorder
	wait $recorder 2>/dev/null
	kill -9 "$target" 2>/dev/null
	n=$(ctxan -q killed.er -r functions --format json | jq .samples)
	[ "$n" -gt 2400 ] || fail "killed recorder: only $n samples of four seconds"
	[ $failures = 0 ]
}
repeat 3 record_and_check

# At random moments of the first seconds: at most a second is lost.
at_random() { python3 "$source_dir/bench/killed.py" "$build" 20; }
repeat 3 at_random
finish
