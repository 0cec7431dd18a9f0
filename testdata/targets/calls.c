/*
 * Calls whose numbers the program knows: each function counts itself, in memory that all processes of the program share. At the end it prints NAME COUNT
 * for each. What is left by longjmp, in signal handlers, on other stacks and in children counts as well.
 *
 * calls [deep]: with a recursion of 100,000.
 */
#include "noinline.h"

#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define NAMES(name)                                                                                          \
	name(leaf) name(work) name(run_thread) name(leave_thread) name(on_signal) name(on_jump) name(jump)   \
		name(set) name(recurse) name(first_stack) name(second_stack) name(turn) name(wide)           \
			name(real) name(allocate) name(fork_one) name(vfork_one) name(tail)                  \
				name(switch_stacks) name(repeat) name(main)

enum {
#define NUMBER(name) N_##name,
	NAMES(NUMBER)
#undef NUMBER
		N
};

static _Atomic long *counts;

#define COUNT(name) (void)(counts[N_##name]++)

static volatile long sink;

NOINLINE static void leaf(void)
{
	COUNT(leaf);
	sink++;
}

/* Where a handler leaves, whether its call was counted is not known. */
NOINLINE static void uncounted(void)
{
	sink++;
}

NOINLINE static void work(long n)
{
	COUNT(work);
	for (long i = 0; i < n; i++)
		leaf();
}

NOINLINE static void *run_thread(void *n)
{
	COUNT(run_thread);
	work((long)n);
	return NULL;
}

NOINLINE static void *leave_thread(void *n)
{
	COUNT(leave_thread);
	if (n == NULL)
		pthread_exit(NULL);
	(void)leave_thread((char *)n - 1);
	sink++;
	return NULL;
}

NOINLINE static void on_signal(int number)
{
	(void)number;
	COUNT(on_signal);
	leaf();
	leaf();
	sink++;
}

static sigjmp_buf place;

NOINLINE static void on_jump(int number)
{
	(void)number;
	COUNT(on_jump);
	leaf();
	siglongjmp(place, 1);
}

NOINLINE static void jump(long n)
{
	COUNT(jump);
	if (n == 0)
		siglongjmp(place, 1);
	jump(n - 1);
	sink++;
}

NOINLINE static int set(long n)
{
	COUNT(set);
	if (sigsetjmp(place, 1) == 0)
		jump(n);
	leaf();
	return 1;
}

NOINLINE static long recurse(long n)
{
	long below = 0;

	COUNT(recurse);
	if (n != 0)
		below = recurse(n - 1) + 1;
	sink++;
	return below;
}

static ucontext_t outer, first, second;

NOINLINE static void turn(ucontext_t *from, ucontext_t *to)
{
	COUNT(turn);
	for (int i = 0; i < 10; i++) {
		leaf();
		(void)swapcontext(from, to);
	}
}

NOINLINE static void first_stack(void)
{
	COUNT(first_stack);
	turn(&first, &second);
	sink++;
}

NOINLINE static void second_stack(void)
{
	COUNT(second_stack);
	turn(&second, &first);
	sink++;
}

NOINLINE static void switch_stacks(void)
{
	static char stacks[2][65536];
	ucontext_t *contexts[] = {&first, &second};
	void (*functions[])(void) = {first_stack, second_stack};

	COUNT(switch_stacks);
	for (int i = 0; i < 2; i++) {
		(void)getcontext(contexts[i]);
		contexts[i]->uc_stack.ss_sp = stacks[i];
		contexts[i]->uc_stack.ss_size = sizeof(stacks[i]);
		contexts[i]->uc_link = &outer;
		makecontext(contexts[i], functions[i], 0);
	}
	(void)swapcontext(&outer, &first);
}

NOINLINE static __int128 wide(long n)
{
	COUNT(wide);
	return (__int128)n * n * n;
}

NOINLINE static long double real(double x, long double y)
{
	COUNT(real);
	return (long double)x * 2.5L + y;
}

NOINLINE static long allocate(long n)
{
	volatile char *room = alloca((size_t)n);

	COUNT(allocate);
	room[0] = 1;
	leaf();
	return room[0];
}

NOINLINE static void tail(long n)
{
	COUNT(tail);
	work(n);
}

NOINLINE static void fork_one(void)
{
	pid_t child;

	COUNT(fork_one);
	child = fork();
	if (child == 0) {
		work(10);
		_exit(0);
	}
	(void)waitpid(child, NULL, 0);
}

NOINLINE static void vfork_one(void)
{
	pid_t child;

	COUNT(vfork_one);
	child = vfork();
	if (child == 0) {
		leaf();
		_exit(0);
	}
	(void)waitpid(child, NULL, 0);
}

NOINLINE static void repeat(unsigned us)
{
	const struct itimerval timer = {.it_interval.tv_usec = us, .it_value.tv_usec = us};

	COUNT(repeat);
	(void)setitimer(ITIMER_REAL, &timer, NULL);
}

int main(int n, char **arguments)
{
	pthread_t threads[4];
	static const char *const names[] = {
#define NAME(name) #name,
		NAMES(NAME)
#undef NAME
	};

	counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	COUNT(main);
	for (long i = 0; i < 4; i++)
		(void)pthread_create(&threads[i], NULL, i < 2 ? run_thread : leave_thread, (void *)(i * 3));
	for (int i = 0; i < 4; i++)
		(void)pthread_join(threads[i], NULL);
	for (long i = 0; i < 10; i++)
		sink += set(i);
	fork_one();
	vfork_one();
	(void)signal(SIGUSR1, on_signal);
	for (int i = 0; i < 100; i++)
		(void)raise(SIGUSR1);
	switch_stacks();
	leaf();
	sink += (long)(wide(3000000) >> 64) + (long)real(2, 3) + allocate(100) + allocate(5000);
	tail(3);
	/* Signals in the middle of hooks, until there were some of them. */
	(void)signal(SIGALRM, on_signal);
	repeat(500);
	for (long before = counts[N_on_signal]; counts[N_on_signal] < before + 20;)
		leaf();
	repeat(0);
	for (int i = 0; i < 5; i++) {
		(void)signal(SIGALRM, on_jump);
		if (sigsetjmp(place, 1) == 0) {
			repeat(500);
			for (;;)
				uncounted();
		}
		repeat(0);
	}
	work(5);
	if (n > 1 && strcmp(arguments[1], "deep") == 0)
		sink += recurse(100000);
	n = (long double)real(2, 3) == 8.0L && wide(2) == 8 ? 0 : 1;
	for (int i = 0; i < N; i++) {
		if (counts[i] != 0)
			printf("%s %ld\n", names[i], (long)counts[i]);
	}
	return n;
}
