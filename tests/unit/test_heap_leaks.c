/*
 * Leaks: which allocations of a sequence were never freed.
 */
#include "model/heap_leaks.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MALLOC = CTX_HEAP_ALLOCATE, FREE = CTX_HEAP_FREE, REALLOC = CTX_HEAP_REALLOCATE };

/* kind, size, address, old address */
static struct ctx_traced operation_of(const uint64_t record[4])
{
	return (struct ctx_traced){.kind = CTX_TRACED_HEAP,
				   .operation = (uint8_t)record[0],
				   .size = record[1],
				   .address = record[2],
				   .old_address = record[3]};
}

static void add_heap(struct ctx_heap_leaks *leaks, bool overlaps, const uint64_t (*records)[4], size_t n)
{
	*leaks = (struct ctx_heap_leaks){.overlaps = overlaps};
	for (size_t i = 0; i < n; i++) {
		struct ctx_traced operation = operation_of(records[i]);

		assert_int_equal(ctx_heap_leaks_add(leaks, i, &operation, NULL), CTX_OK);
	}
	assert_int_equal(ctx_heap_leaks_finish(leaks, NULL), CTX_OK);
}

static uint64_t leaked(const struct ctx_heap_leaks *leaks, const uint64_t (*records)[4], size_t i)
{
	struct ctx_traced operation = operation_of(records[i]);

	return ctx_heap_leaks_get(leaks, i, &operation);
}

/*
 * Each unmapped page leaves one more piece of a map: there is an end to the pieces that are
 * followed, or each would cost more than the one before.
 */
/* Half a minute with the sanitizers. */
#ifndef CTX_SANITIZED
static void test_heap_leaks__a_map_in_very_many_pieces_is_followed_no_further(void **state)
{
	struct ctx_traced map = {.operation = CTX_HEAP_MAP, .address = 4096, .size = UINT64_C(1) << 50};
	struct ctx_heap_leaks leaks = {0};

	(void)state;
	assert_int_equal(ctx_heap_leaks_add(&leaks, 0, &map, NULL), CTX_OK);
	for (uint64_t i = 0; i < 70000; i++) {
		struct ctx_traced unmap = {
			.operation = CTX_HEAP_UNMAP, .address = 8192 + i * 8192, .size = 4096};

		assert_int_equal(ctx_heap_leaks_add(&leaks, i + 1, &unmap, NULL), CTX_OK);
	}
	assert_int_equal(leaks.ranges.n, CTX_RANGES_MAX);
	assert_int_equal(ctx_heap_leaks_finish(&leaks, NULL), CTX_OK);
	/* All pieces that became two kept the upper one, which is the large one here. */
	assert_int_equal(ctx_heap_leaks_get(&leaks, 0, &map),
			 (UINT64_C(1) << 50) - UINT64_C(70000) * 8192 + UINT64_C(65535) * 4096);
	ctx_heap_leaks_deinit(&leaks);
}
#endif

static void test_heap_leaks__a_resized_block_is_freed_only_where_its_address_was_recorded(void **state)
{
	static const uint64_t seen[][4] = {{MALLOC, 10, 0x100, 0},
					   {REALLOC, 20, 0x100, 0x100},
					   {REALLOC, 30, 0x200, 0x100},
					   {FREE, 0, 0x200, 0}};
	/* What Debian's gprofng 2.40 writes of the same. */
	static const uint64_t blind[][4] = {{MALLOC, 10, 0x100, 0},
					    {REALLOC, 20, 0x100, 0},
					    {REALLOC, 30, 0x200, 0},
					    {FREE, 0, 0x200, 0}};
	/* A program that only allocates with realloc. */
	static const uint64_t fresh[][4] = {
		{REALLOC, 20, 0x100, 0}, {FREE, 0, 0x100, 0}, {REALLOC, 30, 0x100, 0}};
	struct ctx_heap_leaks leaks;

	(void)state;
	add_heap(&leaks, false, seen, CTX_COUNT_OF(seen));
	for (size_t i = 0; i < CTX_COUNT_OF(seen); i++)
		assert_int_equal(leaked(&leaks, seen, i), 0);
	assert_false(ctx_heap_leaks_is_blind(&leaks));
	ctx_heap_leaks_deinit(&leaks);
	add_heap(&leaks, false, blind, CTX_COUNT_OF(blind));
	assert_int_equal(leaked(&leaks, blind, 0), 10);
	assert_int_equal(leaked(&leaks, blind, 1), 20);
	assert_int_equal(leaked(&leaks, blind, 2), 0);
	assert_true(ctx_heap_leaks_is_blind(&leaks));
	ctx_heap_leaks_deinit(&leaks);
	add_heap(&leaks, false, fresh, CTX_COUNT_OF(fresh));
	assert_int_equal(leaked(&leaks, fresh, 0), 0);
	assert_int_equal(leaked(&leaks, fresh, 2), 30);
	assert_false(ctx_heap_leaks_is_blind(&leaks));
	ctx_heap_leaks_deinit(&leaks);
}

static void test_heap_leaks__a_realloc_that_fails_keeps_the_old_block(void **state)
{
	static const uint64_t records[][4] = {{MALLOC, 10, 0x100, 0},
					      {MALLOC, 11, 0x200, 0},
					      {REALLOC, 20, 0, 0x100}, /* failed */
					      {REALLOC, 0, 0, 0x200}}; /* freed it */
	struct ctx_heap_leaks leaks;

	(void)state;
	add_heap(&leaks, true, records, CTX_COUNT_OF(records));
	assert_int_equal(leaked(&leaks, records, 0), 10);
	assert_int_equal(leaked(&leaks, records, 1), 0);
	ctx_heap_leaks_deinit(&leaks);
}

