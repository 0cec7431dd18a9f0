/*
 * Sorted things of base/: binary search, heap and range maps, each against the obvious slow
 * version.
 */
#include "base/bisect.h"
#include "base/heap.h"
#include "base/mem.h"
#include "base/rangemap.h"
#include "tests/unit/chance.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define SPACE 400u

struct keyed {
	uint32_t narrow;
	char between[3];
	uint64_t wide;
};

static bool is_above(const void *items, size_t i, uint64_t key)
{
	return ((const uint64_t *)items)[i] > key;
}

static size_t slow_count(const uint64_t *keys, size_t n, uint64_t key, bool or_equal)
{
	size_t before = 0;

	for (size_t i = 0; i < n; i++)
		before += or_equal ? keys[i] <= key : keys[i] < key;
	return before;
}

static void check_counts(const uint64_t *keys, const uint64_t *descending, const struct keyed *items,
			 size_t n)
{
	for (uint64_t key = 0; key < 40; key++) {
		size_t below_key = slow_count(keys, n, key, false),
		       up_to_key = slow_count(keys, n, key, true);

		assert_int_equal(ctx_count_below_u64(keys, n, key), below_key);
		assert_int_equal(ctx_count_up_to_u64(keys, n, key), up_to_key);
		assert_int_equal(ctx_count_below(items, n, wide, key), below_key);
		assert_int_equal(ctx_count_up_to(items, n, wide, key), up_to_key);
		assert_int_equal(ctx_count_below(items, n, narrow, key), below_key);
		assert_int_equal(ctx_count_up_to(items, n, narrow, key), up_to_key);
		assert_int_equal(ctx_bisect(descending, n, is_above, key), n - up_to_key);
	}
	assert_int_equal(ctx_count_up_to_u64(keys, n, UINT64_MAX), n);
	assert_int_equal(ctx_count_up_to(items, n, narrow, UINT64_MAX), n);
}

static void test_bisect__counts_the_same_as_a_linear_walk(void **state)
{
	uint64_t keys[32], descending[32];
	struct keyed items[32] = {0};

	(void)state;
	for (size_t n = 0; n <= CTX_COUNT_OF(keys); n++) {
		uint64_t key = 0;

		for (size_t i = 0; i < n; i++) {
			key += below(3);
			keys[i] = descending[n - 1 - i] = items[i].wide = key;
			items[i].narrow = (uint32_t)key;
		}
		check_counts(keys, descending, items, n);
	}
	assert_int_equal(ctx_count_below((const struct keyed *)NULL, 0, wide, 7), 0);
}

struct timed {
	uint64_t time_ns;
	uint32_t order;
};

static bool is_before(const void *left, const void *right)
{
	const struct timed *a = left, *b = right;

	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->order < b->order;
}

/* Removes the first one of all the slow way. */
static struct timed take_first(struct timed *items, size_t n)
{
	size_t first = 0;
	struct timed taken;

	for (size_t i = 1; i < n; i++)
		first = is_before(&items[i], &items[first]) ? i : first;
	taken = items[first];
	items[first] = items[n - 1];
	return taken;
}

static void test_heap__returns_items_in_order_while_others_are_added(void **state)
{
	struct timed heap[64], slow[64];

	(void)state;
	for (uint32_t round = 0; round < 200; round++) {
		size_t n = 0;

		for (uint32_t step = 0; step < 200; step++) {
			uint64_t what = below(4);

			if (what < 2 && n < CTX_COUNT_OF(heap)) {
				heap[n] = slow[n] = (struct timed){below(20), step};
				n++;
				ctx_heap_rise(heap, n, sizeof(*heap), is_before);
			} else if (n != 0) {
				struct timed wanted = take_first(slow, n);

				assert_int_equal(heap[0].time_ns, wanted.time_ns);
				assert_int_equal(heap[0].order, wanted.order);
				if (what == 2) { /* the first one comes again later */
					wanted.time_ns += below(9);
					heap[0] = slow[n - 1] = wanted;
				} else {
					heap[0] = heap[--n];
				}
				ctx_heap_sink(heap, n, sizeof(*heap), is_before);
			}
		}
	}
}

static void check_ranges(const struct ctx_ranges *ranges, const uint64_t *slow)
{
	for (size_t i = 0; i < ranges->n; i++) {
		assert_true(ranges->items[i].begin < ranges->items[i].end);
		assert_true(i == 0 || ranges->items[i].end <= ranges->items[i - 1].begin);
	}
	for (uint64_t at = 0; at < SPACE; at++) {
		uint64_t end;
		const struct ctx_range *found = ctx_ranges_find(ranges, at, &end);
		size_t index = ctx_ranges_below(ranges, at + 1);

		assert_int_equal(found != NULL ? found->value : 0, slow[at]);
		assert_true(end > at);
		for (uint64_t i = at; i < end && i < SPACE; i++)
			assert_int_equal(slow[i], slow[at]);
		if (found != NULL)
			assert_ptr_equal(found, &ranges->items[index]);
	}
}

static void test_ranges__putting_replaces_and_cutting_removes(void **state)
{
	(void)state;
	for (int round = 0; round < 100; round++) {
		struct ctx_ranges ranges = {0};
		uint64_t slow[SPACE] = {0};

		for (uint64_t step = 1; step < 60; step++) {
			uint64_t begin = below(SPACE - 1), end = begin + 1 + below(60), gone, wanted = 0;
			bool puts = below(3) != 0;

			end = end > SPACE ? SPACE : end;
			for (uint64_t at = begin; at < end; at++) {
				wanted += slow[at] != 0;
				slow[at] = puts ? step : 0;
			}
			if (puts)
				assert_int_equal(ctx_ranges_put(&ranges, (struct ctx_range){begin, end, step},
								&gone, NULL),
						 CTX_OK);
			else
				assert_int_equal(ctx_ranges_cut(&ranges, begin, end, &gone, NULL), CTX_OK);
			assert_int_equal(gone, wanted);
			check_ranges(&ranges, slow);
		}
		ctx_ranges_deinit(&ranges);
	}
}

static void test_rangemap__the_highest_rank_is_found_and_of_equal_ones_the_last(void **state)
{
	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct ctx_rangemap map = {0};
		uint64_t slow[SPACE] = {0}, ranks[SPACE] = {0};
		uint32_t n = (uint32_t)below(30);

		for (uint32_t i = 1; i <= n; i++) {
			uint64_t begin = below(SPACE), end = begin + below(60), rank = below(6);

			end = end > SPACE ? SPACE : end;
			assert_int_equal(ctx_rangemap_add(&map,
							  (struct ctx_rangemap_item){begin, end, rank, i, 0},
							  NULL),
					 CTX_OK);
			for (uint64_t at = begin; at < end; at++) {
				if (slow[at] != 0 && ranks[at] > rank)
					continue;
				slow[at] = i;
				ranks[at] = rank;
			}
		}
		assert_int_equal(ctx_rangemap_freeze(&map, NULL), CTX_OK);
		check_ranges(&map.ranges, slow);
		assert_int_equal(ctx_rangemap_find(&map, SPACE, NULL), CTX_RANGEMAP_NONE);
		ctx_rangemap_deinit(&map);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bisect__counts_the_same_as_a_linear_walk),
		cmocka_unit_test(test_heap__returns_items_in_order_while_others_are_added),
		cmocka_unit_test(test_ranges__putting_replaces_and_cutting_removes),
		cmocka_unit_test(test_rangemap__the_highest_rank_is_found_and_of_equal_ones_the_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
