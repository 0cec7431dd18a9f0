/*
 * What a thread says in a block of heap operations is alike all the time, and what several say in turn is not: some
 * streams (exp_heap_code.h) are written thread by thread, so that the compressor finds what repeats.
 *
 *	tokens in order of time --> own streams of each slot --> one after the other, and the lengths of all
 *
 * A slot is a thread's number modulo CTX_EXP_HEAP_SLOTS: threads of one slot have their streams in common.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_HEAP_THREADS_H
#define CTX_FORMATS_EXPERIMENT_EXP_HEAP_THREADS_H

#include "base/buf.h"
#include "base/cursor.h"

#define CTX_EXP_HEAP_SLOTS 64u
#define CTX_EXP_HEAP_OWN 5u /* streams of a slot */

struct ctx_exp_heap_own { /* encoding. All zero is valid */
	struct ctx_buf streams[CTX_EXP_HEAP_OWN];
};

struct ctx_exp_heap_own_in { /* decoding. All zero is empty */
	struct ctx_cursor streams[CTX_EXP_HEAP_OWN];
};

void ctx_exp_heap_own_deinit(struct ctx_exp_heap_own slots[CTX_EXP_HEAP_SLOTS]);
void ctx_exp_heap_own_clear(struct ctx_exp_heap_own slots[CTX_EXP_HEAP_SLOTS]);

/*
 * Appends the first streams of all slots to `out[0]`, and so on, and to `lengths` varints: of each slot the bytes of
 * each of its streams. An allocation failure is sticky in these.
 */
void ctx_exp_heap_join(const struct ctx_exp_heap_own slots[CTX_EXP_HEAP_SLOTS], struct ctx_buf *lengths,
		       struct ctx_buf out[CTX_EXP_HEAP_OWN]);

/* The reverse. False: they end early. */
bool ctx_exp_heap_split(struct ctx_cursor *lengths, struct ctx_cursor joined[CTX_EXP_HEAP_OWN],
			struct ctx_exp_heap_own_in ret[CTX_EXP_HEAP_SLOTS]);

#endif
