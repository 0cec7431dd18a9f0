/*
 * A ring of batches: the ingest fills the one at `filled`, the thread empties the one at `emptied`;
 * both numbers only grow.
 *
 *	emptied <= filled < emptied + BATCHES
 */
#include "ingest/tree_worker.h"

#include "base/mem.h"

#include <pthread.h>

#define BATCHES 4u
#define BATCH_SAMPLES 4096u
#define BATCH_WAKEUPS 1024u
#define BATCH_TRACED 4096u
#define END_OF_THREAD CTX_NONE /* as the metric of an entry: its thread has ended */

struct batch {
	struct ctx_sample samples[BATCH_SAMPLES];
	size_t n;
	struct ctx_wakeup wakeups[BATCH_WAKEUPS];
	size_t n_wakeups;
	struct ctx_traced traced[BATCH_TRACED];
	size_t n_traced;
	struct ctx_trie cct; /* a view */
};

struct ctx_tree_worker {
	struct ctx_tree_forest *forest;
	const struct ctx_trie *cct; /* that grows */
	struct ctx_trie view;	    /* of it, for the trees */
	struct batch *batches;	    /* owned */
	pthread_t thread;
	bool runs;
	pthread_mutex_t mutex; /* of all below */
	pthread_cond_t changed;
	uint64_t filled, emptied;
	bool ended; /* no more batches */
	enum ctx_status status;
	struct ctx_err err;
};

static enum ctx_status add_batch(struct ctx_tree_worker *worker, const struct batch *batch,
				 struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	worker->view = batch->cct;
	for (size_t i = 0; i < batch->n_wakeups && status == CTX_OK; i++)
		status = ctx_tree_forest_add_wakeup(worker->forest, &batch->wakeups[i], err);
	for (size_t i = 0; i < batch->n_traced && status == CTX_OK; i++)
		status = ctx_tree_forest_add_traced(worker->forest, &batch->traced[i], err);
	for (size_t i = 0; i < batch->n && status == CTX_OK; i++) {
		const struct ctx_sample *sample = &batch->samples[i];

		status = sample->metric == END_OF_THREAD
				 ? ctx_tree_forest_end_thread(worker->forest, sample->thread, err)
				 : ctx_tree_forest_add(worker->forest, sample, err);
	}
	return status;
}

static void *run(void *context)
{
	struct ctx_tree_worker *worker = context;
	struct ctx_err err = {0};

	pthread_mutex_lock(&worker->mutex);
	for (;;) {
		enum ctx_status status;

		while (worker->emptied == worker->filled && !worker->ended)
			pthread_cond_wait(&worker->changed, &worker->mutex);
		if (worker->emptied == worker->filled)
			break;
		pthread_mutex_unlock(&worker->mutex);
		status = add_batch(worker, &worker->batches[worker->emptied % BATCHES], &err);
		pthread_mutex_lock(&worker->mutex);
		worker->emptied++;
		if (status != CTX_OK) {
			worker->status = status;
			worker->err = err;
		}
		pthread_cond_broadcast(&worker->changed);
		if (status != CTX_OK)
			break;
	}
	pthread_mutex_unlock(&worker->mutex);
	return NULL;
}

enum ctx_status ctx_tree_worker_start(struct ctx_tree_forest *forest, const struct ctx_trie *cct,
				      struct ctx_tree_worker **ret, struct ctx_err *err)
{
	struct ctx_tree_worker *worker = ctx_calloc(1, sizeof(*worker));

	if (worker == NULL)
		return ctx_err_nomem(err);
	worker->batches = ctx_calloc(BATCHES, sizeof(*worker->batches));
	if (worker->batches == NULL) {
		free(worker);
		return ctx_err_nomem(err);
	}
	worker->forest = forest;
	worker->cct = cct;
	pthread_mutex_init(&worker->mutex, NULL);
	pthread_cond_init(&worker->changed, NULL);
	if (pthread_create(&worker->thread, NULL, run, worker) != 0) {
		ctx_tree_worker_destroy(worker);
		return ctx_err_set(err, CTX_E_LIMIT, "no more threads available");
	}
	worker->runs = true;
	ctx_tree_forest_set_cct(forest, &worker->view);
	*ret = worker;
	return CTX_OK;
}

