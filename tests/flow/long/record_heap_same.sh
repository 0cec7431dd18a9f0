# ctxrec --heap against valgrind and heaptrack: numbers of allocations, bytes allocated and bytes never freed of real programs.
. "$(dirname "$0")/../common.sh" "$@"
need jq valgrind heaptrack python3 sqlite3 c++ zstd
need_runtime

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

# What the allocator's functions allocated; valgrind and heaptrack do not count mappings.
total() { jq "[.rows[] | select(.section == \"kind\" and (.kind == \"malloc\" or .kind == \"realloc\")) | .$1] | add // 0" heap.json; }

# compare NAME SLACK_COUNT SLACK_BYTES COMMAND...: allocations and bytes may differ by so much, where environments and threads make them; leaked blocks too
compare() {
	name=$1 count=$2 bytes=$3
	shift 3
	"$@" >bare.txt 2>&1
	wanted=$?
	ctxrec -q -o "$name.er" -O --states off --heap --trace-full wait -- "$@" >traced.txt 2>&1
	[ $? = $wanted ] || fail "$name: exit status"
	# What the recorder has to say of itself, as lost samples beside other work, is not the program's.
	sed -n "s/^ctxrec: /$name: said: /p" traced.txt
	sed '/^ctxrec: /d' traced.txt | cmp bare.txt - || fail "$name: output"
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
# maps NAME COMMAND...: the program's own calls that map and unmap memory, against those that strace sees called from outside of the C library
# and the loader (their own are not the program's).
maps() {
	name=$1
	shift
	ctxrec -q -O --states off -o "$name.er" --heap --trace-full wait -- "$@" >/dev/null 2>err.txt || fail "$name: $(cat err.txt)"
	rm -f maps.db # both begin with none
	strace -f -k -qq -e trace=mmap,munmap,mremap -o strace.txt "$@" >/dev/null 2>&1
	# The caller is the first frame behind the wrapper of the system call in the C library; a failed call counts for nothing.
	awk '/^[0-9]+ +(mmap|munmap|mremap)\(/ { call = $2; sub(/\(.*/, "", call); failed = / = -1 /; frame = 0; next }
		/^ > / { frame++; if (frame == 2 && !failed && $0 !~ /libc[.-]|ld-linux|ld-2/) n[call]++ }
		END { print n["mmap"] + 0, n["mremap"] + 0, n["munmap"] + 0 }' strace.txt >wanted.txt
	ctxan -q "$name.er" --sql "SELECT sum(operation IN ('map', 'map file')) || ' ' || sum(operation LIKE 'remap%') || ' ' || sum(operation = 'unmap') FROM traced WHERE kind = 'heap'" | tail -n 1 | tr -d '"' >got.txt
	printf '%s: mmap, mremap, munmap: ours %s, strace %s\n' "$name" "$(cat got.txt)" "$(cat wanted.txt)"
	cmp -s wanted.txt got.txt || fail "$name: mappings: $(cat got.txt) instead of $(cat wanted.txt)"
}
if command -v strace >/dev/null 2>&1 && strace -k -o strace.txt true 2>/dev/null; then
	maps sqlite_maps sqlite3 maps.db "pragma mmap_size = 100000000; $sql"
	maps python_maps "$(python3 -c 'import sys; print(sys.executable)')" -S -c "import mmap
a = [mmap.mmap(-1, 8192 * i) for i in range(1, 9)]
a[3].resize(1 << 20)
del a"
else
	leave_out "no strace with call stacks (-k): calls of mmap"
fi

# A library behind the runtime counts what reaches the C library: in the same run, so whatever a program does at random.
cat >counter.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);
static _Atomic unsigned long allocations, bytes;
static void *count(void *block, size_t size)
{
	allocations += block != NULL;
	bytes += block != NULL ? size : 0;
	return block;
}
void *malloc(size_t size) { return count(__libc_malloc(size), size); }
void *calloc(size_t n, size_t size) { return count(__libc_calloc(n, size), n * size); }
void *realloc(void *old, size_t size) { return count(__libc_realloc(old, size), size); }
void *memalign(size_t alignment, size_t size) { return count(__libc_memalign(alignment, size), size); }
void *aligned_alloc(size_t alignment, size_t size) { return count(__libc_memalign(alignment, size), size); }
int posix_memalign(void **ret, size_t alignment, size_t size) { return (*ret = memalign(alignment, size)) != NULL ? 0 : ENOMEM; }
static void forget(void) { allocations = bytes = 0; }
__attribute__((constructor)) static void begin(void) { pthread_atfork(NULL, NULL, forget); }
__attribute__((destructor)) static void end(void)
{
	char text[100];
	int fd, n = sprintf(text, "%lu %lu\n", allocations, bytes);
	if (strcmp(program_invocation_short_name, "ctxrec") == 0)
		return;
	fd = open(getenv("COUNTS"), O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (write(fd, text, (size_t)n) != n)
		_exit(99);
	close(fd);
}
END
cc -O1 -fno-builtin -shared -fPIC -o libcounter.so counter.c || fail "counter.c"

# counted NAME SLACK_COUNT SLACK_BYTES COMMAND...: what happens at its very end, in other threads and destructors, may be on one side alone
counted() {
	name=$1 count=$2 bytes=$3
	shift 3
	rm -f counts
	COUNTS=$PWD/counts LD_PRELOAD=$PWD/libcounter.so ctxrec -q -O --no-archive --states off -o "$name.er" --heap --trace-full wait -- "$@" >/dev/null 2>err.txt || fail "$name: $(cat err.txt)"
	ctxan "$name.er" -r heap --format json >heap.json || fail "$name: report"
	read -r allocs allocated <<-END
		$(awk '{ n += $1; b += $2 } END { printf "%d %d\n", n, b }' counts)
	END
	printf '%s: ours %s allocations, %s bytes; counted %s, %s in %s processes\n' "$name" "$(total allocations)" "$(total bytes)" "$allocs" "$allocated" "$(wc -l <counts)"
	within "$name: allocations" "$(total allocations)" "$allocs" "$count"
	within "$name: bytes" "$(total bytes)" "$allocated" "$bytes"
}
c++ -E -O1 server.cc -o server.ii
counted cc1plus 0 0 "$(c++ -print-prog-name=cc1plus)" -quiet -O1 -fpreprocessed server.ii -o server.s
if command -v git >/dev/null 2>&1; then
	git init -q repository
	for i in 1 2 3; do
		seq $((i * 1000)) >"repository/$i"
		git -C repository add . && git -C repository -c user.name=x -c user.email=x@y commit -q -m $i
	done
	counted git 10 2000 git -C repository gc -q
else
	leave_out "no git"
fi
if command -v node >/dev/null 2>&1; then
	counted node 300 300000 node -e 'console.log(JSON.stringify([..."abcdef"].map((x) => x.repeat(100))).length)'
else
	leave_out "no node"
fi
# Each thread but the main one takes three allocations, of 216 bytes, by the runtime itself: it asks the C library for the bounds of the stack.
if command -v java >/dev/null 2>&1; then
	counted java 150 10800 java -Xshare:auto -version
else
	leave_out "no java"
fi
if command -v nginx >/dev/null 2>&1; then
	mkdir www && head -c 20000 /dev/zero >www/a
	cat >nginx.conf <<-END
		worker_processes 2; daemon off; pid $work/nginx.pid; error_log $work/nginx.err; user root;
		env COUNTS;
		events { worker_connections 64; }
		http { access_log $work/nginx.log; client_body_temp_path $work/n1; proxy_temp_path $work/n2; fastcgi_temp_path $work/n3; uwsgi_temp_path $work/n4; scgi_temp_path $work/n5;
			server { listen unix:$work/nginx.socket; root $work/www; } }
	END
	(
		ask_server nginx.socket a missing
		kill -QUIT "$(cat nginx.pid)"
	) &
	if [ "$(id -u)" = 0 ]; then counted nginx 0 0 nginx -c "$work/nginx.conf" -e "$work/nginx.err"; else leave_out "nginx: only root changes its user"; fi
	wait
else
	leave_out "no nginx"
fi
finish
