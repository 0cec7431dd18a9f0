# ctxrec --calls: every call of programs that count their calls themselves, with each kind of hook that compilers make; exceptions, longjmp, other
# stacks, signals in the middle of hooks, children; what the programs do is the same as without. Limits; programs without hooks; killed.
. "$(dirname "$0")/../common.sh" "$@"
. "$source_dir/tests/flow/call_counts.sh"
need jq gcc
need_runtime
targets=$source_dir/testdata/targets

try() { try_with '--calls --trace-full wait' "$@"; }

# Each kind of hook, where the compiler has it.
compilers=gcc
command -v clang >/dev/null 2>&1 && compilers="gcc clang"
for compiler in $compilers; do
	for hooks in -finstrument-functions -pg "-pg -mfentry" "-pg -mfentry -mnop-mcount -mrecord-mcount -fno-pie -no-pie" -fpatchable-function-entry=5 \
		"-fpatchable-function-entry=9,4" "-fxray-instrument -fxray-instruction-threshold=1"; do
		case $compiler$hooks in gcc*xray* | clang*nop-mcount* | clang*finstrument* | clang*-pg* | clang*9,4) continue ;; esac
		# shellcheck disable=SC2086
		$compiler -O2 -g $hooks "$targets/calls.c" -o calls -pthread 2>compiler.txt || { leave_out "$compiler $hooks: $(head -n 1 compiler.txt)"; continue; }
		case $hooks in -finstrument-functions | "-pg -mfentry") deep=deep ;; *) deep= ;; esac
		try "$compiler $hooks" ./calls $deep
	done
done
for hooks in -finstrument-functions "-pg -mfentry" -pg; do
	# shellcheck disable=SC2086
	g++ -O2 -g $hooks "$targets/calls_thrown.cc" -o thrown 2>compiler.txt || { leave_out "g++: $(head -n 1 compiler.txt)"; continue; }
	try "thrown $hooks" ./thrown
	[ "$(ctxan run.er -r calls --format json | jq '[.rows[] | select(.section == "function" and (.function | test("thrower"))) | .unwound] | add')" = 1275 ] || [ "$hooks" = -finstrument-functions ] || fail "thrown $hooks: what has not returned"
done

# What is open at the end ends there, and no depth is made up.
gcc -O2 -g -finstrument-functions "$targets/calls.c" -o calls -pthread
ctxrec -q -O -o depth.er --calls-depth 2 --trace-full wait -- ./calls deep >own.txt 2>err.txt || fail "--calls-depth: $(cat err.txt)"
[ "$(counts depth.er | grep -c '^recurse 1$')" = 1 ] || fail "--calls-depth 2: $(counts depth.er)"
counts depth.er | grep '^jump ' && fail "--calls-depth 2: jump is deeper"
ctxrec -q -O -o min.er --calls-min 100s --trace-full wait -- ./calls deep >own.txt 2>err.txt || fail "--calls-min: $(cat err.txt)"
grep -q 'calls are not recorded, since they were shorter' err.txt || fail "--calls-min: $(cat err.txt)"
[ -z "$(counts min.er)" ] || fail "--calls-min 100s: $(counts min.er)"

# Chosen functions.
gcc -O2 -g -fpatchable-function-entry=5 "$targets/calls.c" -o calls -pthread
ctxrec -q -O -o of.er --calls-of '^(jump|set)$' --trace-full wait -- ./calls >own.txt 2>err.txt || fail "--calls-of: $(cat err.txt)"
grep -q ' 2 functions were patched' err.txt || fail "--calls-of: $(cat err.txt)"
grep -E '^(jump|set) ' own.txt | sort >wanted.txt
counts of.er >got.txt
cmp -s wanted.txt got.txt || fail "--calls-of: $(cat got.txt)"
gcc -O2 -g -pg "$targets/calls.c" -o calls -pthread
ctxrec -q -O -o all.er --calls-of '^(jump|set)$' --trace-full wait -- ./calls >own.txt 2>err.txt || fail "--calls-of with -pg: $(cat err.txt)"
grep -q 'calls-of has chosen nothing: it is for functions that are patched' err.txt || fail "--calls-of with -pg: $(cat err.txt)"
gcc -O2 -g -fpatchable-function-entry=2 "$targets/calls.c" -o calls -pthread
ctxrec -q -O -o small.er --calls -- ./calls >own.txt 2>err.txt || fail "2 bytes of nops: $(cat err.txt)"
grep -q 'functions could not be patched' err.txt || fail "2 bytes of nops: $(cat err.txt)"

