/*
 * What hooks (rt_calls.c) need of the C library and the kernel: memory, a ring, the clock. All registers are saved.
 */
#include "runtime/rt_calls_work.h"

#include "runtime/rt_heap.h"
#include "runtime/rt_memory.h"
#include "runtime/rt_process.h"
#include "runtime/rt_returns.h"

#include "base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define WAIT_NS 100000	   /* between two looks at a full ring */
#define WAIT_ROUNDS 10000u /* without a beat of the recorder: a second */
#define STACK_USUAL ((uint64_t)8 << 20)
#define STACK_MAIN ((uint64_t)1 << 30)

#pragma weak __libc_stack_end
extern void *__libc_stack_end;

_Atomic uint32_t ctx_rt_calls_mode = CTX_RT_CALLS_OTHER;
struct ctx_rt_calls_settings ctx_rt_calls_settings;

#ifdef __x86_64__
_Atomic uint64_t ctx_rt_returns[CTX_RT_RETURNS_ROOT];
#endif

/* Settings */

/* The number behind a letter. */
static uint64_t number_behind(const char *letters, char letter)
{
	const char *at = strchr(letters, letter);

	return at != NULL ? strtoull(at + 1, NULL, 10) : 0;
}

void ctx_rt_calls_set(const char *letters)
{
	const char *pattern;

	if (letters == NULL) {
		atomic_store(&ctx_rt_calls_mode, CTX_RT_CALLS_OFF);
		return;
	}
	pattern = strchr(letters, 'p');
	ctx_rt_calls_settings =
		(struct ctx_rt_calls_settings){.min_ticks = number_behind(letters, 'c'),
					       .depth_max = (uint32_t)number_behind(letters, 'd'),
					       .has_tsc = strchr(letters, 't') != NULL,
					       .sums = strchr(letters, 'S') != NULL,
					       .memory_bytes = number_behind(letters, 'S'),
					       .share = (uint32_t)number_behind(letters, 'R'),
					       .counters = (uint32_t)number_behind(letters, 'n'),
					       .of = pattern != NULL ? pattern + 1 : NULL};
	ctx_rt_calls_choose_mode();
}

void ctx_rt_calls_choose_mode(void)
{
	uint32_t mode = ctx_rt_calls_settings.min_ticks == 0 && ctx_rt_calls_settings.counters == 0 &&
					ctx_rt_calls_settings.has_tsc && !ctx_rt_is_paused()
				? (ctx_rt_calls_settings.sums ? CTX_RT_CALLS_SUMS : CTX_RT_CALLS_FAST)
				: CTX_RT_CALLS_OTHER;

	atomic_store(&ctx_rt_calls_mode, ctx_rt_is_on(CTX_RT_WHAT_CALLS) ? mode : CTX_RT_CALLS_OFF);
}

uint64_t ctx_rt_calls_now(void)
{
#ifdef __x86_64__
	if (ctx_rt_calls_settings.has_tsc)
		return __builtin_ia32_rdtsc();
#endif
	return ctx_clock_ns(CLOCK_MONOTONIC);
}

bool ctx_rt_calls_begin(void)
{
	static _Atomic uint32_t begun;
	bool is_on = (ctx_rt_begin() & CTX_RT_WHAT_CALLS) != 0 && ctx_rt_is_on(CTX_RT_WHAT_CALLS);

	if (environ != NULL && atomic_exchange(&begun, 1) == 0)
		ctx_rt_calls_set(is_on ? ctx_rt_settings.letters : NULL);
	return is_on;
}

/* Threads */

static uint32_t cap_of(uint32_t room)
{
	uint32_t most = ctx_rt_calls_settings.depth_max;

	return most != 0 && most < room ? most : room;
}

/*
 * Where the thread's own stack is, about: a call that is on another one is not over for being below. A thread's own data is at the top of its stack.
 */
static void find_stack(struct ctx_rt_calls *calls)
{
	uint64_t here = (uintptr_t)__builtin_frame_address(0);
	uint64_t top = &__libc_stack_end != NULL ? (uintptr_t)__libc_stack_end + CTX_RT_PAGE : 0;

	calls->stack_top = top;
	calls->stack_bytes = STACK_MAIN;
	if (here < top && top - here < STACK_MAIN)
		return;
	calls->stack_top = (uint64_t)pthread_self();
	calls->stack_bytes = STACK_USUAL;
}

static struct ctx_rt_calls *make_calls(void)
{
	struct ctx_rt_calls *calls = ctx_rt_memory_map(sizeof(*calls));

