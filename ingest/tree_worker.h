/*
 * Tree worker: feeds the time trees from its own thread, in parallel with reading and interning.
 *
 *	ingest --samples, in batches--> queue --> worker thread: time trees, compression, database
 *
 * The trees are the same as without it: one thread, the same order. The worker reads the CCT
 * through a view taken when the batch was closed; the CCT must keep replaced arrays
 * (ctx_trie_keep_old).
 */
#ifndef CTX_INGEST_TREE_WORKER_H
#define CTX_INGEST_TREE_WORKER_H

#include "ingest/forest.h"

struct ctx_tree_worker;

/*
 * Starts a thread that adds to `forest` from now on, which must not have trees yet; `cct` grows
 * meanwhile. The forest and its store belong to the worker until ctx_tree_worker_finish.
 * Fails with CTX_E_NOMEM, CTX_E_LIMIT (no thread available: continue without).
 */
CTX_MUST_CHECK enum ctx_status ctx_tree_worker_start(struct ctx_tree_forest *forest,
						     const struct ctx_trie *cct, struct ctx_tree_worker **ret,
						     struct ctx_err *err);

/*
 * As ctx_tree_forest_add, ctx_tree_forest_add_wakeup, ctx_tree_forest_add_traced and
 * ctx_tree_forest_end_thread; a failure in the thread is returned by a later call.
 */
CTX_MUST_CHECK enum ctx_status ctx_tree_worker_add(struct ctx_tree_worker *worker,
						   const struct ctx_sample *sample, struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_tree_worker_add_wakeup(struct ctx_tree_worker *worker,
							  const struct ctx_wakeup *wakeup,
							  struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_tree_worker_add_traced(struct ctx_tree_worker *worker,
							  const struct ctx_traced *operation,
							  struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_tree_worker_end_thread(struct ctx_tree_worker *worker, uint32_t thread,
							  struct ctx_err *err);

/*
 * Waits until all is added. The thread has ended afterwards, and the forest belongs to the caller
 * again.
 */
CTX_MUST_CHECK enum ctx_status ctx_tree_worker_finish(struct ctx_tree_worker *worker, struct ctx_err *err);

/*
 * Ends the thread, if it still runs, and releases. Only after the forest has been finished or
 * abandoned: its trees see the CCT through the worker. NULL is allowed.
 */
void ctx_tree_worker_destroy(struct ctx_tree_worker *worker);

#endif
