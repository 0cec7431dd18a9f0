/*
 *	prefixes | REX, VEX or EVEX | opcode (map 0 to 3) | ModRM | SIB | displacement | immediate
 *
 * First the length is found, with the parts noted in `struct parts`; then the few opcodes that
 * concern the stack are looked at. Bytes are taken without a look at where they end: there is room
 * behind them, and an instruction that reaches into it is refused.
 */
#include "unwind/x86_insn.h"

#include <string.h>

#define SP 4u
#define FP 5u
#define NO_BASE 0xffu
#define ROOM 40u /* bytes that may be taken: 15, and all but the prefixes once more */

/* What an opcode has. */
enum {
	O = 0,
	M = 1,	   /* a ModRM byte */
	B = 2,	   /* an immediate of a byte, */
	Z = 4,	   /* of four, or two with an operand-size prefix, */
	S = 8,	   /* of another size: special_immediate */
	K = 16,	   /* concerns the stack or the flow of control: classify; */
	T = 32,	   /* the same, if one of its registers is the stack or the frame pointer */
	P = 64,	   /* is a prefix: none behind REX, where no compiler writes one */
	N = 128,   /* does not exist in 64-bit mode */
	R = N | P, /* REX */
	BK = B | K,
	MB = M | B,
	MBT = M | B | T,
	MK = M | K,
	MS = M | S,
	MT = M | T,
	MZ = M | Z,
	MZT = M | Z | T,
	SK = S | K,
	ZK = Z | K,
};

/* Map 0; VEX, EVEX and 0f are treated before. A row has 16 opcodes. */
/* clang-format off */
static const uint8_t one_byte[256] = {
	M, MT, M, MT, B, Z, N, N, M, MT, M, MT, B, Z, N, O,
	M, MT, M, MT, B, Z, N, N, M, MT, M, MT, B, Z, N, N,
	M, MT, M, MT, B, Z, P, N, M, MT, M, MT, B, Z, P, N,
	M, MT, M, MT, B, Z, P, N, M, M, M, M, B, Z, P, N,
	R, R, R, R, R, R, R, R, R, R, R, R, R, R, R, R,
	K, K, K, K, K, K, K, K, K, K, K, K, K, K, K, K,
	N, N, O, M, P, P, P, P, ZK, MZ, BK, MB, O, O, O, O,
	BK, BK, BK, BK, BK, BK, BK, BK, BK, BK, BK, BK, BK, BK, BK, BK,
	MB, MZT, N, MBT, M, M, M, MT, M, MT, M, MT, M, MT, M, MK,
	O, O, O, O, K, O, O, O, O, O, N, O, K, K, O, O,
	S, S, S, S, O, O, O, O, B, Z, O, O, O, O, O, O,
	B, B, B, B, B, B, B, B, S, S, S, S, S, S, S, S,
	MB, MB, SK, K, O, O, MB, MZ, SK, K, SK, K, K, B, N, K,
	M, M, M, M, N, N, N, O, M, M, M, M, M, M, M, M,
	BK, BK, BK, BK, B, B, B, B, SK, SK, N, BK, O, O, O, O,
	P, K, P, P, K, O, MS, MS, O, O, O, O, O, O, M, MK,
};

/* Map 1 (0f). */
static const uint8_t two_bytes[256] = {
	M, M, M, M, M, O, O, K, O, O, M, K, M, M, O, MB,
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	O, O, O, O, O, O, O, O, M, M, M, M, M, M, M, M,
	MT, MT, MT, MT, MT, MT, MT, MT, MT, MT, MT, MT, MT, MT, MT, MT,
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	MB, MB, MB, MB, M, M, M, O, M, M, M, M, M, M, M, M,
	SK, SK, SK, SK, SK, SK, SK, SK, SK, SK, SK, SK, SK, SK, SK, SK,
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	K, K, O, M, MB, M, M, M, K, K, O, M, MB, M, M, M,
	M, M, M, M, M, M, M, M, M, MK, MB, M, M, M, M, M,
	M, M, MB, M, MB, MB, MB, M, O, O, O, O, O, O, O, O,
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, MK,
};
/* clang-format on */