# Libraries that are opened later, with one thread and with another one beside it; opened, closed and opened again.
cat >later.c <<'END'
#include <pthread.h>
#include <unistd.h>
volatile long sink;
__attribute__((noinline)) void inner(void) { sink++; }
void called(void) { inner(); inner(); }
#ifdef STARTS_THREAD
static void *run(void *x) { for (;; usleep(100)) inner(); return x; }
__attribute__((constructor)) static void start(void) { pthread_t thread; pthread_create(&thread, NULL, run, NULL); }
#endif
END
cat >opens.c <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>
static void *wait_long(void *x) { pause(); return x; }
int main(int n, char **arguments)
{
	pthread_t thread;

	(void)arguments;
	if (n > 1)
		pthread_create(&thread, NULL, wait_long, NULL);
	for (int i = 0; i < 3; i++) {
		void *library = dlopen(LATER, RTLD_NOW);
		void (*called)(void) = library ? (void (*)(void))dlsym(library, "called") : NULL;

		if (called == NULL)
			return 1;
		for (int k = 0; k < 5; k++)
			called();
		dlclose(library);
	}
	return dlopen("./nothing.so", RTLD_NOW) == NULL && dlerror() != NULL ? 0 : 2;
}
END
gcc -O2 -g -fPIC -shared -fpatchable-function-entry=5 later.c -o later.so
gcc -O2 -g '-DLATER="./later.so"' opens.c -o opens -pthread -ldl
# By their name alone: found in LD_LIBRARY_PATH, by DT_RPATH of the program; and by its DT_RUNPATH, where the program opens it itself.
mkdir -p named
cp later.so named/libnamed.so
gcc -O2 -g '-DLATER="libnamed.so"' opens.c -o opens-environment -pthread -ldl
gcc -O2 -g '-DLATER="libnamed.so"' opens.c -o opens-rpath -pthread -ldl -Wl,--disable-new-dtags,-rpath,"$PWD/named"
gcc -O2 -g '-DLATER="libnamed.so"' opens.c -o opens-runpath -pthread -ldl -Wl,--enable-new-dtags,-rpath,"$PWD/named"
# opens WANT PROGRAM [THREADS]: it runs as ever, with these calls.
opens() {
	want=$1
	shift
	ctxrec -q -O -o later.er --calls -- "$@" 2>err.txt || fail "dlopen $*: exit status $?: $(cat err.txt)"
	[ "$(counts later.er | tr '\n' ,)" = "$want" ] || fail "dlopen $*: $(counts later.er) $(cat err.txt)"
}
for threads in "" two; do
	# shellcheck disable=SC2086
	{
		opens "called 15,inner 30," ./opens $threads
		opens "called 15,inner 30," env LD_LIBRARY_PATH="$PWD/named" ./opens-environment $threads
		opens "called 15,inner 30," ./opens-rpath $threads
		opens "" ./opens-runpath $threads
	}
done
# A thread that its constructor has started is in the library: it is left alone.
gcc -O2 -g -fPIC -shared -fpatchable-function-entry=5 -DSTARTS_THREAD -Wl,-z,nodelete later.c -o later.so -pthread
ctxrec -q -O -o later.er --calls -- ./opens 2>err.txt || fail "dlopen with a constructor: exit status $?: $(cat err.txt)"
[ -z "$(counts later.er)" ] && grep -q ' 4 functions could not be patched: .* or threads ran already' err.txt || fail "dlopen with a constructor: $(counts later.er) $(cat err.txt)"

# B is interrupted: elapsed time has it, its own time on a processor has not, where that is known.
gcc -O0 -g -pg "$targets/calls_wait.c" -o wait
ctxrec -q -O -o wait.er --calls -- ./wait >own.txt 2>err.txt || fail "wait: $(cat err.txt)"
slept=$(cat own.txt)
ctxan wait.er -r calls --format json | jq -e --argjson slept "$slept" '[.rows[] | select(.section == "function")] | INDEX(.function) |
	.A.calls == 1 and .B.calls == 1 and .work.calls == 4 and .B.elapsed >= $slept and .A.elapsed >= .B.elapsed and .main.elapsed >= .A.elapsed' >/dev/null || fail "wait: $(ctxan wait.er -r calls)"
