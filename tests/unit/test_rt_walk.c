/* The runtime's unwinder on this program's own stack, against the C library's. */
#include "runtime/rt_code.h"
#include "runtime/rt_walk.h"

#include <execinfo.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cmocka.h>

extern void *__libc_stack_end;

static struct ctx_rt_walker walker;
static uint64_t room[CTX_RT_FRAMES_MAX], whole[CTX_RT_FRAMES_MAX];
static struct ctx_rt_stack last;
static uint32_t n_whole;
static volatile int zero;

/* Puts new frames in front of what is kept, leaf first. */
static void join(const struct ctx_rt_stack *stack)
{
	assert_true(stack->kept <= n_whole && stack->n + stack->kept <= CTX_RT_FRAMES_MAX);
	memmove(whole + stack->n, whole + n_whole - stack->kept, stack->kept * sizeof(*whole));
	memcpy(whole, stack->frames, stack->n * sizeof(*whole));
	n_whole = stack->n + stack->kept;
}

/* Stands for malloc: the stack of its caller. What is new and what is kept make the whole. */
__attribute__((noinline)) static void hook(void)
{
	struct ctx_rt_registers caller = CTX_RT_CALLER();
	void *addresses[CTX_RT_FRAMES_MAX + 8];
	int n, skip = 0;

	last = ctx_rt_walk(&walker, &caller, room);
	join(&last);
	n = backtrace(addresses, CTX_RT_FRAMES_MAX + 8);
	while (skip < n && (uint64_t)addresses[skip] - 1 != whole[0])
		skip++;
	assert_true(n_whole > 3);
	assert_true(n - skip >= (int)n_whole);
	for (uint32_t i = 0; i < n_whole; i++) {
		/* The frame that a signal interrupted is not behind a call. */
		uint64_t address = (uint64_t)addresses[skip + (int)i];

		assert_true(whole[i] == address - 1 || whole[i] == address);
	}
}

__attribute__((noinline)) static int call(int n)
{
	for (int i = 0; i < n; i++)
		hook();
	return n + zero;
}

__attribute__((noinline)) static int descend(int depth)
{
	return depth == 0 ? call(1) : descend(depth - 1) + 1;
}

/* Its frame has a size that only the frame pointer tells. */
__attribute__((noinline)) static int with_alloca(size_t n)
{
	volatile char *block = __builtin_alloca(n);

	block[0] = 1;
	return call(1) + block[0];
}

/* A frame that is aligned: its CFA is an expression. */
__attribute__((noinline)) static int aligned(int n)
{
	_Alignas(64) volatile char block[128];

	block[0] = (char)n;
	return call(n) + block[0] - n;
}

static void begin(void)
{
	memset(&walker, 0, sizeof(walker));
	walker.top = (uint64_t)__libc_stack_end;
	walker.low = walker.top - ((uint64_t)8 << 20);
	n_whole = 0;
	if (!ctx_rt_can_walk())
		skip();
}

static void test_rt_walk__stacks_are_those_of_the_c_library(void **state)
{
	(void)state;
	begin();
	for (int round = 0; round < 3; round++) {
		for (int depth = 0; depth < 40; depth += 1 + depth / 3)
			descend(depth);
		for (size_t n = 1; n < 2000; n += 333)
			with_alloca(n);
		aligned(2);
		assert_int_equal(last.end, CTX_TRUNCATED_NOT);
	}
}

static void test_rt_walk__what_has_not_changed_is_not_handed_out_again(void **state)
{
	(void)state;
	begin();
	call(1);
	assert_int_equal(last.kept, 0);
	call(20); /* another place in call, maybe; then the same */
	assert_true(last.n <= 1);
	assert_int_equal(last.n + last.kept, n_whole);
	ctx_rt_walk_anew(&walker);
	n_whole = 0;
	call(1);
	assert_int_equal(last.kept, 0);
}

