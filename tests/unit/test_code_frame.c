/*
 * Frames of code without call frame information. Code is at CODE_AT, in functions of 0x100 bytes
 * filled with int3; the stack is at STACK_AT.
 */
#include "unwind/code_cache.h"
#include "unwind/unwind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STACK_AT UINT64_C(0x7ffd00000000)
#define CODE_AT UINT64_C(0x555500000000)
#define FUNCTION 0x100u
#define CODE_BYTES 0x1000u
#define RAX 0
#define RBP 6
#define RSP 7
#define RIP 16

enum {
	ROOT = 0x900,	  /* calls, and never returns: "mov rsp, rbx; call +0; hlt" */
	NO_FRAME = 0x100, /* sub rsp, 24; call; add rsp, 24; ret */
	FRAME = 0x200,	  /* push rbp; mov rbp, rsp; sub rsp, rax; call; leave; ret */
	SAVES = 0x300,	  /* push rbp; push rbx; xor ebp, ebp; call; pop rbx; pop rbp; ret */
	LOOP = 0x400,	  /* as HotSpot compiles a method that it leaves otherwise: no way to a ret */
	ENTERS = 0x500,	  /* as HotSpot's interpreter goes on after a call */
	CLONE = 0x600,	  /* syscall; test; jz child; ret; child: ... */
	STALE = 0x700,	  /* nothing but nops: no call is before any address */
	ENTRY = 0x800,	  /* the first code of a process: jumps away */
};

static uint8_t code[CODE_BYTES];

static void put(unsigned at, const char *bytes, size_t n)
{
	memcpy(code + at, bytes, n);
}

#define PUT(at, bytes) put(at, bytes, sizeof(bytes) - 1)

static void make_code(void)
{
	memset(code, 0xcc, sizeof(code));
	PUT(ROOT, "\x48\x89\xdc\xe8\x00\x00\x00\x01\xf4");
	PUT(NO_FRAME, "\x48\x83\xec\x18\xe8\x00\x00\x00\x01\x48\x83\xc4\x18\xc3");
	PUT(FRAME, "\x55\x48\x89\xe5\x48\x29\xc4\xe8\x00\x00\x00\x01\xc9\xc3");
	PUT(SAVES, "\x55\x53\x31\xed\xe8\x00\x00\x00\x01\x5b\x5d\xc3");
	PUT(LOOP, "\x90\x89\x84\x24\x00\xc0\xfe\xff\x55\x48\x83\xec\x10\xe8\x00\x00\x00\x01\xeb\xf9");
	PUT(ENTERS, "\x48\x8b\x65\xf0\xff\xe0");
	PUT(CLONE, "\x0f\x05\x48\x85\xc0\x74\x01\xc3\x31\xed\xf4");
	memset(code + STALE, 0x90, FUNCTION);
	PUT(ENTRY, "\x48\x89\xe7\xe8\x00\x00\x00\x01\x41\xff\xe4");
}

static bool find(void *context, uint64_t pc, struct ctx_unwind_object *ret)
{
	(void)context;
	*ret = (struct ctx_unwind_object){.begin = CODE_AT, .end = CODE_AT + CODE_BYTES, .code = 1};
	return pc >= CODE_AT && pc < CODE_AT + CODE_BYTES;
}

static size_t read_code(void *context, uint64_t address, uint8_t *out, size_t n)
{
	uint64_t at = address - CODE_AT;

	(void)context;
	if (at >= CODE_BYTES)
		return 0;
	n = n < CODE_BYTES - at ? n : CODE_BYTES - at;
	memcpy(out, code + at, n);
	return n;
}

struct scene {
	uint64_t words[16];
	size_t n_words; /* 0: all */
	uint64_t rax, rbp, rsp;
	struct ctx_unwind_frame frames[8];
	struct ctx_unwind_steps steps;
	size_t n;
};

