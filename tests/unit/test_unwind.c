#include "tests/unit/cfi_assembly.h"
#include "tests/unit/failing_malloc.h"
#include "unwind/cfi_expr.h"
#include "unwind/table_cache.h"
#include "unwind/unwind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define STACK_AT UINT64_C(0x7ffd00000000)
#define BIAS UINT64_C(0x555500000000)

/* Functions of the table, each 0x100 bytes. */
enum {
	LEAF = 0x1000,	     /* push rbp at +4, pops it at +0x20 without CFI */
	FRAME = 0x1100,	     /* rbp is the frame pointer from +4 on */
	REALIGNED = 0x1200,  /* its CFA is in the memory at [rbx] */
	START = 0x1300,	     /* has no caller */
	SAVES_RBX = 0x1400,  /* rbx at CFA - 16 */
	TRAMPOLINE = 0x1500, /* of signals; registers are at rsp */
	SHRINKS = 0x1600,    /* CFA below the stack pointer */
	LOST = 0x1700,	     /* CFA in r10, which no call keeps */
	DAMAGED = 0x1800,
	VFORK = 0x1900, /* has popped its return address into rdi at +4 */
};

static struct ctx_cfi_table *make_table(void)
{
	static const uint8_t leaf[] = {0x44, 0x0e, 16, 0x86, 2, 0x5c, 0x0e, 8};
	static const uint8_t frame[] = {0x44, 0x0e, 16, 0x86, 2, 0x0d, 6};
	static const uint8_t realigned[] = {0x0f, 3, 0x73, 0, 0x06};
	static const uint8_t start[] = {0x07, 16};
	static const uint8_t saves[] = {0x0e, 16, 0x83, 2};
	/* CFA = [rsp + 16]; rip at [rsp], rbp at [rsp + 8] */
	static const uint8_t trampoline[] = {0x0f, 3, 0x77, 16, 0x06, 0x10, 16, 2,
					     0x77, 0, 0x10, 6,	2,    0x77, 8};
	static const uint8_t shrinks[] = {0x13, 2};
	static const uint8_t lost[] = {0x0c, 10, 0};
	static const uint8_t vfork[] = {0x44, 0x0e, 0, 0x09, 16, 5};
	static const uint8_t damaged[] = {0x42, 0x0e, 16, 0x42, 0x3f};
	struct ctx_cfi_table *table = NULL;
	struct assembly assembly = {0};

	put_cie(&assembly, false);
	put_fde(&assembly, DAMAGED, 0x100, damaged, sizeof(damaged));
	put_fde(&assembly, LEAF, 0x100, leaf, sizeof(leaf));
	put_fde(&assembly, FRAME, 0x100, frame, sizeof(frame));
	put_fde(&assembly, REALIGNED, 0x100, realigned, sizeof(realigned));
	put_fde(&assembly, START, 0x100, start, sizeof(start));
	put_fde(&assembly, SAVES_RBX, 0x100, saves, sizeof(saves));
	put_fde(&assembly, SHRINKS, 0x100, shrinks, sizeof(shrinks));
	put_fde(&assembly, LOST, 0x100, lost, sizeof(lost));
	put_fde(&assembly, VFORK, 0x100, vfork, sizeof(vfork));
	put_cie(&assembly, true);
	put_fde(&assembly, TRAMPOLINE, 0x100, trampoline, sizeof(trampoline));
	assert_int_equal(build_raw(assembly.buf.bytes, assembly.buf.n, true, &table), CTX_OK);
	ctx_buf_deinit(&assembly.buf);
	return table;
}

/* The table's code, and code without a table behind it. */
static bool find(void *context, uint64_t pc, struct ctx_unwind_object *ret)
{
	if (pc >= BIAS + 0x1000 && pc < BIAS + 0x2000) {
		*ret = (struct ctx_unwind_object){BIAS + 0x1000, BIAS + 0x2000, context, BIAS, 0, 0};
		return true;
	}
	*ret = (struct ctx_unwind_object){BIAS + 0x2000, BIAS + 0x3000, NULL, 0, 0, 0};
	return pc >= BIAS + 0x2000 && pc < BIAS + 0x3000;
}