	if (calls == NULL)
		return NULL;
	if (madvise(calls, offsetof(struct ctx_rt_calls, last), MADV_WIPEONFORK) != 0) {
		ctx_rt_memory_unmap(calls, sizeof(*calls));
		return NULL;
	}
	calls->open = calls->first;
	calls->room = CTX_RT_OPEN_FIRST - 1;
	return calls;
}

/* The thread whose memory it was has ended. */
static void clear(struct ctx_rt_calls *calls)
{
	calls->depth = calls->told = calls->n_deferred = calls->inherited = calls->skipped = 0;
	calls->open[0] = (struct ctx_rt_open_call){.place = UINT64_MAX};
	calls->chunk = UINT64_MAX;
}

/* What the thread that had the ring lost at its end. There must be room. */
static void end_lost(struct ctx_rt_ring *ring)
{
	struct ctx_rt_operation operation = {.kind = CTX_RT_CALLS};
	uint64_t from = atomic_load(&ring->slot->lost_from);

	if (from == 0)
		return;
	operation.words[0] = ctx_rt_calls_now();
	operation.words[2] = atomic_load(&ring->slot->lost);
	operation.words[3] = from;
	ctx_rt_ring_put(ring, &operation);
	atomic_store(&ring->slot->lost_from, 0);
}

/* It was forked, or recording begins anew. */
struct ctx_rt_calls *ctx_rt_calls_take_ring(struct ctx_rt_calls *calls,
					    void (*take_over)(struct ctx_rt_calls *))
{
	struct ctx_rt_place place;
	struct ctx_rt_operation first = {.kind = CTX_RT_THREAD};

	if (!ctx_rt_calls_begin() || !ctx_rt_process_take_place(&place))
		return NULL;
	if (calls == NULL) {
		calls = *place.memory != NULL ? *place.memory : make_calls();
		if (calls == NULL)
			return NULL;
		if (*place.memory != NULL) {
			take_over(calls);
			/* What was written just now is in this ring. */
			place.ring.head = atomic_load(&place.ring.slot->head);
		}
		clear(calls);
	}
	*place.memory = calls;
	calls->cap = cap_of(calls->room);
	calls->ring = place.ring;
	calls->closed = place.closed;
	calls->beat = place.beat;
	calls->waits = ctx_rt_settings.waits;
	calls->limit = 0;
	calls->inherited = calls->depth;
	calls->told = 0;
	calls->lost = 1; /* nothing is, but the ring begins like that */
	calls->lost_from = 0;
	find_stack(calls);
	first.words[0] = ctx_clock_ns(CLOCK_MONOTONIC);
	first.words[1] = (uint64_t)(uint32_t)place.tid;
	if (!ctx_rt_ring_has_room(&calls->ring))
		return NULL;
	end_lost(&calls->ring);
	if (!ctx_rt_ring_has_room(&calls->ring))
		return NULL;
	ctx_rt_ring_put(&calls->ring, &first);
	(void)ctx_rt_calls_count(calls);
	return calls;
}

/* Counters */

