/*
 * Places to stop at with a debugger: main < CASE < ... < here, or the functions that are named.
 *
 *	step		one, two, three: stepped through by instruction, with prologues and epilogues
 *	bare		framed, without call frame information, in between (x86-64)
 *	coroutine	on a stack of makecontext
 *	signal		in a handler that interrupts spin
 *	threads		another thread is in here, main waits for it
 *	vfork, spawn	a child that is about to execute a program, in execve
 *	deep		at the end of a recursion of 3,000 calls
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "noinline.h"

extern char **environ;
static volatile long sink = 1;
static ucontext_t back, other;
static char *const nothing[] = {"/bin/true", NULL};

NOINLINE void here(void)
{
	sink++;
}

NOINLINE long three(long a, long b, long c)
{
	char room[a & 63];

	room[0] = (char)b;
	memset(room, (int)c, (size_t)(a & 63));
	here();
	return room[a & 31] + a + b + c;
}

NOINLINE long two(long a, long b)
{
	long sum = three(a, b, a + b) * a;

	if (sum < 0)
		return sum;
	return sum + three(b, a, sum) * b + a;
}

NOINLINE long one(long a)
{
	long sum = a;

	for (long i = 0; i < 2; i++)
		sum += two(a + 33, i) * sink;
	return sum;
}

#if defined(__x86_64__)
/* No .cfi directive describes it. */
void framed(void (*call)(void));
__asm__(".text\n.globl framed\n.type framed, @function\n"
	"framed:\n\tpush %rbp\n\tmov %rsp, %rbp\n\tpush %rbx\n\tsub $24, %rsp\n\tcall *%rdi\n\tadd $24, "
	"%rsp\n\tpop %rbx\n\tpop %rbp\n\tret\n"
	".size framed, . - framed\n");

NOINLINE static void bare(void)
{
	framed(here);
	sink++;
}
#else
static void bare(void)
{
}
#endif

NOINLINE static void in_coroutine(void)
{
	here();
	sink++;
	swapcontext(&other, &back);
}

NOINLINE static void coroutine(void)
{
	static char stack[65536];

	getcontext(&other);
	other.uc_stack.ss_sp = stack;
	other.uc_stack.ss_size = sizeof(stack);
	makecontext(&other, in_coroutine, 0);
	swapcontext(&back, &other);
	sink++;
}

static void handle(int number)
{
	sink += number;
	here();
	sink++;
}

NOINLINE static void spin(void)
{
	raise(SIGUSR1);
	sink++;
}

static void *in_thread(void *argument)
{
	here();
	sink++;
	return argument;
}

static void threads(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, in_thread, NULL) == 0)
		pthread_join(thread, NULL);
}

NOINLINE static void in_child(void)
{
	execve(nothing[0], nothing, environ);
	_exit(1);
}

NOINLINE static void by_vfork(void)
{
	pid_t pid = vfork();
	int status;

	if (pid == 0)
		in_child();
	waitpid(pid, &status, 0);
}

NOINLINE static void by_spawn(void)
{
	int status;
	pid_t pid;

	if (posix_spawn(&pid, nothing[0], NULL, NULL, nothing, environ) == 0)
		waitpid(pid, &status, 0);
}

NOINLINE long deep(long n)
{
	char room[16];

	room[n % 16] = (char)n;
	if (n == 0)
		here();
	else
		n = deep(n - 1);
	return n + room[n % 16] + sink;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "step";

	signal(SIGUSR1, handle);
	if (strcmp(name, "step") == 0)
		sink += one(3);
	else if (strcmp(name, "bare") == 0)
		bare();
	else if (strcmp(name, "coroutine") == 0)
		coroutine();
	else if (strcmp(name, "signal") == 0)
		spin();
	else if (strcmp(name, "threads") == 0)
		threads();
	else if (strcmp(name, "vfork") == 0)
		by_vfork();
	else if (strcmp(name, "spawn") == 0)
		by_spawn();
	else if (strcmp(name, "deep") == 0)
		sink += deep(3000);
	puts("done");
	return 0;
}
