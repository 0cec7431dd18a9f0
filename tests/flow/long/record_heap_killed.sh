# ctxrec --heap where things go wrong: targets and recorders killed at 200 random moments each (CTX_KILLS: another number), rings and disks full,
# a thousand threads, storms of processes. Output and exit status are those of the bare run, the experiment opens, its sums agree.
. "$(dirname "$0")/../common.sh" "$@"
need jq cc
need_runtime
kills=${CTX_KILLS:-200}

# moment SEED MOST: seconds
moment() { awk -v seed="$1" -v most="$2" 'BEGIN { srand(seed); printf "%.4f", rand() * most }'; }

# check_sums NAME EXPERIMENT: it opens, and the sections agree
check_sums() {
	ctxan -q "$2" --db sums.db -r heap --format json >sums.json 2>err.txt || { fail "$1: does not open: $(cat err.txt)"; return; }
	ctxan -q "$2" --db sums.db -r leaks --format json >leaks.json 2>err.txt || fail "$1: leaks: $(cat err.txt)"
	rm -f sums.db
	jq -e '([.rows[] | select(.section == "total")][0]) as $t
		| ([.rows[] | select(.section == "stack") | .bytes] | add // 0) == $t.bytes
		and ($t.allocations_error or ([.rows[] | select(.section == "stack") | .allocations] | add // 0) == $t.allocations)
		and ([.rows[] | select(.section == "kind" and .kind != "file") | .bytes] | add // 0) == $t.bytes
		and ([.rows[] | select(.section == "size") | .bytes] | add // 0) == $t.bytes
		and $t.leaks <= $t.allocations and $t.leaked_bytes <= $t.bytes and $t.held_bytes == $t.peak_bytes' sums.json >/dev/null ||
		fail "$1: sums do not agree: $(jq -c '[.rows[] | select(.section == "total" or .section == "kind")]' sums.json)"
	[ "$(jq '[.rows[] | select(.section == "total")][0].leaked_bytes' leaks.json)" = "$(jq '[.rows[] | select(.section == "total")][0].leaked_bytes' sums.json)" ] || fail "$1: leaks are others"
}

# The target is killed: all that it had allocated by then is there.
for i in $(seq "$kills"); do
	rm -f n
	ctxrec -q -O --no-archive --states off -o killed.er --heap --trace-full wait -- heap count n 2>err.txt &
	recorder=$!
	for k in $(seq 400); do
		[ -s n ] && [ "$(od -An -td8 -N8 n)" -gt 0 ] && break
		sleep 0.01
	done
	sleep "$(moment "$i" 0.2)"
	kill -9 "$(ps -o pid= --ppid $recorder | head -n 1)"
	wait $recorder
	[ $? = 137 ] || fail "target killed, $i: exit status; $(cat err.txt)"
	n=$(od -An -td8 -N8 n | tr -d ' ')
	check_sums "target killed, $i" killed.er
	got=$(jq '[.rows[] | select(.section == "stack") | select(.stack[-1] == "count") | .allocations] | add' sums.json)
	# It may have been killed between an allocation and its being counted. The map of the file is no allocation.
	[ "$got" = "$n" ] || [ "$got" = $((n + 1)) ] || fail "target killed, $i: $got instead of $n allocations"
done

# The recorder is killed: the target goes on as if nothing was. Not before it has begun: until then there is nothing that could go on.
heap all >bare.txt
echo $? >>bare.txt
for i in $(seq "$kills"); do
	rm -rf gone.er gone.txt begun
	ctxrec -q --no-archive --states off -o gone.er --heap --trace-full "$([ $((i % 2)) = 0 ] && echo wait || echo drop)" -- sh -c ': >begun; heap all; echo $?' >gone.txt 2>/dev/null &
	recorder=$!
	for k in $(seq 400); do [ -e begun ] && break || sleep 0.005; done
	sleep "$(moment "$i" 0.15)"
	kill -9 $recorder 2>/dev/null
	wait $recorder 2>/dev/null
	for k in $(seq 400); do cmp -s bare.txt gone.txt && break || sleep 0.05; done
	cmp bare.txt gone.txt || fail "recorder killed, $i: $(cat gone.txt)"
	check_sums "recorder killed, $i" gone.er
done

cat >crowd.c <<'END'
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void *volatile kept;
static pthread_barrier_t barrier;
__attribute__((noinline)) void of_a_thread(void)
{
	void *volatile own;
	for (int i = 0; i < 20; i++) {
		own = malloc(32);
		if (i % 4 != 0)
			free(own);
	}
}
static void *run(void *own)
{
	pthread_barrier_wait(&barrier);
	of_a_thread();
	return own;
}
static int threads(int n)
{
	pthread_t *all = calloc((size_t)n, sizeof(*all));
	pthread_attr_t small;
	long sum = 0;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	pthread_barrier_init(&barrier, NULL, (unsigned)n);
	for (intptr_t i = 0; i < n; i++)
		if (pthread_create(&all[i], &small, run, (void *)i) != 0)
			return 9;
	for (int i = 0; i < n; i++) {
		void *own;
		pthread_join(all[i], &own);
		sum += (intptr_t)own;
	}
	free(all);
	printf("%d threads: %ld\n", n, sum);
	return 3;
}
__attribute__((noinline)) void of_a_child(void)
{
	for (int i = 0; i < 5; i++)
		kept = malloc(16);
}
/* Each has two children, which have two ... */
static int storm(int depth)
{
	int sum = 1, status;
	of_a_child();
	if (depth > 0) {
		for (int i = 0; i < 2; i++)
			if (fork() == 0)
				_exit(storm(depth - 1));
		while (wait(&status) > 0)
			sum += WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
	}
	return sum;
}
/* Each of 8 threads frees what the next one allocated: whose ring comes later than the other's, its block is freed before it was there. */
static void *volatile blocks[8][500];
static void *hand_over(void *own)
{
	intptr_t number = (intptr_t)own;
	for (int i = 0; i < 500; i++)
		blocks[number][i] = malloc(24);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 500; i++)
		free(blocks[(number + 1) % 8][i]);
	return NULL;
}
static int hands(void)
{
	pthread_t all[8];
	pthread_barrier_init(&barrier, NULL, 8);
	for (intptr_t i = 0; i < 8; i++)
		pthread_create(&all[i], NULL, hand_over, (void *)i);
	for (int i = 0; i < 8; i++)
		pthread_join(all[i], NULL);
	return 0;
}
/* As fast as it can, in 4 threads. */
static void *fast(void *own)
{
	for (long i = 0; i < 200000; i++) {
		kept = malloc((size_t)(i % 100));
		free(own);
		own = malloc(8);
	}
	return own;
}
int main(int argc, char **argv)
{
	pthread_t all[4];
	if (argc > 2 && strcmp(argv[1], "threads") == 0)
		return threads(atoi(argv[2]));
	if (argc > 2 && strcmp(argv[1], "storm") == 0) {
		for (int i = 0; i < atoi(argv[2]); i++)
			printf("%d\n", storm(6));
		return 5;
	}
	if (argc > 1 && strcmp(argv[1], "hands") == 0)
		return hands();
	for (int i = 0; i < 4; i++)
		pthread_create(&all[i], NULL, fast, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(all[i], NULL);
	puts("fast");
	return 4;
}
END
cc -O1 -g -fno-builtin -pthread -o crowd crowd.c || fail "crowd.c"

# as_bare NAME OPTIONS -- COMMAND...: the same output and exit status, sums agree
as_bare() {
	name=$1 options=$2
	shift 3
	"$@" >bare.txt
	wanted=$?
	# shellcheck disable=SC2086
	ctxrec -q -O --no-archive --states off -o "$name.er" $options -- "$@" >traced.txt 2>err.txt
	[ $? = $wanted ] || fail "$name: exit status; $(cat err.txt)"
	cmp bare.txt traced.txt || fail "$name: output"
	check_sums "$name" "$name.er"
}
allocations_of() { jq --arg f "$1" '[.rows[] | select(.section == "stack") | select(.stack[-1] == $f) | .allocations] | add // 0' sums.json; }
as_bare threads "--heap --trace-full wait" -- ./crowd threads 1000
[ "$(allocations_of of_a_thread)" = 20000 ] || fail "1000 threads: $(allocations_of of_a_thread) allocations instead of 20000; $(cat err.txt)"
as_bare storm "--heap --trace-full wait" -- ./crowd storm 3
[ "$(allocations_of of_a_child)" = 1905 ] || fail "processes: $(allocations_of of_a_child) allocations instead of 1905; $(cat err.txt)"
for i in $(seq 60); do
	as_bare hands "--heap --trace-full wait" -- ./crowd hands
	leaks=$(jq '[.rows[] | select(.section == "stack") | select(.stack | index("hand_over")) | .leaks] | add' sums.json)
	[ "$leaks" = 0 ] || fail "$leaks blocks of 4000 were freed before they were allocated, in run $i"
done
as_bare sampled_storm "--heap-sample 64" -- ./crowd storm 3
as_bare full "--heap --trace-full drop --memory 16M" -- ./crowd fast 1
as_bare full_sampled "--heap-sample 4k" -- ./crowd fast 1

# A full disk: the target runs on, what is there opens.
if mkdir small && mount -t tmpfs -o size=256k tmpfs small 2>mount.err; then
	heap all >bare.txt
	for i in $(seq 5); do
		ctxrec -q -O --no-archive -o small/full.er --heap -- sh -c 'for i in 1 2 3 4 5; do heap all >one.txt || :; done; cat one.txt; exit 7' >traced.txt 2>err.txt
		[ $? = 7 ] || fail "full disk: exit status"
		cmp bare.txt traced.txt || fail "full disk: output"
		ctxan -q small/full.er --db full.db -r header >/dev/null 2>err.txt || fail "full disk: does not open: $(cat err.txt)"
		rm -rf full.db small/full.er
	done
	umount small
else
	leave_out "no tmpfs may be mounted: a full disk"
fi
finish