struct parts {
	const uint8_t *at; /* next byte */
	bool fails;
	bool operand_16, address_32;
	uint8_t rex; /* 0x40 | WRXB */
	uint8_t map; /* 0: one byte, 1: 0f, 2: 0f 38, 3: 0f 3a */
	uint8_t opcode;
	uint8_t has;	      /* what the opcode has */
	const uint8_t *modrm; /* where it stands, if there is one */
	uint8_t mod, reg, rm; /* reg and rm with their REX bits; rm: the register, if mod is 3 */
	uint8_t base;	      /* of a memory operand without index; NO_BASE: another one */
	int32_t displacement, immediate;
};

static inline uint8_t take(struct parts *parts)
{
	return *parts->at++;
}

/* Of other sizes than one and two bytes the first four. */
static int32_t number_at(const uint8_t *at, unsigned bytes)
{
	int32_t four;
	int16_t two;

	if (bytes == 1)
		return (int8_t)*at;
	if (bytes == 2) {
		memcpy(&two, at, sizeof(two));
		return two;
	}
	memcpy(&four, at, sizeof(four));
	return four;
}

static void take_prefixes(struct parts *parts)
{
	const uint8_t *end = parts->at + CTX_X86_LENGTH_MAX;
	uint8_t byte = take(parts);

	while (one_byte[byte] == P && parts->at < end) {
		parts->operand_16 = parts->operand_16 || byte == 0x66;
		parts->address_32 = parts->address_32 || byte == 0x67;
		byte = take(parts);
	}
	if (one_byte[byte] == R) {
		parts->rex = byte;
		byte = take(parts);
	}
	parts->opcode = byte;
}

/* VEX (c4, c5), EVEX (62): the map, and where the opcode stands. */
static void take_vector_prefix(struct parts *parts)
{
	uint8_t first = take(parts);

	parts->map = parts->opcode == 0xc5 ? 1 : parts->opcode == 0xc4 ? first & 0x1f : first & 7;
	if (parts->opcode != 0xc5)
		(void)take(parts);
	if (parts->opcode == 0x62)
		(void)take(parts);
	/* Maps 5 and 6 of EVEX have no immediates, like map 2. */
	if (parts->opcode == 0x62 && (parts->map == 5 || parts->map == 6))
		parts->map = 2;
	if (parts->map == 0 || parts->map > 3)
		parts->fails = true;
	parts->opcode = take(parts);
	parts->has = parts->map == 3	     ? MB
		     : parts->map == 2	     ? M
		     : parts->opcode == 0x77 ? O
					     : M | (two_bytes[parts->opcode] & B);
}

static void take_opcode(struct parts *parts)
{
	take_prefixes(parts);
	switch (parts->opcode) {
	case 0xc4:
	case 0xc5:
	case 0x62:
		take_vector_prefix(parts);
		return;
	case 0x0f:
		parts->map = 1;
		parts->opcode = take(parts);
		if (parts->opcode == 0x38 || parts->opcode == 0x3a) {
			parts->map = parts->opcode == 0x38 ? 2 : 3;
			parts->has = parts->opcode == 0x38 ? M : MB;
			parts->opcode = take(parts);
		} else {
			parts->has = two_bytes[parts->opcode];
		}
		return;
	default:
		parts->has = one_byte[parts->opcode];
		parts->fails = (parts->has & (N | P)) != 0;
	}
}

/* Bytes of ModRM, SIB and displacement. */
static unsigned operand_length(const uint8_t *modrm)
{
	unsigned mod = *modrm >> 6, rm = *modrm & 7;

	if (mod == 3)
		return 1;
	if (mod == 0)
		return rm == 5 ? 5 : rm == 4 ? ((modrm[1] & 7) == 5 ? 6 : 2) : 1;
	return (mod == 1 ? 2u : 5u) + (rm == 4);
}

static unsigned operand_bytes(const struct parts *parts)
{
	return parts->operand_16 && (parts->rex & 8) == 0 ? 2 : 4;
}