if ctxan wait.er -r states >/dev/null 2>&1; then
	ctxan wait.er -r calls --format json | jq -e --argjson slept "$slept" '[.rows[] | select(.section == "function")] | INDEX(.function) |
		.A.elapsed >= .A.total + $slept and .B.elapsed >= .B.total + $slept and .A.total >= .B.total' >/dev/null || fail "wait: what it slept counts as its own time: $(ctxan wait.er -r calls)"
else
	leave_out "no states of threads"
fi

# Killed: what was in the ring is there. The recorder killed: the program goes on.
cat >loop.c <<'END'
#include <stdio.h>
#include <unistd.h>
volatile long sink;
__attribute__((noinline)) void once(void) { sink++; }
int main(int n, char **arguments)
{
	for (int i = 0; i < 1000; i++)
		once();
	printf("ready\n");
	fflush(stdout);
	if (n > 1)
		sleep(100);
	while (access("go", F_OK) != 0)
		once();
	printf("done\n");
	return 0;
}
END
gcc -O2 -g -pg -mfentry loop.c -o loop
mkfifo ready
ctxrec -q -O -o killed.er --calls -- sh -c 'echo $$ >pid; exec ./loop sleep' >ready 2>/dev/null &
recorder=$!
read -r said <ready
[ "$said" = ready ] || fail "the program said: $said"
kill -9 "$(cat pid)"
wait $recorder
[ "$(counts killed.er | tr '\n' ,)" = "main 1,once 1000," ] || fail "killed: $(counts killed.er)"
mkfifo other
ctxrec -q -O -o gone.er --calls -- sh -c 'echo $$ >pid; exec ./loop' >other 2>/dev/null &
recorder=$!
{
	read -r said
	kill -9 $recorder
	touch go
	read -r said
	[ "$said" = "done" ] || fail "the recorder was killed, and the program said: $said"
} <other

# Stacks of what is recorded beside calls go through functions whose return is seen.
cat >stacks.c <<'END'
#include <stdlib.h>
static void *volatile kept;
static volatile long sink;
__attribute__((noinline)) static void inner(void) { kept = malloc(10); sink++; }
__attribute__((noinline)) static void middle(void) { inner(); sink++; }
__attribute__((noinline)) static void outer(void) { middle(); sink++; }
int main(void)
{
	for (int i = 0; i < 5; i++)
		outer();
	return 0;
}
END
for hooks in "-pg -mfentry" -pg -finstrument-functions; do
	# shellcheck disable=SC2086
	gcc -O1 -g $hooks stacks.c -o stacks
	ctxrec -q -O -o stacks.er --heap --calls -- ./stacks || fail "$hooks: --heap with --calls"
	ctxan stacks.er -r heap --format json | jq -r '.rows[] | select(.section == "stack" and .stack[-1] == "inner") | "\(.allocations) \(.stack[-4:] | join(" "))"' >got.txt
	[ "$(cat got.txt)" = "5 main outer middle inner" ] || fail "$hooks: stacks of --heap with --calls: $(cat got.txt)"
done

# No hooks, and no way to look for them.
ctxrec -q -O -o none.er --calls -- true 2>err.txt
grep -q 'no call was recorded: the program has no hooks; compile it with -finstrument-functions' err.txt || fail "no hooks: $(cat err.txt)"
expect 1 'statically linked' ctxrec -q -o x.er --calls -- marks_static
expect 1 'is not an extended regular expression' ctxrec -q -o x.er --calls-of '(' -- true
expect 1 'is not a time with a unit' ctxrec -q -o x.er --calls-min 5 -- true
expect 1 'is not a number from 1' ctxrec -q -o x.er --calls-depth 0 -- true

# Programs with hooks that nobody records go on as ever: gprof has its counts.
if command -v gprof >/dev/null 2>&1; then
	gcc -O2 -g -pg loop.c -o loop
	touch go
	ctxrec -q -O -o io.er --io -- ./loop >/dev/null 2>&1 || fail "-pg with --io"
	gprof -b -p ./loop gmon.out 2>/dev/null | grep -q ' 1000 .* once$' || fail "gmon.out without --calls: $(gprof -b -p ./loop gmon.out | head)"
fi
finish
