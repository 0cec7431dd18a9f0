# ctxrec --heap --memory: what traced processes share with the recorder stays within a bound. Threads and processes for which nothing is left run as
# without, and what they did is counted to the last operation.
. "$(dirname "$0")/../common.sh" "$@"
need jq cc
need_runtime

cat >crowd.c <<'END_C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void *volatile kept;
static pthread_barrier_t together;
__attribute__((noinline)) static void *of_a_thread(void *n)
{
	for (int i = 0; i < *(int *)n; i++)
		kept = malloc(32);
	pthread_barrier_wait(&together);
	return NULL;
}
__attribute__((noinline)) static void of_a_child(void)
{
	for (int i = 0; i < 10; i++)
		kept = malloc(48);
}
/* All children live at the same time: the last one to begin lets all end. */
static int children(int n)
{
	int began[2], ends[2], sum = 0, status;
	char byte = 0;

	if (pipe(began) != 0 || pipe(ends) != 0)
		return 1;
	for (int i = 0; i < n; i++) {
		if (fork() == 0) {
			close(ends[1]);
			of_a_child();
			_exit(write(began[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 0 ? 100 : 1);
		}
	}
	close(ends[0]);
	for (int i = 0; i < n; i++)
		sum += read(began[0], &byte, 1) != 1 ? 100 : 0;
	close(ends[1]);
	while (wait(&status) > 0)
		sum += WIFEXITED(status) ? WEXITSTATUS(status) : 100;
	return sum == n ? 7 : 1;
}
int main(int argc, char **argv)
{
	int n = atoi(argv[2]), each = 50;
	pthread_t threads[1000];

	(void)argc;
	if (strcmp(argv[1], "children") == 0)
		return children(n);
	pthread_barrier_init(&together, NULL, (unsigned)n);
	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, of_a_thread, &each) != 0)
			return 1;
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 7;
}
END_C
cc -O1 -g -fno-builtin -pthread -o crowd crowd.c || fail "crowd.c"
# read_message: $missed operations and $processes that were not recorded; $used of $limit KB of rings
read_message() {
	sed -n 's/.* \([0-9]*\) heap operations of threads, and all of \([0-9]*\) processes, were not recorded, .*: \([0-9]*\) of \([0-9]*\) KB are used .*/\1 \2 \3 \4/p' err.txt >said.txt
	read -r missed processes used limit <said.txt || fail "not said: $(cat err.txt)"
}

# With the usual memory every thread of 200 has its ring.
ctxrec -q --no-archive -o run.er --heap --trace-full wait -- ./crowd threads 200 2>err.txt
[ $? = 7 ] && [ ! -s err.txt ] || fail "200 threads: $(cat err.txt)"
got=$(allocations_of of_a_thread)
[ "$got" = 10000 ] || fail "200 threads: $got allocations instead of 10000"

# A megabyte, and so four for rings of 64 KB at least: threads without one are counted.
ctxrec -q --no-archive -o run.er -O --heap --trace-full wait --memory 1M -- ./crowd threads 200 2>err.txt
[ $? = 7 ] || fail "200 threads in a megabyte: $(cat err.txt)"
read_message
[ "$processes" = 0 ] && [ "$limit" = 4096 ] && [ "$used" -le 4096 ] && [ "$used" -gt 3900 ] || fail "the bound: $(cat err.txt)"
got=$(allocations_of of_a_thread)
[ $((got + missed)) = 10000 ] || fail "200 threads: $got allocations and $missed that are not recorded are not 10000"
[ "$missed" -gt 6000 ] && [ "$got" -gt 2000 ] && [ $((got % 50)) = 0 ] || fail "200 threads: $got recorded, $missed not"

# The same of processes: each has all of its operations, or none.
ctxrec -q --no-archive -o run.er -O --heap --trace-full wait -- ./crowd children 40 2>err.txt
[ $? = 7 ] && [ ! -s err.txt ] || fail "40 processes: $(cat err.txt)"
got=$(allocations_of of_a_child)
[ "$got" = 400 ] || fail "40 processes: $got allocations instead of 400"
ctxrec -q --no-archive -o run.er -O --heap --trace-full wait --memory 256k -- ./crowd children 40 2>err.txt
[ $? = 7 ] || fail "40 processes in 256 KB: $(cat err.txt)"
read_message
[ "$missed" = 0 ] && [ "$limit" = 1024 ] && [ "$used" -le 1024 ] || fail "the bound of processes: $(cat err.txt)"
got=$(allocations_of of_a_child)
[ $((got + 10 * processes)) = 400 ] && [ "$processes" -ge 20 ] && [ "$got" -gt 0 ] || fail "40 processes: $got allocations, $processes processes without memory"
finish