/* Bytes of the immediate of opcodes with S. */
static unsigned special_immediate(const struct parts *parts)
{
	switch (parts->opcode) {
	case 0x80 ... 0x8f: /* of 0f */
	case 0xe8:
	case 0xe9:
		return 4;
	case 0xa0: /* an address */
	case 0xa1:
	case 0xa2:
	case 0xa3:
		return parts->address_32 ? 4 : 8;
	case 0xf6: /* test has one */
	case 0xf7:
		if ((*parts->modrm >> 3 & 6) != 0)
			return 0;
		return parts->opcode == 0xf6 ? 1 : operand_bytes(parts);
	case 0xc8:
		return 3;
	case 0xc2:
	case 0xca:
		return 2;
	default: /* mov to a register */
		return (parts->rex & 8) != 0 ? 8 : operand_bytes(parts);
	}
}

static unsigned immediate_length(const struct parts *parts)
{
	if ((parts->has & B) != 0)
		return 1;
	return (parts->has & Z) != 0 ? operand_bytes(parts) : special_immediate(parts);
}

/* Whether ModRM may name the stack or the frame pointer. */
static bool names_sp_or_fp(uint8_t modrm)
{
	return (modrm >> 3 & 6) == SP || (modrm >= 0xc0 && (modrm & 6) == SP);
}

static void read_modrm(struct parts *parts)
{
	uint8_t byte = *parts->modrm;
	uint8_t sib = 0;
	const uint8_t *at = parts->modrm + 1;

	parts->mod = byte >> 6;
	parts->reg = (uint8_t)((byte >> 3 & 7) | (parts->rex & 4) << 1);
	parts->rm = byte & 7;
	if (parts->mod != 3 && parts->rm == 4)
		sib = *at++;
	if (parts->mod == 1)
		parts->displacement = number_at(at, 1);
	else if (parts->mod == 2)
		parts->displacement = number_at(at, 4);
	if (parts->mod == 3)
		parts->rm |= (uint8_t)((parts->rex & 1) << 3);
	else if (parts->rm != 4)
		parts->base = parts->mod == 0 && parts->rm == 5 ? NO_BASE : parts->rm;
	else if ((sib >> 3 & 7) == 4 && (parts->rex & 2) == 0 && !(parts->mod == 0 && (sib & 7) == 5))
		parts->base = sib & 7;
	if (parts->base != NO_BASE && (parts->rex & 1) != 0)
		parts->base |= 8;
}

/* mov and lea between registers and the stack. */
static enum ctx_x86_kind classify_move(const struct parts *parts, int32_t *value)
{
	bool to_reg = parts->opcode != 0x89; /* 8b: reg = rm, 8d: reg = its address, 89: rm = reg */
	uint8_t to, from;

	*value = parts->opcode == 0x8d ? parts->displacement : 0;
	if (parts->mod != 3 && parts->opcode != 0x8d) { /* memory */
		*value = parts->displacement;
		if (to_reg && parts->reg == SP)
			return CTX_X86_SWITCH_SP;
		if (parts->reg != FP || parts->base != SP)
			return CTX_X86_OTHER;
		return to_reg ? CTX_X86_LOAD_FP : CTX_X86_STORE_FP;
	}
	to = to_reg ? parts->reg : parts->rm;
	from = parts->opcode == 0x8d ? parts->base : to_reg ? parts->rm : parts->reg;
	if (to == SP && from == SP)
		return CTX_X86_ADD_SP;
	if (to == SP)
		return from == FP	       ? CTX_X86_SP_FROM_FP
		       : parts->opcode == 0x8d ? CTX_X86_LOSE_SP
					       : CTX_X86_SWITCH_SP;
	return to == FP && from == SP ? CTX_X86_FP_FROM_SP : CTX_X86_OTHER;
}

/* add, sub, and, ... with the stack pointer. */
static enum ctx_x86_kind classify_arithmetic(const struct parts *parts, int32_t *value)
{
	unsigned what = parts->reg & 7; /* of 81 and 83: 0 add, 5 sub, 7 cmp */

