# ctxrec --sync against gprofng and valgrind's helgrind: how often locks are taken and waited for, by function; which are taken in inverse orders.
. "$(dirname "$0")/../common.sh" "$@"
need jq gprofng valgrind c++
need_runtime

cat >crowd.cc <<'END'
#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>
static std::mutex shared, own[4];
static volatile long sum;
__attribute__((noinline)) static void shares(int i)
{
	for (int n = 0; n < 20000; n++) {
		std::lock_guard<std::mutex> guard(shared);
		sum = sum + i;
	}
}
__attribute__((noinline)) static void keeps(int i)
{
	for (int n = 0; n < 3000; n++) {
		std::lock_guard<std::mutex> guard(own[i]);
		std::lock_guard<std::mutex> inner(shared);
		sum = sum + i;
	}
}
int main()
{
	std::vector<std::thread> threads;
	for (int i = 0; i < 4; i++)
		threads.emplace_back([i] { shares(i); keeps(i); });
	for (auto &thread : threads)
		thread.join();
	printf("%ld\n", sum);
}
END
c++ -g -O1 -fno-omit-frame-pointer -o crowd crowd.cc -pthread || fail "no program"

# taken FILE FUNCTION OPERATION: operations with the function on their stacks
taken() {
	ctxan "$1" --sql "SELECT count(*) FROM traced AS t JOIN stack AS s ON s.id = t.stack WHERE t.operation = '$3' AND (SELECT group_concat(f.name, ' ') FROM (WITH RECURSIVE up(id, parent, function) AS (SELECT id, parent, function FROM stack WHERE id = s.id UNION ALL SELECT stack.id, stack.parent, stack.function FROM stack JOIN up ON stack.id = up.parent WHERE stack.id != 0) SELECT function FROM up) AS u JOIN function AS f ON f.id = u.function) LIKE '%$2%'" | tail -n 1
}
ctxrec -q -o crowd.er --no-archive --states off --sync --sync-threshold all --trace-full wait -- ./crowd >ours.txt 2>err.txt || fail "crowd: $(cat err.txt)"
[ -s err.txt ] && fail "messages: $(cat err.txt)"
gprofng collect app -s all -p off -o crowd-gprofng.er ./crowd >theirs.txt 2>&1 || fail "gprofng: $(cat theirs.txt)"
for part in shares:80000 keeps:24000; do
	ours=$(taken crowd.er ${part%:*} hold)
	theirs=$(taken crowd-gprofng.er ${part%:*} wait)
	printf '%s: %s locks by construction, %s here, %s by gprofng\n' ${part%:*} ${part#*:} "$ours" "$theirs"
	[ "$ours" = ${part#*:} ] && [ "$theirs" = ${part#*:} ] || fail "${part%:*}: $ours locks, gprofng $theirs"
done
[ "$(tail -n 1 ours.txt)" = 138000 ] || fail "the sum is $(tail -n 1 ours.txt)"
ctxrec -q -o sync.er --no-archive --sync --sync-threshold all --trace-full wait -- sync all >/dev/null 2>err.txt
gprofng collect app -s all -p off -o sync-gprofng.er "$bin/examples/sync" all >/dev/null 2>&1
for function in holds_300 holds_20_in_child; do
	ours=$(taken sync.er $function hold)
	theirs=$(taken sync-gprofng.er $function wait)
	[ "$ours" = "$theirs" ] || fail "$function: $ours locks, gprofng $theirs"
done
# Long waits; this gprofng sees those for mutexes and condition variables.
for file in sync sync-gprofng; do
	ctxan $file.er -r sync --filter 'DURATION>=2000000' --format json >$file.json || fail "report of $file"
	for function in waits_5_mutex waits_3_condition; do
		jq --arg f $function '[.rows[] | select(.section == "stack") | select(.stack | index($f)) | .waits] | add' $file.json
	done >$file.txt
done
cmp sync.txt sync-gprofng.txt || fail "long waits: $(cat sync.txt) instead of $(cat sync-gprofng.txt)"

# helgrind also names pairs of one thread, and of readers.
valgrind --tool=helgrind "$bin/examples/sync" all >helgrind.txt 2>&1
grep -A 12 'lock order .* violated' helgrind.txt | grep -q right_then_left || fail "helgrind: $(cat helgrind.txt)"
ctxan sync.er -r sync --cycles --format json | jq -e '[.rows[] | .stack[-1]] | sort == ["left_then_right", "right_then_left"]' >/dev/null || fail "cycles"
valgrind --tool=helgrind ./crowd 2>&1 | grep -q 'lock order .* violated' && fail "helgrind: crowd has inverse orders"
ctxan crowd.er -r sync --cycles --format json | jq -e '.rows == []' >/dev/null || fail "crowd has inverse orders"
finish
