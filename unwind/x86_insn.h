/*
 * One x86-64 instruction: its length, and what it does to the stack pointer, the frame pointer and
 * the flow of control. Everything else is CTX_X86_OTHER: its length alone matters.
 *
 * Private to unwind/. Source: Intel SDM, volume 2, 2.1 to 2.7 and appendix A.
 */
#ifndef CTX_UNWIND_X86_INSN_H
#define CTX_UNWIND_X86_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_X86_LENGTH_MAX 15u
#define CTX_X86_CALL_MAX 10u /* of a call: with prefixes, a SIB byte and a displacement */

enum ctx_x86_kind {
	CTX_X86_OTHER = 0,
	CTX_X86_PUSH, /* 8 bytes */
	CTX_X86_PUSH_FP,
	CTX_X86_POP, /* 8 bytes */
	CTX_X86_POP_FP,
	CTX_X86_ADD_SP,	    /* sp += value */
	CTX_X86_SP_FROM_FP, /* sp = fp + value */
	CTX_X86_FP_FROM_SP, /* fp = sp + value */
	CTX_X86_STORE_FP,   /* [sp + value] = fp */
	CTX_X86_LOAD_FP,    /* fp = [sp + value] */
	CTX_X86_LEAVE,	    /* sp = fp; pop fp */
	CTX_X86_LOSE_SP,    /* sp becomes something else */
	CTX_X86_SWITCH_SP,  /* the same, by a move from elsewhere than fp */
	CTX_X86_CALL,	    /* `value` from the next instruction, if it is direct */
	CTX_X86_CALL_INDIRECT,
	CTX_X86_JUMP,	/* the same */
	CTX_X86_BRANCH, /* the same, if a condition holds */
	CTX_X86_JUMP_INDIRECT,
	CTX_X86_RETURN, /* pops the return address */
	CTX_X86_STOP,	/* does not go on behind it: ud2, hlt, int3, a return that pops arguments */
};

struct ctx_x86_insn {
	enum ctx_x86_kind kind;
	uint8_t length; /* bytes */
	int32_t value;
};

/* False: not an instruction, or more than `n` bytes. Reads at most `n` bytes. */
bool ctx_x86_decode(const uint8_t *bytes, size_t n, struct ctx_x86_insn *ret);

/*
 * Whether the `n` bytes can end with a call instruction, i.e. what follows them can be a return
 * address.
 */
bool ctx_x86_ends_with_call(const uint8_t *bytes, size_t n);

#endif