static enum ctx_truncation play(struct scene *scene, uint64_t pc)
{
	struct ctx_code_cache *cache = NULL;
	struct ctx_unwind_space space = {.find = find, .read_code = read_code, .steps = &scene->steps};
	struct ctx_user_state state = {.stack = (const uint8_t *)scene->words,
				       .stack_bytes = (scene->n_words != 0 ? scene->n_words : 16) * 8};
	enum ctx_truncation reason = CTX_TRUNCATED_NOT;

	make_code();
	assert_int_equal(ctx_code_cache_create(&cache, NULL), CTX_OK);
	space.cache = cache;
	state.regs.machine = CTX_MACHINE_X86_64;
	state.regs.valid = (UINT64_C(1) << 17) - 1;
	state.regs.value[RAX] = scene->rax;
	state.regs.value[RBP] = scene->rbp;
	state.regs.value[RSP] = STACK_AT;
	state.regs.value[RIP] = pc;
	/* The second time the cache knows. */
	for (unsigned i = 0; i < 2; i++) {
		scene->steps = (struct ctx_unwind_steps){0};
		reason = ctx_unwind(&space, &state, scene->frames, 8, &scene->n);
	}
	ctx_code_cache_destroy(cache);
	return reason;
}

#define MOVED 0x7000000u /* the same code in another process */

static bool find_moved(void *context, uint64_t pc, struct ctx_unwind_object *ret)
{
	if (!find(context, pc - MOVED, ret))
		return false;
	ret->begin += MOVED;
	ret->end += MOVED;
	ret->code_bias = MOVED;
	return true;
}

static size_t refuse_code(void *context, uint64_t address, uint8_t *out, size_t n)
{
	(void)address;
	(void)out;
	(void)n;
	++*(unsigned *)context;
	return 0;
}

static void test_code_frame__instructions_are_read_once_wherever_they_are_mapped(void **context)
{
	uint64_t words[16] = {1,
			      2,
			      3,
			      CODE_AT + FRAME + 12,
			      4,
			      5,
			      STACK_AT + 88,
			      CODE_AT + SAVES + 9,
			      6,
			      0,
			      CODE_AT + ROOT};
	struct ctx_unwind_space space = {.find = find, .read_code = read_code};
	struct ctx_user_state state = {.stack = (const uint8_t *)words, .stack_bytes = sizeof(words)};
	struct ctx_unwind_frame frames[8];
	unsigned n_reads = 0;
	size_t n, n_moved;

	(void)context;
	make_code();
	assert_int_equal(ctx_code_cache_create(&space.cache, NULL), CTX_OK);
	state.regs.machine = CTX_MACHINE_X86_64;
	state.regs.valid = (UINT64_C(1) << 17) - 1;
	state.regs.value[RBP] = STACK_AT + 48;
	state.regs.value[RSP] = STACK_AT;
	state.regs.value[RIP] = CODE_AT + NO_FRAME + 4;
	assert_int_equal(ctx_unwind(&space, &state, frames, 8, &n), CTX_TRUNCATED_NOT);
	words[3] += MOVED;
	words[7] += MOVED;
	words[10] += MOVED;
	state.regs.value[RIP] += MOVED;
	space.find = find_moved;
	space.read_code = refuse_code;
	space.context = &n_reads;
	assert_int_equal(ctx_unwind(&space, &state, frames, 8, &n_moved), CTX_TRUNCATED_NOT);
	assert_int_equal(n_moved, n);
	assert_int_equal(n_reads, 0);
	ctx_code_cache_destroy(space.cache);
}

