/*
 * The report of the heap: mappings and files, what is held at the end of an interval, growth between two,
 * temporary allocations, and sampled recordings.
 */
#include "base/mem.h"
#include "model/heap_sampling.h"
#include "report/report.h"
#include "report_fixture.h"
#include "report_printing.h"

#include <inttypes.h>
#include <string.h>

static struct ctx_traced at(uint64_t ms, unsigned operation, uint64_t address, uint64_t size, uint32_t stack)
{
	return (struct ctx_traced){.time_ns = ms * MS,
				   .address = address,
				   .size = size,
				   .stack = stack,
				   .file = CTX_NONE,
				   .descriptor = -1,
				   .kind = CTX_TRACED_HEAP,
				   .operation = (uint8_t)operation};
}

static void set(struct fixture *fixture, const struct ctx_traced *heap, size_t n)
{
	fixture->profile.traced[CTX_TRACED_HEAP] = n;
	fixture->input.traced[CTX_TRACED_HEAP] = (struct ctx_report_traced){heap, n};
}

/* The number behind a key in the first row of JSON that has the text; a missing key fails. */
static int64_t number_of(const char *json, const char *row, const char *key)
{
	const char *from = strstr(json, row), *to, *found;
	char wanted[64];

	assert_non_null(from);
	to = strchr(from, '}');
	snprintf(wanted, sizeof(wanted), "\"%s\":", key);
	found = strstr(from, wanted);
	assert_true(found != NULL && found < to);
	return strtoll(found + strlen(wanted), NULL, 10);
}

static bool has_key(const char *json, const char *row, const char *key)
{
	const char *from = strstr(json, row), *found;
	char wanted[64];

	assert_non_null(from);
	snprintf(wanted, sizeof(wanted), "\"%s\":", key);
	found = strstr(from, wanted);
	return found != NULL && found < strchr(from, '}');
}

static char *as_json(struct fixture *fixture)
{
	return print_report("heap", &fixture->input, (struct ctx_report_options){.format = CTX_REPORT_JSON});
}

#define PAGE 4096u

static void test_report_heap__mappings_are_kinds_and_files_are_no_allocations(void **state)
{
	struct fixture *fixture = *state;
	uint32_t solve = stack_of(fixture, PATH(0, 1)), walk = stack_of(fixture, PATH(0, 2));
	const struct ctx_traced heap[] = {
		at(10, CTX_HEAP_MAP, 10 * PAGE, 8 * PAGE, solve),
		at(20, CTX_HEAP_MAP_FILE, 12 * PAGE, 2 * PAGE, walk), /* over its middle */
		at(30, CTX_HEAP_MAP_FILE, 100 * PAGE, 9 * PAGE, walk),
		at(40, CTX_HEAP_LEAVE, 100 * PAGE, 9 * PAGE, walk),
		at(40, CTX_HEAP_REMAP_FILE, 200 * PAGE, 12 * PAGE, walk),
		at(50, CTX_HEAP_GROW, 500 * PAGE, 3 * PAGE, walk),
		at(60, CTX_HEAP_LEAVE, 502 * PAGE, PAGE, walk),
		at(70, CTX_HEAP_LEAVE, 10 * PAGE, PAGE, solve),
		at(70, CTX_HEAP_REMAP, 300 * PAGE, 5 * PAGE, solve),
		at(80, CTX_HEAP_UNMAP, 200 * PAGE, 2 * PAGE, walk),
		at(90, CTX_HEAP_ALLOCATE, 0x10, 7, walk),
	};
	char *json;

	set(fixture, heap, CTX_COUNT_OF(heap));
	json = as_json(fixture);
	assert_int_equal(number_of(json, "\"section\":\"total\"", "allocations"), 4);
	assert_int_equal(number_of(json, "\"section\":\"total\"", "bytes"), 16 * PAGE + 7);
	assert_int_equal(number_of(json, "\"kind\":\"file\"", "allocations"), 3);
	assert_int_equal(number_of(json, "\"kind\":\"file\"", "held_at_end_bytes"), 12 * PAGE);
	assert_int_equal(number_of(json, "\"kind\":\"mmap\"", "held_at_end_bytes"), 5 * PAGE);
	assert_int_equal(number_of(json, "\"kind\":\"mremap\"", "held_at_end_bytes"), 5 * PAGE);
	assert_int_equal(number_of(json, "\"kind\":\"brk\"", "held_at_end_bytes"), 2 * PAGE);
	assert_int_equal(number_of(json, "\"section\":\"total\"", "peak_bytes"), 12 * PAGE + 7);
	free(json);
	assert_every_format("heap", &fixture->input, (struct ctx_report_options){0}, "heap-kinds");
}

