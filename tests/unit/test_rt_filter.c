/* Filters of system calls: what the runtime says of them is what the kernel does. */
#include "runtime/rt_filter.h"

#include "base/mem.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, action)
#define REFUSE (SECCOMP_RET_ERRNO | 77)

/* Two calls without effects, with arguments of zero: is each allowed by the kernel in a child that has the filter? Bits. */
static int ask_kernel(const struct sock_filter *filter, size_t n)
{
	const struct sock_fprog program = {.len = (unsigned short)n,
					   .filter = (struct sock_filter *)(uintptr_t)filter};
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		int allowed = 0;

		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
		    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
			_exit(100);
		allowed |= syscall(SYS_getppid, 0L, 0L, 0L, 0L, 0L, 0L) != -1 || errno != 77 ? 1 : 0;
		allowed |= syscall(SYS_sched_yield, 0L, 0L, 0L, 0L, 0L, 0L) != -1 || errno != 77 ? 2 : 0;
		/* Not _exit, before which a sanitizer makes system calls of its own. */
		(void)syscall(SYS_exit_group, (long)allowed);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int ask_runtime(const struct sock_filter *filter, size_t n)
{
	return (ctx_rt_filter_allows(filter, n, SYS_getppid) ? 1 : 0) |
	       (ctx_rt_filter_allows(filter, n, SYS_sched_yield) ? 2 : 0);
}

static uint32_t random_below(uint64_t *seed, uint32_t n)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 33) % n;
}

/* An instruction of a filter, with `left` behind it. The last ones return. */
static struct sock_filter random_instruction(uint64_t *seed, uint32_t left)
{
	static const uint16_t computes[] = {BPF_ADD, BPF_SUB, BPF_MUL, BPF_AND, BPF_OR,
					    BPF_XOR, BPF_LSH, BPF_RSH, BPF_NEG, BPF_DIV};
	static const uint16_t jumps[] = {BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET};
	static const uint32_t numbers[] = {SYS_getppid, SYS_sched_yield,   0,	      1,
					   7,		AUDIT_ARCH_X86_64, 0xffffffff};
	uint32_t number = numbers[random_below(seed, CTX_COUNT_OF(numbers))];
	uint16_t source = random_below(seed, 3) == 0 ? BPF_X : BPF_K;

	if (left < 2)
		return (struct sock_filter)RETURN(left == 0 ? SECCOMP_RET_ALLOW : REFUSE);
	switch (random_below(seed, 9)) {
	case 0:
		return (struct sock_filter)LOAD(nr);
	case 1:
		return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						    4 * (random_below(seed, 2) + 4 * random_below(seed, 2)));
	case 2:
		return (struct sock_filter)BPF_STMT(BPF_LD | BPF_IMM, number);
	case 3:
		return (struct sock_filter)BPF_STMT(
			BPF_MISC | (random_below(seed, 2) != 0 ? BPF_TAX : BPF_TXA), 0);
	case 4: {
		uint16_t compute = computes[random_below(seed, CTX_COUNT_OF(computes))];
		bool shifts = compute == BPF_LSH || compute == BPF_RSH;
		bool divides = compute == BPF_DIV; /* by zero: it kills */

		return (struct sock_filter)BPF_STMT(
			(uint16_t)(BPF_ALU | compute | (shifts || divides ? BPF_K : source)),
			shifts	      ? number % 32
			: number != 0 ? number
				      : 3);
	}
	case 5:
		return (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, random_below(seed, left));
	default:
		return (struct sock_filter)BPF_JUMP(
			(uint16_t)(BPF_JMP | jumps[random_below(seed, CTX_COUNT_OF(jumps))] | source), number,
			(uint8_t)random_below(seed, left), (uint8_t)random_below(seed, left));
	}
}

static void test_rt_filter__it_says_what_the_kernel_does(void **state)
{
	const struct sock_filter plain[] = {LOAD(nr), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
					    RETURN(REFUSE), RETURN(SECCOMP_RET_ALLOW)};
	unsigned seen[4] = {0};
	uint64_t seed = 3;

	(void)state;
	if (ask_kernel(plain, CTX_COUNT_OF(plain)) == 100)
		skip();
	assert_int_equal(ask_kernel(plain, CTX_COUNT_OF(plain)), 2);
	assert_int_equal(ask_runtime(plain, CTX_COUNT_OF(plain)), 2);
	for (int round = 0; round < 1500; round++) {
		struct sock_filter filter[16];
		const uint32_t n = 6 + random_below(&seed, CTX_COUNT_OF(filter) - 5);
		int wanted;

		/* The child must be able to end. */
		filter[0] = (struct sock_filter)LOAD(nr);
		filter[1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1);
		filter[2] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
		for (uint32_t i = 3; i < n; i++)
			filter[i] = random_instruction(&seed, n - 1 - i);
		wanted = ask_kernel(filter, n);
		if (wanted == 100) /* the kernel does not take it */
			continue;
		assert_int_equal(ask_runtime(filter, n), wanted);
		seen[wanted]++;
	}
	assert_true(seen[0] > 5 && seen[1] > 5 && seen[2] > 5 && seen[3] > 5);
}

/* No result, and nothing outside its bounds. */
static void test_rt_filter__what_makes_no_sense_allows_nothing(void **state)
{
	const struct sock_filter wrong[][2] = {
		{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, sizeof(struct seccomp_data)), RETURN(SECCOMP_RET_ALLOW)},
		{BPF_STMT(BPF_LD | BPF_MEM, 16), RETURN(SECCOMP_RET_ALLOW)},
		{BPF_STMT(BPF_ST, 1000), RETURN(SECCOMP_RET_ALLOW)},
		{BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0), RETURN(SECCOMP_RET_ALLOW)},
		{BPF_STMT(BPF_JMP | BPF_JA, 0xffffffff), BPF_STMT(BPF_JMP | BPF_JA, 0xfffffffe)},
		{LOAD(nr), LOAD(arch)}};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(wrong); i++)
		assert_false(ctx_rt_filter_allows(wrong[i], 2, SYS_getppid));
	assert_false(ctx_rt_filter_allows(wrong[0], 0, SYS_getppid));
}

static void test_rt_filter__one_forbidden_call_is_enough(void **state)
{
	const uint32_t calls[] = {SYS_ptrace, SYS_connect};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(calls); i++) {
		const struct sock_filter filter[] = {
			LOAD(nr), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i], 0, 1),
			RETURN(SECCOMP_RET_KILL_PROCESS), RETURN(SECCOMP_RET_ALLOW)};

		assert_int_equal(ctx_rt_filter_is_harmless(filter, CTX_COUNT_OF(filter)), i == 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rt_filter__it_says_what_the_kernel_does),
		cmocka_unit_test(test_rt_filter__what_makes_no_sense_allows_nothing),
		cmocka_unit_test(test_rt_filter__one_forbidden_call_is_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
