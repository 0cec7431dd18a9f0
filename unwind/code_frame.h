/*
 * Frames of code without call frame information, from its instructions (x86-64 only).
 *
 *	pc --follow the instructions, at jumps both ways--> ret
 *
 * Wherever a function returns, its stack pointer is at the return address; so the changes of the
 * stack pointer on any way from the pc to a `ret` say where that address is, and where the caller's
 * frame pointer was saved. Calls are taken to leave the stack as it was. Besides, the beginning of
 * the function can be looked for in front of the pc. What comes out is a
 * proposal: the unwinder takes it only if a call stands before the return address that it leads to.
 *
 * Private to unwind/. Bounded: CTX_CODE_FRAME_STEPS instructions.
 */
#ifndef CTX_UNWIND_CODE_FRAME_H
#define CTX_UNWIND_CODE_FRAME_H

#include "unwind/cfi_rules.h"

#define CTX_CODE_FRAME_STEPS 2000u
#define CTX_CODE_FRAMES_MAX 2u /* different proposals at one pc */

/* How much is read; each has what those before it have. */
enum ctx_code_depth {
	CTX_CODE_CALL,	/* is_known and is_returned_to alone: some bytes */
	CTX_CODE_END,	/* what follows the pc: some us */
	CTX_CODE_WHOLE, /* the beginning of the function too; it counts for rules and uses_fp */
};

struct ctx_code_frame {
	struct ctx_cfi_summary rules[CTX_CODE_FRAMES_MAX];
	uint8_t n_rules;
	bool is_known;	  /* code could be read */
	bool makes_frame; /* if a thread is at the pc: its function has not made its frame yet */
	/*
	 * For return addresses: a call stands in front of the pc, or it is where the interpreter of
	 * HotSpot goes on after a call.
	 */
	bool is_returned_to;
	bool is_after_syscall;
	/*
	 * The frame pointer at the pc may be that of its frame: the function begins with setting it, or
	 * takes the stack pointer from it, or nothing is known, as in an interpreter.
	 */
	bool uses_fp;
	bool has_no_return; /* no way from the pc leads to a `ret` */
	/*
	 * No call stands in front of the pc, and every way from it ends in an instruction like hlt: it was
	 * put on the stack as its bottom, for a coroutine to return to.
	 */
	bool is_bottom;
};

struct ctx_insn_reader {
	/* Reads up to `n` bytes of code, and returns how many; 0: it cannot be read. */
	size_t (*read)(void *context, uint64_t address, uint8_t *out, size_t n);
	void *context;
};

/* What the code at `pc` says. Nothing is known where it cannot be read. */
struct ctx_code_frame ctx_code_frame_find(const struct ctx_insn_reader *reader, uint64_t pc,
					  enum ctx_code_depth depth);

/*
 * Whether a function that begins at `begin` has taken its stack pointer from elsewhere in front of the
 * pc, as one that goes on on another stack does: its caller is not on this stack.
 */
bool ctx_code_frame_switches_stack(const struct ctx_insn_reader *reader, uint64_t begin, uint64_t pc);

#endif
