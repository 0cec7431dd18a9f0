# ctxrec --heap against valgrind and heaptrack: numbers of allocations, bytes allocated and bytes never freed of real programs.
. "$(dirname "$0")/../common.sh" "$@"
need jq valgrind heaptrack python3 sqlite3 c++ zstd
[ -e "$bin/libctxrt.so" ] || skip "the runtime is for x86-64"
need_perf

cat >server.cc <<'END'
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
struct Request {
	std::string text;
	std::vector<int> data;
};
static std::deque<Request *> queue;
static std::map<std::string, long> answers;
static std::mutex queue_mutex, answers_mutex;
static std::condition_variable changed;
static bool is_over;

static void serve()
{
	for (;;) {
		std::unique_lock<std::mutex> lock(queue_mutex);
		changed.wait(lock, [] { return is_over || !queue.empty(); });
		if (queue.empty())
			return;
		std::unique_ptr<Request> request(queue.front());
		queue.pop_front();
		lock.unlock();
		request->data.push_back(1);
		std::lock_guard<std::mutex> guard(answers_mutex);
		answers[request->text] += (long)request->data.size();
	}
}

int main()
{
	std::vector<std::thread> threads;
	for (int i = 0; i < 4; i++)
		threads.emplace_back(serve);
	for (int i = 0; i < 30000; i++) {
		Request *request = new Request;
		request->text = "a request with a long name, number " + std::to_string(i % 500);
		for (int k = 0; k < i % 9; k++)
			request->data.push_back(k);
		std::lock_guard<std::mutex> lock(queue_mutex);
		queue.push_back(request);
		changed.notify_one();
	}
	{
		std::lock_guard<std::mutex> lock(queue_mutex);
		is_over = true;
	}
	changed.notify_all();
	for (std::thread &thread : threads)
		thread.join();
	for (int i = 0; i < 7; i++)
		new std::string(100, 'x');
	return answers.size() == 500 ? 0 : 1;
}
END
c++ -O2 -g -pthread -o server server.cc || fail "server.cc"
sql="create table t(a, b); with recursive c(x) as (select 1 union all select x + 1 from c where x < 20000) insert into t select x, x * 7 % 1000 from c; select b, count(*) from t group by b order by 2 limit 3;"
script='import json
rows = [str(i) for i in range(20000)]
print(len(json.dumps(rows)))'
# Programs see the environment: all recorders have as many variables in it, of the same lengths.
PYTHONHASHSEED=0 PYTHONMALLOC=malloc PYTHONDONTWRITEBYTECODE=1
export PYTHONHASHSEED PYTHONMALLOC PYTHONDONTWRITEBYTECODE

total() { jq "[.rows[] | select(.section == \"total\")][0].$1" heap.json; }

# compare NAME SLACK_COUNT SLACK_BYTES COMMAND...: allocations and bytes may differ by so much, where environments and threads make them; leaked blocks too
compare() {
	name=$1 count=$2 bytes=$3
	shift 3
	"$@" >bare.txt 2>&1
	wanted=$?
	ctxrec -q -o "$name.er" -O --states off --heap --trace-full wait -- "$@" >traced.txt 2>&1
	[ $? = $wanted ] || fail "$name: exit status"
	cmp bare.txt traced.txt || fail "$name: output"
	ctxan "$name.er" -r heap --format json >heap.json || fail "$name: report"
	jq -e '[.warnings[] | select(test("heap operations"))] == []' heap.json >/dev/null || fail "$name: $(jq -c .warnings heap.json)"
	valgrind --run-libc-freeres=no --run-cxx-freeres=no "$@" >/dev/null 2>valgrind.txt
	heaptrack -o heaptrack.out "$@" >/dev/null 2>&1
	tracked=$(heaptrack_print heaptrack.out.* 2>/dev/null | sed -n 's/^calls to allocation functions: \([0-9]*\).*/\1/p')
	rm -f heaptrack.out.*
	allocs=$(tr -d , <valgrind.txt | sed -n 's/.*total heap usage: \([0-9]*\) allocs.*/\1/p')
	allocated=$(tr -d , <valgrind.txt | sed -n 's/.* frees \([0-9]*\) bytes allocated.*/\1/p')
	leaks=$(tr -d , <valgrind.txt | sed -n 's/.*in use at exit: [0-9]* bytes in \([0-9]*\) blocks.*/\1/p')
	leaked=$(tr -d , <valgrind.txt | sed -n 's/.*in use at exit: \([0-9]*\) bytes.*/\1/p')
	printf '%s: ours %s allocations, %s bytes, %s leaks of %s; valgrind %s, %s, %s, %s; heaptrack %s\n' "$name" "$(total allocations)" "$(total bytes)" \
		"$(total leaks)" "$(total leaked_bytes)" "$allocs" "$allocated" "$leaks" "$leaked" "$tracked"
	within "$name: allocations" "$(total allocations)" "$allocs" "$count"
	within "$name: allocations of heaptrack" "$(total allocations)" "$tracked" $((count + 2)) # it has some of its own
	within "$name: bytes" "$(total bytes)" "$allocated" "$bytes"
	within "$name: leaks" "$(total leaks)" "$leaks" 0
	within "$name: leaked bytes" "$(total leaked_bytes)" "$leaked" "$bytes"
}
within() {
	[ -n "$2" ] && [ -n "$3" ] || { fail "$1: no number: '$2', '$3'"; return; }
	difference=$(($2 - $3))
	[ "${difference#-}" -le "$4" ] || fail "$1: $2 instead of $3"
}

# One thread, no look at the environment: all is the same, to the byte.
compare sqlite3 0 0 sqlite3 :memory: "$sql"
compare xz 0 0 xz -9 -T1 -k -c server.cc
# os.environ has the variables, which differ.
# A wrapper of the interpreter (pyenv) is a program of its own.
compare python 20 4000 "$(python3 -c 'import sys; print(sys.executable)')" -S -c "$script"
# How often the threads find a string or a node depends on who comes first; each thread's table of thread-local storage has one entry more.
compare server 40 20000 ./server

# In a pid namespace a thread has another id for itself than here: what it allocates is its own nevertheless, if it lives long enough to be looked at.
cat >threads.cc <<'END'
#include <cstdlib>
#include <thread>
#include <unistd.h>
int main()
{
	void *volatile blocks[3];
	std::thread threads[3];
	for (int i = 0; i < 3; i++)
		threads[i] = std::thread([&blocks, i] { sleep(1); blocks[i] = malloc(7777); sleep(1); });
	for (std::thread &thread : threads)
		thread.join();
}
END
c++ -O1 -pthread -o threads threads.cc || fail "threads.cc"
if unshare -Urfmp --mount-proc true 2>unshare.txt; then
	ctxrec -q -o inside.er --heap -- unshare -Urfmp --mount-proc ./threads || fail "threads in a pid namespace"
	n=$(ctxan inside.er --sql "SELECT count(DISTINCT thread) FROM traced WHERE size = 7777" | tail -n 1)
	[ "$n" = 3 ] || fail "threads in a pid namespace: $n instead of 3"
else
	leave_out "threads in a pid namespace: $(cat unshare.txt)"
fi
finish
