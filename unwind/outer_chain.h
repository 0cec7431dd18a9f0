/*
 * The outermost frames of a stack, from its outermost bytes alone: what lies between them and the
 * thread's registers is not known (x86-64).
 *
 *	words of the window --a call stands in front of it--> return address --unwind--> the root
 *
 * Frames cannot be followed from the root inward. So each return address in the window is tried, the
 * innermost first, until one leads to the root by call frame information. Such a chain holds if each
 * of its return addresses follows a call, and, where that call names the function it enters, the frame
 * inside is of this function, or of one that it jumps to.
 *
 * What is found is what the bytes say: words below the frames in use may be of earlier calls, and
 * whether the stack was the same at another time is for the caller to judge.
 */
#ifndef CTX_UNWIND_OUTER_CHAIN_H
#define CTX_UNWIND_OUTER_CHAIN_H

#include "unwind/unwind.h"

struct ctx_outer_window {
	const uint8_t *bytes; /* borrowed */
	size_t n;	      /* a multiple of 8 */
	uint64_t address;     /* of the first byte; a multiple of 8 */
	/*
	 * Reads a word of the process's data, for calls through a table of addresses (PLT). NULL: what
	 * they enter is not checked.
	 */
	bool (*read_word)(void *context, uint64_t address, uint64_t *ret);
	void *context;
};

/*
 * Looks for the stack's root: the highest word that is a return address in a function without caller
 * (_start, clone). False: there is none.
 */
bool ctx_outer_chain_root(const struct ctx_unwind_space *space, const struct ctx_outer_window *window,
			  uint64_t *ret_address);

/*
 * The frames of the longest chain that ends with the root, whose return address is in the last word of
 * the window; leaf first, at most `max`. Returns their number; 0: none. Some 0.1 us for each word, and
 * as much for each frame of at most CTX_OUTER_CHAIN_TRIES chains.
 */
size_t ctx_outer_chain_find(const struct ctx_unwind_space *space, const struct ctx_outer_window *window,
			    struct ctx_unwind_frame *frames, size_t max);

#define CTX_OUTER_CHAIN_TRIES 128u

/* The function that an address is in, by its call frame information. False: none. */
bool ctx_outer_chain_function(const struct ctx_unwind_space *space, uint64_t pc, uint64_t *ret_begin,
			      uint64_t *ret_end);

#endif
