/*
 * The lists of a time tree's inner node as bytes: top and tail (stack, weight, samples) and calls
 * (stack, difference of calls).
 *
 * An empty list is 0 bytes. Numbers are LEB128 varints (base/buf.h). A top or tail list is
 *
 *	n       entries, at least 1
 *	unit    weight of one sample if weight == samples * unit for every entry, otherwise 0
 *	runs    of neighbours with equal weight and samples:
 *	        drop     unit 0: weight of the previous run minus its own (first run: its weight), then samples
 *	                 otherwise: the same difference of samples
 *	        id       of its first entry, times 2, plus 1 if the run is longer than one
 *	        length   minus 2, only if longer than one
 *	        deltas   of the ids that follow, each minus 1
 *
 * Most stacks of a profile have very few samples, so a long list is mostly a few long runs: about a
 * byte an entry. A calls list is n, then for each entry the id's distance from the previous one
 * (minus 1, except for the first) and the calls, zigzag.
 */
#ifndef CTX_TIMETREE_TIMENODE_CODEC_H
#define CTX_TIMETREE_TIMENODE_CODEC_H

#include "base/buf.h"
#include "base/cursor.h"
#include "model/histogram.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_timenode_calls {
	int64_t calls;
	uint32_t stack;
	uint32_t padding;
};

/*
 * Appends the list to `out`, whose errors stick. `entries` are by descending weight, ties by
 * ascending stack, no stack twice, samples not 0; weights and samples add up to at most UINT64_MAX
 * each: anything else gives bytes that do not decode.
 */
void ctx_timenode_list_encode(const struct ctx_hist_item *entries, size_t n, struct ctx_buf *out);

/* `calls` are by ascending stack, no stack twice. */
void ctx_timenode_calls_encode(const struct ctx_timenode_calls *calls, size_t n, struct ctx_buf *out);

/* Reads a top or tail list, a block of entries at a time. The bytes are borrowed. */
struct ctx_timenode_list {
	struct ctx_cursor cursor;
	uint64_t left; /* entries not read yet, including those of the run */
	uint64_t unit;
	uint64_t weight, samples; /* of the run */
	uint64_t run_left;
	uint64_t weight_left, samples_left; /* amount that later runs may add before a sum overflows */
	uint32_t stack;			    /* the last one read */
	bool opened;
	bool started;
};

struct ctx_timenode_list ctx_timenode_list_open(const uint8_t *bytes, size_t n);

/*
 * Reads up to `cap` (not 0) entries. CTX_END when there are no more; CTX_E_FORMAT when the bytes
 * are not such a list: truncated, wrong order, a number too large, sums that overflow, bytes after
 * the end. Duplicate stacks are detected only among equal weights.
 */
CTX_MUST_CHECK enum ctx_status ctx_timenode_list_read(struct ctx_timenode_list *list,
						      struct ctx_hist_item *ret, size_t cap, size_t *ret_n,
						      struct ctx_err *err);

/*
 * Adds a whole top or tail list to `out`; `*ret_n`: its entries. Fails with CTX_E_FORMAT,
 * CTX_E_NOMEM; `out` then has a part.
 */
CTX_MUST_CHECK enum ctx_status ctx_timenode_list_decode(const uint8_t *bytes, size_t n,
							struct ctx_histogram *out, size_t *ret_n,
							struct ctx_err *err);

/* The same for a calls list. */
CTX_MUST_CHECK enum ctx_status ctx_timenode_calls_decode(const uint8_t *bytes, size_t n,
							 struct ctx_histogram *out, size_t *ret_n,
							 struct ctx_err *err);

#endif