	if (parts->mod != 3 || parts->rm != SP || what == 7)
		return CTX_X86_OTHER;
	if ((what != 0 && what != 5) || parts->immediate == INT32_MIN)
		return CTX_X86_LOSE_SP;
	*value = what == 5 ? -parts->immediate : parts->immediate;
	return CTX_X86_ADD_SP;
}

static enum ctx_x86_kind classify_ff(const struct parts *parts)
{
	switch (parts->reg & 7) {
	case 2:
	case 3:
		return CTX_X86_CALL_INDIRECT;
	case 4:
	case 5:
		return CTX_X86_JUMP_INDIRECT;
	case 6:
		return CTX_X86_PUSH;
	default:
		return parts->mod == 3 && parts->rm == SP ? CTX_X86_LOSE_SP : CTX_X86_OTHER;
	}
}

static enum ctx_x86_kind classify_push_or_pop(const struct parts *parts)
{
	uint8_t reg = (uint8_t)((parts->opcode & 7) | (parts->rex & 1) << 3);

	if ((parts->opcode & 8) == 0)
		return reg == FP ? CTX_X86_PUSH_FP : CTX_X86_PUSH;
	return reg == FP ? CTX_X86_POP_FP : reg == SP ? CTX_X86_LOSE_SP : CTX_X86_POP;
}

/* Jumps, calls and returns of map 0. */
static enum ctx_x86_kind classify_flow(const struct parts *parts, int32_t *value)
{
	*value = parts->immediate;
	switch (parts->opcode) {
	case 0xe8:
		return CTX_X86_CALL;
	case 0xe9:
	case 0xeb:
		return CTX_X86_JUMP;
	case 0xe0:
	case 0xe1:
	case 0xe2:
	case 0xe3:
		return CTX_X86_BRANCH;
	case 0xc3:
		return CTX_X86_RETURN;
	case 0xc2:
	case 0xca:
	case 0xcb:
	case 0xcc:
	case 0xcf:
	case 0xf1:
	case 0xf4:
		return CTX_X86_STOP;
	default:
		return (parts->opcode & 0xf0) == 0x70 ? CTX_X86_BRANCH : CTX_X86_OTHER;
	}
}

static enum ctx_x86_kind classify_one(const struct parts *parts, int32_t *value)
{
	uint8_t opcode = parts->opcode;

	if ((opcode & 0xf0) == 0x50)
		return classify_push_or_pop(parts);
	switch (opcode) {
	case 0x68:
	case 0x6a:
	case 0x9c:
		return CTX_X86_PUSH;
	case 0x8f:
		return parts->mod == 3 && parts->rm == SP ? CTX_X86_LOSE_SP : CTX_X86_POP;
	case 0x9d:
		return CTX_X86_POP;
	case 0x81:
	case 0x83:
		return classify_arithmetic(parts, value);
	case 0x89:
	case 0x8b:
	case 0x8d:
		return classify_move(parts, value);
	case 0xc9:
		return CTX_X86_LEAVE;
	case 0xc8:
	case 0x94: /* xchg rax, rsp */
		return opcode == 0xc8 || (parts->rex & 1) == 0 ? CTX_X86_LOSE_SP : CTX_X86_OTHER;
	case 0xff:
		return classify_ff(parts);
	case 0x87:
		return parts->reg == SP || (parts->mod == 3 && parts->rm == SP) ? CTX_X86_LOSE_SP
										: CTX_X86_OTHER;
	default:
		break;
	}
	/* add, or, adc, sbb, and, sub, xor with registers; cmp changes nothing */
	if (opcode < 0x38 && (opcode & 5) == 1 &&
	    ((opcode & 2) != 0 ? parts->reg == SP : parts->mod == 3 && parts->rm == SP))
		return CTX_X86_LOSE_SP;
	return classify_flow(parts, value);
}

