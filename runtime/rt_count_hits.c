/*
 *	code of an entry --no block--> take_block, bump
 *	                 --threshold--> raise_site --> ring of the thread
 */
#include "runtime/rt_count_hits.h"

#include "base/clock.h"
#include "runtime/rt_filter.h"
#include "runtime/rt_process.h"
#include "runtime/rt_real.h"
#include "runtime/rt_syscall.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

struct ctx_rt_counting ctx_rt_counting;

#ifdef __x86_64__

static int (*real_lock)(pthread_mutex_t *);
static __thread uint64_t **own CTX_RT_TLS; /* NULL: the thread has no block */

int32_t ctx_rt_count_tls(void)
{
	return (int32_t)((intptr_t)&own - (intptr_t)__builtin_thread_pointer());
}

/* Blocks */

static void fill_block(uint64_t *block)
{
	const struct ctx_rt_count_site *sites = ctx_rt_counting.sites;

	for (uint32_t i = 0; i < ctx_rt_counting.shape.n_objects; i++)
		block[i] = ctx_rt_counting.bases[i];
	for (uint32_t i = 0; i < ctx_rt_counting.shape.n_sites; i++) {
		if (ctx_rt_counting.has_thresholds && sites[i].threshold != 0)
			block[ctx_rt_count_countdown(&ctx_rt_counting.shape, i)] = sites[i].threshold;
	}
}

static void note_used(uint32_t number)
{
	uint32_t used = atomic_load(&ctx_rt_counting.shared->n_used);

	while (used <= number &&
	       !atomic_compare_exchange_weak(&ctx_rt_counting.shared->n_used, &used, number + 1))
		;
}

/* As the C library has it, which a child of vfork has not changed: a mutex of this kind says who locked it. 0: not known. */
static int32_t thread_id_kept(void)
{
	pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

	return real_lock != NULL && real_lock(&mutex) == 0 ? mutex.__data.__owner : 0;
}

/*
 * Who the block will be of. A child of vfork takes it for the thread that waits for it, whose memory it has. False: a process that
 * something else than fork has made, or a thread that the C library does not know.
 */
static bool find_owner(uint32_t *pid, uint32_t *tid)
{
	uint64_t **const process = &ctx_rt_counting.cells[0]; /* its id; that of a child of fork is wiped */
	const uint32_t kept = (uint32_t)thread_id_kept();

	*pid = (uint32_t)ctx_rt_syscall(SYS_getpid);
	*tid = (uint32_t)ctx_rt_syscall(SYS_gettid);
	if (kept == *tid || kept == 0) {
		*process = (uint64_t *)(uintptr_t)*pid;
		return true;
	}
	*tid = kept;
	*pid = (uint32_t)(uintptr_t)*process;
	return *pid != 0 && *pid == (uint32_t)ctx_rt_syscall(SYS_getppid);
}

void ctx_rt_count_hits_begin(void)
{
	uint32_t pid, tid;

	*(void **)&real_lock = ctx_rt_find("pthread_mutex_lock", NULL);
	(void)find_owner(&pid, &tid);
}

#define TRIES_IN 4096u /* executions of a thread that found no block, before it looks for one again */

/* For the calling thread; NULL: it can have none. */
static uint64_t *take_block(void)
{
	static __thread uint32_t tries_in CTX_RT_TLS;
	uint32_t pid, tid;
	struct ctx_rt_count_owner *owners = ctx_rt_counting.owners;

	if (__builtin_thread_pointer() == NULL || ctx_rt_is_restricted())
		return NULL;
	if (tries_in != 0) {
		tries_in--;
		return NULL;
	}
	if (!find_owner(&pid, &tid))
		return NULL;
	for (uint32_t i = 1; i < ctx_rt_counting.shape.n_blocks; i++) {
		uint32_t free_one = CTX_RT_COUNT_FREE;
		uint64_t *block = ctx_rt_counting_block(i);

		if (atomic_load_explicit(&owners[i].state, memory_order_relaxed) != free_one ||
		    !atomic_compare_exchange_strong(&owners[i].state, &free_one, CTX_RT_COUNT_TAKING))
			continue;
		note_used(i);
		owners[i].pid = pid;
		owners[i].tid = tid;
		owners[i].begin_ns = ctx_clock_ns(CLOCK_MONOTONIC);
		/* In this order, so that a library that is opened meanwhile is not missed: its base is set in the blocks of all cells. */
		ctx_rt_counting.cells[i] = block;
		fill_block(block);
		atomic_store(&owners[i].state, CTX_RT_COUNT_OWNED);
		own = &ctx_rt_counting.cells[i];
		return block;
	}
	tries_in = TRIES_IN;
	return NULL;
}

bool ctx_rt_count_is_same(uint32_t site, uint32_t other)
{
	const struct ctx_rt_count_site *sites = ctx_rt_counting.sites;

	return other < ctx_rt_counting.shape.n_sites && sites[other].object == sites[site].object &&
	       sites[other].address == sites[site].address;
}

/* Hits */

static void raise_site(uint32_t site, const struct ctx_rt_count_hit *hit)
{
	const struct ctx_rt_count_site *at = &ctx_rt_counting.sites[site];
	const uint32_t object = at->object;
	const struct ctx_rt_registers caller = {
		.pc = (object < CTX_RT_COUNT_OBJECTS_MAX ? ctx_rt_counting.bases[object] : 0) + at->address +
		      1,
		.sp = (uintptr_t)(hit + 1),
		.fp = hit->fp};
	struct ctx_rt_operation operation = {.kind = CTX_RT_RAISED};
	struct ctx_rt_thread *thread = ctx_rt_thread_acquire(CTX_RT_WHAT_COUNT);

	if (thread == NULL)
		return;
	operation.words[0] = ctx_clock_ns(CLOCK_MONOTONIC);
	operation.words[1] = site;
	ctx_rt_record(thread, &operation, &caller);
	ctx_rt_thread_release();
}

/* What the code would have done with a block. */
static void bump(uint64_t *block, uint32_t site, const struct ctx_rt_count_hit *hit)
{
	uint64_t *countdown = block + ctx_rt_count_countdown(&ctx_rt_counting.shape, site);
	const uint64_t threshold = ctx_rt_counting.has_thresholds ? ctx_rt_counting.sites[site].threshold : 0;

	block[ctx_rt_count_counter(&ctx_rt_counting.shape, site)]++;
	if (threshold == 0 || --*countdown != 0)
		return;
	*countdown += threshold;
	raise_site(site, hit);
}

__attribute__((used)) void ctx_rt_count_work(const struct ctx_rt_count_hit *hit)
{
	uint32_t site = (uint32_t)hit->site;
	int error = errno;

	if (hit->raises != 0) {
		(*own)[ctx_rt_count_countdown(&ctx_rt_counting.shape, site)] +=
			ctx_rt_counting.sites[site].threshold;
		raise_site(site, hit);
	} else {
		uint64_t *block = take_block(), *others = ctx_rt_counting_block(0);

		for (uint32_t i = site; ctx_rt_count_is_same(site, i); i++) {
			if (block != NULL)
				bump(block, i, hit);
			else
				__atomic_fetch_add(&others[ctx_rt_count_counter(&ctx_rt_counting.shape, i)],
						   1, __ATOMIC_RELAXED);
		}
	}
	errno = error;
}

#endif
