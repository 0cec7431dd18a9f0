/*
 * Histogram: stack id -> weight, samples, calls. The input of every report.
 *
 * An entry's calls is a difference, not a total: the calls that a function got in the interval are
 * the sum of `calls` over the CCT subtree below it (entering a stack adds 1 at its leaf and
 * subtracts 1 at the deepest frame shared with the previous stack). So an entry can have no samples
 * and negative calls.
 *
 * Entries are dense and in order of first addition. All zero is a valid empty histogram.
 */
#ifndef CTX_MODEL_HISTOGRAM_H
#define CTX_MODEL_HISTOGRAM_H

#include "base/err.h"
#include "model/sample.h"
#include "model/trie.h"

#include <stdint.h>

struct ctx_hist_entry {
	uint64_t weight;
	uint64_t samples;
	int64_t calls;
	uint32_t stack;
	uint32_t padding;
};

struct ctx_histogram {
	struct ctx_hist_entry *entries; /* owned */
	size_t n, cap;
	uint64_t *slots; /* open addressing: stack << 32 | entry number, or UINT64_MAX */
	size_t slots_cap;
	unsigned shift; /* 64 - log2(slots_cap) */
	uint32_t *
		direct; /* by stack id: entry number + 1, 0 none; NULL unless ctx_histogram_index was called */
	uint32_t n_direct;
	uint64_t weight; /* sums over all entries */
	uint64_t samples;
};

void ctx_histogram_deinit(struct ctx_histogram *histogram);

/* Removes the entries, keeps the memory. */
void ctx_histogram_clear(struct ctx_histogram *histogram);

/*
 * For a large histogram over stacks with ids below `n_stacks`: finds entries by a plain array from
 * now on, three times as fast as by hashing, for 4 bytes a stack. Only while the histogram is
 * empty. Other ids must not be added then.
 */
CTX_MUST_CHECK enum ctx_status ctx_histogram_index(struct ctx_histogram *histogram, uint32_t n_stacks,
						   struct ctx_err *err);

/*
 * Adds `more` to the entry of its stack, created if missing. O(1). Fails with CTX_E_NOMEM;
 * CTX_E_FORMAT for a stack beyond the index.
 */
CTX_MUST_CHECK enum ctx_status ctx_histogram_add(struct ctx_histogram *histogram, struct ctx_hist_entry more,
						 struct ctx_err *err);

/* An increment for one stack: an item of a list of the time tree. */
struct ctx_hist_item {
	uint64_t weight;
	uint64_t samples; /* at least 1 */
	uint32_t stack;
	uint32_t padding;
};

/* Adds many items; faster than one by one: look-ups of many entries overlap. */
CTX_MUST_CHECK enum ctx_status ctx_histogram_add_many(struct ctx_histogram *histogram,
						      const struct ctx_hist_item *items, size_t n,
						      struct ctx_err *err);

/*
 * Adds samples and, with a CCT (NULL: without), their calls. A kept_depth that is not less than the
 * stack's own depth counts as no call.
 */
CTX_MUST_CHECK enum ctx_status ctx_histogram_add_samples(struct ctx_histogram *histogram,
							 const struct ctx_trie *cct,
							 const struct ctx_sample *samples, size_t n,
							 struct ctx_err *err);

/* Subtracts up to `weight` from an entry; samples and calls stay. Returns the amount subtracted. */
uint64_t ctx_histogram_subtract(struct ctx_histogram *histogram, uint32_t stack, uint64_t weight);

/* Adds every entry of `from`. O(entries of from). */
CTX_MUST_CHECK enum ctx_status ctx_histogram_merge(struct ctx_histogram *to, const struct ctx_histogram *from,
						   struct ctx_err *err);

/* The entry of `stack`, or NULL. Borrowed until the next change. */
const struct ctx_hist_entry *ctx_histogram_get(const struct ctx_histogram *histogram, uint32_t stack);

#endif
