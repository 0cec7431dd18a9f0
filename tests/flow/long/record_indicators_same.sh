# ctxrec --indicator counts what valgrind, gdb and perf count; the program and its text are as before when ctxrec is killed, however often.
. "$(dirname "$0")/../common.sh" "$@"
need jq gcc gdb valgrind perf objdump
need_perf
[ "$(id -u)" = 0 ] && need_tracefs || skip "uprobes: root and tracefs are needed"
targets=$source_dir/testdata/targets
gcc -O2 -g "$targets/indicators.c" -o ind -pthread || exit 1
count() { ctxan run.er -r indicators --format json | jq --arg i "$1" '[.rows[] | select(.indicator == $i) | .count] | add'; }

ctxrec -q -O -o run.er --indicator leaf --indicator often --indicator seldom --indicator with_two_inlined --indicator counter:rw -- ./ind >/dev/null || fail "ctxrec"
# Calls, by valgrind: the sum of "calls=N" behind each "cfn=" of the function.
valgrind --tool=callgrind --callgrind-out-file=calls.out ./ind >/dev/null 2>valgrind.txt || fail "valgrind: $(tail -n 3 valgrind.txt)"
for function in leaf often seldom with_two_inlined; do
	theirs=$(callgrind_annotate --tree=none --show-percs=no calls.out >/dev/null 2>&1; awk -v f="$function" '
		/^c?fn=/ { match($0, /\([0-9]+\)/); id = substr($0, RSTART, RLENGTH); rest = substr($0, RSTART + RLENGTH + 1); if (rest != "") name[id] = rest; if (/^cfn=/) called = name[id] }
		/^calls=/ { split(substr($0, 7), n, " "); if (called == f) sum += n[1] } END { print sum + 0 }' calls.out)
	[ "$(count $function)" = "$theirs" ] || fail "$function: $(count $function), valgrind $theirs"
done
# Hits of a breakpoint, by gdb.
theirs=$(gdb -batch -ex 'break *leaf' -ex 'ignore 1 1000000' -ex run -ex 'info breakpoints' ./ind 2>/dev/null | awk '/already hit/ { print $4 }')
[ "$(count leaf)" = "$theirs" ] || fail "leaf: $(count leaf), gdb $theirs"
# The same where entries have room and count by themselves.
gcc -O2 -g -fpatchable-function-entry=5 "$targets/indicators.c" -o room -pthread || exit 1
for function in leaf often seldom with_two_inlined; do
	eval "kernel_$function=$(count $function)"
done
ctxrec -q -O -o run.er --indicator leaf --indicator often --indicator seldom --indicator with_two_inlined -- ./room >/dev/null || fail "ctxrec: in memory"
for function in leaf often seldom with_two_inlined; do
	eval "theirs=\$kernel_$function"
	[ "$(count $function)" = "$theirs" ] || fail "$function in memory: $(count $function), as valgrind says $theirs"
done
ctxan run.er -r indicators --format json | jq -e '[.rows[] | .mechanism] | unique == ["in-process counter"]' >/dev/null || fail "not in memory: $(ctxan run.er -r indicators)"
ctxrec -q -O -o run.er --indicator counter:rw -- ./ind >/dev/null || fail "ctxrec: data"
# Accesses, by perf: of a program at a fixed address.
gcc -O2 -g -no-pie -fno-pie "$targets/indicators.c" -o fixed -pthread
address=$(nm fixed | awk '$3 == "counter" { print $1 }')
theirs=$(perf stat -x, -e "mem:0x$address/8:rw:u" ./fixed 2>&1 >/dev/null | awk -F, '/mem:/ { print $1 }')
[ "$(count counter:rw)" = "$theirs" ] || fail "counter: $(count counter:rw), perf $theirs"

# Processes that fork while they are young, in a library: none loses its uprobe (uprobe_guard.h).
cat >nest.c <<'END'
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile double sum;
static void work(void)
{
	for (int i = 0; i < 200; i++) {
		sum += cbrt(i + 0.5);
		if (i % 20 == 0)
			usleep(200);
	}
}
static void nest(int depth)
{
	work();
	if (depth == 0)
		return;
	for (int i = 0; i < 2; i++) {
		if (fork() == 0) {
			nest(depth - 1);
			_exit(0);
		}
	}
	work();
	while (wait(NULL) > 0)
		;
}
int main(void)
{
	nest(3);
	return 0;
}
END
gcc -O1 nest.c -o nest -lm
for i in $(seq 30); do
	ctxrec -q -O -o run.er --states off --indicator libm.so:cbrt -- ./nest || fail "nested forks: ctxrec"
	[ "$(count libm.so:cbrt)" = 4400 ] || fail "nested forks, run $i: $(count libm.so:cbrt) of 4400, $(ctxan run.er -r header | grep forked)"
done

# Killed at any time, ctxrec leaves no trap, and the program goes on.
cat >loop.c <<'END'
#include <stdio.h>
#include <unistd.h>
volatile long sum;
__attribute__((noinline, noclone)) long leaf(long n) { sum += n; return n + 1; }
int main(void)
{
	const volatile unsigned char *code = (const unsigned char *)leaf;
	FILE *result;
	long i = 0;

	printf("%d\n", (int)getpid());
	fflush(stdout);
	for (; access("killed", F_OK) != 0; i++) {
		leaf(i);
		usleep(20);
	}
	usleep(200000); /* the kernel closes what the recorder had open */
	for (int k = 0; k < 1000; k++)
		leaf(i++);
	result = fopen("result", "w");
	fputs(sum != i * (i - 1) / 2 ? "wrong sum" : code[0] == 0xcc ? "a trap is left" : "fine", result);
	return fclose(result);
}
END
gcc -O1 -no-pie -fno-pie loop.c -o loop
runs=0
for i in $(seq 200); do
	rm -f killed pid.txt result
	ctxrec -q -O -o killed.er --indicator leaf --indicator leaf%return --indicator sum:w -- ./loop >pid.txt 2>err.txt &
	recorder=$!
	sleep "0.$((i % 5))$((i % 10))"
	kill -9 $recorder 2>/dev/null
	wait $recorder 2>/dev/null
	: >killed
	pid=$(head -n 1 pid.txt)
	[ -z "$pid" ] && continue # it was killed before the program ran, or took it along
	for try in $(seq 100); do [ -e result ] && break; sleep 0.05; done
	runs=$((runs + 1))
	grep -q fine result || fail "run $i: $(cat result 2>&1)"
done
echo "of 200 kills $runs were while the program ran"
rm -f killed
: >killed
./loop >/dev/null || fail "after 200 kills: exit status $?"
ctxrec -q -O -o run.er --indicator leaf -- ./loop >/dev/null || fail "after 200 kills: ctxrec"
grep -q 'ctxrec_' /sys/kernel/tracing/uprobe_events && fail "definitions of killed recorders are left"
finish