/* Of the thread, by its usage. */
static void read_usage(uint64_t read[CTX_CALL_COUNTERS])
{
	struct rusage usage;

	if ((ctx_rt_calls_settings.counters & CTX_CALL_COUNTERS_OF_KERNEL) == 0 || ctx_rt_is_restricted() ||
	    ctx_rt_syscall(SYS_getrusage, RUSAGE_THREAD, &usage) != 0)
		return;
	read[CTX_CALL_COUNTER_FAULTS] = (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
	read[CTX_CALL_COUNTER_MAJOR_FAULTS] = (uint64_t)usage.ru_majflt;
	read[CTX_CALL_COUNTER_SWITCHES] = (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

bool ctx_rt_calls_count(struct ctx_rt_calls *calls)
{
	uint64_t read[CTX_CALL_COUNTERS];
	bool any = false;

	if (ctx_rt_calls_settings.counters == 0)
		return false;
	memcpy(read, calls->counters.read, sizeof(read));
	read_usage(read);
	read[CTX_CALL_COUNTER_ALLOCATED] = ctx_rt_allocated;
	for (unsigned i = 0; i < CTX_CALL_COUNTERS; i++) {
		bool is_wanted = (ctx_rt_calls_settings.counters >> i & 1) != 0;

		calls->counters.counted[i] = is_wanted && read[i] > calls->counters.read[i]
						     ? read[i] - calls->counters.read[i]
						     : 0;
		calls->counters.read[i] = read[i];
		any = any || calls->counters.counted[i] != 0;
	}
	return any;
}

/* Memory */

bool ctx_rt_calls_grow(struct ctx_rt_calls *calls)
{
	size_t room = 2 * ((size_t)calls->room + 1);
	struct ctx_rt_open_call *open =
		room <= CTX_RT_OPEN_MAX ? ctx_rt_memory_map(room * sizeof(*open)) : NULL;

	if (open == NULL)
		return false;
	memcpy(open, calls->open, ((size_t)calls->depth + 1) * sizeof(*open));
	if (calls->open != calls->first)
		ctx_rt_memory_unmap(calls->open, ((size_t)calls->room + 1) * sizeof(*open));
	calls->open = open;
	calls->room = (uint32_t)room - 1;
	calls->cap = cap_of(calls->room);
	return true;
}

#ifdef __x86_64__
/* What is there, or `bytes` of new memory; another thread may be doing the same. 0: none. */
static uint64_t get_memory(_Atomic uint64_t *at, size_t bytes)
{
	uint64_t there = atomic_load(at);
	void *made;

	if (there != 0)
		return there;
	made = ctx_rt_memory_map(bytes);
	if (made == NULL)
		return 0;
	if (atomic_compare_exchange_strong(at, &there, (uint64_t)(uintptr_t)made))
		return (uint64_t)(uintptr_t)made;
	ctx_rt_memory_unmap(made, bytes);
	return there;
}

static bool make_chunk(uint64_t cfa)
{
	uint64_t middle = cfa >> 47 == 0 ? get_memory(&ctx_rt_returns[cfa >> 32],
						      CTX_RT_RETURNS_MIDDLE * sizeof(uint64_t))
					 : 0;

	return middle != 0 && get_memory((_Atomic uint64_t *)(uintptr_t)middle + (cfa >> 16 & 0xffff),
					 CTX_RT_RETURNS_CHUNK) != 0;
}

/* And that below: the program may forbid itself system calls before its stack gets there. */
bool ctx_rt_calls_make_chunk(uint64_t cfa)
{
	bool made = make_chunk(cfa);

	if (made && cfa >= CTX_RT_RETURNS_CHUNK)
		(void)make_chunk(cfa - CTX_RT_RETURNS_CHUNK);
	return made;
}
#else
bool ctx_rt_calls_make_chunk(uint64_t cfa)
{
	(void)cfa;
	return false;
}
#endif

/* Rings */

/* Open calls that are not in the ring and begin there later than they did, without those from before fork. */
static uint32_t begun_unseen(const struct ctx_rt_calls *calls, uint64_t ticks)
{
	uint32_t depth = calls->told + calls->inherited;

	if (calls->lost_from == 0 || ctx_rt_calls_settings.sums)
		return 0;
	while (depth < calls->depth && calls->open[depth + 1].ticks < ticks)
		depth++;
	return depth > calls->told + calls->inherited ? depth - calls->told - calls->inherited : 0;
}

void ctx_rt_calls_sync(struct ctx_rt_calls *calls, uint64_t ticks)
{
	struct ctx_rt_operation operation = {.kind = CTX_RT_CALLS};

	operation.words[0] = ticks;
	operation.words[1] = calls->told;
	operation.words[2] = calls->lost_from != 0 ? calls->lost : 0;
	operation.words[3] = calls->lost_from;
	operation.words[4] = (uint64_t)begun_unseen(calls, ticks) << 32 | calls->inherited;
	calls->inherited = 0;
	ctx_rt_ring_put(&calls->ring, &operation);
	atomic_store(&calls->ring.slot->lost_from, 0);
}

void ctx_rt_calls_wait(struct ctx_rt_calls *calls)
{
	const struct timespec pause = {.tv_nsec = WAIT_NS};
	uint32_t beat = atomic_load(calls->beat), rounds = 0;

	while (!ctx_rt_is_restricted() && rounds < WAIT_ROUNDS && atomic_load(calls->closed) == 0) {
		uint64_t tail = atomic_load(&calls->ring.slot->tail);

		/* Half of it, so that not every word waits. */
		if (calls->ring.head - tail <= calls->ring.bytes / 2)
			return;
		(void)ctx_rt_syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
		rounds++;
		if (atomic_load(calls->beat) != beat) {
			beat = atomic_load(calls->beat);
			rounds = 0;
		}
	}
	calls->waits = false;
}
