/*
 *	prefixes | REX, VEX or EVEX | opcode (map 0 to 3) | ModRM | SIB | displacement | immediate
 *
 * First the length is found, with the parts noted in `struct parts`; then the few opcodes that
 * concern the stack are looked at.
 */
#include "unwind/x86_insn.h"

#include <string.h>

#define SP 4u
#define FP 5u
#define NO_BASE 0xffu

struct parts {
	const uint8_t *bytes;
	size_t n, at; /* at: next byte */
	bool fails;
	bool operand_16, address_32, repeats;
	uint8_t rex; /* 0x40 | WRXB */
	bool vex;    /* VEX or EVEX: operates on no general register that matters */
	uint8_t map; /* 0: one byte, 1: 0f, 2: 0f 38, 3: 0f 3a */
	uint8_t opcode;
	bool has_modrm;
	uint8_t mod, reg, rm; /* reg and rm with their REX bits; rm: the register, if mod is 3 */
	uint8_t base;	      /* of a memory operand without index; NO_BASE: another one */
	int32_t displacement, immediate;
};

static uint8_t take(struct parts *parts)
{
	if (parts->at >= parts->n || parts->at >= CTX_X86_LENGTH_MAX) {
		parts->fails = true;
		return 0;
	}
	return parts->bytes[parts->at++];
}

static int32_t take_number(struct parts *parts, unsigned bytes)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < bytes; i++) {
		uint32_t byte = take(parts);

		if (i < 4)
			value |= byte << (8 * i);
	}
	if (bytes == 1)
		return (int8_t)value;
	return bytes == 2 ? (int16_t)value : (int32_t)value;
}

static void take_prefixes(struct parts *parts)
{
	for (;;) {
		uint8_t byte = take(parts);

		switch (byte) {
		case 0x66:
			parts->operand_16 = true;
			break;
		case 0x67:
			parts->address_32 = true;
			break;
		case 0xf2:
		case 0xf3:
			parts->repeats = true;
			break;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
		case 0xf0:
			break;
		default:
			if ((byte & 0xf0) == 0x40) {
				parts->rex = byte;
				byte = take(parts);
			}
			parts->opcode = byte;
			return;
		}
		if (parts->fails)
			return;
	}
}

/* VEX (c4, c5), EVEX (62): the map, and where the opcode stands. */
static void take_vector_prefix(struct parts *parts)
{
	uint8_t first = take(parts);

	parts->vex = true;
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
}

static void take_opcode(struct parts *parts)
{
	take_prefixes(parts);
	if (parts->fails)
		return;
	if (parts->opcode == 0xc4 || parts->opcode == 0xc5 || parts->opcode == 0x62) {
		take_vector_prefix(parts);
		return;
	}
	if (parts->opcode != 0x0f)
		return;
	parts->map = 1;
	parts->opcode = take(parts);
	if (parts->opcode == 0x38 || parts->opcode == 0x3a) {
		parts->map = parts->opcode == 0x38 ? 2 : 3;
		parts->opcode = take(parts);
	}
}

static bool is_one_of(uint8_t opcode, const uint8_t *list, size_t n)
{
	return memchr(list, opcode, n) != NULL;
}

/* Opcodes of map 0 that do not exist in 64-bit mode, and prefixes behind a REX prefix, which no
 * compiler writes. */
static bool is_invalid(const struct parts *parts)
{
	static const uint8_t invalid[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3,
					  0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27, 0x2f, 0x37, 0x3f,
					  0x60, 0x61, 0x82, 0x9a, 0xce, 0xd4, 0xd5, 0xd6, 0xea};

	return parts->map == 0 &&
	       ((parts->opcode & 0xf0) == 0x40 || is_one_of(parts->opcode, invalid, sizeof(invalid)));
}

static bool has_modrm(const struct parts *parts)
{
	static const uint8_t one[] = {0x63, 0x69, 0x6b, 0xc0, 0xc1, 0xc6, 0xc7, 0xf6, 0xf7, 0xfe, 0xff};
	static const uint8_t two_without[] = {0x05, 0x06, 0x07, 0x08, 0x09, 0x0b, 0x0e,
					      0x77, 0xa0, 0xa1, 0xa2, 0xa8, 0xa9, 0xaa};
	uint8_t opcode = parts->opcode;

	if (parts->map >= 2)
		return true;
	if (parts->map == 1)
		return !((opcode & 0xf8) == 0x30 || (opcode & 0xf0) == 0x80 || (opcode & 0xf8) == 0xc8 ||
			 is_one_of(opcode, two_without, sizeof(two_without))) ||
		       (parts->vex && opcode != 0x77);
	return (opcode < 0x40 && (opcode & 4) == 0) || (opcode & 0xf0) == 0x80 || (opcode & 0xfc) == 0xd0 ||
	       (opcode & 0xf8) == 0xd8 || is_one_of(opcode, one, sizeof(one));
}