struct scene {
	struct ctx_user_state state;
	uint64_t words[16];
	struct ctx_unwind_frame frames[8];
	size_t n;
	size_t (*read_code)(void *context, uint64_t address, uint8_t *out, size_t n);
};

static enum ctx_truncation play(struct scene *scene, uint64_t pc, size_t n_words, size_t max)
{
	struct ctx_cfi_table *table = make_table();
	struct ctx_unwind_space space = {.find = find, .read_code = scene->read_code, .context = table};
	enum ctx_truncation reason;
	uint64_t *copy = malloc(n_words * 8 + 1); /* so that a sanitizer sees a read past it */

	assert_non_null(copy);
	memcpy(copy, scene->words, n_words * 8);
	scene->state.regs.machine = CTX_MACHINE_X86_64;
	scene->state.regs.valid = (UINT64_C(1) << 17) - 1;
	scene->state.regs.value[7] = STACK_AT;
	scene->state.regs.value[16] = pc;
	scene->state.stack = (const uint8_t *)copy;
	scene->state.stack_bytes = n_words * 8;
	reason = ctx_unwind(&space, &scene->state, scene->frames, max, &scene->n);
	free(copy);
	ctx_cfi_table_close(table);
	return reason;
}

static void test_unwind__a_leaf_its_caller_and_the_root_are_found(void **context)
{
	struct scene scene = {.words = {STACK_AT + 32, BIAS + FRAME + 0x10, 0, 0, 0, BIAS + START + 5}};

	(void)context;
	assert_int_equal(play(&scene, BIAS + LEAF + 8, 6, 8), CTX_TRUNCATED_NOT);
	assert_int_equal(scene.n, 3);
	assert_int_equal(scene.frames[0].address, BIAS + LEAF + 8);
	assert_int_equal(scene.frames[0].cfa, STACK_AT + 16);
	assert_int_equal(scene.frames[1].address, BIAS + FRAME + 0xf);
	assert_int_equal(scene.frames[1].cfa, STACK_AT + 48);
	assert_int_equal(scene.frames[2].address, BIAS + START + 4);
}

static void test_unwind__a_popped_frame_pointer_keeps_its_value(void **context)
{
	/*
	 * The rule still says that rbp is at CFA - 16, which is below the stack pointer and not
	 * copied.
	 */
	struct scene scene = {.words = {BIAS + FRAME + 0x10, 0, 0, 0, BIAS + START + 5}};

	(void)context;
	scene.state.regs.value[6] = STACK_AT + 24;
	assert_int_equal(play(&scene, BIAS + LEAF + 0x28, 5, 8), CTX_TRUNCATED_NOT);
	assert_int_equal(scene.n, 3);
	assert_int_equal(scene.frames[1].cfa, STACK_AT + 40);
}

static void test_unwind__registers_that_only_a_later_frame_needs_are_found(void **context)
{
	struct scene scene = {
		.words = {STACK_AT + 32, BIAS + REALIGNED + 8, 0, BIAS + START + 9, STACK_AT + 32}};

	(void)context;
	assert_int_equal(play(&scene, BIAS + SAVES_RBX + 8, 5, 8), CTX_TRUNCATED_NOT);
	assert_int_equal(scene.n, 3);
	assert_int_equal(scene.frames[1].cfa, STACK_AT + 32);
	assert_int_equal(scene.frames[2].address, BIAS + START + 8);
}

