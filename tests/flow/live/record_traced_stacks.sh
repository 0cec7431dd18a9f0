# Call stacks of traced operations where there is little to unwind by: a program with gaps between its segments, code without call frame information
# with and without frame pointers, code that was made while it ran; and threads that begin in a function that holds a lock of theirs.
. "$(dirname "$0")/../common.sh" "$@"
need jq cc timeout
need_runtime

cat >outer.c <<'END_C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void through(void (*function)(void), int depth);

__attribute__((noinline)) static void allocates(void)
{
	void *volatile block = malloc(777);
	free(block);
	__asm__ volatile("");
}

/* Code without a table: "push rbp; mov rbp, rsp; call rdi; pop rbp; ret", or "sub rsp, 24; call rdi; add rsp, 24; ret". */
__attribute__((noinline)) static void from_made_code(const void *code, size_t n, int how)
{
	unsigned char *at = mmap(NULL, 4096, how ? PROT_READ | PROT_WRITE : PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(at + 64, code, n);
	if (how)
		mprotect(at, 4096, PROT_READ | PROT_EXEC);
	for (int i = 0; i < 10; i++)
		((void (*)(void (*)(void)))(void *)(at + 64))(allocates);
	munmap(at, 4096);
}

static void *asks(void *unused)
{
	pthread_attr_t attributes;
	(void)unused;
	if (pthread_getattr_np(pthread_self(), &attributes) != 0)
		exit(3);
	pthread_attr_destroy(&attributes);
	allocates();
	return NULL;
}

int main(void)
{
	static const unsigned char with_fp[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
	static const unsigned char without_fp[] = {0x48, 0x83, 0xec, 0x18, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x18, 0xc3};
	void *(*volatile address_of_malloc)(size_t) = malloc;
	pthread_t threads[4];

	free(address_of_malloc(55));
	for (int i = 0; i < 10; i++)
		through(allocates, i);
	from_made_code(with_fp, sizeof(with_fp), 0);
	from_made_code(without_fp, sizeof(without_fp), 1);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, asks, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	puts("done");
	return 5;
}
END_C
cat >inner.c <<'END_C'
void through(void (*function)(void), int depth);
__attribute__((noinline)) void through(void (*function)(void), int depth)
{
	volatile int kept[9] = {depth};
	if (depth > 0)
		through(function, depth - 1);
	else
		function();
	kept[1] = kept[0];
}
END_C

# stacks NAME FLAGS_OF_INNER FLAGS_OF_LINK: the stacks of the blocks of 777 bytes begin at the root, and have every call
stacks() {
	name=$1
	cc -O1 -fno-pie -c -o outer.o outer.c && cc -O1 -fno-pie $2 -c -o inner.o inner.c && cc -no-pie $3 -o "$name" outer.o inner.o -pthread ||
		fail "$name: not built"
	timeout 60 ctxrec -q -O -o "$name.er" --heap --trace-full wait -- "./$name" >out.txt 2>err.txt
	[ $? = 5 ] || { fail "$name: exit status: $(cat err.txt)"; return; }
	[ "$(cat out.txt)" = "done" ] || fail "$name: output: $(cat out.txt)"
	# The address of malloc in such a program is that of a stub in it: no malloc of its own.
	[ -s err.txt ] && fail "$name: messages: $(cat err.txt)"
	ctxan "$name.er" -r heap --format json >heap.json || fail "$name: report"
	jq -e '[.rows[] | select(.section == "stack") | select(.stack | join(" ") | test("Truncated"))] == []' heap.json >/dev/null ||
		fail "$name: truncated: $(jq -c '[.rows[] | select(.section == "stack") | .stack | select(join(" ") | test("Truncated"))][0:3]' heap.json)"
	got=$(jq -c '[.rows[] | select(.section == "stack") | select(.stack[-1] == "allocates") | {n: .allocations, through: ([.stack[] | select(. == "through")] | length),
		made: ([.stack[] | select(. == "<Unknown>")] | length), main: (.stack | index("main") != null), asks: (.stack | index("asks") != null)}] | sort_by(.through, .made) |
		[([.[] | select(.main and .through > 0) | .through] | unique), ([.[] | select(.main and .made == 1) | .n] | add), ([.[] | select(.asks) | .n] | add)]' heap.json)
	[ "$got" = "[[1,2,3,4,5,6,7,8,9,10],20,4]" ] || fail "$name: $got"
}
stacks with_tables "" ""
stacks gaps "" "-Wl,-z,max-page-size=0x200000"
stacks frame_pointers "-fno-asynchronous-unwind-tables -fno-omit-frame-pointer" ""
stacks no_tables "-fno-asynchronous-unwind-tables -fomit-frame-pointer" ""

# A child of clone whose thread-local memory is all zero, as chromium's sandbox makes one for a single call: nothing of it is recorded, and it lives.
cat >zero.c <<'END_C'
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static char zero[16384] __attribute__((aligned(64))), stack[65536] __attribute__((aligned(64)));
static int changes(void *unused)
{
	(void)unused;
	syscall(SYS_exit, chdir("/") == 0 ? 4 : 5);
	return 0;
}
int main(void)
{
	int status = -1;
	pid_t child = clone(changes, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | CLONE_FS | CLONE_SETTLS | SIGCHLD, NULL, NULL, zero + 8192, NULL);
	if (chdir("/tmp") != 0 || waitpid(child, &status, 0) != child)
		return 1;
	printf("%d %d\n", WIFEXITED(status), WEXITSTATUS(status));
}
END_C
cc -O1 -o zero zero.c || fail "zero.c"
[ "$(./zero)" = "1 4" ] || fail "zero alone: $(./zero)"
got=$(timeout 60 ctxrec -q -O -o zero.er --io --heap --sync -- ./zero 2>err.txt)
[ "$got" = "1 4" ] || fail "a child without thread-local memory: $got $(cat err.txt)"
finish
