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
#include "unwind/unwind_space.h"

/*
 * Writes the frames, leaf first, at most `max` (at least 1), and their number. Returns why the walk
 * ended: CTX_TRUNCATED_NOT (the root was reached) or a reason. With a chain the frames that it adds are the last
 * `by_chain` ones, without CFAs; CTX_TRUNCATED_COPY then means that the last of them has no frame pointer.
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

#endif
