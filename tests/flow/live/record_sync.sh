# ctxrec --sync: every wait of a program whose waits are known, who had what they waited for, how long locks were held, and locks in inverse
# orders; and what the program does is the same as without.
kind=${CTX_KIND:-} # 32, 32_wide: the program of 32 bits (record_32.sh)
export kind
. "$(dirname "$0")/../common.sh" "$@"
need jq
need_runtime

sync$kind all >bare.txt
[ $? = 7 ] || fail "the program alone: $(cat bare.txt)"
ctxrec -q -o all.er --no-archive --trace sync --sync-threshold all --trace-full wait -- sync$kind all >traced.txt 2>err.txt
[ $? = 7 ] || fail "exit status: $(cat err.txt traced.txt)"
cmp bare.txt traced.txt || fail "another output: $(cat traced.txt)"
[ -s err.txt ] && fail "messages: $(cat err.txt)"
ctxan all.er -r sync --format json >all.json || fail "report"

# has FILE SECTION KIND FUNCTION KEY NUMBER: sum over the rows that have the function on their stacks
has() {
	got=$(jq --arg s "$2" --arg k "$3" --arg f "$4" --arg n "$5" '[.rows[] | select(.section == $s) | select($k == "" or .kind == $k) | select(.stack | index($f)) | .[$n]] | add // 0' "$1")
	[ "$got" = "$6" ] || fail "$2 of $3 in $4: $5 is $got instead of $6"
}
# 3 of the main part, and 2 that others join meanwhile
has all.json stack "" waits_5_mutex waits 5
has all.json stack "" waits_2_timed waits 2
has all.json stack "" waits_2_read waits 2
has all.json stack "" waits_2_write waits 2
has all.json stack "" waits_3_condition waits 3
has all.json stack "" waits_3_semaphore waits 3
has all.json stack "" waits_2_barrier waits 2
has all.json stack "" waits_2_join waits 2
has all.json stack "" waits_2_mtx waits 2
has all.json stack "" waits_2_cnd waits 2
has all.json stack "" times_out_6 waits 6
# Who had it, and where it took it
has all.json holder mutex has_the_mutex waits 5
has all.json holder "read-write lock" has_the_rwlock waits 2
# Each release of a lock that nobody waits for
ctxan all.er --sql "SELECT count(*) FROM traced AS t JOIN stack AS s ON s.id = t.stack JOIN function AS f ON f.id = s.function WHERE t.operation = 'hold' AND f.name = 'holds_300'" | tail -n 1 >holds.txt
[ "$(cat holds.txt)" = 300 ] || fail "holds: $(cat holds.txt) instead of 300"
ctxan all.er --sql "SELECT count(*) FROM traced AS t JOIN stack AS s ON s.id = t.stack JOIN function AS f ON f.id = s.function WHERE t.operation = 'hold' AND f.name = 'holds_20_in_child'" | tail -n 1 >holds.txt
[ "$(cat holds.txt)" = 20 ] || fail "holds in the child: $(cat holds.txt) instead of 20"
[ "$(ctxan all.er --sql "SELECT count(*) FROM traced WHERE kind = 'sync' AND failed" | tail -n 1)" = 6 ] || fail "not 6 waits whose time was up"
# The metrics say the same.
for key in sync=wait_ns syncn=waits; do
	got=$(ctxan all.er -r functions --metric ${key%=*} --format json | jq '.rows[0].inclusive')
	wanted=$(jq "[.rows[] | select(.section == \"total\")][0].${key#*=}" all.json)
	[ "$got" = "$wanted" ] || fail "metric ${key%=*}: $got instead of $wanted"
done
# The waits are 3 ms and longer, so this threshold leaves them alone; of free locks nothing is recorded.
ctxrec -q -o some.er --no-archive --sync --sync-threshold 2ms -- sync$kind all >traced.txt 2>err.txt
[ $? = 7 ] || fail "exit status: $(cat err.txt traced.txt)"
ctxan some.er -r sync --format json >some.json || fail "report"
has some.json stack "" waits_5_mutex waits 5
has some.json stack "" waits_3_condition waits 3
has some.json holder mutex has_the_mutex waits 5
has some.json held mutex holds_300 holds 0
[ "$(ctxan some.er --sql "SELECT count(*) FROM traced WHERE operation IN ('mutex', 'condition') AND duration_ns < 2000000" | tail -n 1)" = 0 ] || fail "waits below the threshold"

# Locks in inverse orders: one pair, of two threads.
for run in all some; do
	ctxan $run.er -r sync --cycles --format json >cycles.json || fail "cycles"
	jq -e '[.rows[] | .stack[-1]] | sort == ["left_then_right", "right_then_left"]' cycles.json >/dev/null || fail "cycles: $(jq -c '.rows[]' cycles.json)"
	jq -e '.rows[0].held == .rows[1].address and .rows[1].held == .rows[0].address and .rows[0].thread != .rows[1].thread' cycles.json >/dev/null || fail "cycles: $(jq -c '.rows[]' cycles.json)"
