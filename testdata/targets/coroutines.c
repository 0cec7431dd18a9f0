/*
 * Coroutines of makecontext and swapcontext, each on a stack of its own: main < switch_to; below, on
 * the other stacks, __start_context < coroutine < descend (as often as the coroutine's number says)
 * < spin, then back.
 *
 *	coroutines SECONDS	of CPU time
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>

#include "noinline.h"
#include "process_seconds.h"

#define COROUTINES 4
#define STACK_BYTES 65536

static ucontext_t back, contexts[COROUTINES];
static volatile unsigned long sink;

NOINLINE void spin(long n)
{
	for (long i = 0; i < n; i++)
		sink += (unsigned long)i;
}

NOINLINE void descend(int number, int depth)
{
	if (depth > 0) {
		descend(number, depth - 1);
		sink++;
		return;
	}
	spin(100000);
	swapcontext(&contexts[number], &back);
	sink++;
}

NOINLINE void coroutine(int number)
{
	for (;;) {
		descend(number, number);
		sink++;
	}
}

int main(int argc, char **argv)
{
	double end = process_seconds() + (argc > 1 ? atof(argv[1]) : 1);

	for (int i = 0; i < COROUTINES; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = malloc(STACK_BYTES);
		contexts[i].uc_stack.ss_size = STACK_BYTES;
		if (contexts[i].uc_stack.ss_sp == NULL)
			return 1;
		makecontext(&contexts[i], (void (*)(void))coroutine, 1, i);
	}
	while (process_seconds() < end) {
		for (int i = 0; i < COROUTINES; i++)
			swapcontext(&back, &contexts[i]);
	}
	puts("done");
	return 0;
}