static enum ctx_status failure_of(const struct ctx_tree_worker *worker, struct ctx_err *err)
{
	return worker->status == CTX_OK ? CTX_OK : ctx_err_set(err, worker->status, "%s", worker->err.msg);
}

/* Passes the current batch on and waits for room for the next. */
static enum ctx_status close_batch(struct ctx_tree_worker *worker, struct ctx_err *err)
{
	enum ctx_status status;

	pthread_mutex_lock(&worker->mutex);
	worker->batches[worker->filled % BATCHES].cct = *worker->cct;
	worker->filled++;
	pthread_cond_broadcast(&worker->changed);
	while (worker->filled - worker->emptied == BATCHES && worker->status == CTX_OK)
		pthread_cond_wait(&worker->changed, &worker->mutex);
	status = failure_of(worker, err);
	pthread_mutex_unlock(&worker->mutex);
	if (status == CTX_OK) {
		worker->batches[worker->filled % BATCHES].n = 0;
		worker->batches[worker->filled % BATCHES].n_wakeups = 0;
		worker->batches[worker->filled % BATCHES].n_traced = 0;
	}
	return status;
}

enum ctx_status ctx_tree_worker_add(struct ctx_tree_worker *worker, const struct ctx_sample *sample,
				    struct ctx_err *err)
{
	struct batch *batch =
		&worker->batches[worker->filled % BATCHES]; /* only this thread changes filled */

	batch->samples[batch->n++] = *sample;
	return batch->n == BATCH_SAMPLES ? close_batch(worker, err) : CTX_OK;
}

enum ctx_status ctx_tree_worker_add_wakeup(struct ctx_tree_worker *worker, const struct ctx_wakeup *wakeup,
					   struct ctx_err *err)
{
	struct batch *batch = &worker->batches[worker->filled % BATCHES];

	batch->wakeups[batch->n_wakeups++] = *wakeup;
	return batch->n_wakeups == BATCH_WAKEUPS ? close_batch(worker, err) : CTX_OK;
}

enum ctx_status ctx_tree_worker_add_traced(struct ctx_tree_worker *worker, const struct ctx_traced *operation,
					   struct ctx_err *err)
{
	struct batch *batch = &worker->batches[worker->filled % BATCHES];

	batch->traced[batch->n_traced++] = *operation;
	return batch->n_traced == BATCH_TRACED ? close_batch(worker, err) : CTX_OK;
}

enum ctx_status ctx_tree_worker_end_thread(struct ctx_tree_worker *worker, uint32_t thread,
					   struct ctx_err *err)
{
	struct ctx_sample entry = {.thread = thread, .metric = END_OF_THREAD};

	return ctx_tree_worker_add(worker, &entry, err);
}

static void end_thread_of(struct ctx_tree_worker *worker)
{
	if (!worker->runs)
		return;
	pthread_mutex_lock(&worker->mutex);
	worker->ended = true;
	pthread_cond_broadcast(&worker->changed);
	pthread_mutex_unlock(&worker->mutex);
	pthread_join(worker->thread, NULL);
	worker->runs = false;
}

enum ctx_status ctx_tree_worker_finish(struct ctx_tree_worker *worker, struct ctx_err *err)
{
	enum ctx_status status = close_batch(worker, err);

	end_thread_of(worker);
	return status == CTX_OK ? failure_of(worker, err) : status;
}

void ctx_tree_worker_destroy(struct ctx_tree_worker *worker)
{
	if (worker == NULL)
		return;
	end_thread_of(worker);
	pthread_mutex_destroy(&worker->mutex);
	pthread_cond_destroy(&worker->changed);
	free(worker->batches);
	free(worker);
}