done
# A deadlock, as far as it came.
ctxrec -q -o dead.er --no-archive --sync -- sync$kind deadlock >dead.txt 2>err.txt &
recorder=$!
for i in $(seq 200); do
	[ -s dead.txt ] && break
	sleep 0.05
done
# The two threads wait for each other when both sleep.
pid=$(pgrep -P $recorder -x "sync$kind")
for i in $(seq 200); do
	[ "$(cat /proc/$pid/task/*/stat | sed 's/.*) //' | cut -c1 | tr -d '\n')" = SS ] && break
	sleep 0.05
done
kill -9 $pid
wait $recorder
ctxan dead.er -r sync --cycles --format json >cycles.json || fail "cycles of a deadlock"
jq -e '[.rows[] | .stack[-1]] | sort == ["deadlock", "right_then_left"]' cycles.json >/dev/null || fail "deadlock: $(jq -c '.rows[]' cycles.json)"

# The recorder is killed: the program goes on as if nothing was.
ctxrec -q -o gone.er --no-archive --sync --sync-threshold all --trace-full wait -- sh -c 'echo >began; sleep 0.2; sync$kind all; echo $?' >gone.txt 2>/dev/null &
recorder=$!
for i in $(seq 200); do [ -e began ] && break || sleep 0.05; done
kill -9 $recorder
wait $recorder 2>/dev/null
for i in $(seq 400); do [ "$(tail -n 1 gone.txt)" = 7 ] && break || sleep 0.05; done
printf 'all is right\n7\n' | cmp - gone.txt || fail "without a recorder: $(cat gone.txt)"

# With the heap beside it each has what it has alone.
ctxrec -q -o both.er --no-archive --heap --sync --sync-threshold 2ms -- sync$kind all >traced.txt 2>err.txt
[ $? = 7 ] || fail "exit status: $(cat err.txt traced.txt)"
ctxan both.er -r sync --format json >both.json || fail "report"
has both.json stack "" waits_5_mutex waits 5
ctxan both.er -r heap >/dev/null || fail "heap beside sync"
ctxan all.er -r heap 2>err.txt && fail "a heap that was not asked for"
grep -q 'no allocations were traced' err.txt || fail "not said: $(cat err.txt)"

expect 1 'sync needs a command' ctxrec --sync -a
expect 1 'sync-threshold needs --sync' ctxrec --sync-threshold all -- true
expect 1 'neither a time with a unit' ctxrec --sync --sync-threshold 10 -- true
expect 1 'trace: "locks" cannot be traced' ctxrec --trace sync,locks -- true
expect 1 'cycles requires' ctxan all.er -r functions --cycles
# A mutex that another thread unlocks is held no more: no order of locks comes from it, however many there are.
cat >handed.c <<'END_C'
#include <pthread.h>
#include <stdlib.h>
#define N 9
static pthread_mutex_t handed[N], other = PTHREAD_MUTEX_INITIALIZER;
static void *unlocks(void *n)
{
	for (int i = 0; i < *(int *)n; i++)
		pthread_mutex_unlock(&handed[i]);
	return NULL;
}
static void *inversely(void *n)
{
	pthread_mutex_lock(&other);
	for (int i = 0; i < *(int *)n; i++) {
		pthread_mutex_lock(&handed[i]);
		pthread_mutex_unlock(&handed[i]);
	}
	pthread_mutex_unlock(&other);
	return NULL;
}
static void in_a_thread(void *(*function)(void *), int n)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, function, &n) != 0)
		exit(1);
	pthread_join(thread, NULL);
}
int main(int argc, char **argv)
{
	int n = atoi(argv[1]);
	for (int i = 0; i < n; i++)
		pthread_mutex_lock(&handed[i]);
	in_a_thread(unlocks, argc == 2 ? n : n - 1);
	pthread_mutex_lock(&other);
	pthread_mutex_unlock(&other);
	if (argc == 3)
		pthread_mutex_unlock(&handed[n - 1]);
	in_a_thread(inversely, n);
	return 0;
}
END_C
cc -O1 -g -pthread -o handed handed.c || fail "handed.c"
# All of them; all but one, which is held: a cycle.
for how in 1 3 4 9 '1 but' '3 but' '4 but'; do
	ctxrec -q -o handed.er -O --sync -- ./handed $how || fail "handed $how: exit status"
	got=$(ctxan handed.er -r sync --cycles --format json | jq '.rows | length')
	case $how in *but) wanted=2 ;; *) wanted=0 ;; esac
	[ "$got" = $wanted ] || fail "handed $how: $got of a cycle: $(ctxan handed.er -r sync --cycles)"
done
finish
