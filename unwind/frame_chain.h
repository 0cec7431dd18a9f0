/*
 * The kernel's chain of frame pointers, where the copied stack ends.
 *
 *	copy --unwind.c--> frame that the copy ends in --chain, each pc against its rule--> root, or code without frame pointers
 *
 * The kernel follows frame pointers when it takes a sample, however deep the stack is. What it finds is the stack only as
 * long as every function on it has a frame pointer: where the rule of a pc says that the CFA is the frame pointer + 16, with the
 * caller's frame pointer at CFA - 16, its caller is the chain's next entry; anywhere else a frame would be left out unseen. So
 * each pc is asked for its rule, and the first that has another one is the last frame. The leaf needs no frame
 * pointer: the walk comes to the chain from the copy, at a frame whose frame pointer is one that the kernel followed.
 *
 * x86-64 only: elsewhere rules are of the stack pointer.
 */
#ifndef CTX_UNWIND_FRAME_CHAIN_H
#define CTX_UNWIND_FRAME_CHAIN_H

#include "model/event_source.h"
#include "unwind/unwind_space.h"

struct ctx_frame_chain_cut {		    /* the frame whose return address is outside the copy */
	const struct ctx_user_state *state; /* of the leaf; borrowed */
	uint64_t pc, fp;
	bool exact; /* pc is where the thread was, not a return address */
};

/*
 * Writes the callers of the cut frame, at most `max`, and returns how many. *ret_end: CTX_TRUNCATED_NOT, the root is among
 * them; CTX_TRUNCATED_COPY, the last one has no frame pointer, or there is none: the chain does not have this frame, or ends
 * before a frame whose caller it should have. Their CFAs are not known (0). Some 50 ns a frame.
 */
size_t ctx_frame_chain_follow(const struct ctx_unwind_space *space, const struct ctx_frame_chain_cut *cut,
			      struct ctx_unwind_frame *frames, size_t max, enum ctx_truncation *ret_end);

/* Whether call frame information says that the function has a frame pointer at an address. */
bool ctx_frame_chain_has(const struct ctx_unwind_space *space, uint64_t address);

#endif
