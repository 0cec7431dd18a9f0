#include "unwind/x86_insn.h"

#include <capstone/capstone.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct expected {
	const char *bytes; /* and nothing behind them */
	uint8_t length;
	enum ctx_x86_kind kind;
	int32_t value;
};

#define INSN(bytes, kind, value)                                                                             \
	{                                                                                                    \
		bytes, sizeof(bytes) - 1, kind, value                                                        \
	}

static const struct expected expected[] = {
	INSN("\x55", CTX_X86_PUSH_FP, 0),
	INSN("\x41\x55", CTX_X86_PUSH, 0),
	INSN("\x6a\x01", CTX_X86_PUSH, 0),
	INSN("\x68\x01\x02\x03\x04", CTX_X86_PUSH, 0),
	INSN("\xff\x75\xf8", CTX_X86_PUSH, 0),
	INSN("\x5d", CTX_X86_POP_FP, 0),
	INSN("\x5c", CTX_X86_LOSE_SP, 0),
	INSN("\x41\x5c", CTX_X86_POP, 0),
	INSN("\x8f\x45\xf8", CTX_X86_POP, 0),
	INSN("\x66\x50", CTX_X86_LOSE_SP, 0),
	INSN("\x48\x83\xec\x20", CTX_X86_ADD_SP, -0x20),
	INSN("\x48\x81\xec\x00\x01\x00\x00", CTX_X86_ADD_SP, -0x100),
	INSN("\x48\x83\xc4\x08", CTX_X86_ADD_SP, 8),
	INSN("\x48\x83\xc4\x80", CTX_X86_ADD_SP, -128),
	INSN("\x48\x83\xe4\xf0", CTX_X86_LOSE_SP, 0),
	INSN("\x48\x83\xfc\x10", CTX_X86_OTHER, 0),
	INSN("\x83\xc4\x08", CTX_X86_LOSE_SP, 0),
	INSN("\x48\x29\xc4", CTX_X86_LOSE_SP, 0),
	INSN("\x48\x39\xc4", CTX_X86_OTHER, 0),
	INSN("\x49\x83\xc4\x08", CTX_X86_OTHER, 0),
	INSN("\x48\x8d\x64\x24\xd0", CTX_X86_ADD_SP, -0x30),
	INSN("\x48\x8d\x65\xd8", CTX_X86_SP_FROM_FP, -0x28),
	INSN("\x48\x8d\x64\xcd\x00", CTX_X86_LOSE_SP, 0),
	INSN("\x48\x89\xec", CTX_X86_SP_FROM_FP, 0),
	INSN("\x48\x8b\xe5", CTX_X86_SP_FROM_FP, 0),
	INSN("\x48\x89\xe5", CTX_X86_FP_FROM_SP, 0),
	INSN("\x48\x8b\xec", CTX_X86_FP_FROM_SP, 0),
	INSN("\x48\x8d\x6c\x24\x40", CTX_X86_FP_FROM_SP, 0x40),
	INSN("\x48\x89\x6c\x24\x10", CTX_X86_STORE_FP, 0x10),
	INSN("\x48\x8b\x6c\x24\x10", CTX_X86_LOAD_FP, 0x10),
	INSN("\x48\x8b\x65\xf0", CTX_X86_SWITCH_SP, 0),
	INSN("\x48\x89\xdc", CTX_X86_SWITCH_SP, 0),
	INSN("\x49\x89\xe4", CTX_X86_OTHER, 0),
	INSN("\xc9", CTX_X86_LEAVE, 0),
	INSN("\xc3", CTX_X86_RETURN, 0),
	INSN("\xf3\xc3", CTX_X86_RETURN, 0),
	INSN("\xc2\x10\x00", CTX_X86_STOP, 0),
	INSN("\xe8\x10\x00\x00\x00", CTX_X86_CALL, 0x10),
	INSN("\xff\xd0", CTX_X86_CALL_INDIRECT, 0),
	INSN("\x41\xff\x54\x24\x08", CTX_X86_CALL_INDIRECT, 0),
	INSN("\xff\x15\x01\x02\x03\x04", CTX_X86_CALL_INDIRECT, 0),
	INSN("\xe9\xfc\xff\xff\xff", CTX_X86_JUMP, -4),
	INSN("\xeb\x80", CTX_X86_JUMP, -128),
	INSN("\x74\x7f", CTX_X86_BRANCH, 127),
	INSN("\x0f\x84\x00\x00\x01\x00", CTX_X86_BRANCH, 0x10000),
	INSN("\xff\x24\xc5\x00\x00\x00\x00", CTX_X86_JUMP_INDIRECT, 0),
	INSN("\x0f\x0b", CTX_X86_STOP, 0),
	INSN("\xf4", CTX_X86_STOP, 0),
	INSN("\xcc", CTX_X86_STOP, 0),
	INSN("\x0f\x05", CTX_X86_OTHER, 0),
	INSN("\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", CTX_X86_OTHER, 0),
	INSN("\xf3\x0f\x1e\xfa", CTX_X86_OTHER, 0),
	INSN("\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08", CTX_X86_OTHER, 0),
	INSN("\x66\xb8\x01\x02", CTX_X86_OTHER, 0),
	INSN("\x66\xc7\x45\x00\x01\x02", CTX_X86_OTHER, 0),
	INSN("\xf7\x45\x00\x01\x02\x03\x04", CTX_X86_OTHER, 0),
	INSN("\xf7\x5d\x00", CTX_X86_OTHER, 0),
	INSN("\x48\xa1\x01\x02\x03\x04\x05\x06\x07\x08", CTX_X86_OTHER, 0),
	INSN("\xc5\xf8\x77", CTX_X86_OTHER, 0),
	INSN("\xc4\xe3\x7d\x39\xc4\x01", CTX_X86_OTHER, 0),
	INSN("\x62\xf1\xfe\x48\x6f\x64\x24\x01", CTX_X86_OTHER, 0),
	INSN("\x66\x0f\x3a\x0f\xc1\x08", CTX_X86_OTHER, 0),
};

