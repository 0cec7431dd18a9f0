#include "runtime/rt_calls_sums.h"

#include "runtime/rt_memory.h"
#include "runtime/rt_process.h"

#include "base/clock.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/single_threaded.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)
#define PAIR_LEAST_NS (SECOND_NS / 2) /* between two pairs that say how long a tick is */
#define BUSY_ROUNDS 1000u
#define PAUSE_NS 50000

static struct ctx_rt_tree_memory memory;
static _Atomic uint32_t memory_of; /* generation */

/* Clocks */

struct pair {
	uint64_t ticks, ns;
};

static struct pair read_pair(void)
{
	struct pair pair;

	if (!ctx_rt_calls_settings.has_tsc) {
		pair.ns = ctx_clock_ns(CLOCK_MONOTONIC);
		pair.ticks = pair.ns;
		return pair;
	}
	pair.ticks = __builtin_ia32_rdtsc();
	pair.ns = ctx_clock_ns(CLOCK_MONOTONIC);
	pair.ticks += (__builtin_ia32_rdtsc() - pair.ticks) / 2;
	return pair;
}

static uint64_t scale(uint64_t n, uint64_t to, uint64_t of)
{
#ifdef __x86_64__
	return (uint64_t)((unsigned __int128)n * to / of);
#else
	return (uint64_t)((double)n * (double)to / (double)of);
#endif
}

/* A second in ticks, as the thread's own clocks say as soon as they can. */
static void look(struct ctx_rt_sums *sums, struct pair pair)
{
	uint64_t passed_ns = pair.ns - sums->pair_ns;

	if (sums->pair_ns != 0 && passed_ns >= PAIR_LEAST_NS && pair.ticks > sums->pair_ticks)
		sums->second_ticks = scale(pair.ticks - sums->pair_ticks, SECOND_NS, passed_ns);
	if (sums->pair_ns == 0 || passed_ns >= PAIR_LEAST_NS) {
		sums->pair_ticks = pair.ticks;
		sums->pair_ns = pair.ns;
	}
}

static uint64_t ticks_at(const struct ctx_rt_sums *sums, struct pair pair, uint64_t ns)
{
	return ns >= pair.ns ? pair.ticks + scale(ns - pair.ns, sums->second_ticks, SECOND_NS)
			     : pair.ticks - scale(pair.ns - ns, sums->second_ticks, SECOND_NS);
}

static uint64_t ns_at(const struct ctx_rt_sums *sums, struct pair pair, uint64_t ticks)
{
	return ticks >= pair.ticks ? pair.ns + scale(ticks - pair.ticks, SECOND_NS, sums->second_ticks)
				   : pair.ns - scale(pair.ticks - ticks, SECOND_NS, sums->second_ticks);
}

/* The last border up to a time. */
static uint64_t border_before(const struct ctx_rt_sums *sums, uint64_t ns)
{
	return ns < sums->start_ns ? sums->start_ns : ns - (ns - sums->start_ns) % SECOND_NS;
}

static void set_border(struct ctx_rt_calls *calls, struct pair pair, uint64_t ns)
{
	struct ctx_rt_sums *sums = &calls->sums;

	sums->border_ns = border_before(sums, ns) + SECOND_NS;
	calls->border = ticks_at(sums, pair, sums->border_ns);
}

/* Words */

/* The recorder is waited for. */
static bool has_room(struct ctx_rt_calls *calls)
{
	if (ctx_rt_calls_has_room(calls))
		return true;
	if (calls->waits && calls->ring.slot != NULL)
		ctx_rt_calls_wait(calls);
	return ctx_rt_calls_has_room(calls);
}

static void put_sum(struct ctx_rt_calls *calls, enum ctx_rt_sum sum, uint64_t value)
{
	ctx_rt_calls_append(calls, ctx_rt_sum_word(sum, value));
}

static void put_row(struct ctx_rt_calls *calls, const struct ctx_rt_node *node, uint64_t passed,
		    uint32_t left)
{
	bool fits = passed <= CTX_RT_CALL_TICKS_MAX;

	if (!fits)
		ctx_rt_calls_append(calls, ctx_rt_call_word(CTX_RT_CALL_ADVANCE, passed));
	if (left != 0)
		ctx_rt_calls_append(calls, ctx_rt_call_word(CTX_RT_CALL_UNWIND, left));
	put_sum(calls, CTX_RT_SUM_CALLS, node->calls);
	ctx_rt_calls_append(calls, ctx_rt_call_enter(fits ? passed : 0, node->function));
}

