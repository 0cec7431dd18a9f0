# ctxrec --calls where the recorder does not read for a while, so that the ring of the program is full: what is lost is located, and with what was recorded is all that the
# program did. Killed then, it has lost the rest.
. "$(dirname "$0")/../common.sh" "$@"
need jq gcc
need_runtime

cat >fill.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
volatile long sink;
__attribute__((noinline)) void leaf(void) { sink++; }
__attribute__((noinline)) void burst(long n) { while (n-- != 0) leaf(); }
__attribute__((noinline)) void after(void) { leaf(); }
int main(int argc, char **argv)
{
	char c;

	burst(1000);
	if (write(1, "ready\n", 6) != 6 || read(0, &c, 1) != 1)
		return 1;
	burst(300000);
	if (write(1, "done\n", 5) != 5 || (argc == 1 && read(0, &c, 1) != 1))
		return 1;
	if (argc > 1)
		raise(SIGKILL);
	for (int i = 0; i < 10; i++)
		after();
	return 0;
}
END
gcc -O1 -g -finstrument-functions fill.c -o fill

# record NAME ARGUMENT...: ctxrec is stopped while the program calls leaf 300,000 times.
record() {
	er=$1.er
	shift
	mkfifo in out
	ctxrec -q -O -o "$er" --memory 4m --calls --trace-full drop -- ./fill "$@" <in >out 2>err.txt &
	recorder=$!
	exec 3>in 4<out
	read -r word <&4
	kill -STOP $recorder
	printf g >&3
	read -r word <&4
	size=$(stat -c %s "$er/callevents" 2>/dev/null || echo 0)
	kill -CONT $recorder
	# What was in the ring is written: there is room again.
	for _ in $(seq 300); do
		[ "$(stat -c %s "$er/callevents" 2>/dev/null || echo 0)" -gt "$((size + 1000))" ] && break
		sleep 0.1
	done
	[ $# != 0 ] || printf g >&3
	exec 3>&- 4<&-
	wait $recorder || true
	rm in out
}
# The words: main, 2 times burst, 301000 times leaf; after and leaf 10 times each.
all=$((2 * (1 + 2 + 301000 + 20)))
lost() { ctxan "$1" --sql 'SELECT coalesce(sum(calls), 0) FROM loss WHERE thread IS NOT NULL AND end_ns > begin_ns' | tail -n 1; }
# Begins, and ends that were returns.
seen() { ctxan "$1" --sql 'SELECT count(*) FROM call_event WHERE major = 65 AND minor < 3' | tail -n 1; }

record gone
[ "$(lost gone.er)" -gt 50000 ] || fail "lost: $(lost gone.er), $(cat err.txt)"
[ $(($(lost gone.er) + $(seen gone.er))) = "$all" ] || fail "lost $(lost gone.er), seen $(seen gone.er) of $all"
ctxan gone.er -r tree --format json --limit 0 >tree.json
jq -e '[.rows[] | select(.function == "<Lost-calls>" and .calls == 0)] | length >= 1' tree.json >/dev/null || fail "no <Lost-calls>: $(ctxan gone.er -r tree)"
jq -e '[.rows[] | select(.function == "after") | .calls] | add == 10' tree.json >/dev/null || fail "after: $(ctxan gone.er -r tree)"
jq -e '.losses | all(.thread_id == 0 and .calls == .count and .begin < .end)' tree.json >/dev/null || fail "losses: $(jq -c .losses tree.json)"
begin=$(jq '.losses[0].begin' tree.json)
ctxan gone.er -r tree -i "0:$(echo "$begin" | awk '{ printf "%.6f", $1 / 1e6 }')" | grep -q 'were lost in thread' && fail "lost before $begin"
ctxan gone.er -r tree | grep -q 'begins and ends of calls were lost in thread' || fail "not said: $(ctxan gone.er -r tree)"

record killed x
[ "$(lost killed.er)" -gt 50000 ] || fail "killed: lost $(lost killed.er), $(cat err.txt)"
[ "$(ctxan killed.er --sql 'SELECT max(loss.end_ns) >= thread.end_ns - 1 FROM loss, thread WHERE thread.id = loss.thread' | tail -n 1)" = 1 ] || fail "killed: not to its end"
finish
