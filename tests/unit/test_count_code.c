/* Code that counts the executions of an entry (runtime/rt_count_code.h): it is executed here. */
#include "runtime/count_layout.h"
#include "runtime/rt_count_code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

static struct ctx_rt_count_bump bumps[3] = {{7, 16, 0}, {8, 24, 160}, {9, 32, 168}};

static struct ctx_rt_count_code code_at(uint64_t at)
{
	return (struct ctx_rt_count_code){
		.at = at, .back = at + 4096, .slots = at - 64, .tls = -8, .bumps = bumps, .n = 3};
}

static void test_count_code__code_has_the_size_that_is_said(void **state)
{
	uint8_t out[CTX_RT_COUNT_CODE_BYTES(3) + 1];

	(void)state;
	for (size_t n = 1; n <= 3; n++) {
		struct ctx_rt_count_code code = code_at(1 << 20);
		size_t entry, bytes;

		memset(out, 0xa5, sizeof(out));
		code.n = n;
		bytes = ctx_rt_count_encode(&code, out, &entry);
		assert_in_range(bytes, 40, CTX_RT_COUNT_CODE_BYTES(n));
		assert_int_equal(out[bytes], 0xa5);
		assert_in_range(entry, 1, bytes - 1);
	}
}

static void test_count_code__what_is_too_far_away_is_refused(void **state)
{
	uint8_t out[CTX_RT_COUNT_CODE_BYTES(3)], jump[5];
	struct ctx_rt_count_code code = code_at(UINT64_C(1) << 40);
	size_t entry;

	(void)state;
	assert_int_not_equal(ctx_rt_count_encode(&code, out, &entry), 0);
	code.back = 0;
	assert_int_equal(ctx_rt_count_encode(&code, out, &entry), 0);
	code = code_at(UINT64_C(1) << 40);
	code.slots = 0;
	assert_int_equal(ctx_rt_count_encode(&code, out, &entry), 0);
	code = code_at(UINT64_C(1) << 40);
	bumps[0].counter = UINT64_C(1) << 31;
	assert_int_equal(ctx_rt_count_encode(&code, out, &entry), 0);
	bumps[0].counter = 16;
	assert_int_equal(ctx_rt_count_jump(0, INT32_MAX, jump), 5);
	assert_int_equal(ctx_rt_count_jump(0, UINT64_C(1) << 31 | 5, jump), 0);
	assert_int_equal(ctx_rt_count_jump(0x1000, 0x800, jump), 5);
	assert_memory_equal(jump, ((uint8_t[]){0xe9, 0xfb, 0xf7, 0xff, 0xff}), 5);
}

#ifdef __x86_64__

#define PAGES 8192u

__thread uint64_t **test_cell __attribute__((tls_model("initial-exec")));
uint64_t test_site, test_slow, test_raised;

/* What the code calls: the site is above the return address, the flags and rax. No register and no flag changes. */
#define STUB(name, counter)                                                                                  \
	name ":\npushfq\npush %rax\nincq " counter "(%rip)\nmov 24(%rsp), %rax\nmov %rax, test_site(%rip)\n" \
	     "pop %rax\npopfq\nret\n"

/*
 * test_call(function, in): calls it with registers and flags as `in` says, and writes there what they are afterwards: rax, rcx,
 * rdx, r8, r11, flags.
 */
__asm__(".text\n" STUB("test_slow_stub", "test_slow")
		STUB("test_raise_stub",
		     "test_raised") "test_call:\n"
				    "push %rbx\npush %rbp\nmov %rdi, %rbp\nmov %rsi, %rbx\n"
				    "pushq 40(%rbx)\npopfq\n"
				    "mov 0(%rbx), %rax\nmov 8(%rbx), %rcx\nmov 16(%rbx), %rdx\nmov 24(%rbx), "
				    "%r8\nmov 32(%rbx), %r11\n"
				    "call *%rbp\n"
				    "mov %rax, 0(%rbx)\nmov %rcx, 8(%rbx)\nmov %rdx, 16(%rbx)\nmov %r8, "
				    "24(%rbx)\nmov %r11, 32(%rbx)\n"
				    "pushfq\npopq 40(%rbx)\n"
				    "pop %rbp\npop %rbx\nret\n");
