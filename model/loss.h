/*
 * Losses: records that the kernel could not write, located: when, on which processor, how many. And begins and ends of calls that
 * a traced thread could not write: when, and of which thread.
 *
 * The kernel reports them with the next record that has room in the same ring: they are of the time
 * between the last record that was delivered before and that one.
 */
#ifndef CTX_MODEL_LOSS_H
#define CTX_MODEL_LOSS_H

#include "model/interval.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the lost records are, where a counter of each event says it (PERF_FORMAT_LOST). The kernel's come first. */
enum ctx_loss_kind {
	CTX_LOSS_SAMPLES,
	CTX_LOSS_CHANGES, /* of threads' states, except for switch records without a stack */
	CTX_LOSS_OTHERS,  /* begins and ends of threads, maps, switch records */
	CTX_LOSS_CALLS,	  /* begins and ends of calls; never together with others */
	CTX_LOSS_KIND_N,
};

struct ctx_loss {
	struct ctx_interval time; /* when; located only */
	bool located;		  /* false: it is not known when */
	bool has_kinds;
	int32_t cpu;	 /* whose ring; -1: it is not known */
	bool has_thread; /* it is known whose calls they are */
	uint32_t thread;
	uint64_t count;
	uint64_t kinds[CTX_LOSS_KIND_N]; /* parts of `count`, with has_kinds */
};

/* Whether one of the records can have been a change of a thread's state, a begin, or an end. */
bool ctx_loss_hides_states(const struct ctx_loss *loss);

/* The same for begins and ends of threads and processes. */
bool ctx_loss_hides_lives(const struct ctx_loss *loss);

/* Whether it is of calls. */
bool ctx_loss_is_of_calls(const struct ctx_loss *loss);

/* Adds a loss of the same processor, or of the same thread's calls, that begins no earlier; both are located, or neither. */
void ctx_loss_join(struct ctx_loss *loss, const struct ctx_loss *next);

#define CTX_LOSSES_MAX 4096u

/*
 * Sorts losses by begin, those without a time first. Of more than CTX_LOSSES_MAX neighbours on one
 * CPU or thread become one, the closest first; if that is not enough, those of several. Returns how many
 * there are then. O(n log n).
 */
size_t ctx_losses_tidy(struct ctx_loss *losses, size_t n);

#endif