/*
 * Thread A moves a block from 0x100 to 0x200; before its record comes, thread B has got 0x100. What B does
 * with it later is not A's block.
 */
static void test_heap_leaks__a_realloc_that_overlaps_frees_the_older_block(void **state)
{
	static const uint64_t kept[][4] = {{MALLOC, 10, 0x100, 0},
					   {MALLOC, 11, 0x100, 0},
					   {REALLOC, 20, 0x200, 0x100},
					   {FREE, 0, 0x200, 0}};
	static const uint64_t freed[][4] = {{MALLOC, 10, 0x100, 0},
					    {MALLOC, 11, 0x100, 0},
					    {FREE, 0, 0x100, 0},
					    {REALLOC, 20, 0x200, 0x100}};
	static const uint64_t again[][4] = {{MALLOC, 10, 0x100, 0},
					    {MALLOC, 11, 0x100, 0},
					    {REALLOC, 20, 0x200, 0x100},
					    {REALLOC, 21, 0x300, 0x100}};
	struct ctx_heap_leaks leaks;

	(void)state;
	add_heap(&leaks, true, kept, CTX_COUNT_OF(kept));
	assert_int_equal(leaked(&leaks, kept, 0), 0);
	assert_int_equal(leaked(&leaks, kept, 1), 11);
	assert_int_equal(leaked(&leaks, kept, 2), 0);
	ctx_heap_leaks_deinit(&leaks);
	add_heap(&leaks, true, freed, CTX_COUNT_OF(freed));
	assert_int_equal(leaked(&leaks, freed, 0), 0);
	assert_int_equal(leaked(&leaks, freed, 1), 0);
	assert_int_equal(leaked(&leaks, freed, 3), 20);
	ctx_heap_leaks_deinit(&leaks);
	add_heap(&leaks, true, again, CTX_COUNT_OF(again));
	assert_int_equal(leaked(&leaks, again, 1), 0);
	assert_int_equal(leaked(&leaks, again, 2), 20);
	assert_int_equal(leaked(&leaks, again, 3), 21);
	ctx_heap_leaks_deinit(&leaks);
}

/* Against the obvious way: a table of all addresses. */
static void test_heap_leaks__agree_with_a_table_of_all_addresses(void **state)
{
	enum { N = 20000, ADDRESSES = 500 };
	static uint64_t records[N][4];
	static int64_t live[ADDRESSES + 1];
	static bool expected[N];
	struct ctx_heap_leaks leaks;
	uint64_t seed = 5;

	(void)state;
	for (size_t i = 0; i <= ADDRESSES; i++)
		live[i] = -1;
	for (size_t i = 0; i < N; i++) {
		uint64_t address;

		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
		address = 1 + (seed >> 33) % ADDRESSES;
		if (live[address] < 0) {
			records[i][0] = MALLOC;
			records[i][1] = seed >> 60; /* also 0 bytes */
			live[address] = (int64_t)i;
		} else {
			records[i][0] = seed >> 32 & 1 ? FREE : REALLOC;
			records[i][3] = records[i][0] == REALLOC ? address : 0;
			live[address] = records[i][0] == REALLOC ? (int64_t)i : -1;
		}
		records[i][2] = address;
	}
	for (size_t i = 0; i <= ADDRESSES; i++) {
		if (live[i] >= 0)
			expected[live[i]] = true;
	}
	add_heap(&leaks, true, records, N);
	for (size_t i = 0; i < N; i++)
		assert_int_equal(ctx_heap_leaks_is(&leaks, i), expected[i]);
	ctx_heap_leaks_deinit(&leaks);
}

/* Of five blocks three may live at a time; when one is freed, the next one is followed. */
static void test_heap_leaks__blocks_beyond_the_limit_are_left_out(void **state)
{
	static const uint64_t records[][4] = {
		{MALLOC, 1, 0x100, 0}, {MALLOC, 1, 0x200, 0}, {MALLOC, 1, 0x300, 0}, {MALLOC, 1, 0x400, 0},
		{FREE, 0, 0x200, 0},   {MALLOC, 1, 0x500, 0}, {FREE, 0, 0x400, 0}};
	struct ctx_heap_leaks leaks = {.max_live = 3};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(records); i++) {
		struct ctx_traced operation = operation_of(records[i]);

		assert_int_equal(ctx_heap_leaks_add(&leaks, i, &operation, NULL), CTX_OK);
	}
	assert_int_equal(leaks.n_left_out, 1);
	assert_int_equal(ctx_heap_leaks_finish(&leaks, NULL), CTX_OK);
	for (size_t i = 0; i < CTX_COUNT_OF(records); i++)
		assert_int_equal(ctx_heap_leaks_is(&leaks, i), i == 0 || i == 2 || i == 5);
	ctx_heap_leaks_deinit(&leaks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heap_leaks__blocks_beyond_the_limit_are_left_out),
		cmocka_unit_test(
			test_heap_leaks__a_resized_block_is_freed_only_where_its_address_was_recorded),
		cmocka_unit_test(test_heap_leaks__a_realloc_that_fails_keeps_the_old_block),
		cmocka_unit_test(test_heap_leaks__a_realloc_that_overlaps_frees_the_older_block),
		cmocka_unit_test(test_heap_leaks__agree_with_a_table_of_all_addresses),
#ifndef CTX_SANITIZED
		cmocka_unit_test(test_heap_leaks__a_map_in_very_many_pieces_is_followed_no_further),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