static void test_rt_walk__a_deep_recursion_is_cut_at_the_roots_side(void **state)
{
	struct ctx_rt_stack deep;

	(void)state;
	begin();
	for (int depth = 900; depth < 1500; depth += 97)
		descend(depth);
	deep = last;
	assert_int_equal(n_whole, CTX_RT_FRAMES_MAX);
	assert_int_equal(deep.end, CTX_TRUNCATED_DEPTH);
	call(1);
	assert_int_equal(last.end, CTX_TRUNCATED_NOT);
}

static volatile sig_atomic_t handled;

static void handle(int number)
{
	handled = number;
	call(2);
}

static void test_rt_walk__goes_on_behind_a_signal_handler(void **state)
{
	struct sigaction action = {.sa_handler = handle}, old;

	(void)state;
	begin();
	call(1);
	assert_int_equal(sigaction(SIGUSR1, &action, &old), 0);
	for (int i = 0; i < 3; i++)
		raise(SIGUSR1);
	assert_int_equal(handled, SIGUSR1);
	assert_int_equal(last.end, CTX_TRUNCATED_NOT);
	sigaction(SIGUSR1, &old, NULL);
	call(1);
}

static ucontext_t main_context, other_context;
static char other_stack[65536];

static void on_other_stack(void)
{
	struct ctx_rt_registers caller = CTX_RT_CALLER();

	for (int i = 0; i < 100; i++)
		last = ctx_rt_walk(&walker, &caller, room);
}

static void run_on(char *stack, size_t n, void (*function)(void))
{
	assert_int_equal(getcontext(&other_context), 0);
	other_context.uc_stack.ss_sp = stack;
	other_context.uc_stack.ss_size = n;
	other_context.uc_link = &main_context;
	makecontext(&other_context, function, 0);
	assert_int_equal(swapcontext(&main_context, &other_context), 0);
}

static void test_rt_walk__another_stack_is_read_as_far_as_it_goes(void **state)
{
	(void)state;
	begin();
	run_on(other_stack, sizeof(other_stack), on_other_stack);
	assert_in_range(last.n + last.kept, 1, 3);
	assert_int_equal(last.end, CTX_TRUNCATED_NOT);
	call(1);
}

/* Several pages of frames on a coroutine's stack. */
static void descend_there(void)
{
	for (int depth = 0; depth < 900; depth += 1 + depth / 3) {
		descend(depth);
		assert_int_equal(last.end, CTX_TRUNCATED_NOT);
	}
	with_alloca(30000);
	assert_int_equal(last.end, CTX_TRUNCATED_NOT);
}

static void test_rt_walk__a_stack_of_many_pages_is_whole(void **state)
{
	static char large[1 << 18];

	(void)state;
	begin();
	run_on(large, sizeof(large), descend_there);
	call(1);
	assert_int_equal(last.end, CTX_TRUNCATED_NOT);
}

/* The handler's stack, and then the one that it interrupted. */
static void test_rt_walk__goes_on_from_an_alternate_stack(void **state)
{
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK}, old;
	stack_t other = {.ss_sp = other_stack, .ss_size = sizeof(other_stack)},
		none = {.ss_flags = SS_DISABLE};

	(void)state;
	begin();
	assert_int_equal(sigaltstack(&other, NULL), 0);
	assert_int_equal(sigaction(SIGUSR1, &action, &old), 0);
	for (int i = 0; i < 3; i++)
		raise(SIGUSR1);
	assert_int_equal(last.end, CTX_TRUNCATED_NOT);
	sigaction(SIGUSR1, &old, NULL);
	sigaltstack(&none, NULL);
	call(1);
}