/* Three callers by their instructions: without a frame pointer, with one, and one that saves it. */
static void test_code_frame__functions_are_left_as_their_instructions_say(void **context)
{
	struct scene scene = {.words = {1, 2, 3, CODE_AT + FRAME + 12, /* of NO_FRAME */
					4, 5, STACK_AT + 88,
					CODE_AT + SAVES + 9, /* rbp points at the third */
					6, 0, CODE_AT + ROOT},
			      .rbp = STACK_AT + 48};

	(void)context;
	assert_int_equal(play(&scene, CODE_AT + NO_FRAME + 4), CTX_TRUNCATED_NOT);
	assert_int_equal(scene.n, 4);
	assert_int_equal(scene.frames[0].cfa, STACK_AT + 32);
	assert_int_equal(scene.frames[1].address, CODE_AT + FRAME + 11);
	assert_int_equal(scene.frames[1].cfa, STACK_AT + 64);
	assert_int_equal(scene.frames[2].address, CODE_AT + SAVES + 8);
	assert_int_equal(scene.frames[2].cfa, STACK_AT + 88);
}

static void test_code_frame__a_place_that_nothing_called_is_the_bottom(void **context)
{
	struct scene scene = {.words = {1, 2, 3, CODE_AT + ROOT}};

	(void)context;
	assert_int_equal(play(&scene, CODE_AT + NO_FRAME + 4), CTX_TRUNCATED_NOT);
	assert_int_equal(scene.n, 2);
	assert_int_equal(scene.frames[1].address, CODE_AT + ROOT);
	/* Nor behind a call, but it returns. */
	scene.words[3] = CODE_AT + SAVES;
	assert_int_equal(play(&scene, CODE_AT + NO_FRAME + 4), CTX_TRUNCATED_NO_TABLE);
	assert_int_equal(scene.n, 1);
}

/* Neither its instructions nor its frame pointer lead to a call. */
static void test_code_frame__no_caller_is_guessed(void **context)
{
	struct scene scene = {.words = {1, STACK_AT + 48, CODE_AT + STALE + 16, CODE_AT + STALE + 32}};

	(void)context;
	scene.rbp = STACK_AT + 8;
	assert_int_equal(play(&scene, CODE_AT + NO_FRAME + 4), CTX_TRUNCATED_NO_TABLE);
	assert_int_equal(scene.n, 1);
	/* A frame of the frame pointer there is, but the instructions say that it is not this one's. */
	scene.words[2] = CODE_AT + SAVES + 9;
	assert_int_equal(play(&scene, CODE_AT + NO_FRAME + 4), CTX_TRUNCATED_NO_TABLE);
	assert_int_equal(scene.n, 1);
	/* Beyond the copy nothing is known. */
	scene.n_words = 3;
	assert_int_equal(play(&scene, CODE_AT + NO_FRAME + 4), CTX_TRUNCATED_COPY);
}

static void test_code_frame__a_method_without_an_end_is_left_as_it_began(void **context)
{
	struct scene scene = {.words = {1, 2, 3, CODE_AT + NO_FRAME + 9, 4, 5, 6, CODE_AT + ROOT}};

	(void)context;
	scene.rbp = STACK_AT + 16;
	assert_int_equal(play(&scene, CODE_AT + LOOP + 18), CTX_TRUNCATED_NOT);
	assert_int_equal(scene.n, 3);
	assert_int_equal(scene.frames[1].address, CODE_AT + NO_FRAME + 8);
	assert_int_equal(scene.steps.by_code, 2);
	assert_int_equal(scene.steps.by_frame_pointer, 0);
	/* In front of its frame. */
	scene.words[0] = CODE_AT + NO_FRAME + 9;
	scene.words[4] = CODE_AT + ROOT;
	assert_int_equal(play(&scene, CODE_AT + LOOP), CTX_TRUNCATED_NOT);
	assert_int_equal(scene.frames[0].cfa, STACK_AT + 8);
	assert_int_equal(scene.frames[1].address, CODE_AT + NO_FRAME + 8);
}

