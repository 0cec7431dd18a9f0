/*
 * The caller posts a round (jobs, n, a new generation), works on it too, and waits until all
 * workers are done. Jobs are taken by counting `next` up.
 */
#include "collect/unwind_pool.h"

#include "base/mem.h"

#include <pthread.h>

#define THREADS_MAX 4u
#define CPUS_PER_THREAD 4
/* A stack takes some microseconds: no worker is woken for a few of them. */
#define WORTH_WAKING 8u

struct ctx_unwind_pool {
	pthread_mutex_t lock;
	pthread_cond_t posted, finished;
	struct ctx_unwind_job *jobs;
	size_t n, next; /* next: atomic */
	uint64_t generation;
	unsigned n_busy; /* threads that can still access the jobs */
	bool ends;
	unsigned n_threads;
	pthread_t threads[THREADS_MAX];
};

unsigned ctx_unwind_pool_threads(long n_cpus)
{
	long n = n_cpus / CPUS_PER_THREAD;

	return n < 0 ? 0 : n > (long)THREADS_MAX ? THREADS_MAX : (unsigned)n;
}

void ctx_unwind_job_do(struct ctx_unwind_job *job)
{
	struct ctx_unwind_space space = ctx_code_view_space(&job->view);

	job->n = 0;
	job->steps = (struct ctx_unwind_steps){0};
	space.steps = &job->steps;
	space.chain = job->chain.n != 0 ? &job->chain : NULL;
	job->end = ctx_unwind(&space, job->state, job->frames, job->max, &job->n);
}

static void work(struct ctx_unwind_pool *pool, struct ctx_unwind_job *jobs, size_t n)
{
	size_t i;

	while ((i = __atomic_fetch_add(&pool->next, 1, __ATOMIC_RELAXED)) < n)
		ctx_unwind_job_do(&jobs[i]);
}

static void *run_thread(void *context)
{
	struct ctx_unwind_pool *pool = context;
	uint64_t seen = 0;

	pthread_mutex_lock(&pool->lock);
	for (;;) {
		struct ctx_unwind_job *jobs;
		size_t n;

		while (!pool->ends && pool->generation == seen)
			pthread_cond_wait(&pool->posted, &pool->lock);
		if (pool->ends)
			break;
		seen = pool->generation;
		if (pool->jobs == NULL) /* woken too late: the round is over */
			continue;
		jobs = pool->jobs;
		n = pool->n;
		pool->n_busy++;
		pthread_mutex_unlock(&pool->lock);
		work(pool, jobs, n);
		pthread_mutex_lock(&pool->lock);
		if (--pool->n_busy == 0)
			pthread_cond_signal(&pool->finished);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

enum ctx_status ctx_unwind_pool_create(unsigned n_threads, struct ctx_unwind_pool **ret, struct ctx_err *err)
{
	struct ctx_unwind_pool *pool = ctx_calloc(1, sizeof(*pool));

	if (pool == NULL)
		return ctx_err_nomem(err);
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->posted, NULL);
	pthread_cond_init(&pool->finished, NULL);
	while (pool->n_threads < n_threads && pool->n_threads < THREADS_MAX &&
	       pthread_create(&pool->threads[pool->n_threads], NULL, run_thread, pool) == 0)
		pool->n_threads++;
	*ret = pool;
	return CTX_OK;
}

void ctx_unwind_pool_destroy(struct ctx_unwind_pool *pool)
{
	if (pool == NULL)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->ends = true;
	pthread_cond_broadcast(&pool->posted);
	pthread_mutex_unlock(&pool->lock);
	for (unsigned i = 0; i < pool->n_threads; i++)
		pthread_join(pool->threads[i], NULL);
	pthread_cond_destroy(&pool->posted);
	pthread_cond_destroy(&pool->finished);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

void ctx_unwind_pool_run(struct ctx_unwind_pool *pool, struct ctx_unwind_job *jobs, size_t n)
{
	if (pool->n_threads == 0 || n < WORTH_WAKING) {
		for (size_t i = 0; i < n; i++)
			ctx_unwind_job_do(&jobs[i]);
		return;
	}
	pthread_mutex_lock(&pool->lock);
	pool->jobs = jobs;
	pool->n = n;
	__atomic_store_n(&pool->next, 0, __ATOMIC_RELAXED);
	pool->generation++;
	pthread_cond_broadcast(&pool->posted);
	pthread_mutex_unlock(&pool->lock);
	work(pool, jobs, n);
	pthread_mutex_lock(&pool->lock);
	while (pool->n_busy != 0)
		pthread_cond_wait(&pool->finished, &pool->lock);
	pool->jobs = NULL;
	pthread_mutex_unlock(&pool->lock);
}