/* What two intervals allocated, and holds at the end of the first and of the second. */
static void test_report_heap__growth_is_from_the_end_of_one_interval_to_that_of_another(void **state)
{
	struct fixture *fixture = *state;
	uint32_t solve = stack_of(fixture, PATH(0, 1)), walk = stack_of(fixture, PATH(0, 2));
	uint32_t read = stack_of(fixture, PATH(0, 2, 3));
	struct ctx_interval some[] = {{100 * MS, 200 * MS}, {300 * MS, 700 * MS}};
	const struct ctx_interval *old = fixture->input.intervals;
	const struct ctx_traced heap[] = {
		at(110, CTX_HEAP_ALLOCATE, 0x10, 100, solve), at(120, CTX_HEAP_ALLOCATE, 0x20, 1000, walk),
		at(130, CTX_HEAP_ALLOCATE, 0x30, 10, read),   at(250, CTX_HEAP_FREE, 0x20, 0, 0),
		at(310, CTX_HEAP_ALLOCATE, 0x40, 300, solve), at(320, CTX_HEAP_ALLOCATE, 0x50, 20, walk),
		at(600, CTX_HEAP_FREE, 0x50, 0, 0),	      at(650, CTX_HEAP_ALLOCATE, 0x60, 7, walk),
		at(800, CTX_HEAP_FREE, 0x40, 0, 0), /* after the end */
	};
	char *json;

	set(fixture, heap, CTX_COUNT_OF(heap) - 1);
	fixture->input.intervals = some;
	fixture->input.n_intervals = 2;
	json = as_json(fixture);
	assert_int_equal(number_of(json, "\"section\":\"growth\"", "first_bytes"), 1110);
	assert_int_equal(number_of(json, "\"section\":\"growth\"", "held_at_end_bytes"), 417);
	assert_int_equal(number_of(json, "\"section\":\"growth\"", "growth_bytes"), -693);
	assert_int_equal(number_of(json, "\"section\":\"total\"", "held_at_end"), 4);
	free(json);
	assert_every_format("heap", &fixture->input, (struct ctx_report_options){0}, "heap-growth");
	fixture->input.intervals = old;
	fixture->input.n_intervals = 1;
	json = as_json(fixture);
	assert_null(strstr(json, "\"growth\""));
	free(json);
}

/* By the next operation of the same thread, whatever others do; resized is freed. */
static void test_report_heap__temporary_is_what_the_threads_next_operation_frees(void **state)
{
	struct fixture *fixture = *state;
	uint32_t solve = stack_of(fixture, PATH(0, 1)), walk = stack_of(fixture, PATH(0, 2));
	struct ctx_traced heap[] = {
		at(1, CTX_HEAP_ALLOCATE, 0x10, 1, solve),   at(2, CTX_HEAP_ALLOCATE, 0x20, 1, walk),
		at(3, CTX_HEAP_FREE, 0x10, 0, 0), /* temporary */
		at(4, CTX_HEAP_ALLOCATE, 0x30, 1, solve),   at(5, CTX_HEAP_FREE, 0x20, 0, 0),
		at(6, CTX_HEAP_REALLOCATE, 0x40, 2, solve), /* what was resized is temporary */
		at(7, CTX_HEAP_REALLOCATE, 0x40, 0, solve), /* failed */
		at(8, CTX_HEAP_FREE, 0x40, 0, 0),
	};
	char *json;

	heap[1].thread = 1;
	heap[4].thread = 0; /* another one frees it, in between: 0x30 is the last of thread 0 no more */
	heap[5].old_address = 0x30;
	heap[6].address = 0;
	heap[6].size = 99;
	heap[6].old_address = 0x40;
	set(fixture, heap, CTX_COUNT_OF(heap));
	json = as_json(fixture);
	assert_int_equal(number_of(json, "\"section\":\"total\"", "temporary"), 1);
	free(json);
	heap[4].thread = 1;
	json = as_json(fixture);
	assert_int_equal(number_of(json, "\"section\":\"total\"", "temporary"), 3);
	free(json);
}

