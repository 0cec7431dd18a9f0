# ctxrec --calls-counter: what counters count is of the function that did it, with each kind of hook; and exactly what the program asked malloc for.
. "$(dirname "$0")/../common.sh" "$@"
need jq gcc
need_runtime

cat >count.c <<'END'
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#define PAGES 700
void *volatile kept;
__attribute__((noinline)) void touch(volatile char *at) { for (long i = 0; i < PAGES; i++) at[i * 4096] = 1; }
__attribute__((noinline)) void idle(void) { struct timespec t = {.tv_nsec = 1000000}; nanosleep(&t, NULL); }
__attribute__((noinline)) void take(long n) { kept = malloc(1000 * n); free(kept); kept = calloc(3, 100); free(kept); }
__attribute__((noinline)) void work(long i) { take(i); kept = malloc(7); free(kept); }
int main(void)
{
	char *at = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(at, PAGES * 4096, MADV_NOHUGEPAGE);
	for (int i = 0; i < 20; i++)
		idle();
	touch(at);
	for (long i = 1; i <= 10; i++)
		work(i);
	return 0;
}
END
# self METRIC FUNCTION, of the tree.
self() {
	ctxan run.er -r tree --metric "$1" --limit 0 --format json | jq "[.rows[] | select(.function == \"$2\") | .base] | add // 0"
}
for hooks in -finstrument-functions -pg "-pg -mfentry" -fpatchable-function-entry=5; do
	# shellcheck disable=SC2086
	gcc -O1 -g $hooks count.c -o count 2>compiler.txt || { leave_out "$hooks: $(head -n 1 compiler.txt)"; continue; }
	ctxrec -q -O -o run.er --calls-counter page-faults,context-switches,bytes-allocated --trace-full wait -- ./count >/dev/null 2>err.txt || fail "$hooks: $(cat err.txt)"
	[ "$(self bytes-allocated take)" = 58000 ] || fail "$hooks: take was asked for $(self bytes-allocated take)"
	[ "$(self bytes-allocated work)" = 70 ] || fail "$hooks: work was asked for $(self bytes-allocated work)"
	faults=$(self page-faults touch)
	[ "$faults" -ge 700 ] || fail "$hooks: touch had $faults page faults"
	[ "$(self page-faults work)" -lt 700 ] || fail "$hooks: work had $(self page-faults work)"
	[ "$(self context-switches idle)" -ge 20 ] || fail "$hooks: idle had $(self context-switches idle) switches"
done
ctxan run.er -r callers-callees --metric bytes-allocated --format json | jq -e '.rows | any(.function == "work" and .base == 70 and .cum == 58070)' >/dev/null || fail "callers: $(ctxan run.er -r callers-callees --metric bytes-allocated)"
ctxrec --calls-counter nothing -- true 2>err.txt && fail "an unknown counter"
grep -q 'is not a list of counters out of page-faults,' err.txt || fail "$(cat err.txt)"
ctxrec --calls=summary --calls-counter page-faults -- true 2>err.txt && fail "with sums"
grep -q 'not with --calls=summary' err.txt || fail "$(cat err.txt)"
finish
