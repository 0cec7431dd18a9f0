/*
 * The call stacks of one process in the reader (private to the reader).
 *
 * Ids in the files restart in each epoch. Emitted ids continue without gaps until the dictionary
 * restarts, which CTX_EV_STACKS_RESET announces.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_DICTIONARY_H
#define CTX_FORMATS_EXPERIMENT_EXP_DICTIONARY_H

#include "base/bisect.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_exp_range {
	uint32_t first, n; /* ids in the file */
	uint32_t out;	   /* emitted id of `first` */
};

struct ctx_exp_epoch {
	uint32_t epoch;
	size_t next;	    /* next frames block to read, of those of the process */
	uint32_t highest;   /* id in the file */
	uint32_t truncated; /* node that replaces lost frames, 0: not created yet */
	struct ctx_exp_range *ranges;
	size_t n_ranges, ranges_cap;
};

struct ctx_exp_dictionary { /* of one process row */
	struct ctx_exp_epoch *epochs;
	size_t n_epochs, epochs_cap;
	uint32_t n_ids;	 /* emitted */
	uint32_t n_open; /* open blocks of the process */
};

/* Drops all epochs and ids. */
void ctx_exp_dictionary_clear(struct ctx_exp_dictionary *dictionary);
void ctx_exp_dictionary_deinit(struct ctx_exp_dictionary *dictionary);

static inline bool ctx_exp_epoch_ends_before(const void *items, size_t i, uint64_t id)
{
	const struct ctx_exp_epoch *epoch = items;

	return epoch->ranges[i].first + (epoch->ranges[i].n - 1) < id;
}

/* The emitted id for an id of the file; false: lost. */
static inline bool ctx_exp_epoch_translate(const struct ctx_exp_epoch *epoch, uint32_t id, uint32_t *ret)
{
	size_t at;

	if (id == 0) {
		*ret = 0;
		return true;
	}
	at = ctx_bisect(epoch, epoch->n_ranges, ctx_exp_epoch_ends_before, id);
	if (at == epoch->n_ranges || epoch->ranges[at].first > id)
		return false;
	*ret = epoch->ranges[at].out + (id - epoch->ranges[at].first);
	return true;
}

#endif
