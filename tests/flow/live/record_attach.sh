# ctxrec --trace -p: a program that runs already; exact counts of what it does between attaching and detaching, in threads, children and programs
# that it executes; it does the same as alone, also where the recorder is killed; what cannot be attached to is refused.
. "$(dirname "$0")/../common.sh" "$@"
need jq cc
trap : PIPE # a target that has ended is a failure of its own
need_runtime

# until COMMAND...: until it succeeds, 20 s at most.
until_is() {
	for _ in $(seq 400); do
		"$@" && return 0
		sleep 0.05
	done
	return 1
}
lines() { wc -l <said.txt; }
has_said() { [ "$(lines)" -ge "$1" ]; }
# A thread that waits in the kernel is what is to be found: all of WAYS are there before anything is recorded.
threads_are() { [ "$(ls /proc/"$pid"/task | wc -l)" = "$1" ]; }

# begin WAYS [WAY]: $pid runs, with its input from descriptor 9.
begin() {
	rm -f in said.txt
	mkfifo in
	attached "$@" <in >said.txt 2>&1 &
	job=$!
	exec 9>in
	until_is has_said 1 || fail "the target does not begin"
	pid=$(head -n 1 said.txt)
	until_is threads_are $((${#1} + $#)) || fail "threads of $1"
}
# obey COMMAND: until it is done.
obey() {
	wanted=$(($(lines) + 1))
	echo "$1" >&9
	until_is has_said "$wanted" || fail "$1 is not done: $(tail -n 1 said.txt)"
}
# ends [WHAT]: the program is told to end, and has its exit status
ends() {
	echo end >&9
	exec 9>&-
	wait $job
	[ $? = 7 ] || fail "exit status${1:+ $1}: $(cat said.txt)"
}
is_attached() { grep -q 'is traced since' err.txt 2>/dev/null || ! kill -0 "$recorder" 2>/dev/null; }
# attach NAME OPTION...
attach() {
	name=$1
	shift
	rm -f err.txt # of the recorder before
	ctxrec -q --no-archive -o "$name" -p "$pid" "$@" 2>err.txt &
	recorder=$!
	until_is is_attached && grep -q 'is traced since' err.txt || fail "not attached ($*): $(cat err.txt)"
}
detach() {
	kill -TERM $recorder
	wait $recorder || fail "the recorder: $(cat err.txt)"
	[ "$(wc -l <err.txt)" = 1 ] || fail "messages: $(cat err.txt)"
}
# sum FILE FUNCTION KEY: the sum of the stacks whose leaf is the function
sum() { jq --arg f "$2" --arg k "$3" '[.rows[] | select(.section == "stack") | select(.stack[-1] == $f) | .[$k]] | add // 0' "$1"; }
has() {
	got=$(sum "$1" "$2" "$3")
	[ "$got" = "$4" ] || fail "$1: $2: $3 is $got instead of $4"
}

# sums_of_io FILE NAME: reads, bytes, writes, bytes of a file
sums_of_io() { jq -r --arg n "$2" '[.rows[] | select(.section == "file") | select(.file == $n)] | .[0] | [.reads, .read_bytes, .writes, .write_bytes] | join(" ")' "$1"; }

# What it does alone.
printf 'heap\nfree\nthreads\nsync\nio\nchild\nheap\nend\n' | attached bnfepl >bare.txt
[ $? = 7 ] || fail "the program alone: $(cat bare.txt)"

# With one thread, which waits in read; twice.
begin ''
obey heap
attach one.er --heap
obey heap
obey free
detach
obey heap
attach two.er --heap
obey heap
obey heap
detach
obey heap
ends
[ "$(tail -n +2 said.txt | tr '\n' ' ')" = 'heap heap free heap heap heap heap all is right ' ] || fail "output: $(cat said.txt)"
ctxan one.er -r heap --format json >one.json || fail "report"
ctxan two.er -r heap --format json >two.json || fail "report"
for function in allocates_200:200:6000:50 in_child:0:0:0; do
	has one.json "${function%%:*}" allocations "$(echo $function | cut -d: -f2)"
	has one.json "${function%%:*}" bytes "$(echo $function | cut -d: -f3)"
	has one.json "${function%%:*}" leaks "$(echo $function | cut -d: -f4)"
done
has one.json strdup allocations 40
has one.json strdup leaks 0
has two.json allocates_200 allocations 400
has two.json allocates_200 leaks 100
# Nothing else has allocated: what was there before is none of it.
[ "$(jq '[.rows[] | select(.section == "total")][0].allocations' one.json)" = 240 ] || fail "all allocations: $(jq -c '.rows[] | select(.section == "total")' one.json)"
ctxan one.er -r leaks | tr -s ' \n' ' ' | grep -q 'traced since ctxrec attached to it: blocks that it had before, and their release, are not recorded' || fail "not said that it is since then"

# Threads that wait in all ways, and one that allocates without end; all that can be traced.
begin bnfepl
attach all.er --heap --sync --sync-threshold all --io --trace-full wait
for command in heap free threads sync io child; do obey $command; done
detach
obey heap
ends
tail -n +2 said.txt >said_all.txt
tail -n +2 bare.txt | cmp - said_all.txt || fail "another output: $(cat said.txt)"
ctxan all.er -r heap --format json >all.json || fail "report"
has all.json allocates_200 allocations 200
has all.json allocates_200 leaks 50
has all.json strdup allocations 40
has all.json in_thread_100 allocations 300
has all.json in_thread_100 leaks 0
has all.json in_child allocations 30
[ "$(sum all.json loops allocations)" -gt 0 ] || fail "nothing of the thread that allocates"
ctxan all.er -r sync --format json >sync.json || fail "report"
[ "$(jq '[.rows[] | select(.section == "object") | select(.stack | index("waits_5")) | select(.kind == "mutex") | .waits] | add' sync.json)" = 5 ] ||
	fail "waits: $(jq -c '.rows[] | select(.section == "object")' sync.json | head -n 5)"
ctxan all.er -r io --format json >io.json || fail "report"
[ "$(sums_of_io io.json /dev/null)" = '0 0 20 200' ] && [ "$(sums_of_io io.json /dev/zero)" = '7 21 0 0' ] ||
	fail "input and output: $(jq -c '.rows[] | select(.section == "file")' io.json)"

# The thread that is used is the main thread, which waits in each of these ways, and checks that the wait has not ended for it.
for way in b n f e p; do
	begin '' $way
	for name in way.er way_again.er; do
		attach $name --heap -O
		obey heap
		detach
	done
	ends "of one that waits in $way"
	[ "$(tail -n +2 said.txt | tr '\n' ' ')" = 'heap heap all is right ' ] || fail "output of one that waits in $way: $(cat said.txt)"
	ctxan way_again.er -r heap --format json >way.json || fail "report"
	has way.json allocates_200 allocations 200
done

# Signals that come meanwhile are not lost: each is counted.
begin ''
(
	sent=0
	until [ -e enough ]; do
		kill -34 "$pid" && sent=$((sent + 1))
		sleep 0.001
	done
	echo $sent >sent
) &
sender=$!
for name in signal_one.er signal_two.er signal_three.er; do
	attach $name --heap
	detach
done
: >enough
wait $sender
obey "signals $(cat sent)"
ends "of one that gets signals"

# The recorder is killed: the program goes on as if nothing was, and another recorder can attach to it.
begin bnfepl
attach gone.er --heap --sync --io
obey heap
kill -9 $recorder
wait $recorder 2>/dev/null
for command in heap free threads sync io child; do obey $command; done
attach again.er --heap --trace-full wait
obey heap
detach
ends "after the recorder was killed"
[ "$(tail -n +2 said.txt | tr '\n' ' ')" = 'heap heap free threads sync io child heap all is right ' ] || fail "output after the recorder was killed: $(cat said.txt)"
ctxan again.er -r heap --format json >again.json || fail "report"
has again.json allocates_200 allocations 200

# The target ends while it is recorded; it executes programs, and loads libraries, which are recorded, too.
cat >lib.c <<'END'
#include <stdlib.h>
static void *volatile kept;
__attribute__((noinline)) void in_library_25(void)
{
	for (int i = 0; i < 25; i++) {
		kept = malloc(8);
		free(kept);
	}
}
END
cc -O1 -shared -fPIC -fno-builtin -o liblate.so lib.c || fail "lib.c"
begin l
attach ends.er --heap --trace-full wait
obey "exec $bin/examples/heap 9"
obey "load $PWD/liblate.so in_library_25"
obey "load $PWD/liblate.so in_library_25"
ends "of a target that ends"
wait $recorder || fail "the recorder of a target that ends: $(cat err.txt)"
[ "$(wc -l <err.txt)" = 1 ] || fail "messages: $(cat err.txt)"
ctxan ends.er -r heap --format json >ends.json || fail "report"
has ends.json in_child allocations 9
has ends.json in_library_25 allocations 50

# The only thread allocates nearly all the time.
cat >hot.c <<'END'
#include <stdlib.h>
static void *volatile kept;
int main(void)
{
	for (unsigned long i = 0;; i++) {
		kept = malloc(i % 200);
		free(kept);
	}
}
END
cc -O2 -fno-builtin -o hot hot.c || fail "hot.c"
./hot &
pid=$!
attach hot.er --heap --trace-full wait
detach
attach hot.er -O --heap --trace-full wait
detach
kill -0 $pid || fail "a program that only allocates has ended"
kill $pid
wait $pid 2>/dev/null
ctxan hot.er -r heap --format json >hot.json || fail "report"
[ "$(sum hot.json main allocations)" -gt 0 ] || fail "nothing of a program that only allocates"

# Two recorders.
begin b
attach first.er --heap
expect 1 "process $pid cannot be traced: another ctxrec traces it" ctxrec --no-archive -o second.er --heap -p "$pid"
obey heap
detach
ctxan first.er -r heap --format json >first.json
has first.json allocates_200 allocations 200
[ -e second.er ] && fail "an experiment of a process that was refused"

# Refused.
kill -STOP "$pid"
is_stopped() { grep -q '^State:.*T (stopped' /proc/"$pid"/status; }
until_is is_stopped
expect 1 "process $pid cannot be traced: it is stopped" ctxrec -o refused.er --heap -p "$pid"
kill -CONT "$pid"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null 2>&1; then
	cp "$bin/ctxrec" "$bin/libctxrt.so" . && chmod 755 . ctxrec libctxrt.so
	expect 1 "process $pid cannot be traced: it is another user's" setpriv --reuid 65534 --regid 65534 --clear-groups ./ctxrec -o /tmp/refused.$$.er --heap -p "$pid"
else
	leave_out "needs root: a process of another user"
fi
obey heap
ends "after refusals"
printf '#include <unistd.h>\nint main(void) { char c; return (int)read(0, &c, 1); }\n' >static.c
refused() {
	rm -f in
	mkfifo in
	"$1" <in &
	job=$!
	exec 9>in
	runs_it() { [ "$(readlink /proc/$job/exe)" = "$(readlink -f "$1")" ]; }
	until_is runs_it "$1"
	expect 1 "process $job cannot be traced: $2" ctxrec -o refused.er --heap -p $job
	exec 9>&-
	wait $job || fail "$1 after it was refused"
}
if cc -static -o static static.c 2>/dev/null; then
	refused ./static 'statically linked'
else
	leave_out "no static C library"
fi
cat >own.c <<'END'
#include <stddef.h>
#include <unistd.h>
static char memory[1 << 20];
static size_t used;
void *malloc(size_t size) { used += (size + 15) & ~(size_t)15; return memory + used - ((size + 15) & ~(size_t)15); }
void *calloc(size_t n, size_t size) { return malloc(n * size); }
void *realloc(void *old, size_t size) { (void)old; return malloc(size); }
void free(void *block) { (void)block; }
int main(void) { char c; return (int)read(0, &c, 1); }
END
cc -O1 -fno-builtin -rdynamic -o own own.c && refused ./own 'the allocator .malloc. is a part of the program'
cat >filter.c <<'END'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {1, &allow};
	char c;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		return 1;
	write(1, "ready\n", 6);
	return (int)read(0, &c, 1);
}
END
cc -o filter filter.c || fail "filter.c"
rm -f in
mkfifo in
./filter <in >ready.txt &
job=$!
exec 9>in
until_is test -s ready.txt
expect 1 "process $job cannot be traced: it has a seccomp filter" ctxrec -o refused.er --heap -p $job
exec 9>&-
wait $job || fail "a program with a filter"
if [ "$(id -u)" = 0 ] && unshare -n true 2>/dev/null; then
	unshare -n sleep 60 &
	job=$!
	is_apart() { [ "$(readlink /proc/$job/ns/net)" != "$(readlink /proc/self/ns/net)" ] && [ "$(cat /proc/$job/comm)" = sleep ]; }
	until_is is_apart
	pid=$job
	attach apart.er --heap
	detach
	kill $job
	wait $job 2>/dev/null
else
	leave_out "needs root: another network namespace"
fi
expect 1 'there is no process 999999999' ctxrec -o refused.er --heap -p 999999999
[ -e refused.er ] && fail "an experiment of a process that was refused"
finish
