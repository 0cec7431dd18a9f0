/*
 * Unwinder: from a thread's registers and a copy of the top of its stack to its call stack.
 *
 *	pc --space--> object, table --> row --> CFA --> caller's pc, frame pointer (all from the copied stack) --> again
 *
 * It ends either at the root (the call frame information says that there is no caller, as in _start
 * and where threads begin) or with the reason why it could not go on. Code without a table (JIT
 * code) is unwound by what its instructions say (unwind/code_frame.h), else by its frame pointer, if
 * the frame is plausible: a larger frame, within the copied stack, and a return address in
 * executable memory, behind a call where the code can be read.
 *
 * Cost: about 0.1 us a frame; some us where instructions are read first. No memory is allocated. It
 * reads only the copied stack, the tables and code. Thread-safe.
 */
#ifndef CTX_UNWIND_UNWIND_H
#define CTX_UNWIND_UNWIND_H

#include "model/event_source.h"
#include "model/user_regs.h"
#include "unwind/cfi_table.h"

/* What is mapped at a pc. */
struct ctx_unwind_object {
	uint64_t begin, end;		   /* of the executable mapping that contains it */
	const struct ctx_cfi_table *table; /* NULL: the object has none, or there is no object (JIT code) */
	uint64_t bias;			   /* pc - bias is the address in the table */
	/*
	 * Of its code: at equal pc - code_bias in code of equal numbers, which are not 0, are the same
	 * instructions, in whatever process and wherever they are mapped. 0: they may change at any time.
	 */
	uint64_t code, code_bias;
};

struct ctx_unwind_steps { /* frames of code without call frame information, by how they were left */
	uint64_t by_code; /* as its instructions say */
	uint64_t by_frame_pointer;
};

struct ctx_code_cache;

struct ctx_unwind_space {
	/* False: nothing executable is mapped there. Called once for each change of the object. */
	bool (*find)(void *context, uint64_t pc, struct ctx_unwind_object *ret);
	/*
	 * Reads up to `n` bytes of code, and returns how many; 0: it cannot be read. NULL: none can.
	 * Called for code without call frame information alone.
	 */
	size_t (*read_code)(void *context, uint64_t address, uint8_t *out, size_t n);
	void *context;
	struct ctx_code_cache *cache;	/* borrowed; NULL: none (unwind/code_cache.h) */
	struct ctx_unwind_steps *steps; /* added to; NULL: not counted */
};

struct ctx_unwind_frame {
	/*
	 * For lookups: the pc for the leaf and for frames that a signal interrupted, else inside
	 * the call (return address - 1).
	 */
	uint64_t address;
	/* Stack pointer before the call; 0 unknown. Equal (address, cfa) of one thread are the same
	 * frame. */
	uint64_t cfa;
};

/*
 * Writes the frames, leaf first, at most `max` (at least 1), and their number. Returns why the walk
 * ended: CTX_TRUNCATED_NOT (the root was reached) or a reason.
 */
enum ctx_truncation ctx_unwind(const struct ctx_unwind_space *space, const struct ctx_user_state *state,
			       struct ctx_unwind_frame *frames, size_t max, size_t *ret_n);

/*
 * The same from a caller on: the pc of `state` is a return address, its stack pointer what it is once
 * the callee has returned.
 */
enum ctx_truncation ctx_unwind_caller(const struct ctx_unwind_space *space,
				      const struct ctx_user_state *state, struct ctx_unwind_frame *frames,
				      size_t max, size_t *ret_n);

/* Whether a call stands in front of an address, as far as the code can be read. */
bool ctx_unwind_follows_call(const struct ctx_unwind_space *space, uint64_t pc);

#endif