static void test_unwind__a_signal_interrupts_at_the_exact_pc(void **context)
{
	/*
	 * The handler returns to the first byte of the trampoline; the interrupted pc is the first
	 * of a function.
	 */
	struct scene scene = {
		.words = {0, BIAS + TRAMPOLINE, BIAS + LEAF, 0, STACK_AT + 48, 0, BIAS + START + 5}};

	(void)context;
	assert_int_equal(play(&scene, BIAS + LEAF + 8, 7, 8), CTX_TRUNCATED_NOT);
	assert_int_equal(scene.n, 4);
	assert_int_equal(scene.frames[1].address, BIAS + TRAMPOLINE);
	assert_int_equal(scene.frames[2].address, BIAS + LEAF);
	assert_int_equal(scene.frames[3].address, BIAS + START + 4);
}

static void test_unwind__a_leaf_may_have_popped_its_return_address_into_a_register(void **context)
{
	struct scene scene = {.words = {0, BIAS + START + 5}};

	(void)context;
	scene.state.regs.value[5] = BIAS + SAVES_RBX + 8;
	assert_int_equal(play(&scene, BIAS + VFORK + 8, 2, 8), CTX_TRUNCATED_NOT);
	assert_int_equal(scene.n, 3);
	assert_int_equal(scene.frames[0].cfa, STACK_AT);
	assert_int_equal(scene.frames[1].address, BIAS + SAVES_RBX + 7);
	assert_int_equal(scene.frames[2].address, BIAS + START + 4);
	/* As a caller it would have to be on the stack. */
	scene.words[1] = BIAS + VFORK + 8;
	assert_int_equal(play(&scene, BIAS + SAVES_RBX + 8, 2, 8), CTX_TRUNCATED_BAD_CFA);
}

static void test_unwind__an_interrupted_frame_on_another_stack_is_listed(void **context)
{
	struct scene scene = {.words = {0, BIAS + TRAMPOLINE, BIAS + LEAF, 0, 0x1000, 0, 0}};

	(void)context;
	assert_int_equal(play(&scene, BIAS + LEAF + 8, 7, 8), CTX_TRUNCATED_COPY);
	assert_int_equal(scene.n, 3);
	assert_int_equal(scene.frames[2].address, BIAS + LEAF);
	assert_int_equal(scene.frames[2].cfa, 0x1008);
}

static void test_unwind__every_end_has_its_reason(void **context)
{
	struct scene scene = {0};

	(void)context;
	assert_int_equal(play(&scene, BIAS + LEAF + 8, 1, 8), CTX_TRUNCATED_COPY);
	scene.words[1] = 0x1234;
	assert_int_equal(play(&scene, BIAS + LEAF + 8, 2, 8), CTX_TRUNCATED_NO_MAP);
	assert_int_equal(scene.n, 1);
	scene.words[1] = BIAS + LEAF + 3;
	scene.words[2] = BIAS + LEAF + 3;
	assert_int_equal(play(&scene, BIAS + LEAF + 8, 3, 2), CTX_TRUNCATED_DEPTH);
	assert_int_equal(scene.n, 2);
	assert_int_equal(play(&scene, BIAS + SHRINKS, 3, 8), CTX_TRUNCATED_BAD_CFA);
	scene.words[1] = BIAS + LOST + 3;
	assert_int_equal(play(&scene, BIAS + LEAF + 8, 3, 8), CTX_TRUNCATED_BAD_CFA);
	assert_int_equal(scene.n, 2);
	scene.words[1] = 0;
	assert_int_equal(play(&scene, BIAS + LEAF + 8, 2, 8), CTX_TRUNCATED_NOT);
	scene.state.regs.value[6] = 0x99;
	assert_int_equal(play(&scene, BIAS + DAMAGED + 8, 2, 8), CTX_TRUNCATED_NO_TABLE);
	assert_int_equal(play(&scene, 0, 2, 8), CTX_TRUNCATED_NO_MAP);
	scene.words[0] = BIAS + START + 5;
	assert_int_equal(play(&scene, 0, 2, 8), CTX_TRUNCATED_NOT);
	assert_int_equal(scene.n, 2);
}