/* An interpreted method keeps the stack pointer of its caller below its frame pointer. */
static void test_code_frame__an_interpreter_is_left_by_its_frame_pointer(void **context)
{
	struct scene scene = {.words = {CODE_AT + ENTERS, 1, STACK_AT + 56, 0x1234, CODE_AT + NO_FRAME + 9, 7,
					8, 9, 10, 11, CODE_AT + ROOT}};

	(void)context;
	scene.rbp = STACK_AT + 24;
	assert_int_equal(play(&scene, CODE_AT + CLONE + 7), CTX_TRUNCATED_NOT);
	assert_int_equal(scene.n, 4);
	assert_int_equal(scene.frames[1].address, CODE_AT + ENTERS - 1);
	assert_int_equal(scene.frames[2].address, CODE_AT + NO_FRAME + 8);
	assert_int_equal(scene.frames[2].cfa, STACK_AT + 88);
	assert_int_equal(scene.frames[3].address, CODE_AT + ROOT);
	assert_int_equal(scene.steps.by_code, 2);
	assert_int_equal(scene.steps.by_frame_pointer, 1);
}

static void test_code_frame__new_threads_and_processes_have_no_caller(void **context)
{
	struct scene scene = {.words = {1, 2, 3}};

	(void)context;
	scene.rbp = 0x1234;
	assert_int_equal(play(&scene, CODE_AT + CLONE + 2), CTX_TRUNCATED_NOT);
	assert_int_equal(scene.n, 1);
	scene.rax = 77; /* the parent, which has a caller */
	assert_int_equal(play(&scene, CODE_AT + CLONE + 2), CTX_TRUNCATED_NO_TABLE);
	scene.words[0] = CODE_AT + NO_FRAME + 9;
	scene.words[4] = CODE_AT + ROOT;
	assert_int_equal(play(&scene, CODE_AT + CLONE + 2), CTX_TRUNCATED_NOT);
	assert_int_equal(scene.n, 3);
	scene.words[0] = 1;
	assert_int_equal(play(&scene, CODE_AT + ENTRY), CTX_TRUNCATED_NO_TABLE);
	scene.rbp = 0;
	assert_int_equal(play(&scene, CODE_AT + ENTRY), CTX_TRUNCATED_NOT);
}

/* Thirty branches, each over some nops; behind them a `ret`. One in front leads to another one. */
static void test_code_frame__what_follows_many_branches_is_followed_once(void **context)
{
	static const uint8_t branch[] = {0x74, 0x14};
	struct ctx_insn_reader reader = {.read = read_code};
	struct ctx_code_frame frame;
	unsigned at = 6;

	(void)context;
	memset(code, 0x90, sizeof(code));
	PUT(0, "\x0f\x84\xfa\x0e\x00\x00"); /* jz 0xf00 */
	for (unsigned i = 0; i < 30; i++, at += 22)
		memcpy(code + at, branch, sizeof(branch));
	PUT(at, "\xc3");
	PUT(0xf00, "\x48\x83\xc4\x18\xc3"); /* add rsp, 24; ret */
	frame = ctx_code_frame_find(&reader, CODE_AT, CTX_CODE_END);
	assert_int_equal(frame.n_rules, 2);
	assert_int_equal(frame.rules[0].cfa_offset, 8);
	assert_int_equal(frame.rules[1].cfa_offset, 32);
}

/* A jump with the stack as at a `ret` enters a function that returns for this one. */
static void test_code_frame__a_tail_call_is_not_followed(void **context)
{
	struct ctx_insn_reader reader = {.read = read_code};
	struct ctx_code_frame frame;

	(void)context;
	memset(code, 0xcc, sizeof(code));
	PUT(0, "\x74\x05\x48\x83\xc4\x18\xc3\x48\x83\xc4"); /* jz 7; add rsp, 24; ret; 7: add rsp, */
	PUT(10, "\x18\xeb\x20");			    /* 24; jmp 0x2d */
	PUT(0x2d, "\x48\x83\xc4\x08\xc3");		    /* add rsp, 8; ret */
	frame = ctx_code_frame_find(&reader, CODE_AT, CTX_CODE_END);
	assert_int_equal(frame.n_rules, 1);
	assert_int_equal(frame.rules[0].cfa_offset, 32);
	code[10] = 0x10; /* with another stack it is followed */
	frame = ctx_code_frame_find(&reader, CODE_AT, CTX_CODE_END);
	assert_int_equal(frame.n_rules, 1);
	code[0x30] = 0x18;
	frame = ctx_code_frame_find(&reader, CODE_AT, CTX_CODE_END);
	assert_int_equal(frame.n_rules, 2);
}

