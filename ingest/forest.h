/*
 * The time trees of one ingest: one per (thread, metric), one per metric for all threads, all fed
 * sample by sample and stored as they close.
 */
#ifndef CTX_INGEST_FOREST_H
#define CTX_INGEST_FOREST_H

#include "model/sample.h"
#include "model/trie.h"
#include "store/store.h"
#include "timetree/timetree.h"

struct ctx_tree_forest;

struct ctx_tree_forest_options {
	struct ctx_store *store; /* borrowed */
	struct ctx_timetree_params params;
	struct ctx_interval run;
	const struct ctx_trie *cct; /* borrowed; grows while trees are built */
	bool single_thread; /* the source has one thread only: its tree and the merged one are equal and are stored once */
	uint32_t n_metrics;
	/* The first of two metrics of spans at open calls, whose leaves are larger unless M was chosen; CTX_NONE. */
	uint32_t calls_metric;
};

/* CTX_E_ARG (tree parameters), CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_tree_forest_create(const struct ctx_tree_forest_options *options,
						      struct ctx_tree_forest **ret, struct ctx_err *err);
void ctx_tree_forest_destroy(struct ctx_tree_forest *forest);

/* Trees that are made from now on see this CCT (borrowed). */
void ctx_tree_forest_set_cct(struct ctx_tree_forest *forest, const struct ctx_trie *cct);

/* Adds a sample to its thread's tree and the merged tree of its metric; creates trees on demand. */
CTX_MUST_CHECK enum ctx_status ctx_tree_forest_add(struct ctx_tree_forest *forest,
						   const struct ctx_sample *sample, struct ctx_err *err);

/* Stores a wake-up; buffered in blocks. */
CTX_MUST_CHECK enum ctx_status ctx_tree_forest_add_wakeup(struct ctx_tree_forest *forest,
							  const struct ctx_wakeup *wakeup,
							  struct ctx_err *err);

/* The same for a traced operation; those of a kind in order of time. */
CTX_MUST_CHECK enum ctx_status ctx_tree_forest_add_traced(struct ctx_tree_forest *forest,
							  const struct ctx_traced *operation,
							  struct ctx_err *err);

/*
 * The thread has ended: its trees are finished and their memory released. A later sample of it
 * starts no new tree; it is counted and kept in the merged tree only.
 */
CTX_MUST_CHECK enum ctx_status ctx_tree_forest_end_thread(struct ctx_tree_forest *forest, uint32_t thread,
							  struct ctx_err *err);

/* Finishes all trees and stores their descriptions. */
CTX_MUST_CHECK enum ctx_status ctx_tree_forest_finish(struct ctx_tree_forest *forest, uint32_t *ret_trees,
						      uint64_t *ret_moved, uint64_t *ret_late,
						      struct ctx_err *err);

#endif