/* Where there is no room, and the recorder makes none, what was not written is lost. */
static uint64_t put_rows(struct ctx_rt_calls *calls)
{
	struct ctx_rt_tree *tree = &calls->sums.tree;
	uint64_t passed = 0, lost = 0;
	uint32_t node = 0, up;

	ctx_rt_tree_mark(tree);
	while ((node = ctx_rt_tree_next(tree, node, &up)) != 0) {
		struct ctx_rt_node *row = &tree->nodes[node];

		if (lost == 0 && has_room(calls)) {
			put_row(calls, row, passed, up);
			ctx_rt_calls_publish(calls);
			passed = row->ticks;
		} else {
			lost += row->calls + (row->calls == 0);
		}
		row->calls = row->ticks = 0;
	}
	if (lost == 0 && has_room(calls))
		ctx_rt_calls_append(calls, ctx_rt_call_word(CTX_RT_CALL_ADVANCE, passed));
	return lost;
}

static bool put_durations(struct ctx_rt_calls *calls, struct ctx_rt_counted *counted)
{
	struct ctx_rt_tree *tree = &calls->sums.tree;

	if (!has_room(calls))
		return false;
	put_sum(calls, CTX_RT_SUM_FUNCTION, counted->function);
	put_sum(calls, CTX_RT_SUM_CALLS, 1);
	put_sum(calls, CTX_RT_SUM_TOOK, counted->least);
	if (counted->calls > 1) {
		put_sum(calls, CTX_RT_SUM_CALLS, 1);
		put_sum(calls, CTX_RT_SUM_TOOK, counted->most);
	}
	if (counted->rest != 0) {
		put_sum(calls, CTX_RT_SUM_CALLS, counted->rest);
		put_sum(calls, CTX_RT_SUM_TOOK, counted->rest_ticks / counted->rest);
	}
	for (uint32_t power = 0; power < CTX_RT_POWERS; power++) {
		struct ctx_rt_steps *steps = &tree->steps[counted->powers[power]];

		for (uint32_t i = 0; i < CTX_RT_STEPS && counted->powers[power] != 0; i++) {
			uint64_t ticks = ctx_rt_step_ticks(power, i);

			if (steps->calls[i] == 0)
				continue;
			if (!has_room(calls))
				return false;
			put_sum(calls, CTX_RT_SUM_CALLS, steps->calls[i]);
			put_sum(calls, CTX_RT_SUM_TOOK, ticks);
		}
	}
	ctx_rt_calls_publish(calls);
	return true;
}

/* The shortest and the longest are written apart. */
static void take_extremes(struct ctx_rt_tree *tree, struct ctx_rt_counted *counted)
{
	const uint64_t extremes[] = {counted->least, counted->most};

	for (unsigned i = 0; i < 2 && i < counted->calls; i++) {
		uint32_t power, step, *calls;

		ctx_rt_step_of(extremes[i], &power, &step);
		calls = &tree->steps[counted->powers[power]].calls[step];
		if (counted->powers[power] != 0 && *calls != 0) {
			*calls -= 1;
		} else if (counted->rest != 0) {
			counted->rest--;
			counted->rest_ticks -=
				extremes[i] < counted->rest_ticks ? extremes[i] : counted->rest_ticks;
		}
	}
}

static void clear_durations(struct ctx_rt_tree *tree, struct ctx_rt_counted *counted)
{
	counted->calls = counted->most = counted->rest = counted->rest_ticks = 0;
	counted->least = UINT64_MAX;
	for (uint32_t power = 0; power < CTX_RT_POWERS; power++) {
		struct ctx_rt_steps *steps = &tree->steps[counted->powers[power]];

		for (uint32_t i = 0; i < CTX_RT_STEPS && counted->powers[power] != 0; i++)
			steps->calls[i] = 0;
	}
}

static void put_all_durations(struct ctx_rt_calls *calls, bool has_room)
{
	struct ctx_rt_tree *tree = &calls->sums.tree;

	for (uint32_t i = 1; i < tree->n_counted; i++) {
		if (tree->counted[i].calls == 0)
			continue;
		take_extremes(tree, &tree->counted[i]);
		has_room = has_room && put_durations(calls, &tree->counted[i]);
		clear_durations(tree, &tree->counted[i]);
	}
}

/* Periods */

