/*
 * The payload of a block of calls that were seen to begin and end (docs/experiment-format.md, section 8, calls): those of one
 * thread, in order.
 *
 *	thread, open calls before the first event
 *	STEPS		a bit for each event, the lowest first: a call begins; else the innermost one ends
 *	TIMES		ns since the event before; of the first 0
 *	FUNCTIONS	of each that begins: number of the function in the block, or 0: a new one
 *	ADDRESSES	of each new one: difference to the one before
 *	OTHERS		of all events but plain begins and returns: events since the last such one, flags, calls that end; of sums duration and number; how many are missing
 *
 * A block is read without any other: the functions that are open at its begin are not in it.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_CALLEVENTS_H
#define CTX_FORMATS_EXPERIMENT_EXP_CALLEVENTS_H

#include "base/buf.h"
#include "base/cursor.h"
#include "base/err.h"
#include "model/call_counter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_EXP_CALLS_MAX 32768u /* events of a block that is written */
#define CTX_EXP_CALLS_READ 65536u
#define CTX_EXP_CALLS_PRUNED 1u /* as a function: calls that were pruned (runtime/rt_call_tree.h) */
#define CTX_EXP_CALLS_LOST 2u	/* the same: events are missing as long as this is open */
#define CTX_EXP_CALLEVENTS_STREAMS 5u

#define CTX_EXP_CALLS_SUM_MAX (UINT64_C(1) << 40) /* calls of a sum */
#define CTX_EXP_CALLS_COUNTED_MAX (UINT64_C(1) << 47)
#define CTX_EXP_CALLS_TOOK_MAX (UINT64_C(1) << 56) /* ns of one of them */

/* First calls end, then one begins. */
struct ctx_exp_call {
	uint64_t time_ns;
	uint64_t function; /* an address in that which begins; 0: none does */
	uint32_t left;	   /* calls that end */
	bool unwound;	   /* they have not returned */
	bool resumed; /* what begins has begun in the process that forked this one, or is CTX_EXP_CALLS_LOST */
	bool unseen;  /* what begins did so before, when events were missing */
	uint64_t lost; /* of CTX_EXP_CALLS_LOST, not 0: so many events */
	/* Of sums (runtime/rt_calls_sums.h). */
	bool is_sum;	  /* what begins stands for so many calls, `calls`; 0: it was open */
	uint64_t took_ns; /* not 0: nothing begins, but so many calls of the function took so long each */
	uint64_t calls;
	uint64_t
		counted; /* not 0: nothing begins or ends, but `counter` has counted so much for the innermost call */
	uint8_t counter; /* enum ctx_call_counter */
};

struct ctx_exp_call_slot {
	uint64_t function; /* 0: empty */
	uint32_t number;
};

/* Events of a thread that are not written yet. All zero is empty. */
struct ctx_exp_call_block {
	uint32_t thread;
	uint32_t depth, depth_now; /* open calls before the first event, and after the last one */
	uint32_t n;
	uint64_t first_ns, last_ns;
	uint32_t other_at; /* behind the last of OTHERS */
	uint64_t last_function;
	uint32_t n_functions;
	struct ctx_exp_call_slot *slots; /* owned */
	size_t n_slots;			 /* a power of two, or 0 */
	struct ctx_buf streams[CTX_EXP_CALLEVENTS_STREAMS];
};

void ctx_exp_call_block_deinit(struct ctx_exp_call_block *block);
/* For the thread's next events. */
void ctx_exp_call_block_clear(struct ctx_exp_call_block *block);
size_t ctx_exp_call_block_bytes(const struct ctx_exp_call_block *block);

/*
 * Appends an event, not before the last one and with no more calls that end than are open. `*ret_new`: its function is
 * new in the block. Fails with CTX_E_NOMEM; the block is then to be cleared.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_call_put(struct ctx_exp_call_block *block,
						const struct ctx_exp_call *call, bool *ret_new,
						struct ctx_err *err);

/* Appends the payload; there are events. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_exp_calls_encode(const struct ctx_exp_call_block *block,
						    struct ctx_buf *out, struct ctx_err *err);

/* Of the threads of a process. All zero is empty. */
struct ctx_exp_call_bufs {
	struct ctx_exp_call_block **items; /* owned, as what they are */
	size_t n, cap;
	size_t last; /* the one that was looked up last */
};

void ctx_exp_call_bufs_deinit(struct ctx_exp_call_bufs *bufs);
size_t ctx_exp_call_bufs_bytes(const struct ctx_exp_call_bufs *bufs);

/* Reading one, event by event. */
struct ctx_exp_calls_in {
	uint32_t thread, depth; /* open calls before the next event */
	uint32_t n, at;
	uint64_t time_ns;
	uint32_t to_other; /* events before the next of OTHERS */
	uint32_t n_functions;
	uint64_t *functions; /* owned */
	size_t functions_cap;
	uint64_t last_function;
	struct ctx_cursor streams[CTX_EXP_CALLEVENTS_STREAMS];
};

void ctx_exp_calls_in_deinit(struct ctx_exp_calls_in *in);

/*
 * Begins to read `n` events. The payload is borrowed. `in` may have been used before, for the same one too. CTX_E_FORMAT.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_calls_begin(struct ctx_exp_calls_in *in, struct ctx_bytes payload,
						   uint64_t first_ns, uint32_t n, struct ctx_err *err);

/* The next one; CTX_END behind the last. `*ret_kept`: open calls that go on. CTX_E_FORMAT, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_exp_calls_next(struct ctx_exp_calls_in *in, struct ctx_exp_call *ret,
						  uint32_t *ret_kept, struct ctx_err *err);

/* A block of calls: read event by event, since there are many. */
struct ctx_exp_open_calls {
	struct ctx_exp_calls_in in;
	struct ctx_buf payload;
	struct ctx_exp_call next;
	uint32_t kept;
	uint32_t thread;		     /* row */
	uint64_t counted[CTX_CALL_COUNTERS]; /* of the event that was handed out last */
};

void ctx_exp_open_calls_free(struct ctx_exp_open_calls *calls); /* NULL is allowed */

#endif
