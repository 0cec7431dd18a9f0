# C12, by a program: A calls B, which is interrupted. What A took from its begin to its end, less its own time on a processor with B's, is that
# interruption; own times are those that the program measures with the clock of its thread (CLOCK_THREAD_CPUTIME_ID), to 5 %.
. "$(dirname "$0")/../common.sh" "$@"
need jq gcc
need_runtime
cat >waits.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#define NOT_HOOKED __attribute__((no_instrument_function, patchable_function_entry(0), noinline))
static volatile long sink;
static long own_a, cum_a, elapsed_a, own_b;
NOT_HOOKED static long now(clockid_t clock)
{
	struct timespec at;
	clock_gettime(clock, &at);
	return at.tv_sec * 1000000000 + at.tv_nsec;
}
/* Returns what it took of the processor. */
NOT_HOOKED static long work(long n)
{
	long begin = now(CLOCK_THREAD_CPUTIME_ID);
	for (long i = 0; i < n; i++)
		sink++;
	return now(CLOCK_THREAD_CPUTIME_ID) - begin;
}
__attribute__((noinline)) static void B(long pause_ms)
{
	const struct timespec pause = {.tv_nsec = pause_ms * 1000000};
	own_b += work(6000000);
	nanosleep(&pause, NULL);
	own_b += work(6000000);
	sink++;
}
__attribute__((noinline)) static void A(long pause_ms)
{
	long begin = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID);
	own_a += work(1500000);
	B(pause_ms);
	own_a += work(1500000);
	elapsed_a += now(CLOCK_MONOTONIC) - begin;
	cum_a += now(CLOCK_THREAD_CPUTIME_ID) - cpu;
}
int main(int n, char **arguments)
{
	for (int i = 0; i < 20; i++)
		A(n > 1 ? atol(arguments[1]) : 0);
	printf("%ld %ld %ld %ld\n", own_a, cum_a, elapsed_a, own_b);
	return 0;
}
END
field() { jq --arg f "$1" --arg k "$2" '[.rows[] | select(.section == "function" and .function == $f) | .[$k]] | add' calls.json; }
# close HOOKS PAUSE: whether all are close; says so if not
close_to() {
	ctxrec -q -O --no-archive -o waits.er --calls --trace-full wait -- ./waits "$2" >own.txt 2>err.txt || { echo "$1: $(cat err.txt)"; return 1; }
	ctxan -q waits.er -r states >/dev/null 2>&1 || return 2
	ctxan -q waits.er -r calls --format json >calls.json || return 1
	read -r own_a cum_a elapsed_a own_b <own.txt
	awk -v name="$1, a pause of $2 ms" -v own_a="$own_a" -v cum_a="$cum_a" -v elapsed_a="$elapsed_a" -v own_b="$own_b" -v A="$(field A elapsed) $(field A total) $(field A self)" -v B="$(field B elapsed) $(field B total) $(field B self)" '
		function close_(what, got, wanted) {
			printf "%s: %s: %.0f us, by its own clocks %.0f us (%+.2f %%)\n", name, what, got / 1e3, wanted / 1e3, (got - wanted) / wanted * 100
			if (got < wanted * 0.95 || got > wanted * 1.05) bad = 1
		}
		BEGIN {
			split(A, a); split(B, b)
			close_("elapsed(A)", a[1], elapsed_a)
			close_("cum(A)", a[2], cum_a)
			close_("base(A)", a[3], own_a)
			close_("base(B)", b[3], own_b)
			close_("elapsed(A) - cum(A)", a[1] - a[2], elapsed_a - cum_a)
			if (b[2] != b[3]) { print name ": B calls nothing, but cum is not base"; bad = 1 }
			exit bad
		}'
}
for hooks in -finstrument-functions -pg "-pg -mfentry" -fpatchable-function-entry=5; do
	# shellcheck disable=SC2086
	gcc -O1 -g $hooks waits.c -o waits 2>compiler.txt || { leave_out "$hooks: $(head -n 1 compiler.txt)"; continue; }
	close_to "$hooks" 1 >said.txt
	[ $? != 2 ] || { leave_out "no states of threads"; finish; }
	for pause in 1 20; do
		repeat 3 close_to "$hooks" $pause || fail "$hooks: not within 5 %"
	done
done
finish
