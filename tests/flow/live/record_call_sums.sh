# ctxrec --calls=summary: calls are summed in the program: how often each function was called is what programs count themselves, with each kind of
# hook, threads, longjmp, exceptions, children; seconds are exact; too little memory changes no sums; what needs single calls says that there are none.
. "$(dirname "$0")/../common.sh" "$@"
. "$source_dir/tests/flow/call_counts.sh"
need jq gcc
need_runtime
targets=$source_dir/testdata/targets

try() { try_with '--calls=summary' "$@"; }

for hooks in -finstrument-functions -pg "-pg -mfentry" -fpatchable-function-entry=5; do
	# shellcheck disable=SC2086
	gcc -O2 -g $hooks "$targets/calls.c" -o calls -pthread 2>compiler.txt || { leave_out "gcc $hooks: $(head -n 1 compiler.txt)"; continue; }
	case $hooks in -finstrument-functions | "-pg -mfentry") deep=deep ;; *) deep= ;; esac
	# shellcheck disable=SC2086
	try "gcc $hooks" ./calls $deep
done
g++ -O2 -g -pg -mfentry "$targets/calls_thrown.cc" -o thrown 2>compiler.txt && try thrown ./thrown

# Two threads that call nothing for some seconds: each whole second is theirs to the ns, and all seconds together are the run.
cat >seconds.c <<'END'
#include <pthread.h>
#include <unistd.h>
volatile long sink;
__attribute__((noinline)) void leaf(void) { sink++; }
__attribute__((noinline)) void waits(void) { usleep(2200000); sink++; }
__attribute__((noinline)) void *run(void *x) { leaf(); pause(); sink++; return x; }
int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, run, NULL);
	waits();
	for (int i = 0; i < 1000; i++)
		leaf();
	return 0;
}
END
gcc -O1 -g -finstrument-functions seconds.c -o seconds -pthread
ctxrec -q -O -o seconds.er --calls=summary -- ./seconds || fail "seconds: exit status $?"
ctxan seconds.er -q -r calls -i 1s:2s --format json | jq -e '[.rows[] | select(.section == "function")] | INDEX(.function) |
	.waits.self == 1000000000 and .waits.calls == 0 and .main.total == 1000000000 and .main.self == 0 and .run.self == 1000000000' >/dev/null || fail "a second: $(ctxan seconds.er -r calls -i 1s:2s)"
ctxan seconds.er -q -r calls -i 1200:1300 --format json >part.json 2>part.txt
ctxan seconds.er -q -r calls -i 1s:2s --format json >whole.json
cmp -s part.json whole.json || fail "a part of a second is not that second"
ctxan seconds.er -r calls -i 1200:1300 2>&1 >/dev/null | grep -q 'widened to whole seconds' || fail "it is not said that intervals are widened"
for function in main waits run leaf; do
	sum=0
	for second in 0 1 2 3; do
		part=$(ctxan seconds.er -q -r calls -i ${second}s:$((second + 1))s --format json 2>/dev/null | jq --arg f $function '[.rows[]? | select(.function == $f) | .self] | add // 0') || part=0
		sum=$((sum + ${part:-0}))
	done
	[ "$sum" = "$(ctxan seconds.er -r calls --format json | jq --arg f $function '[.rows[] | select(.function == $f) | .self] | add')" ] || fail "seconds of $function do not make up the run: $sum"
done
# Trees have the same.
ctxan seconds.er -r tree --metric elapsed -i 1s:2s --format json 2>/dev/null | jq -e '[.rows[] | select(.function == "waits")][0] | .base == 1000000000 and .calls == 0 and .calls_exact' >/dev/null || fail "tree: $(ctxan seconds.er -r tree --metric elapsed -i 1s:2s)"

# A thread that is mostly in no call: the time between calls is none of theirs.
cat >rare.c <<'END'
#include <unistd.h>
volatile long sink;
__attribute__((noinline)) void leaf(void) { sink++; }
int main(void)
{
	for (int i = 0; i < 5; i++) {
		leaf();
		usleep(100000);
	}
	return 0;
}
END
gcc -O1 -g -fpatchable-function-entry=5 rare.c -o rare
ctxrec -q -O -o rare.er --calls=summary --calls-of '^leaf$' -- ./rare 2>/dev/null || fail "rare: exit status $?"
ctxan rare.er -r calls --format json | jq -e '[.rows[] | select(.section == "function")] | length == 1 and .[0].calls == 5 and .[0].self == .[0].total and .[0].total <= 5 * .[0].max + 5' >/dev/null || fail "rare: $(ctxan rare.er -r calls)"