static void test_unwind__code_without_a_table_is_stepped_over_by_its_frame_pointer(void **context)
{
	struct scene scene = {.words = {0, STACK_AT + 24, BIAS + 0x2050, 0, BIAS + START + 5}};

	(void)context;
	scene.state.regs.value[6] = STACK_AT + 8;
	assert_int_equal(play(&scene, BIAS + 0x2010, 5, 8), CTX_TRUNCATED_NOT);
	assert_int_equal(scene.n, 3);
	assert_int_equal(scene.frames[1].address, BIAS + 0x204f);
	/* Between push and mov: the frame pointer is still the caller's. */
	scene.words[0] = STACK_AT + 24;
	scene.words[1] = BIAS + 0x2060;
	scene.state.regs.value[6] = STACK_AT + 24;
	assert_int_equal(play(&scene, BIAS + 0x2010, 5, 8), CTX_TRUNCATED_NOT);
	assert_int_equal(scene.frames[1].address, BIAS + 0x205f);
}

static size_t read_nops(void *context, uint64_t address, uint8_t *out, size_t n)
{
	(void)context;
	(void)address;
	memset(out, 0x90, n);
	return n;
}

/* SAVES_RBX: "mov rsp, [rdx + 56]" at 4. */
static size_t read_switch(void *context, uint64_t address, uint8_t *out, size_t n)
{
	static const uint8_t load[] = {0x48, 0x8b, 0x62, 0x38};
	uint64_t at = BIAS + SAVES_RBX + 4 - address;

	(void)read_nops(context, address, out, n);
	if (at < n && n - at >= sizeof(load))
		memcpy(out + at, load, sizeof(load));
	return n;
}

/* The function before it reaches up to there, with the same rule. */
static void test_unwind__the_first_address_of_a_function_that_nothing_called_is_the_bottom(void **context)
{
	struct scene scene = {.read_code = read_nops, .words = {0, BIAS + FRAME, 0x1234}};

	(void)context;
	assert_int_equal(play(&scene, BIAS + LEAF + 8, 3, 8), CTX_TRUNCATED_NOT);
	assert_int_equal(scene.n, 2);
	assert_int_equal(scene.frames[1].address, BIAS + FRAME);
	scene.words[1]--;
	assert_int_equal(play(&scene, BIAS + LEAF + 8, 3, 8), CTX_TRUNCATED_NO_MAP);
	assert_int_equal(scene.frames[1].address, BIAS + FRAME - 2);
}

/* Its caller is on another stack; what stands where a caller should is stale. */
static void test_unwind__a_function_that_changes_stacks_is_the_bottom(void **context)
{
	struct scene scene = {.read_code = read_switch, .words = {0, BIAS + SAVES_RBX + 0x30, 7, 0x1234}};

	(void)context;
	assert_int_equal(play(&scene, BIAS + LEAF + 8, 4, 8), CTX_TRUNCATED_NOT);
	assert_int_equal(scene.n, 2);
	assert_int_equal(scene.frames[1].address, BIAS + SAVES_RBX + 0x2f);
	scene.read_code = read_nops;
	assert_int_equal(play(&scene, BIAS + LEAF + 8, 4, 8), CTX_TRUNCATED_NO_MAP);
}

static size_t most_read; /* of the table's code alone, at once, with the call */

/* 0x2010: "ret"; a call in front of FRAME + 0x10. */
static size_t read_call(void *context, uint64_t address, uint8_t *out, size_t n)
{
	static const uint8_t call[] = {0xe8, 0, 0, 0, 0};
	uint64_t at_call = BIAS + FRAME + 0xb - address, at_return = BIAS + 0x2010 - address;

	(void)read_nops(context, address, out, n);
	if (at_call < n && n - at_call >= sizeof(call))
		memcpy(out + at_call, call, sizeof(call));
	if (at_return < n)
		out[at_return] = 0xc3;
	if (at_call < n && address + n <= BIAS + 0x2000 && n > most_read)
		most_read = n;
	return n;
}

