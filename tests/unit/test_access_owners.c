/* Which allocation an access belongs to, compared with a list of living blocks that is searched from end to end. */
#include "chance.h"

#include "base/mem.h"
#include "report/access_owners.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STEPS 4000u
#define PLACES 64u
#define UNIT 64u

static struct ctx_process_info processes[2];
static struct ctx_thread_info threads[2] = {{.process = 0}, {.process = 1}};
static const struct ctx_profile profile = {
	.processes = processes, .n_processes = 2, .threads = threads, .n_threads = 2};

static struct ctx_traced heap(uint64_t time_ns, uint32_t thread, unsigned operation, uint64_t address,
			      uint64_t size)
{
	return (struct ctx_traced){.kind = CTX_TRACED_HEAP,
				   .time_ns = time_ns,
				   .thread = thread,
				   .operation = (uint8_t)operation,
				   .address = address,
				   .size = size};
}

static struct ctx_traced access_at(uint64_t time_ns, uint32_t thread, uint64_t address)
{
	return (struct ctx_traced){
		.kind = CTX_TRACED_MEMORY, .time_ns = time_ns, .thread = thread, .address = address};
}

static void check(const struct ctx_traced *accesses, size_t n, const struct ctx_traced *operations,
		  size_t n_operations, const struct ctx_access_owner *wanted)
{
	const struct ctx_report_traced from = {accesses, n}, of = {operations, n_operations};
	struct ctx_access_owner *owners;

	assert_int_equal(ctx_access_owners_find(&profile, &from, &of, &owners, NULL), CTX_OK);
	for (size_t i = 0; i < n; i++) {
		if (owners[i].allocation != wanted[i].allocation || owners[i].offset != wanted[i].offset)
			fail_msg("access %zu of 0x%llx", i, (unsigned long long)accesses[i].address);
	}
	free(owners);
}

static void test_access_owners__blocks_live_from_their_allocation_to_their_release(void **state)
{
	const struct ctx_traced operations[] = {
		heap(10, 0, CTX_HEAP_ALLOCATE, 0x1000, 100),
		heap(10, 1, CTX_HEAP_ALLOCATE, 0x1000, 8), /* of another process */
		heap(20, 0, CTX_HEAP_FREE, 0x1000, 0),
		heap(30, 0, CTX_HEAP_ALLOCATE, 0x1040, 16),
		heap(40, 0, CTX_HEAP_MAP, 0x10000, 0x3000),
		heap(50, 0, CTX_HEAP_UNMAP, 0x11000, 0x1000),
		heap(60, 0, CTX_HEAP_MAP_FILE, 0x12000, 0x1000),
	};
	const struct ctx_traced accesses[] = {
		access_at(9, 0, 0x1000),   access_at(10, 0, 0x1063),  access_at(11, 0, 0x1064),
		access_at(12, 1, 0x1007),  access_at(13, 1, 0x1008),  access_at(21, 0, 0x1063),
		access_at(31, 0, 0x1041),  access_at(31, 0, 0x1000),  access_at(41, 0, 0x11800),
		access_at(51, 0, 0x11800), access_at(52, 0, 0x12800), access_at(61, 0, 0x12800),
		access_at(62, 0, 0x10800),
	};
	const struct ctx_access_owner wanted[] = {
		{NULL, 0},
		{&operations[0], 0x63},
		{NULL, 0},
		{&operations[1], 7},
		{NULL, 0},
		{NULL, 0},
		{&operations[3], 1},
		{NULL, 0},
		{&operations[4], 0x1800},
		{NULL, 0},
		{&operations[4], 0x2800},
		{NULL, 0},
		{&operations[4], 0x800},
	};

	(void)state;
	check(accesses, CTX_COUNT_OF(accesses), operations, CTX_COUNT_OF(operations), wanted);
	check(accesses, 0, operations, CTX_COUNT_OF(operations), wanted);
}

static void test_access_owners__as_a_search_of_all_living_blocks_finds(void **state)
{
	struct ctx_traced *operations = ctx_calloc(STEPS, sizeof(*operations));
	struct ctx_traced *accesses = ctx_calloc(STEPS, sizeof(*accesses));
	struct ctx_access_owner *wanted = ctx_calloc(STEPS, sizeof(*wanted));
	const struct ctx_traced *living[2][PLACES] = {{NULL}};
	size_t n = 0, n_operations = 0;
	uint64_t seed = 7;

	(void)state;
	for (uint64_t time_ns = 0; time_ns < STEPS; time_ns++) {
		uint32_t thread = (uint32_t)random_below(&seed, 2);
		size_t place = (size_t)random_below(&seed, PLACES);
		const struct ctx_traced **at = &living[thread][place];
		uint64_t address = 0x100000 + place * UNIT;

		if (random_below(&seed, 2) == 0) {
			accesses[n] = access_at(time_ns, thread, address + random_below(&seed, UNIT));
			if (*at != NULL && accesses[n].address - address < (*at)->size)
				wanted[n] = (struct ctx_access_owner){*at, accesses[n].address - address};
			n++;
		} else if (*at != NULL) {
			operations[n_operations++] = heap(time_ns, thread, CTX_HEAP_FREE, address, 0);
			*at = NULL;
		} else {
			operations[n_operations] = heap(time_ns, thread, CTX_HEAP_ALLOCATE, address,
							1 + random_below(&seed, UNIT));
			*at = &operations[n_operations++];
		}
	}
	check(accesses, n, operations, n_operations, wanted);
	free(operations);
	free(accesses);
	free(wanted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_access_owners__blocks_live_from_their_allocation_to_their_release),
		cmocka_unit_test(test_access_owners__as_a_search_of_all_living_blocks_finds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
