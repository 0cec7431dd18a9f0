# ctxrec --heap --sync --io of programs whose signal handlers leave by longjmp, have small stacks, interrupt an allocator, and of those that execute
# others before any constructor: they do what they do alone.
. "$(dirname "$0")/../common.sh" "$@"
need cc
need_runtime

# same NAME COMMAND...: output and exit status, recorded and alone
same() {
	name=$1
	shift
	timeout 60 "$@" >bare.txt 2>&1
	bare=$?
	timeout 120 ctxrec -q --no-archive -o "$name.er" --heap --sync --io --trace-full wait -- "$@" >traced.txt 2>err.txt
	got=$?
	[ $got = $bare ] || fail "$name: exit status $got instead of $bare: $(cat err.txt)"
	cmp bare.txt traced.txt || fail "$name: another output: $(cat traced.txt)"
}
for name in early stream reads small; do
	same $name interrupted $name
done

# A read that a jump leaves may be recorded or not; all others are.
ctxan reads.er --sql "select count(*) from traced where call = 'pread'" >reads.txt || fail "reads: --sql"
got=$(tail -n 1 reads.txt)
read -r reads jumps <counts
[ "$got" -ge "$reads" ] || fail "reads: $got of at least $reads are recorded"
[ "$jumps" -gt 0 ] || fail "no read was left"

# The first that a thread does is an allocation, whose lock a handler finds held: nothing that it does may allocate.
cat >locking.c <<'END'
#include <signal.h>
#include <stddef.h>
#include <unistd.h>
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
static volatile int held;
volatile int interrupts;
static void take(void)
{
	if (held)
		_exit(9);
}
void *malloc(size_t size)
{
	take();
	if (interrupts) {
		interrupts = 0;
		held = 1;
		raise(SIGUSR1);
		held = 0;
	}
	return __libc_malloc(size);
}
void *calloc(size_t n, size_t size) { take(); return __libc_calloc(n, size); }
void *realloc(void *old, size_t size) { take(); return __libc_realloc(old, size); }
END
cat >handles.c <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
extern volatile int interrupts;
static void *volatile kept;
static void handle(int signal_number) { (void)signal_number; (void)!write(1, "handled\n", 8); }
static void *run(void *argument) { interrupts = 1; kept = malloc(100); return argument; }
int main(void)
{
	pthread_t thread;
	signal(SIGUSR1, handle);
	for (int i = 0; i < 3; i++)
		if (pthread_create(&thread, NULL, run, NULL) != 0 || pthread_join(thread, NULL) != 0)
			return 1;
	return 4;
}
END
cc -O1 -shared -fPIC -fno-builtin -o liblocking.so locking.c && cc -O1 -fno-builtin -o handles handles.c -L. -llocking -lpthread -Wl,-rpath,"$PWD" || fail "handles.c"
same handles ./handles
grep -c handled traced.txt | grep -qx 3 || fail "handlers: $(cat traced.txt)"

# A thread that is cancelled while it waits for a condition has not held the mutex meanwhile: the other one's hold is all.
cat >waits.c <<'END'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static volatile int waits;
static void release(void *lock) { pthread_mutex_unlock(lock); }
static void *run(void *argument)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(release, &mutex);
	waits = 1;
	for (;;)
		pthread_cond_wait(&condition, &mutex);
	pthread_cleanup_pop(1);
	return argument;
}
int main(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, run, NULL) != 0)
		return 1;
	while (!waits)
		usleep(1000);
	pthread_mutex_lock(&mutex); /* it waits */
	pthread_mutex_unlock(&mutex);
	pthread_cancel(thread);
	return pthread_join(thread, NULL);
}
END
cc -O1 -o waits waits.c -lpthread || fail "waits.c"
ctxrec -q --no-archive -o waits.er --sync --sync-threshold all --trace-full wait -- ./waits || fail "cancelled in a wait"
got=$(ctxan waits.er --sql "select count(*) from traced where operation = 'hold'" | tail -n 1)
[ "$got" = 1 ] || fail "cancelled in a wait: $got holds"

# The main thread ends, the others go on: one whose first allocation comes after that has memory of its own, of the same process.
cat >goes_on.c <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void *volatile kept;
__attribute__((noinline)) static void allocates_9(void)
{
	for (int i = 0; i < 9; i++)
		kept = malloc(16);
}
static int main_has_ended(void)
{
	char text[256] = "";
	int fd = open("/proc/self/stat", O_RDONLY);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
	close(fd);
	return n > 0 && strstr(text, ") Z") != NULL;
}
static void *goes_on(void *none)
{
	while (!main_has_ended())
		usleep(1000);
	usleep(200000); /* the recorder has heard of it */
	allocates_9();
	return none;
}
int main(void)
{
	pthread_t thread;
	kept = malloc(16);
	if (pthread_create(&thread, NULL, goes_on, NULL) != 0)
		return 1;
	pthread_exit(NULL);
}
END
cc -O1 -g -o goes_on goes_on.c -lpthread || fail "goes_on.c"
ctxrec -q --no-archive -O -o run.er --heap --trace-full wait -- ./goes_on 2>err.txt || fail "goes_on: $(cat err.txt)"
[ ! -s err.txt ] || fail "goes_on: $(cat err.txt)"
got=$(allocations_of allocates_9)
[ "$got" = 9 ] || fail "a thread that goes on without the main thread: $got allocations instead of 9"

# With little memory allowed the program has what it has alone, and that it is not recorded is said.
wanted=$(sh -c 'ulimit -v 24000; heap child 2; echo $?')
got=$(ctxrec -q --no-archive -O -o limited.er --heap -- sh -c 'ulimit -v 24000; heap child 2; echo $?' 2>err.txt)
[ "$got" = "$wanted" ] || fail "ulimit -v: $got instead of $wanted"
grep -q 'the heap of a process, or of some of its threads, is not recorded ([12] times*): a limit on its memory (ulimit -v)' err.txt || fail "ulimit -v: not said: $(cat err.txt)"
grep 'could not be assigned' err.txt && fail "ulimit -v: nothing was lost besides"
finish
