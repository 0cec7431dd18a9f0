# ctxrec --calls=summary: a billion calls of one function, recursion 100,000 deep, a thousand threads: counts are right, the recording stays small, memory bounded.
# Cost: a call with its begin and end against empty hooks is printed, and not judged.
. "$(dirname "$0")/../common.sh" "$@"
need jq gcc
need_runtime
cat >many.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
volatile long sink;
__attribute__((noinline)) void once(void) { sink++; }
__attribute__((noinline)) long recurse(long n) { return n != 0 ? recurse(n - 1) + 1 : 0; }
__attribute__((noinline)) void *run(void *x) { for (int i = 0; i < 100; i++) once(); return x; }
int main(int n, char **arguments)
{
	struct rusage usage;

	if (n > 2 && strcmp(arguments[1], "once") == 0)
		for (long i = atol(arguments[2]); i > 0; i--)
			once();
	if (n > 2 && strcmp(arguments[1], "recurse") == 0)
		for (int i = 0; i < 20; i++)
			sink += recurse(atol(arguments[2]));
	if (n > 2 && strcmp(arguments[1], "threads") == 0) {
		long threads = atol(arguments[2]);
		pthread_t *all = calloc((size_t)threads, sizeof(*all));

		for (long i = 0; i < threads; i++)
			if (pthread_create(&all[i], NULL, run, NULL) != 0)
				return 1;
		for (long i = 0; i < threads; i++)
			pthread_join(all[i], NULL);
		free(all);
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("%ld\n", usage.ru_maxrss);
	return 0;
}
END
gcc -O2 -fno-optimize-sibling-calls -finstrument-functions many.c -o many -pthread

# calls NAME ARGUMENTS...: how often NAME was called, by the recording many.er.
calls() {
	ctxan many.er -r calls --format json | jq --arg f "$1" '[.rows[] | select(.function == $f) | .calls] | add'
}

begin=$(date +%s)
ctxrec -q -O -o many.er --calls=summary -- ./many once 1000000000 >rss.txt 2>err.txt || fail "a billion: exit status $?"
[ "$(calls once)" = 1000000000 ] || fail "a billion: $(calls once), $(cat err.txt)"
[ "$(du -sk many.er/callevents | cut -f 1)" -le 200 ] || fail "a billion: $(du -sk many.er/callevents)"
[ "$(cat rss.txt)" -le 30000 ] || fail "a billion: the program had $(cat rss.txt) KB"
echo "a billion calls: $(($(date +%s) - begin)) s"

ulimit -s unlimited
ctxrec -q -O -o many.er --calls=summary -- ./many recurse 100000 >rss.txt 2>err.txt || fail "deep: exit status $?"
[ "$(calls recurse)" = 2000020 ] || fail "deep: $(calls recurse), $(cat err.txt)"
echo "deep: $(cat rss.txt) KB"
# Deeper than there is memory for: what is not in the tree is <Pruned>.
ctxrec -q -O -o many.er --calls=summary --calls-memory 1m -- ./many recurse 100000 >rss.txt 2>err.txt || fail "deeper: exit status $?"
[ $(($(calls recurse) + $(calls '<Pruned>'))) = 2000020 ] || fail "deeper: $(calls recurse) and $(calls '<Pruned>'), $(cat err.txt)"

ctxrec -q -O -o many.er --calls=summary -- ./many threads 1000 >rss.txt 2>err.txt || fail "threads: exit status $?"
[ "$(calls once)" = 100000 ] || [ -s err.txt ] || fail "threads: $(calls once) calls, and nothing said"
[ "$(calls once)" -le 100000 ] || fail "threads: $(calls once) calls"
echo "threads: $(calls once) of 100000 calls"
finish