/* Writes the tree as what happened from the begin of the period to `end`; the next one begins there. */
static void write_period(struct ctx_rt_calls *calls, struct pair end)
{
	struct ctx_rt_sums *sums = &calls->sums;
	const bool waits = calls->waits;

	calls->waits = true;
	calls->told = calls->inherited = 0;
	calls->lost = sums->lost;
	calls->lost_from = sums->lost != 0 ? sums->lost_from : 0;
	if (has_room(calls)) {
		uint64_t lost;

		ctx_rt_calls_sync(calls, sums->begin_ticks);
		put_sum(calls, CTX_RT_SUM_BEGIN, sums->begin_ns);
		put_sum(calls, CTX_RT_SUM_TICKS, end.ticks - sums->begin_ticks);
		put_sum(calls, CTX_RT_SUM_END, end.ns);
		ctx_rt_calls_publish(calls);
		lost = put_rows(calls);
		put_all_durations(calls, lost == 0);
		if (lost == 0 && has_room(calls)) {
			put_sum(calls, CTX_RT_SUM_DONE, 0);
			ctx_rt_calls_publish(calls);
		}
		sums->lost = lost;
		sums->lost_from = sums->begin_ticks;
	}
	/* Else nobody reads any more: all of it stays in the tree. */
	calls->lost = 0;
	calls->waits = waits;
	sums->begin_ticks = end.ticks;
	sums->begin_ns = end.ns;
	calls->last = end.ticks;
}

static void sweep(struct ctx_rt_calls *calls, uint64_t ticks)
{
	struct ctx_rt_tree *tree = &calls->sums.tree;

	if (!ctx_rt_tree_is_full(tree))
		return;
	for (uint32_t i = 1; i <= calls->depth; i++) {
		tree->nodes[calls->open[i].node].all_ticks += ticks - calls->open[i].ticks;
		tree->nodes[calls->open[i].node].flags |= CTX_RT_NODE_OPEN;
	}
	ctx_rt_tree_sweep(tree, ticks - calls->open[0].ticks);
	for (uint32_t i = 1; i <= calls->depth; i++) {
		tree->nodes[calls->open[i].node].all_ticks -= ticks - calls->open[i].ticks;
		tree->nodes[calls->open[i].node].flags &= ~(uint32_t)CTX_RT_NODE_OPEN;
	}
}

void ctx_rt_sums_border(struct ctx_rt_calls *calls, uint64_t ticks)
{
	struct ctx_rt_sums *sums = &calls->sums;
	const struct pair border = {calls->border, sums->border_ns};
	struct pair now = read_pair(), last = {0};

	ctx_rt_calls_pass(calls, border.ticks);
	write_period(calls, border);
	sweep(calls, border.ticks);
	look(sums, now);
	/* Whole seconds in which nothing was called. */
	last.ns = border_before(sums, ns_at(sums, now, ticks));
	last.ticks = ticks_at(sums, now, last.ns);
	if (last.ns > border.ns && last.ticks > border.ticks && last.ticks <= ticks) {
		ctx_rt_calls_pass(calls, last.ticks);
		write_period(calls, last);
	} else {
		last = border;
	}
	set_border(calls, now, last.ns);
	if (calls->border <= ticks)
		calls->border = ticks + 1;
	atomic_store(sums->unwritten, sums->begin_ns);
}

void ctx_rt_sums_write(struct ctx_rt_calls *calls)
{
	struct ctx_rt_sums *sums = &calls->sums;
	struct pair now = read_pair();

	if (now.ticks <= calls->last || now.ticks <= sums->begin_ticks)
		now.ticks = calls->last > sums->begin_ticks ? calls->last + 1 : sums->begin_ticks + 1;
	if (now.ticks >= calls->border)
		ctx_rt_sums_border(calls, now.ticks);
	ctx_rt_calls_pass(calls, now.ticks);
	if (now.ns <= sums->begin_ns)
		now.ns = sums->begin_ns + 1;
	write_period(calls, now);
}

/* Threads */

static _Atomic uint32_t key; /* one more than the pthread_key_t; 0: none yet */

/* Once more behind the destructors of other keys. */
static void end_thread(void *context)
{
	struct ctx_rt_calls *calls = context;

	ctx_rt_sums_end_thread(calls);
	if (calls->sums.ends++ == 0)
		(void)pthread_setspecific(atomic_load(&key) - 1, calls);
}

static void watch_end(struct ctx_rt_calls *calls)
{
	uint32_t known = atomic_load(&key);
	pthread_key_t made;

	if (known == 0 && pthread_key_create(&made, end_thread) == 0) {
		if (atomic_compare_exchange_strong(&key, &known, made + 1))
			known = made + 1;
		else /* another thread has made one meanwhile */
			(void)pthread_key_delete(made);
	}
	if (known != 0)
		(void)pthread_setspecific(known - 1, calls);
}