/* At the end of a mapping, behind which nothing can be read, with a caller that is none. */
static void test_rt_walk__what_cannot_be_read_is_not(void **state)
{
	char *pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ctx_rt_registers caller = {.pc = (uint64_t)(uintptr_t)call + 20};
	struct ctx_rt_stack stack;

	(void)state;
	begin();
	assert_true(pages != MAP_FAILED && mprotect(pages + 2 * 4096, 4096, PROT_NONE) == 0);
	for (unsigned n = 0; n < 3 * 4096; n += 8) {
		caller.sp = (uint64_t)(uintptr_t)pages + n;
		caller.fp = caller.sp + 32;
		stack = ctx_rt_walk(&walker, &caller, room);
		assert_true(stack.n + stack.kept >= 1);
	}
	munmap(pages, 3 * 4096);
	stack = ctx_rt_walk(&walker, &caller, room); /* gone */
	assert_true(stack.n + stack.kept >= 1);
}

__attribute__((noinline)) static void walk_only(void)
{
	struct ctx_rt_registers caller = CTX_RT_CALLER();

	last = ctx_rt_walk(&walker, &caller, room);
	join(&last);
}

struct made {
	const uint8_t *code;
	size_t n;
};

/* Calls walk_only from code that has no table. */
__attribute__((noinline)) static void call_made(void *page, const struct made *made)
{
	volatile int kept = zero;

	memset(page, 0xcc, 4096);
	memcpy((uint8_t *)page + 128, made->code, made->n);
	((void (*)(void (*)(void)))(uintptr_t)((uint8_t *)page + 128))(walk_only);
	zero = kept;
}

static void test_rt_walk__code_that_was_made_is_left_as_its_instructions_say(void **state)
{
	/* push rbp; mov rbp, rsp; call rdi; pop rbp; ret */
	static const uint8_t with_fp[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
	/* sub rsp, 40; call rdi; add rsp, 40; ret, with the call at the same place as above; and with 104 instead */
	static const uint8_t of_40[] = {0x48, 0x83, 0xec, 0x28, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x28, 0xc3};
	static const uint8_t of_104[] = {0x48, 0x83, 0xec, 0x68, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x68, 0xc3};
	static const struct made all[] = {
		{with_fp, sizeof(with_fp)}, {of_40, sizeof(of_40)}, {of_104, sizeof(of_104)}};
	uint8_t *page =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	begin();
	assert_true(page != MAP_FAILED);
	/* Of memory that nobody has said to be code, frame pointers alone are followed: the caller has been left out. */
	call_made(page, &all[1]);
	assert_false(ctx_rt_walk_has(&walker, (const void *)&call_made));
	begin();
	ctx_rt_code_note((uint64_t)(uintptr_t)page, 4096);
	for (size_t i = 0; i < 30; i++) {
		call_made(page, &all[(i * i + i / 4) % 3]);
		assert_int_equal(last.end, CTX_TRUNCATED_NOT);
		assert_int_equal(whole[0], (uint64_t)(uintptr_t)page + 128 + 5);
		assert_true(ctx_rt_walk_has(&walker, (const void *)&call_made));
		assert_true(ctx_rt_walk_has(
			&walker,
			(const void *)&test_rt_walk__code_that_was_made_is_left_as_its_instructions_say));
		assert_false(ctx_rt_walk_has(&walker, (const void *)&with_alloca));
	}
	munmap(page, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rt_walk__stacks_are_those_of_the_c_library),
		cmocka_unit_test(test_rt_walk__what_has_not_changed_is_not_handed_out_again),
		cmocka_unit_test(test_rt_walk__a_deep_recursion_is_cut_at_the_roots_side),
		cmocka_unit_test(test_rt_walk__goes_on_behind_a_signal_handler),
		cmocka_unit_test(test_rt_walk__another_stack_is_read_as_far_as_it_goes),
		cmocka_unit_test(test_rt_walk__a_stack_of_many_pages_is_whole),
		cmocka_unit_test(test_rt_walk__goes_on_from_an_alternate_stack),
		cmocka_unit_test(test_rt_walk__what_cannot_be_read_is_not),
		cmocka_unit_test(test_rt_walk__code_that_was_made_is_left_as_its_instructions_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