static void check_insn(size_t i, const uint8_t *bytes, size_t n)
{
	const struct expected *want = &expected[i];
	struct ctx_x86_insn insn;

	if (!ctx_x86_decode(bytes, n, &insn) || insn.length != want->length || insn.kind != want->kind ||
	    (want->value != 0 && insn.value != want->value))
		fail_msg("instruction %zu: %u bytes, kind %d, %d", i, insn.length, (int)insn.kind,
			 (int)insn.value);
}

static void test_x86_insn__what_concerns_the_stack_is_recognised(void **context)
{
	(void)context;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const struct expected *want = &expected[i];
		uint8_t *copy = malloc(want->length); /* so that a sanitizer sees a read past it */
		uint8_t followed[64];
		struct ctx_x86_insn insn;

		assert_non_null(copy);
		memcpy(copy, want->bytes, want->length);
		check_insn(i, copy, want->length);
		memset(followed, 0xc5, sizeof(followed));
		memcpy(followed, want->bytes, want->length);
		check_insn(i, followed, sizeof(followed));
		for (size_t n = 0; n < want->length; n++)
			assert_false(ctx_x86_decode(copy, n, &insn));
		free(copy);
	}
}

static void test_x86_insn__what_does_not_exist_is_refused(void **context)
{
	static const uint8_t push_es[] = {0x06}, prefixes[16] = {[0 ... 15] = 0x66},
			     vex[] = {0xc4, 0xff, 0, 0, 0};
	static const uint8_t too_long[64] = {[0 ... 11] = 0x66, 0x48, 0x8b, 0x44, 0x24, 0x10};
	struct ctx_x86_insn insn;

	(void)context;
	assert_false(ctx_x86_decode(push_es, sizeof(push_es), &insn));
	assert_false(ctx_x86_decode(prefixes, sizeof(prefixes), &insn));
	assert_false(ctx_x86_decode(vex, sizeof(vex), &insn));
	assert_false(ctx_x86_decode(too_long, sizeof(too_long), &insn));
	assert_true(ctx_x86_decode(too_long + 2, sizeof(too_long) - 2, &insn));
}

static void test_x86_insn__a_call_is_seen_from_behind(void **context)
{
	(void)context;
	assert_true(ctx_x86_ends_with_call((const uint8_t *)"\x90\x90\x90\xe8\x01\x02\x03\x04", 8));
	assert_true(ctx_x86_ends_with_call((const uint8_t *)"\x48\x89\xc7\xff\xd2", 5));
	assert_true(ctx_x86_ends_with_call((const uint8_t *)"\x41\xff\x94\xc4\x00\x01\x00\x00", 8));
	assert_false(ctx_x86_ends_with_call((const uint8_t *)"\x90\x90\x90\x90\x90\x90\x90\x90", 8));
	assert_false(ctx_x86_ends_with_call((const uint8_t *)"\xff\xe0", 2)); /* a jump */
	assert_false(ctx_x86_ends_with_call((const uint8_t *)"\xff\xd0", 0));
}

/* What the compiler wrote: this file's own code, from its longest function on. */
static void test_x86_insn__lengths_are_capstones(void **context)
{
	const uint8_t *code =
		(const uint8_t *)(uintptr_t)test_x86_insn__what_concerns_the_stack_is_recognised;
	uint64_t address = 0;
	cs_insn *insn;
	size_t left = 300, n = 0; /* of its bytes, which are more */
	csh handle;

	(void)context;
#ifndef __x86_64__
	skip();
#endif
	assert_int_equal(cs_open(CS_ARCH_X86, CS_MODE_64, &handle), CS_ERR_OK);
	insn = cs_malloc(handle);
	while (left >= CTX_X86_LENGTH_MAX) {
		struct ctx_x86_insn ours;
		const uint8_t *at = code;

		assert_true(cs_disasm_iter(handle, &code, &left, &address, insn));
		assert_true(ctx_x86_decode(at, CTX_X86_LENGTH_MAX, &ours));
		assert_int_equal(ours.length, insn->size);
		n++;
	}
	assert_true(n > 20);
	cs_free(insn, 1);
	cs_close(&handle);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86_insn__what_concerns_the_stack_is_recognised),
		cmocka_unit_test(test_x86_insn__what_does_not_exist_is_refused),
		cmocka_unit_test(test_x86_insn__a_call_is_seen_from_behind),
		cmocka_unit_test(test_x86_insn__lengths_are_capstones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
