/*
 *	orders --sort--> pairs (held, taken), each with its orders
 *	pair u -> v --breadth first--> shortest way v ... u --> cycle --> orders of different threads
 */
#include "model/lock_cycles.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

struct pair {
	uint32_t held, taken;
	uint32_t first, n; /* of its orders, in `sorted` */
};

struct search {
	const struct ctx_lock_order *orders;
	uint32_t *sorted; /* numbers of orders, by pair */
	struct pair *pairs;
	uint32_t n_pairs;
	uint32_t *first_pair; /* by lock that is held; one more at the end */
	uint32_t *came_by;    /* by lock: pair on the way from the begin; NONE: not reached */
	uint32_t *queue;      /* locks that are reached */
	struct ctx_lock_cycles *cycles;
};

void ctx_lock_cycles_deinit(struct ctx_lock_cycles *cycles)
{
	free(cycles->items);
	*cycles = (struct ctx_lock_cycles){0};
}

static int by_pair(const void *left, const void *right, void *context)
{
	const struct ctx_lock_order *orders = context;
	uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
	const struct ctx_lock_order *a = &orders[i], *b = &orders[j];

	if (a->held != b->held)
		return a->held < b->held ? -1 : 1;
	if (a->taken != b->taken)
		return a->taken < b->taken ? -1 : 1;
	return (i > j) - (i < j);
}

static void make_pairs(struct search *search, size_t n, uint32_t n_locks)
{
	uint32_t lock = 0;

	for (uint32_t i = 0; i < n; i++)
		search->sorted[i] = i;
	qsort_r(search->sorted, n, sizeof(*search->sorted), by_pair, (void *)search->orders);
	for (uint32_t i = 0; i < n; i++) {
		const struct ctx_lock_order *order = &search->orders[search->sorted[i]];
		struct pair *last = search->n_pairs != 0 ? &search->pairs[search->n_pairs - 1] : NULL;

		if (last != NULL && last->held == order->held && last->taken == order->taken) {
			last->n++;
			continue;
		}
		while (lock <= order->held)
			search->first_pair[lock++] = search->n_pairs;
		search->pairs[search->n_pairs++] = (struct pair){order->held, order->taken, i, 1};
	}
	while (lock <= n_locks)
		search->first_pair[lock++] = search->n_pairs;
}

/* A shortest way from the lock that the pair takes to the one that it holds. False: none, or a long one. */
static bool find_way(struct search *search, const struct pair *pair, uint32_t *way, uint32_t *ret_n)
{
	uint32_t begin = 0, end = 0, n = 0, depth_end = 1, depth = 1;
	bool found = false;

	search->came_by[pair->taken] = (uint32_t)(pair - search->pairs);
	search->queue[end++] = pair->taken;
	while (begin < end && !found && depth < CTX_LOCK_CYCLE_MAX) {
		uint32_t at = search->queue[begin++];

		for (uint32_t i = search->first_pair[at]; i < search->first_pair[at + 1] && !found; i++) {
			uint32_t next = search->pairs[i].taken;

			if (search->came_by[next] != NONE)
				continue;
			search->came_by[next] = i;
			search->queue[end++] = next;
			found = next == pair->held;
		}
		if (begin == depth_end) {
			depth_end = end;
			depth++;
		}
	}
	if (found) {
		uint32_t reversed[CTX_LOCK_CYCLE_MAX];

		for (uint32_t at = pair->held; at != pair->taken; at = search->pairs[reversed[n - 1]].held)
			reversed[n++] = search->came_by[at];
		for (uint32_t i = 0; i < n; i++)
			way[i] = reversed[n - 1 - i];
	}
	while (end-- > 0)
		search->came_by[search->queue[end]] = NONE;
	*ret_n = n;
	return found;
}

/* Whether an order fits behind the ones that are chosen: another thread, and it may wait for the last. */
static bool fits(const struct search *search, const struct ctx_lock_cycle *cycle, uint32_t order,
		 bool is_last)
{
	const struct ctx_lock_order *orders = search->orders, *item = &orders[order];

	for (uint32_t i = 0; i < cycle->n; i++) {
		if (orders[cycle->orders[i]].thread == item->thread)
			return false;
	}
	if (cycle->n != 0 && orders[cycle->orders[cycle->n - 1]].taken_read && item->held_read)
		return false;
	return !is_last || !(item->taken_read && orders[cycle->orders[0]].held_read);
}