void test_call(void (*function)(void), uint64_t *registers);
void test_slow_stub(void);
void test_raise_stub(void);

static void call(uint8_t *function)
{
	/* Carry, parity, adjust, zero, sign, overflow: each set and not. */
	static const uint64_t flags[] = {0x2, 0x3, 0x6, 0x12, 0x42, 0x82, 0x802, 0x8d7};
	void (*entry)(void);

	memcpy(&entry, &function, sizeof(entry));
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		uint64_t registers[6] = {~UINT64_C(0), 2, 3, 4, 5, flags[i]}, wanted[6];

		memcpy(wanted, registers, sizeof(wanted));
		test_call(entry, registers);
		registers[5] &= 0x8d7;
		wanted[5] &= 0x8d7;
		assert_memory_equal(registers, wanted, sizeof(wanted));
	}
}

static void test_count_code__an_execution_counts_and_changes_nothing(void **state)
{
	uint8_t *page =
		mmap(NULL, PAGES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t block[32] = {0}, *at_block = block, *none = NULL;
	void (*const stubs[2])(void) = {test_slow_stub, test_raise_stub};
	uint8_t *function = page + 4096;
	struct ctx_rt_count_code code = {
		.at = (uintptr_t)page + 16,
		.back = (uintptr_t)function + 5,
		.slots = (uintptr_t)page,
		.tls = (int32_t)((intptr_t)&test_cell - (intptr_t)__builtin_thread_pointer()),
		.bumps = bumps,
		.n = 3};
	size_t entry;

	(void)state;
	assert_true(page != MAP_FAILED);
	memcpy(page, stubs, sizeof(stubs));
	assert_int_not_equal(ctx_rt_count_encode(&code, page + 16, &entry), 0);
	assert_int_equal(ctx_rt_count_jump((uintptr_t)function, code.at + entry, function), 5);
	function[5] = 0xc3;
	/* Without a block, in both ways, all of it is the callee's. */
	test_cell = NULL;
	call(function);
	test_cell = &none;
	call(function);
	assert_int_equal(test_slow, 16);
	assert_int_equal(test_raised, 0);
	assert_int_equal(test_site, 7);
	/* With one; the first of the two thresholds is reached. */
	test_cell = &at_block;
	block[20] = 5;
	block[21] = 9;
	call(function);
	assert_int_equal(test_slow, 16);
	assert_int_equal(test_raised, 1);
	assert_int_equal(test_site, 8);
	for (size_t i = 0; i < 32; i++)
		assert_int_equal(block[i], i >= 2 && i <= 4 ? 8 : i == 20 ? (uint64_t)-3 : i == 21 ? 1 : 0);
	munmap(page, PAGES);
}

#endif

static void test_count_code__blocks_lie_behind_each_other(void **state)
{
	struct ctx_rt_count_header header = {.n_objects = 2, .n_sites = 600, .n_blocks = 3};

	(void)state;
	ctx_rt_count_shape(&header, 0);
	assert_int_equal(header.block_bytes, 8192);
	ctx_rt_count_shape(&header, 1);
	assert_int_equal(header.block_bytes, 12288);
	assert_true(header.blocks_at % 4096 == 0 &&
		    header.blocks_at >=
			    (uint64_t)((uint8_t *)(ctx_rt_count_owners(&header) + 3) - (uint8_t *)&header));
	assert_int_equal(header.bytes, header.blocks_at + 3 * header.block_bytes);
	assert_int_equal(ctx_rt_count_counter(&header, 599), 601);
	assert_int_equal(ctx_rt_count_countdown(&header, 599), 1201);
	assert_true((1201 + 1) * 8 <= header.block_bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_count_code__code_has_the_size_that_is_said),
		cmocka_unit_test(test_count_code__what_is_too_far_away_is_refused),
#ifdef __x86_64__
		cmocka_unit_test(test_count_code__an_execution_counts_and_changes_nothing),
#endif
		cmocka_unit_test(test_count_code__blocks_lie_behind_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