# Threads whose first calls are at the same time.
cat >together.c <<'END'
#include <pthread.h>
#include <stdatomic.h>
volatile long sink;
static _Atomic int ready;
__attribute__((noinline)) void leaf(void) { sink++; }
__attribute__((no_instrument_function)) static void *run(void *x)
{
	atomic_fetch_add(&ready, 1);
	while (atomic_load(&ready) < 4)
		;
	for (int i = 0; i < 100; i++)
		leaf();
	return x;
}
__attribute__((no_instrument_function)) int main(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END
gcc -O1 -g -finstrument-functions together.c -o together -pthread
ctxrec -q -O -o together.er --calls=summary -- ./together || fail "together: exit status $?"
[ "$(counts together.er)" = "leaf 400" ] || fail "together: $(counts together.er)"

# Threads that end without the C library: the next one writes what they have left.
cat >gone.c <<'END'
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
volatile long sink;
__attribute__((noinline)) void leaf(void) { sink++; }
__attribute__((no_instrument_function)) static void *run(void *x)
{
	for (int i = 0; i < 100; i++)
		leaf();
	if (x != NULL)
		syscall(SYS_exit, 0);
	return x;
}
__attribute__((no_instrument_function)) int main(void)
{
	pthread_t thread;

	for (int i = 0; i < 4; i++) {
		pthread_create(&thread, NULL, run, &thread);
		pthread_join(thread, NULL);
	}
	pthread_create(&thread, NULL, run, NULL);
	return pthread_join(thread, NULL);
}
END
gcc -O1 -g -finstrument-functions gone.c -o gone -pthread
ctxrec -q -O -o gone.er --calls=summary -- ./gone || fail "gone: exit status $?"
[ "$(counts gone.er)" = "leaf 500" ] || fail "gone: $(counts gone.er)"

# What could not execute another program goes on.
cat >stays.c <<'END'
#include <unistd.h>
volatile long sink;
__attribute__((noinline)) void leaf(void) { sink++; }
int main(void)
{
	for (int i = 0; i < 10; i++)
		leaf();
	execl("./nothing", "nothing", (char *)0);
	for (int i = 0; i < 5; i++)
		leaf();
	return 0;
}
END
gcc -O1 -g -finstrument-functions stays.c -o stays
ctxrec -q -O -o stays.er --calls=summary -- ./stays || fail "stays: exit status $?"
[ "$(counts stays.er | tr '\n' ,)" = "leaf 15,main 1," ] || fail "stays: $(counts stays.er)"

# What needs single calls.
expect 1 'there is no event log' ctxan seconds.er -r events
expect 1 'there is no event log' ctxan seconds.er -i call:leaf
ctxan seconds.er -r calls=leaf | grep -q 'single calls are not known' || fail "calls=leaf does not say that there are no single calls"
[ "$(ctxan seconds.er --sql "SELECT count(*) FROM call_event WHERE minor != 0")" = "$(printf 'count(*)\n0')" ] || [ "$(ctxan seconds.er --sql "SELECT count(*) FROM call_event WHERE minor != 0" | tail -n 1 | tr -d ' ')" = 0 ] || fail "call_event has sums"

# Little memory: what was pruned is there as such, and all calls are counted.
cat >wide.c <<'END'
#include <stdio.h>
#include <stdlib.h>
volatile long sink;
static long calls;
#define F(name, next) __attribute__((noinline)) void name(unsigned x, int depth) { calls++; sink++; if (depth != 0) next(x * 1103515245u + 12345u, depth - 1); }
typedef void function(unsigned, int);
function f0, f1, f2, f3, f4, f5, f6, f7;
static function *const all[] = {f0, f1, f2, f3, f4, f5, f6, f7};
#define NEXT(x, depth) all[(x) >> 16 & 7](x, depth)
F(f0, NEXT) F(f1, NEXT) F(f2, NEXT) F(f3, NEXT) F(f4, NEXT) F(f5, NEXT) F(f6, NEXT) F(f7, NEXT)
int main(void)
{
	calls++;
	for (unsigned i = 0; i < 20000; i++)
		NEXT(i * 2654435761u, 12);
	printf("%ld\n", calls);
	return 0;
}
END
gcc -O1 -g -finstrument-functions wide.c -o wide
ctxrec -q -O -o wide.er --calls=summary --calls-memory 64k -- ./wide >own.txt || fail "wide: exit status $?"
ctxan wide.er -r calls --format json | jq -e --argjson own "$(cat own.txt)" '[.rows[] | select(.section == "function")] |
	(map(.calls) | add) == $own and any(.function == "<Pruned>" and .calls > 0) and (map(select(.function == "main"))[0] | .total >= .self)' >/dev/null || fail "64k: $(ctxan wide.er -r calls), $(cat own.txt) calls"
ctxrec -q -O -o wide.er --calls=summary -- ./wide >own.txt || fail "wide: exit status $?"
ctxan wide.er -r calls --format json | jq -e --argjson own "$(cat own.txt)" '[.rows[] | select(.section == "function")] |
	(map(.calls) | add) == $own and all(.function != "<Pruned>")' >/dev/null || fail "16m: $(ctxan wide.er -r calls)"

# Killed: the last second is not there, which is said.
cat >loop.c <<'END'
#include <stdio.h>
#include <unistd.h>
volatile long sink;
__attribute__((noinline)) void once(void) { sink++; }
int main(void)
{
	for (int i = 0; i < 1000; i++)
		once();
	printf("ready\n");
	fflush(stdout);
	sleep(100);
	return 0;
}
END
gcc -O2 -g -pg -mfentry loop.c -o loop
mkfifo ready
ctxrec -q -O -o killed.er --calls=summary -- sh -c 'echo $$ >pid; exec ./loop' >ready 2>err.txt &
recorder=$!
read -r said <ready
[ "$said" = ready ] || fail "the program said: $said"
kill -9 "$(cat pid)"
wait $recorder
grep -q 'the last calls of 1 thread are not recorded, from 0\.' err.txt || fail "killed: $(cat err.txt)"

# Options.
expect 1 'needs --calls=summary' ctxrec -q -o x.er --calls --calls-memory 1m -- true
expect 1 'needs --calls=summary' ctxrec -q -o x.er --calls --calls-prune 5% -- true
expect 1 'counts all' ctxrec -q -o x.er --calls=summary --calls-min 5us -- true
expect 1 'is not a percentage' ctxrec -q -o x.er --calls=summary --calls-prune 101% -- true
expect 1 'is not a size from 64k' ctxrec -q -o x.er --calls=summary --calls-memory 1k -- true
expect 1 'events' ctxrec -q -o x.er --calls=all -- true
finish
