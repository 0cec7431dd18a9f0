#include "unwind/cfi_expr.h"

#include "elf/cfi_reader.h"
#include "elf/elf_bytes.h"

#include <dwarf.h>

#define MAX_STEPS 512
#define MAX_DEPTH 64

struct run {
	const struct ctx_cfi_input *input;
	const uint8_t *begin;
	struct ctx_cursor at;
	uint64_t stack[MAX_DEPTH];
	size_t n;
	enum ctx_cfi_result result;
	uint64_t unknown; /* register */
};

static void fail(struct run *run, enum ctx_cfi_result result)
{
	if (run->result == CTX_CFI_OK)
		run->result = result;
}

static void push(struct run *run, uint64_t value)
{
	if (run->n == MAX_DEPTH)
		fail(run, CTX_CFI_BAD);
	else
		run->stack[run->n++] = value;
}

static uint64_t pop(struct run *run)
{
	if (run->n == 0) {
		fail(run, CTX_CFI_BAD);
		return 0;
	}
	return run->stack[--run->n];
}

/* The value `depth` below the top. */
static uint64_t peek(struct run *run, size_t depth)
{
	if (depth >= run->n) {
		fail(run, CTX_CFI_BAD);
		return 0;
	}
	return run->stack[run->n - 1 - depth];
}

static void push_register(struct run *run, uint64_t reg, int64_t offset)
{
	if (reg >= CTX_USER_REGS_MAX || (run->input->valid >> reg & 1) == 0) {
		run->unknown = reg;
		fail(run, CTX_CFI_UNKNOWN);
		return;
	}
	push(run, (uintptr_t)(run->input->registers[reg] + (uint64_t)offset));
}

/* `size` bytes at the address on top. */
static void dereference(struct run *run, unsigned size)
{
	const struct ctx_cfi_memory *memory = &run->input->memory;
	uint64_t at = pop(run) - memory->address;
	uint64_t value = 0;

	if (size == 0 || size > sizeof(value)) {
		fail(run, CTX_CFI_BAD);
		return;
	}
	if (memory->n < size || at > memory->n - size) {
		fail(run, CTX_CFI_OUTSIDE);
		return;
	}
	memcpy(&value, memory->bytes + at, size); /* little-endian, like all supported machines */
	push(run, value);
}

static void jump(struct run *run, int16_t distance)
{
	size_t from = (size_t)(run->at.at - run->begin);
	size_t n = (size_t)(run->at.end - run->begin);
	size_t to = (size_t)((ptrdiff_t)from + distance);

	if (run->at.failed || to > n)
		fail(run, CTX_CFI_BAD);
	else
		run->at.at = run->begin + to;
}

static void push_constant(struct run *run, uint8_t code)
{
	struct ctx_cursor *at = &run->at;

	switch (code) {
	case DW_OP_const1u:
		push(run, ctx_cursor_get_u8(at));
		break;
	case DW_OP_const1s:
		push(run, (uint64_t)(int64_t)(int8_t)ctx_cursor_get_u8(at));
		break;
	case DW_OP_const2u:
		push(run, ctx_cursor_get_u16(at));
		break;
	case DW_OP_const2s:
		push(run, (uint64_t)(int64_t)(int16_t)ctx_cursor_get_u16(at));
		break;
	case DW_OP_const4u:
		push(run, ctx_cursor_get_u32(at));
		break;
	case DW_OP_const4s:
		push(run, (uint64_t)(int64_t)(int32_t)ctx_cursor_get_u32(at));
		break;
	case DW_OP_addr:
	case DW_OP_const8u:
	case DW_OP_const8s:
		push(run, ctx_cursor_get_u64(at));
		break;
	case DW_OP_constu:
		push(run, ctx_cursor_get_varint(at));
		break;
	default:
		push(run, (uint64_t)ctx_elf_get_sleb(at));
		break;
	}
}

static void move_numbers(struct run *run, uint8_t code)
{
	uint64_t a, b, c;

	switch (code) {
	case DW_OP_dup:
		push(run, peek(run, 0));
		break;
	case DW_OP_drop:
		(void)pop(run);
		break;
	case DW_OP_over:
		push(run, peek(run, 1));
		break;
	case DW_OP_pick:
		push(run, peek(run, ctx_cursor_get_u8(&run->at)));
		break;
	case DW_OP_swap:
		a = pop(run);
		b = pop(run);
		push(run, a);
		push(run, b);
		break;
	default: /* DW_OP_rot: the first becomes the third */
		a = pop(run);
		b = pop(run);
		c = pop(run);
		push(run, a);
		push(run, c);
		push(run, b);
		break;
	}
}

static bool is_unary(uint8_t code)
{
	return code == DW_OP_abs || code == DW_OP_neg || code == DW_OP_not || code == DW_OP_plus_uconst;
}

static void compute_unary(struct run *run, uint8_t code)
{
	uint64_t value = pop(run);

	if (code == DW_OP_plus_uconst)
		push(run, value + ctx_cursor_get_varint(&run->at));
	else if (code == DW_OP_not)
		push(run, ~value);
	else
		push(run, code == DW_OP_neg || (int64_t)value < 0 ? 0 - value : value);
}