/* Chooses an order of each pair, with all orders of the pairs before tried where none fits. */
static bool choose(const struct search *search, const uint32_t *pairs, uint32_t n,
		   struct ctx_lock_cycle *cycle)
{
	uint32_t tried[CTX_LOCK_CYCLE_MAX] = {0}, steps = 0;

	while (cycle->n < n && steps++ < 100000) {
		const struct pair *pair = &search->pairs[pairs[cycle->n]];
		bool found = false;

		while (!found && tried[cycle->n] < pair->n) {
			uint32_t order = search->sorted[pair->first + tried[cycle->n]++];

			found = fits(search, cycle, order, cycle->n + 1 == n);
			if (found)
				cycle->orders[cycle->n] = order;
		}
		if (found) {
			cycle->n++;
			continue;
		}
		tried[cycle->n] = 0;
		if (cycle->n-- == 0)
			return false;
	}
	return cycle->n == n;
}

/* Its first lock is the smallest. */
static void turn(struct search *search, uint32_t *pairs, uint32_t n)
{
	uint32_t turned[CTX_LOCK_CYCLE_MAX], first = 0;

	for (uint32_t i = 1; i < n; i++) {
		if (search->pairs[pairs[i]].held < search->pairs[pairs[first]].held)
			first = i;
	}
	for (uint32_t i = 0; i < n; i++)
		turned[i] = pairs[(first + i) % n];
	memcpy(pairs, turned, n * sizeof(*pairs));
}

/* Whether it has the same locks in the same order. */
static bool is_known(const struct search *search, const uint32_t *pairs, uint32_t n)
{
	for (size_t i = 0; i < search->cycles->n; i++) {
		const struct ctx_lock_cycle *cycle = &search->cycles->items[i];
		uint32_t same = 0;

		while (cycle->n == n && same < n &&
		       search->orders[cycle->orders[same]].held == search->pairs[pairs[same]].held)
			same++;
		if (same == n)
			return true;
	}
	return false;
}

static enum ctx_status find_all(struct search *search, struct ctx_err *err)
{
	struct ctx_lock_cycles *cycles = search->cycles;
	enum ctx_status status = CTX_OK;

	for (uint32_t i = 0; i < search->n_pairs && cycles->n < CTX_LOCK_CYCLES_MAX && status == CTX_OK;
	     i++) {
		uint32_t pairs[CTX_LOCK_CYCLE_MAX] = {i}, n;
		struct ctx_lock_cycle cycle = {0};

		if (!find_way(search, &search->pairs[i], pairs + 1, &n))
			continue;
		turn(search, pairs, n + 1);
		if (is_known(search, pairs, n + 1) || !choose(search, pairs, n + 1, &cycle))
			continue;
		status = ctx_grow(&cycles->items, &cycles->cap, cycles->n + 1, err);
		if (status == CTX_OK)
			cycles->items[cycles->n++] = cycle;
	}
	return status;
}

static int by_length(const void *left, const void *right)
{
	const struct ctx_lock_cycle *a = left, *b = right;

	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	return memcmp(a->orders, b->orders, a->n * sizeof(*a->orders));
}

enum ctx_status ctx_lock_cycles_find(const struct ctx_lock_order *orders, size_t n, uint32_t n_locks,
				     struct ctx_lock_cycles *ret, struct ctx_err *err)
{
	struct search search = {.orders = orders, .cycles = ret};
	uint32_t *sorted CTX_AUTO_FREE = search.sorted = ctx_calloc(n + 1, sizeof(*sorted));
	struct pair *pairs CTX_AUTO_FREE = search.pairs = ctx_calloc(n + 1, sizeof(*pairs));
	uint32_t *first CTX_AUTO_FREE = search.first_pair = ctx_calloc((size_t)n_locks + 1, sizeof(*first));
	uint32_t *came_by CTX_AUTO_FREE = search.came_by = ctx_calloc((size_t)n_locks + 1, sizeof(*came_by));
	uint32_t *queue CTX_AUTO_FREE = search.queue = ctx_calloc((size_t)n_locks + 1, sizeof(*queue));
	enum ctx_status status;

	*ret = (struct ctx_lock_cycles){0};
	if (sorted == NULL || pairs == NULL || first == NULL || came_by == NULL || queue == NULL)
		return ctx_err_nomem(err);
	memset(came_by, 0xff, n_locks * sizeof(*came_by));
	make_pairs(&search, n, n_locks);
	status = find_all(&search, err);
	if (ret->n > 1)
		qsort(ret->items, ret->n, sizeof(*ret->items), by_length);
	return status;
}