static uint64_t lowest_read;
static size_t bytes_read;

static size_t note_code(void *context, uint64_t address, uint8_t *out, size_t n)
{
	size_t got = read_code(context, address, out, n);

	lowest_read = got != 0 && address < lowest_read ? address : lowest_read;
	bytes_read += got;
	return got;
}

/* More is read only as it is asked for. */
static void test_code_frame__the_beginning_of_a_function_is_read_last(void **context)
{
	struct ctx_insn_reader reader = {.read = note_code};
	struct ctx_code_frame frame;
	const uint64_t pc = CODE_AT + 0xf09;

	(void)context;
	make_code();
	memset(code + 0x900, 0x90, 0x700);
	PUT(0x900, "\x55\x48\x89\xe5"); /* push rbp; mov rbp, rsp */
	PUT(0xf00, "\x48\x83\xc4\x08\xe8\x00\x00\x00\x01\x5d\xc3");
	lowest_read = UINT64_MAX;
	bytes_read = 0;
	frame = ctx_code_frame_find(&reader, pc, CTX_CODE_CALL);
	assert_true(frame.is_known && frame.is_returned_to);
	assert_int_equal(frame.n_rules, 0);
	assert_in_range(bytes_read, 5, 10);
	frame = ctx_code_frame_find(&reader, pc, CTX_CODE_END);
	assert_true(frame.is_known && frame.is_returned_to && !frame.uses_fp);
	assert_int_equal(frame.n_rules, 1);
	assert_true(lowest_read > CODE_AT + 0x900);
	frame = ctx_code_frame_find(&reader, pc, CTX_CODE_WHOLE);
	assert_true(frame.is_known && frame.is_returned_to && frame.uses_fp);
	assert_true(lowest_read <= CODE_AT + 0x900);
}

/* Instructions of any bytes: the search ends. */
static void test_code_frame__any_code_is_followed_in_bounds(void **context)
{
	struct ctx_insn_reader reader = {.read = read_code};
	uint32_t seed = 1;

	(void)context;
	for (unsigned round = 0; round < 200; round++) {
		for (size_t i = 0; i < CODE_BYTES; i++) {
			seed = seed * 1664525 + 1013904223;
			code[i] = (uint8_t)(seed >> 24);
		}
		for (uint64_t pc = CODE_AT - 20; pc < CODE_AT + CODE_BYTES + 20; pc += 97) {
			struct ctx_code_frame frame = ctx_code_frame_find(&reader, pc, CTX_CODE_WHOLE);

			assert_in_range(frame.n_rules, 0, CTX_CODE_FRAMES_MAX);
			for (unsigned i = 0; i < frame.n_rules; i++)
				assert_in_range(frame.rules[i].cfa_offset, 8, INT32_MAX);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code_frame__functions_are_left_as_their_instructions_say),
		cmocka_unit_test(test_code_frame__instructions_are_read_once_wherever_they_are_mapped),
		cmocka_unit_test(test_code_frame__a_place_that_nothing_called_is_the_bottom),
		cmocka_unit_test(test_code_frame__no_caller_is_guessed),
		cmocka_unit_test(test_code_frame__a_method_without_an_end_is_left_as_it_began),
		cmocka_unit_test(test_code_frame__an_interpreter_is_left_by_its_frame_pointer),
		cmocka_unit_test(test_code_frame__new_threads_and_processes_have_no_caller),
		cmocka_unit_test(test_code_frame__what_follows_many_branches_is_followed_once),
		cmocka_unit_test(test_code_frame__a_tail_call_is_not_followed),
		cmocka_unit_test(test_code_frame__the_beginning_of_a_function_is_read_last),
		cmocka_unit_test(test_code_frame__any_code_is_followed_in_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