/* Only the call is looked for: its frame is left by call frame information. */
static void test_unwind__code_with_call_frame_information_is_not_followed(void **context)
{
	struct scene scene = {.read_code = read_call,
			      .words = {BIAS + FRAME + 0x10, 0, 0, 0, BIAS + START + 5}};

	(void)context;
	scene.state.regs.value[6] = STACK_AT + 24;
	most_read = 0;
	assert_int_equal(play(&scene, BIAS + 0x2010, 5, 8), CTX_TRUNCATED_NOT);
	assert_int_equal(scene.n, 3);
	assert_int_equal(scene.frames[1].address, BIAS + FRAME + 0xf);
	assert_in_range(most_read, 2, 10);
}

static uint64_t calculate(const char *bytes, size_t n, enum ctx_cfi_result expected)
{
	uint64_t registers[CTX_USER_REGS_MAX] = {[7] = 1000, [16] = 0x2b};
	uint64_t words[2] = {0x1122334455667788, 5};
	struct ctx_cfi_input input = {.registers = registers,
				      .valid = 1 << 7 | 1 << 16,
				      .memory = {(const uint8_t *)words, sizeof(words), 1000}};
	uint64_t ret = 0;

	assert_int_equal(ctx_cfi_evaluate((const uint8_t *)bytes, n, &input, NULL, &ret), expected);
	return ret;
}

#define CALCULATE(bytes, expected) calculate(bytes, sizeof(bytes) - 1, expected)

static void test_unwind__expressions_are_evaluated(void **context)
{
	(void)context;
	/* A PLT's: rsp + 8 + ((rip & 15) >= 11) * 8 */
	assert_int_equal(CALCULATE("\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22", CTX_CFI_OK), 1016);
	assert_int_equal(CALCULATE("\x77\x08\x06", CTX_CFI_OK), 5);
	assert_int_equal(CALCULATE("\x77\x00\x94\x02", CTX_CFI_OK), 0x7788);
	assert_int_equal(CALCULATE("\x35\x37\x1c\x1f", CTX_CFI_OK), 2);
	assert_int_equal(CALCULATE("\x09\xf8\x32\x1b", CTX_CFI_OK), (uint64_t)-4);
	assert_int_equal(CALCULATE("\x31\x32\x33\x17\x1c", CTX_CFI_OK), (uint64_t)-1);
	assert_int_equal(CALCULATE("\x31\x28\x01\x00\x30\x34", CTX_CFI_OK), 4);
	(void)CALCULATE("\x31\x30\x1b", CTX_CFI_BAD);
	(void)CALCULATE("\x22", CTX_CFI_BAD);
	(void)CALCULATE("\x2f\xfd\xff", CTX_CFI_BAD); /* for ever */
	(void)CALCULATE("\x77\x09\x06", CTX_CFI_OUTSIDE);
	assert_int_equal(CALCULATE("\x73\x00", CTX_CFI_UNKNOWN), 3);
}

static void test_unwind__damage_costs_one_function(void **context)
{
	struct ctx_cfi_table *table = make_table();
	struct ctx_cfi_stats stats = ctx_cfi_table_stats(table);
	uint64_t begin, end;

	(void)context;
	assert_int_equal(stats.damaged, 1);
	assert_int_equal(stats.functions, 10);
	assert_true(ctx_cfi_table_function(table, LEAF + 0xff, &begin, &end));
	assert_int_equal(begin, LEAF);
	assert_int_equal(end, LEAF + 0x100);
	assert_false(ctx_cfi_table_function(table, LEAF - 1, &begin, &end));
	for (uint64_t at = LEAF - 0x400; at < DAMAGED + 0x1000; at++) {
		const struct ctx_cfi_part *part = ctx_cfi_table_part(table, at);
		uint32_t slow = 0;

		for (uint32_t i = 0; i < part->rows.n; i++) {
			if (at >= LEAF && part->rows.base + part->rows.items[i].pc <= at)
				slow = i;
		}
		assert_int_equal(ctx_cfi_part_row(part, at), slow);
	}
	ctx_cfi_table_close(table);
}