static bool is_comparison(uint8_t code)
{
	return code >= DW_OP_eq && code <= DW_OP_ne;
}

static bool compare(uint8_t code, int64_t left, int64_t right)
{
	switch (code) {
	case DW_OP_eq:
		return left == right;
	case DW_OP_ge:
		return left >= right;
	case DW_OP_gt:
		return left > right;
	case DW_OP_le:
		return left <= right;
	case DW_OP_lt:
		return left < right;
	default:
		return left != right;
	}
}

static void divide(struct run *run, uint8_t code, uint64_t left, uint64_t right)
{
	if (right == 0)
		fail(run, CTX_CFI_BAD);
	else if (code == DW_OP_mod)
		push(run, left % right);
	else
		push(run, right == UINT64_MAX ? 0 - left : (uint64_t)((int64_t)left / (int64_t)right));
}

static void shift(struct run *run, uint8_t code, uint64_t left, uint64_t right)
{
	if (code == DW_OP_shra)
		push(run, (uint64_t)((int64_t)left >> (right < 63 ? right : 63)));
	else if (right >= 64)
		push(run, 0);
	else
		push(run, code == DW_OP_shl ? left << right : left >> right);
}

static void compute(struct run *run, uint8_t code)
{
	uint64_t right = pop(run);
	uint64_t left = pop(run);

	switch (code) {
	case DW_OP_and:
		push(run, left & right);
		break;
	case DW_OP_or:
		push(run, left | right);
		break;
	case DW_OP_xor:
		push(run, left ^ right);
		break;
	case DW_OP_plus:
		push(run, left + right);
		break;
	case DW_OP_minus:
		push(run, left - right);
		break;
	case DW_OP_mul:
		push(run, left * right);
		break;
	case DW_OP_div:
	case DW_OP_mod:
		divide(run, code, left, right);
		break;
	case DW_OP_shl:
	case DW_OP_shr:
	case DW_OP_shra:
		shift(run, code, left, right);
		break;
	default:
		if (is_comparison(code))
			push(run, compare(code, (int64_t)left, (int64_t)right));
		else
			fail(run, CTX_CFI_BAD); /* types, objects, threads: not needed by frames */
		break;
	}
}

static void step_rest(struct run *run, uint8_t code)
{
	uint64_t reg;
	int16_t distance;

	switch (code) {
	case DW_OP_nop:
		break;
	case DW_OP_deref:
		dereference(run, CTX_CFI_WORD);
		break;
	case DW_OP_deref_size:
		dereference(run, ctx_cursor_get_u8(&run->at));
		break;
	case DW_OP_bregx:
		reg = ctx_cursor_get_varint(&run->at);
		push_register(run, reg, ctx_elf_get_sleb(&run->at));
		break;
	case DW_OP_skip:
		jump(run, (int16_t)ctx_cursor_get_u16(&run->at));
		break;
	case DW_OP_bra:
		distance = (int16_t)ctx_cursor_get_u16(&run->at);
		if (pop(run) != 0)
			jump(run, distance);
		break;
	default:
		compute(run, code);
		break;
	}
}

static void step(struct run *run)
{
	uint8_t code = ctx_cursor_get_u8(&run->at);

	if (code >= DW_OP_lit0 && code <= DW_OP_lit31)
		push(run, (uint64_t)(code - DW_OP_lit0));
	else if (code >= DW_OP_breg0 && code <= DW_OP_breg31)
		push_register(run, (uint64_t)(code - DW_OP_breg0), ctx_elf_get_sleb(&run->at));
	else if (code == DW_OP_addr || (code >= DW_OP_const1u && code <= DW_OP_consts))
		push_constant(run, code);
	else if (code >= DW_OP_dup && code <= DW_OP_rot)
		move_numbers(run, code);
	else if (is_unary(code))
		compute_unary(run, code);
	else
		step_rest(run, code);
	if (run->at.failed)
		fail(run, CTX_CFI_BAD);
}

enum ctx_cfi_result ctx_cfi_evaluate(const uint8_t *bytes, size_t n, const struct ctx_cfi_input *input,
				     const uint64_t *first, uint64_t *ret)
{
	struct run run; /* its stack is not cleared: this path is taken for every call through a PLT */

	run.input = input;
	run.begin = bytes;
	run.at = ctx_cursor_make(bytes, n);
	run.n = 0;
	run.result = CTX_CFI_OK;
	run.unknown = 0;
	if (first != NULL)
		push(&run, *first);
	for (unsigned steps = 0; run.result == CTX_CFI_OK && run.at.at < run.at.end; steps++) {
		if (steps == MAX_STEPS)
			return CTX_CFI_BAD;
		step(&run);
	}
	if (run.result == CTX_CFI_OK)
		*ret = pop(&run);
	else
		*ret = run.unknown;
	return run.result;
}