static enum ctx_x86_kind classify_two(const struct parts *parts, int32_t *value)
{
	*value = parts->immediate;
	if ((parts->opcode & 0xf0) == 0x80)
		return CTX_X86_BRANCH;
	switch (parts->opcode) {
	case 0x0b: /* ud2, ud1, ud0 */
	case 0xb9:
	case 0xff:
	case 0x07: /* sysret */
		return CTX_X86_STOP;
	case 0xa0:
	case 0xa8:
		return CTX_X86_PUSH;
	case 0xa1:
	case 0xa9:
		return CTX_X86_POP;
	default:
		return (parts->opcode & 0xf0) == 0x40 && parts->reg == SP ? CTX_X86_LOSE_SP : CTX_X86_OTHER;
	}
}

static enum ctx_x86_kind classify(const struct parts *parts, int32_t *value)
{
	enum ctx_x86_kind kind = parts->map == 0 ? classify_one(parts, value) : classify_two(parts, value);

	switch (kind) {
	case CTX_X86_ADD_SP:
	case CTX_X86_SP_FROM_FP: /* half of the register: not an address */
		return (parts->rex & 8) != 0 && !parts->address_32 ? kind : CTX_X86_LOSE_SP;
	case CTX_X86_FP_FROM_SP:
	case CTX_X86_LOAD_FP:
	case CTX_X86_STORE_FP:
		return (parts->rex & 8) != 0 && !parts->address_32 ? kind : CTX_X86_OTHER;
	case CTX_X86_PUSH:
	case CTX_X86_PUSH_FP:
	case CTX_X86_POP:
	case CTX_X86_POP_FP:
	case CTX_X86_LEAVE: /* two bytes only */
		return parts->operand_16 && (parts->rex & 8) == 0 ? CTX_X86_LOSE_SP : kind;
	default:
		return kind;
	}
}

static bool decode(const uint8_t *bytes, size_t n, struct ctx_x86_insn *ret)
{
	struct parts parts = {.at = bytes, .base = NO_BASE};
	unsigned immediate;
	size_t length;

	take_opcode(&parts);
	if (parts.fails)
		return false;
	parts.modrm = parts.at;
	if ((parts.has & M) != 0)
		parts.at += operand_length(parts.at);
	immediate = (parts.has & (B | Z | S)) != 0 ? immediate_length(&parts) : 0;
	length = (size_t)(parts.at - bytes) + immediate;
	if (length > n || length > CTX_X86_LENGTH_MAX)
		return false;
	*ret = (struct ctx_x86_insn){.kind = CTX_X86_OTHER, .length = (uint8_t)length};
	if ((parts.has & K) == 0 && ((parts.has & T) == 0 || !names_sp_or_fp(*parts.modrm)))
		return true;
	if ((parts.has & M) != 0)
		read_modrm(&parts);
	parts.immediate = immediate != 0 ? number_at(parts.at, immediate) : 0;
	ret->kind = classify(&parts, &ret->value);
	return true;
}

__attribute__((noinline)) static bool decode_few(const uint8_t *bytes, size_t n, struct ctx_x86_insn *ret)
{
	uint8_t copy[ROOM] = {0};

	memcpy(copy, bytes, n);
	return decode(copy, n, ret);
}

bool ctx_x86_decode(const uint8_t *bytes, size_t n, struct ctx_x86_insn *ret)
{
	return n >= ROOM ? decode(bytes, n, ret) : decode_few(bytes, n, ret);
}

static bool begins_call(uint8_t byte)
{
	return byte == 0xe8 || byte == 0xff || (one_byte[byte] & P) != 0;
}

bool ctx_x86_ends_with_call(const uint8_t *bytes, size_t n)
{
	for (size_t length = 2; length <= n && length <= CTX_X86_CALL_MAX; length++) {
		const uint8_t *at = bytes + n - length;
		struct ctx_x86_insn insn;

		if (begins_call(*at) && ctx_x86_decode(at, length, &insn) && insn.length == length &&
		    (insn.kind == CTX_X86_CALL || insn.kind == CTX_X86_CALL_INDIRECT))
			return true;
	}
	return false;
}
