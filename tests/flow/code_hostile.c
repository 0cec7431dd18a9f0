/*
 * What tests/flow/code_hostile.py puts into a perf.data: registers and a copy of the stack at a
 * dozen places, written by the program itself, so that no perf events are needed. Compiled twice:
 * with -DWORK=first and another build.
 *
 *	code_hostile OUTPUT
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define STACK_BYTES 8192

static FILE *out;
static uintptr_t top; /* nothing above it is copied */

/* In the order of perf's register numbers; those that are not kept are 0. */
static void put_registers(const gregset_t regs)
{
	static const int order[24] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
				      REG_RIP, REG_EFL, -1,	 -1,	  -1,	   -1,	    -1,	     -1,
				      REG_R8,  REG_R9,	REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

	for (int i = 0; i < 24; i++) {
		uint64_t value = order[i] >= 0 ? (uint64_t)regs[order[i]] : 0;

		fwrite(&value, sizeof(value), 1, out);
	}
}

__attribute__((noinline)) int take(int n)
{
	static uint8_t copy[STACK_BYTES];
	ucontext_t here;
	uintptr_t from;

	getcontext(&here);
	from = (uintptr_t)here.uc_mcontext.gregs[REG_RSP];
	for (size_t i = 0; i < STACK_BYTES && from + i < top; i++)
		copy[i] = *(volatile uint8_t *)(from + i);
	put_registers(here.uc_mcontext.gregs);
	fwrite(copy, 1, STACK_BYTES, out);
	return n + 1;
}

static inline __attribute__((always_inline)) int inlined_deep(int n)
{
	return take(n) * 3;
}

static inline __attribute__((always_inline)) int inlined(int n)
{
	return inlined_deep(n + 1) + 7;
}

__attribute__((noinline)) int alpha(int n)
{
	volatile char room[40 + 8 * 3];

	room[n % 40] = 1;
	return inlined(n) + room[n % 40];
}

__attribute__((noinline)) int beta(int n)
{
	char *room = __builtin_alloca((size_t)(16 + n % 100)); /* the CFA follows the frame pointer */

	room[0] = (char)alpha(n);
	return ((volatile char *)room)[0] + n;
}

__attribute__((noinline)) int gamma_(int n)
{
	return n <= 0 ? beta(n + 20) : gamma_(n - 1) * 2 + 1;
}

#ifdef OTHER /* another program at the same path: its functions lie elsewhere */
__attribute__((noinline)) int before_main(int n)
{
	for (int i = 0; i < n; i++)
		n ^= gamma_(i) * n;
	return n;
}
#endif

/* libc calls back: its frames are on the stack, too. */
__attribute__((noinline)) int by_value(const void *a, const void *b)
{
	static int calls;

	if (calls++ == 2)
		beta(3);
	return *(const int *)a - *(const int *)b;
}

int main(int argc, char **argv)
{
	int values[] = {3, 1, 2, 5, 4}, sum = 0;

	top = (uintptr_t)argv;
	out = fopen(argc > 1 ? argv[1] : "/dev/null", "w");
	if (out == NULL)
		return 1;
	for (int i = 0; i < 9; i++)
		sum += i % 3 == 0 ? gamma_(i) : i % 3 == 1 ? beta(i) : inlined(i);
	qsort(values, 5, sizeof(values[0]), by_value);
#ifdef OTHER
	sum += before_main(sum);
#endif
	{
		FILE *maps = fopen("/proc/self/maps", "r");

		for (int c; maps != NULL && (c = getc(maps)) != EOF;)
			putc(c, out);
	}
	return sum == 42;
}