static void test_unwind__our_own_file_has_a_table_unless_out_of_memory(void **context)
{
	struct ctx_cfi_table *table = NULL;
	enum ctx_status status = CTX_E_NOMEM;

	(void)context;
	for (long i = 0; status == CTX_E_NOMEM; i++) {
		fail_after = i;
		status = ctx_cfi_table_open("/proc/self/exe", &table, NULL);
		fail_after = -1;
	}
	assert_int_equal(status, CTX_OK);
	assert_int_equal(ctx_cfi_table_stats(table).damaged, 0);
	assert_true(ctx_cfi_table_stats(table).functions > 20);
	ctx_cfi_table_close(table);
	assert_int_equal(ctx_cfi_table_open("/nonexistent", &table, NULL), CTX_E_NOTFOUND);
	assert_int_equal(ctx_cfi_table_open("/", &table, NULL), CTX_E_FORMAT);
	assert_int_equal(ctx_cfi_table_open_bytes("no", 2, &table, NULL), CTX_E_FORMAT);
}

static void test_unwind__the_cache_reads_once_and_refuses_another_build(void **context)
{
	struct ctx_table_cache cache = {0};
	const struct ctx_cfi_table *first, *second;

	(void)context;
	assert_int_equal(ctx_table_cache_get(&cache,
					     &(struct ctx_table_file){"/proc/self/exe", "/proc/self/exe", ""},
					     &first, NULL),
			 CTX_OK);
	assert_non_null(first);
	assert_int_equal(ctx_table_cache_get(&cache,
					     &(struct ctx_table_file){"/proc/self/exe", "/proc/self/exe", ""},
					     &second, NULL),
			 CTX_OK);
	assert_ptr_equal(first, second);
	assert_int_equal(ctx_table_cache_get(&cache, &(struct ctx_table_file){"", "", "abcd"}, &second, NULL),
			 CTX_OK);
	assert_null(second);
	assert_int_equal(ctx_strtab_find(&cache.keys, "abcd", 4), UINT32_MAX);
	assert_int_equal(ctx_table_cache_get(
				 &cache, &(struct ctx_table_file){"/proc/self/exe", "/proc/self/exe", "abcd"},
				 &second, NULL),
			 CTX_OK);
	assert_null(second);
	assert_true(ctx_strtab_find(&cache.keys, "abcd", 4) < cache.n);
	ctx_table_cache_deinit(&cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unwind__a_leaf_its_caller_and_the_root_are_found),
		cmocka_unit_test(test_unwind__a_popped_frame_pointer_keeps_its_value),
		cmocka_unit_test(test_unwind__registers_that_only_a_later_frame_needs_are_found),
		cmocka_unit_test(test_unwind__a_signal_interrupts_at_the_exact_pc),
		cmocka_unit_test(test_unwind__a_leaf_may_have_popped_its_return_address_into_a_register),
		cmocka_unit_test(test_unwind__an_interrupted_frame_on_another_stack_is_listed),
		cmocka_unit_test(test_unwind__every_end_has_its_reason),
		cmocka_unit_test(test_unwind__code_without_a_table_is_stepped_over_by_its_frame_pointer),
		cmocka_unit_test(
			test_unwind__the_first_address_of_a_function_that_nothing_called_is_the_bottom),
		cmocka_unit_test(test_unwind__a_function_that_changes_stacks_is_the_bottom),
		cmocka_unit_test(test_unwind__code_with_call_frame_information_is_not_followed),
		cmocka_unit_test(test_unwind__expressions_are_evaluated),
		cmocka_unit_test(test_unwind__damage_costs_one_function),
		cmocka_unit_test(test_unwind__our_own_file_has_a_table_unless_out_of_memory),
		cmocka_unit_test(test_unwind__the_cache_reads_once_and_refuses_another_build),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
