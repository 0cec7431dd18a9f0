# A thousand runnable threads: nothing lost, stacks to their root; weights are right while copies of the stack change their size.
. "$(dirname "$0")/../common.sh" "$@"
need gcc jq chrt taskset
need_perf
gcc -O2 -g -o overload "$source_dir/tests/flow/overload.c" -pthread || fail "overload.c"

count() { text "$1/log.xml" | sed -n "s/.*kind=\"unwinding\".* $2=\"\([0-9]*\)\".*/\1/p"; }
lost() { text "$1/log.xml" | grep -o 'kind="lost"[^/]* count="[0-9]*' | sed 's/.*"//' | awk '{ n += $1 } END { print n + 0 }'; }
# record THREADS SECONDS KIND: into KIND.er; the CPU time that the program used is in KIND.out.
record() { ctxrec -q -O -e cpu-clock --no-archive -o "$3.er" -- ./overload "$1" "$2" "$3" >"$3.out" || fail "$3: $?"; }
# weights KIND THREADS SIZES: samples are the CPU time, but for the last part of a period of each thread and each size of copies.
weights() {
	samples=$(ctxan -q "$1.er" -r functions --format json | jq .samples)
	awk -v s="$samples" -v cpu="$(cat "$1.out")" -v n="$2" -v sizes="$3" 'BEGIN {
		p = 1 / 999; d = cpu - s * p; printf "%d samples, %.3f s\n", s, cpu; exit !(d >= -0.03 * cpu && d <= n * sizes * p + 0.03 * cpu) }' >weights.out ||
		fail "$1: $(cat weights.out): not within a period for each thread and size"
}

if nice -n -20 true 2>nice.err && [ ! -s nice.err ] && chrt -f 1 true 2>/dev/null; then
	for kind in same mixed; do
		record 1000 8 $kind
		samples=$(ctxan -q $kind.er -r functions --format json | jq .samples)
		[ "$(lost $kind.er)" = 0 ] || fail "$kind: $(lost $kind.er) records lost"
		awk -v root="$(count $kind.er root)" -v n="$samples" 'BEGIN { exit !(n > 1000 && root >= 0.98 * n) }' ||
			fail "$kind: $(count $kind.er root) of $samples stacks up to their root"
		weights $kind 1000 2
	done
	# A real-time recorder on the target's only processor sleeps between rounds, and does not keep the kernel from taking down what ended.
	cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
	(taskset -c "$cpu" ctxrec -q --realtime 9 --no-archive -o alone.er -- ./overload 8 2 same; times) >alone.out || fail "one processor: $?"
	system=$(tail -n 1 alone.out | sed 's/.* 0m//; s/s$//')
	awk -v s="$system" 'BEGIN { exit !(s < 0.5) }' || fail "one processor: $system s of system time"
	[ "$(lost alone.er)" = 0 ] || fail "one processor: $(lost alone.er) records lost"
else
	leave_out "a higher priority is not allowed here"
fi

# Stacks deeper than the usual copy: it grows.
record 4 5 deep
if text deep.er/log.xml | grep -q 'remark.*65528 bytes of each stack are copied'; then
	[ "$(count deep.er root)" -gt "$(count deep.er copy)" ] || fail "deep: $(count deep.er root) stacks up to their root, $(count deep.er copy) cut"
	weights deep 5 2
else
	leave_out "rings have no room for larger copies here"
fi

finish
