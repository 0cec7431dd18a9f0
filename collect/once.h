/*
 * Coverage: which sites were executed at all, as the targets say it (runtime/once_layout.h).
 *
 *	sites of load objects --ctx_once_share--> memory file --log--> ctx_once_take --> samples: one for each site, one for each executed
 *
 * Each indicator has two metrics: its samples of the first weigh 1 and are sites that were executed, at the time of the first
 * execution, those of the other are all sites, at the time when the first process that has the load object was ready. What no process
 * has loaded has no samples.
 */
#ifndef CTX_COLLECT_ONCE_H
#define CTX_COLLECT_ONCE_H

#include "collect/indicator_places.h"
#include "collect/proctree.h"
#include "formats/experiment/exp_writer.h"

struct ctx_once_metrics {
	uint32_t executed, sites;
};

struct ctx_once;

/* Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_once_create(struct ctx_once **ret, struct ctx_err *err);
void ctx_once_destroy(struct ctx_once *once);

/*
 * Adds the places of an indicator, which are all of one load object; one that another indicator has already stays that one's. Fails with
 * CTX_E_LIMIT (more than 64 load objects, or four million sites), CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_once_add(struct ctx_once *once, const struct ctx_indicator_places *places,
					    const struct ctx_once_metrics *metrics, struct ctx_err *err);

/* After all were added: makes the memory file. `*ret_fd` is borrowed. Fails with CTX_E_IO, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_once_share(struct ctx_once *once, int *ret_fd, struct ctx_err *err);

/*
 * Writes the samples of what came since the last time, up to a time that the tree has come to; UINT64_MAX: all, nothing runs any more.
 * Fails as the writer does. O(new ones).
 */
CTX_MUST_CHECK enum ctx_status ctx_once_take(struct ctx_once *once, const struct ctx_proctree *tree,
					     struct ctx_exp_writer *writer, uint64_t limit_ns,
					     struct ctx_err *err);

/* How many sites of an indicator were executed. O(sites). */
uint64_t ctx_once_count(const struct ctx_once *once, uint32_t executed_metric);

/* The path of the next load object, from *at on, that no process was ready to cover; NULL: there is no more. Borrowed. */
const char *ctx_once_next_missing(const struct ctx_once *once, size_t *at);

/* Sites that could not be armed. */
uint64_t ctx_once_refused(const struct ctx_once *once);

#endif
