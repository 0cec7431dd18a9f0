/*
 * Counters of functions' entries in the memory of the targets (runtime/count_layout.h), and what becomes of them.
 *
 *	places of load objects --share--> memory file --threads of targets count--> differences, each 0.1 s and when a thread ends --> samples
 *
 * A sample's leaf is the entry, it has no callers, and its weight is the number of executions since the last one of the thread and site.
 * The memory outlives its targets: of a thread that was killed the last count is read when its end is recorded. Sums are exact.
 */
#ifndef CTX_COLLECT_ENTRY_COUNTERS_H
#define CTX_COLLECT_ENTRY_COUNTERS_H

#include "collect/indicator_places.h"
#include "collect/perfrecord.h"
#include "collect/proctree.h"
#include "formats/experiment/exp_writer.h"

struct ctx_entry_metrics {
	uint32_t executed;  /* its period is 0: samples have weights */
	uint32_t raised;    /* CTX_NONE: none */
	uint64_t threshold; /* 0 without it */
};

struct ctx_entry_target { /* where samples go */
	const struct ctx_proctree *tree;
	struct ctx_exp_writer *writer;
	bool drops_others; /* what threads have counted that the tree does not know is left out: they are not recorded */
};

struct ctx_entry_counters;

/* Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_entry_counters_create(struct ctx_entry_counters **ret,
							 struct ctx_err *err);
void ctx_entry_counters_destroy(struct ctx_entry_counters *counters);

/* Adds a function's entry. Fails with CTX_E_LIMIT (more than 64 load objects), CTX_E_IO, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_entry_counters_add(struct ctx_entry_counters *counters,
						      const struct ctx_indicator_place *place,
						      const struct ctx_entry_metrics *metrics,
						      struct ctx_err *err);

/* After all were added: makes the memory file. `*ret_fd` is borrowed. Fails with CTX_E_IO, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_entry_counters_share(struct ctx_entry_counters *counters, int *ret_fd,
							struct ctx_err *err);

/*
 * Writes what was counted up to now or a little earlier; the tree has come to `limit_ns`. UINT64_MAX: all, nothing runs any more; what
 * cannot be assigned to a thread is the last one's that could. Fails as the writer does. O(threads that count * sites), each 0.1 s.
 */
CTX_MUST_CHECK enum ctx_status ctx_entry_counters_take(struct ctx_entry_counters *counters,
						       const struct ctx_entry_target *target,
						       uint64_t limit_ns, struct ctx_err *err);

/* A record that ends a thread, or an image by exec, before it is applied to the tree. The same of its threads. */
CTX_MUST_CHECK enum ctx_status ctx_entry_counters_end(struct ctx_entry_counters *counters,
						      const struct ctx_entry_target *target,
						      const struct ctx_perf_record *record,
						      struct ctx_err *err);

/* How many executions of a metric have been written. O(sites). */
uint64_t ctx_entry_counters_count(const struct ctx_entry_counters *counters, uint32_t metric);

/* The metric of call stacks of a site, whose number a target said; CTX_NONE: it has none. */
uint32_t ctx_entry_counters_raised(const struct ctx_entry_counters *counters, uint64_t site);

/* What was not counted, or not by thread, line by line from *at = 0 on. False: there is no more to say. */
bool ctx_entry_counters_next_warning(const struct ctx_entry_counters *counters, size_t *at, char *text,
				     size_t size);

#endif
