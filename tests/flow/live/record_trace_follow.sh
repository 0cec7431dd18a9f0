# ctxan --follow of a recording with --heap, --sync and --io: what was traced is in its answers while the program runs.
. "$(dirname "$0")/../common.sh" "$@"
need jq cc
need_runtime

# Goes on until the file `enough` is there.
cat >busy.c <<'END_C'
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void *volatile kept;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) static void allocates(void) { free(kept = malloc(77)); }
__attribute__((noinline)) static void writes(int fd)
{
	if (pwrite(fd, "abc", 3, 0) != 3)
		_exit(1);
}
__attribute__((noinline)) static void locks(void)
{
	pthread_mutex_lock(&mutex);
	usleep(500);
	pthread_mutex_unlock(&mutex);
}
static void *other(void *none)
{
	while (access("enough", F_OK) != 0)
		locks();
	return none;
}
int main(void)
{
	int fd = open("written", O_WRONLY | O_CREAT, 0600);
	pthread_t thread;
	pthread_create(&thread, NULL, other, NULL);
	while (access("enough", F_OK) != 0) {
		for (int i = 0; i < 10; i++)
			allocates();
		writes(fd);
		locks();
		usleep(1000);
	}
	pthread_join(thread, NULL);
	return 7;
}
END_C
cc -O1 -g -fno-builtin -pthread -o busy busy.c || fail "busy.c"
ctxrec -q -o run.er --heap --sync --io -- ./busy 2>err.txt &
recorder=$!
ctxan -q --follow run.er -r heap,sync,io --format json >answers.txt 2>follow.err &
follower=$!
# Every answer is a line with three reports. There is to be one of each with what was traced, while the program runs: it does not end before.
has() { jq -c --arg report "$1" --arg f "$2" 'select(.report == $report) | select([.rows[] | .stack? // [] | index($f)] | any)' 2>/dev/null <last.txt; }
for i in $(seq 300); do
	tail -n 2 answers.txt | head -n 1 >last.txt
	has heap allocates >heap.txt && has io writes >io.txt && has sync locks >sync.txt
	[ -s heap.txt ] && [ -s io.txt ] && [ -s sync.txt ] && break
	kill -0 $follower 2>/dev/null || break
	sleep 0.1
done
[ -s heap.txt ] && [ -s io.txt ] && [ -s sync.txt ] || fail "no answer has all that was traced: $(cat follow.err; tail -n 1 answers.txt | head -c 2000)"
touch enough
wait $recorder
[ $? = 7 ] || fail "the recording: $(cat err.txt)"
wait $follower || fail "following: $(cat follow.err)"
# Every write has three bytes, every block 77, and what the file is called is known.
jq -e '[.rows[] | select(.section == "stack") | select(.stack | index("writes"))] | length > 0 and all(.[]; .write_bytes == 3 * .writes)' io.txt >/dev/null || fail "writes: $(head -c 3000 io.txt)"
jq -e '[.rows[] | select(.section == "stack") | select(.stack | index("allocates"))] | length > 0 and all(.[]; .bytes == 77 * .allocations)' heap.txt >/dev/null || fail "allocations: $(head -c 3000 heap.txt)"
jq -e '[.. | strings] | any(endswith("/written"))' io.txt >/dev/null || fail "the name of the file: $(head -c 3000 io.txt)"
jq -e '.warnings | any(test("leaks are not known yet"))' heap.txt >/dev/null || fail "not said that leaks are not known: $(head -c 500 heap.txt)"
finish