static void test_report_heap__sampled_allocations_stand_for_others(void **state)
{
	struct fixture *fixture = *state;
	uint32_t solve = stack_of(fixture, PATH(0, 1)), walk = stack_of(fixture, PATH(0, 2));
	struct ctx_property property = {CTX_HEAP_SAMPLE_PROPERTY, "1000"}, *old = fixture->profile.properties;
	size_t n_old = fixture->profile.n_properties;
	/* 1 - exp(-0.1): stands for 10.508; 1 - exp(-1): for 1.582; a map for itself */
	struct ctx_traced heap[] = {
		at(1, CTX_HEAP_ALLOCATE, 0x10, 100, solve), at(2, CTX_HEAP_ALLOCATE, 0x20, 100, solve),
		at(3, CTX_HEAP_ALLOCATE, 0x30, 1000, walk), at(4, CTX_HEAP_FREE, 0x10, 0, 0),
		at(5, CTX_HEAP_MAP, 10 * PAGE, PAGE, walk),
	};
	char *json;

	heap[1].leaked = true;
	heap[1].leaked_size = 100;
	set(fixture, heap, CTX_COUNT_OF(heap));
	fixture->profile.properties = &property;
	fixture->profile.n_properties = 1;
	json = as_json(fixture);
	assert_int_equal(number_of(json, "\"section\":\"total\"", "allocations"),
			 24); /* 21.017 + 1.582 + 1 */
	assert_int_equal(number_of(json, "\"section\":\"total\"", "bytes"), 1051 + 1051 + 1582 + PAGE);
	assert_int_equal(number_of(json, "\"section\":\"total\"", "leaks"), 11);
	assert_int_equal(number_of(json, "\"section\":\"total\"", "leaked_bytes"), 1051);
	assert_int_equal(number_of(json, "\"section\":\"total\"", "held_at_end_bytes"), 1051 + 1582 + PAGE);
	/* sqrt(2 * 10.508 * 9.508 + 1.582 * 0.582); the same by squares of 100 and 1000 */
	assert_int_equal(number_of(json, "\"section\":\"total\"", "allocations_error"), 14);
	assert_int_equal(number_of(json, "\"section\":\"total\"", "bytes_error"), 1709);
	assert_false(has_key(json, "\"section\":\"total\"", "temporary"));
	assert_int_equal(number_of(json, "\"section\":\"age\"", "allocations"), 11);
	assert_non_null(strstr(json, "were sampled, 1000 bytes apart"));
	free(json);
	assert_every_format("heap", &fixture->input, (struct ctx_report_options){0}, "heap-sampled");
	assert_every_format("leaks", &fixture->input, (struct ctx_report_options){0}, "leaks-sampled");
	fixture->profile.properties = old;
	fixture->profile.n_properties = n_old;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_fixture(test_report_heap__mappings_are_kinds_and_files_are_no_allocations),
		with_fixture(test_report_heap__growth_is_from_the_end_of_one_interval_to_that_of_another),
		with_fixture(test_report_heap__temporary_is_what_the_threads_next_operation_frees),
		with_fixture(test_report_heap__sampled_allocations_stand_for_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