static bool make_tree(struct ctx_rt_calls *calls)
{
	size_t bytes = ctx_rt_tree_bytes(memory.limit);
	void *at = NULL;

	if (calls->sums.tree.nodes != NULL) {
		/* All of it becomes zero. */
		(void)ctx_rt_syscall(SYS_madvise, calls->sums.tree.nodes, bytes, MADV_DONTNEED);
		at = calls->sums.tree.nodes;
	} else {
		at = ctx_rt_memory_map(bytes);
	}
	if (at != NULL)
		ctx_rt_tree_init(&calls->sums.tree, at, &memory);
	return at != NULL;
}

/*
 * A new generation begins with no memory in use: what was counted before was of the parent's trees, or of the recording before. Several
 * threads may come here at the same time. Nobody counts anything until one of them has set the generation, so that one knows what to subtract.
 */
static void begin_memory(void)
{
	uint32_t before = atomic_load(&memory_of);
	uint64_t used = atomic_load(&memory.used);

	if (before == *ctx_rt_generation)
		return;
	memory.limit = ctx_rt_calls_settings.memory_bytes;
	memory.share = ctx_rt_calls_settings.share;
	if (atomic_compare_exchange_strong(&memory_of, &before, *ctx_rt_generation))
		atomic_fetch_sub(&memory.used, used);
}

bool ctx_rt_sums_begin(struct ctx_rt_calls *calls)
{
	struct ctx_rt_sums *sums = &calls->sums;
	const struct ctx_rt_header *header = ctx_rt_process_header();
	struct pair now;

	begin_memory();
	if (header == NULL || header->second_ticks == 0 || !make_tree(calls))
		return false;
	sums->unwritten = &calls->ring.slot->unwritten;
	sums->start_ns = header->start_ns;
	sums->second_ticks = header->second_ticks;
	sums->pair_ns = 0;
	sums->lost = 0;
	sums->ends = 0;
	now = read_pair();
	look(sums, now);
	calls->open[0].ticks = now.ticks;
	calls->open[0].node = 0;
	for (uint32_t i = 1; i <= calls->depth; i++) {
		calls->open[i].node = ctx_rt_tree_enter(&sums->tree, calls->open[i].function);
		sums->tree.nodes[calls->open[i].node].calls = 0;
		calls->open[i].ticks = now.ticks;
	}
	sums->begin_ticks = calls->last = now.ticks;
	sums->begin_ns = now.ns;
	set_border(calls, now, now.ns);
	atomic_store(sums->unwritten, now.ns);
	watch_end(calls);
	return true;
}

void ctx_rt_sums_take_over(struct ctx_rt_calls *calls)
{
	if (calls->sums.tree.nodes != NULL && calls->ring.slot != NULL &&
	    atomic_load(calls->sums.unwritten) != 0)
		ctx_rt_sums_write(calls);
}

void ctx_rt_sums_end_thread(struct ctx_rt_calls *calls)
{
	if (calls->ring.slot == NULL || calls->busy != 0 || calls->sums.tree.nodes == NULL ||
	    atomic_load(calls->closed) != 0)
		return;
	calls->busy = 1;
	ctx_rt_sums_write(calls);
	atomic_store(calls->sums.unwritten, 0);
	calls->busy = 0;
}

/* A thread that is in a hook is given time to leave it. */
static void end_other(void *memory_of_calls)
{
	struct ctx_rt_calls *calls = memory_of_calls;

	for (unsigned i = 0; i < BUSY_ROUNDS && *(volatile uint32_t *)&calls->busy != 0; i++)
		(void)sched_yield();
	ctx_rt_sums_end_thread(calls);
}

void ctx_rt_sums_end(bool goes_on)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};

	if (!ctx_rt_calls_settings.sums || atomic_load(&ctx_rt_calls_mode) == CTX_RT_CALLS_OFF ||
	    !ctx_rt_process_is_own())
		return;
	atomic_store(&ctx_rt_calls_mode, CTX_RT_CALLS_OFF);
	/* A thread that has read the mode before is in its hook by then. */
	if (__libc_single_threaded == 0)
		(void)ctx_rt_syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
	ctx_rt_process_each_calls(end_other);
	if (goes_on)
		ctx_rt_calls_choose_mode();
}

__attribute__((destructor)) static void end(void)
{
	ctx_rt_sums_end(false);
}

__attribute__((noreturn)) static void leave(int status)
{
	ctx_rt_sums_end(false);
	for (;;)
		(void)ctx_rt_syscall(SYS_exit_group, status);
}

__attribute__((visibility("default"), noreturn)) void _exit(int status)
{
	leave(status);
}

__attribute__((visibility("default"), noreturn)) void _Exit(int status)
{
	leave(status);
}
