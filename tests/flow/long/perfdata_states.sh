# What threads do, of perf.data with scheduler events, is what perf sched timehist says of the same file.
. "$(dirname "$0")/../common.sh" "$@"
need perf python3 cc

cat >waits.c <<'END'
#include <pthread.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void spin(long ms)
{
	struct timespec begin, now;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}
static void *work(void *kind)
{
	for (int i = 0; i < 12; i++) {
		if (kind) {
			pthread_mutex_lock(&lock);
			spin(10);
			pthread_mutex_unlock(&lock);
		}
		usleep(20000);
	}
	return NULL;
}
int main(void)
{
	pthread_t threads[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work, i < 3 ? "locks" : NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END
cc -O1 -g -fno-omit-frame-pointer -pthread -o waiting-here waits.c || fail "the program"

perf sched record -o whole.data -- ./waiting-here >record.out 2>&1 ||
	skip "perf sched record is refused here: $(grep -v '^$' record.out | head -n 1)"
perf sched timehist -i whole.data --state >/dev/null 2>&1 || skip "this perf has no perf sched timehist --state"

# On a busy machine a file lacks switches that nobody can know of; then both guess, and it is recorded anew.
for attempt in 1 2 3 4 5; do
	python3 "$source_dir/tests/flow/perfdata_states.py" whole.data waiting-here
	status=$?
	[ $status != 0 ] && [ $attempt -lt 5 ] || break
	echo "recorded anew: attempt $attempt"
	perf sched record -o whole.data -- ./waiting-here >record.out 2>&1
done
[ $status = 77 ] || [ $status = 0 ] || fail "perf sched timehist says something else"

# What the header says of where the states come from.
states_of() { ctxan -q "$1" -r header | grep -i '^ *states'; }
states_of whole.data | grep -q 'from sched:sched_switch; no switch records, no stacks, no clock samples, no syscalls' || fail "header: $(states_of whole.data)"

# Task-bound, with records and stacks: the program sleeps about 4 * 240 ms; its threads run when SWITCH says so.
perf record -q -g --switch-events -e sched:sched_switch -e sched:sched_waking -o bound.data -- ./waiting-here >record.out 2>&1 ||
	skip "perf record of tracepoints is refused here: $(head -n 1 record.out)"
states_of bound.data | grep -q 'from sched:sched_switch and switch records; no clock samples, no syscalls' || fail "header: $(states_of bound.data)"
ctxan -q bound.data -r states --format json >bound.json || fail "bound.data"
python3 - <<'END' || fail "the sleeping thread of bound.data"
import json
rows = [row for row in json.load(open("bound.json"))["rows"] if row["thread"] is not None]
best = max(row["SLEEP"] for row in rows)
assert best > 230e6, rows
assert sum(row["USER_LOCK"] for row in rows) > 100e6, rows
END

[ $status = 77 ] && [ "$failures" = 0 ] && skip "every thread of whole.data lacks switches"
finish