static void take_modrm(struct parts *parts)
{
	uint8_t byte = take(parts);
	uint8_t sib = 0;

	parts->has_modrm = true;
	parts->mod = byte >> 6;
	parts->reg = (uint8_t)((byte >> 3 & 7) | (parts->rex & 4) << 1);
	parts->rm = byte & 7;
	if (parts->mod != 3 && parts->rm == 4)
		sib = take(parts);
	if (parts->mod == 1)
		parts->displacement = take_number(parts, 1);
	else if (parts->mod == 2 ||
		 (parts->mod == 0 && (parts->rm == 5 || (parts->rm == 4 && (sib & 7) == 5))))
		parts->displacement = take_number(parts, 4);
	if (parts->mod == 3)
		parts->rm |= (uint8_t)((parts->rex & 1) << 3);
	else if (parts->rm != 4)
		parts->base = parts->mod == 0 && parts->rm == 5 ? NO_BASE : parts->rm;
	else if ((sib >> 3 & 7) == 4 && (parts->rex & 2) == 0 && !(parts->mod == 0 && (sib & 7) == 5))
		parts->base = sib & 7;
	if (parts->base != NO_BASE && (parts->rex & 1) != 0)
		parts->base |= 8;
}

static unsigned immediate_of_one(const struct parts *parts)
{
	static const uint8_t byte[] = {0x6a, 0x6b, 0x80, 0x83, 0xa8, 0xc0, 0xc1, 0xc6, 0xcd,
				       0xe0, 0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xeb};
	static const uint8_t word[] = {0x68, 0x69, 0x81, 0xa9, 0xc7};
	uint8_t opcode = parts->opcode;
	unsigned size = parts->operand_16 && (parts->rex & 8) == 0 ? 2 : 4;

	if (is_one_of(opcode, byte, sizeof(byte)) || (opcode < 0x40 && (opcode & 7) == 4) ||
	    (opcode & 0xf0) == 0x70 || (opcode & 0xf8) == 0xb0)
		return 1;
	if (is_one_of(opcode, word, sizeof(word)) || (opcode < 0x40 && (opcode & 7) == 5))
		return size;
	if ((opcode & 0xf8) == 0xb8)
		return (parts->rex & 8) != 0 ? 8 : size;
	if ((opcode & 0xfc) == 0xa0)
		return parts->address_32 ? 4 : 8;
	if (opcode == 0xe8 || opcode == 0xe9)
		return 4;
	if ((opcode & 0xfe) == 0xf6 && (parts->reg & 6) == 0)
		return opcode == 0xf6 ? 1 : size;
	if (opcode == 0xc8)
		return 3;
	return opcode == 0xc2 || opcode == 0xca ? 2 : 0;
}

/* Bytes of the immediate. */
static unsigned immediate_of(const struct parts *parts)
{
	static const uint8_t with_byte[] = {0x70, 0x71, 0x72, 0x73, 0xa4, 0xac,
					    0xba, 0xc2, 0xc4, 0xc5, 0xc6, 0x0f};

	switch (parts->map) {
	case 0:
		return immediate_of_one(parts);
	case 1:
		if (!parts->vex && (parts->opcode & 0xf0) == 0x80)
			return 4;
		return is_one_of(parts->opcode, with_byte, sizeof(with_byte));
	case 3:
		return 1;
	default:
		return 0;
	}
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
	enum ctx_x86_kind kind = CTX_X86_OTHER;

	if (parts->vex)
		return kind;
	if (parts->map == 0)
		kind = classify_one(parts, value);
	else if (parts->map == 1)
		kind = classify_two(parts, value);
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

bool ctx_x86_decode(const uint8_t *bytes, size_t n, struct ctx_x86_insn *ret)
{
	struct parts parts = {.bytes = bytes, .n = n, .base = NO_BASE};
	int32_t value = 0;
	unsigned size;

	take_opcode(&parts);
	if (parts.fails || is_invalid(&parts))
		return false;
	if (has_modrm(&parts))
		take_modrm(&parts);
	size = immediate_of(&parts);
	if (size != 0)
		parts.immediate = take_number(&parts, size);
	if (parts.fails)
		return false;
	*ret = (struct ctx_x86_insn){.kind = classify(&parts, &value), .length = (uint8_t)parts.at};
	ret->value = value;
	return true;
}

/* Calls have 2 to 10 bytes: an indirect one may have prefixes, a SIB byte and a displacement. */
bool ctx_x86_ends_with_call(const uint8_t *bytes, size_t n)
{
	for (size_t length = 2; length <= n && length <= 10; length++) {
		struct ctx_x86_insn insn;

		if (ctx_x86_decode(bytes + n - length, length, &insn) && insn.length == length &&
		    (insn.kind == CTX_X86_CALL || insn.kind == CTX_X86_CALL_INDIRECT))
			return true;
	}
	return false;
}
