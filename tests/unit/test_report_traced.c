/*
 * Reports of traced operations: heap, leaks, sync, io; and the samples of resource use.
 */
#include "base/mem.h"
#include "chance.h"
#include "report/heap_life.h"
#include "report/names.h"
#include "report/report.h"
#include "report/wait_chain.h"
#include "report_fixture.h"
#include "report_printing.h"

#include <inttypes.h>
#include <string.h>

static const char *files[] = {"/var/log/a-long-way/down/to/the/file-that-is-written.log", "<pipe>",
			      "/nonexistent"};
static const char *const reports[] = {"heap", "leaks", "sync", "io"};

struct operations {
	struct ctx_traced heap[16], sync[6], locks[12], io[10];
};

static struct ctx_traced heap_at(uint64_t ms, unsigned operation, uint64_t address, uint64_t size,
				 uint32_t stack)
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

static void fill_heap(struct fixture *fixture, struct operations *all)
{
	uint32_t solve = stack_of(fixture, PATH(0, 1)), walk = stack_of(fixture, PATH(0, 2, 2));
	struct ctx_traced *heap = all->heap;

	heap[0] = heap_at(10, CTX_HEAP_ALLOCATE, 0x1000, 100, solve);
	heap[1] = heap_at(20, CTX_HEAP_ALLOCATE, 0x2000, 4096, walk);
	heap[2] = heap_at(30, CTX_HEAP_FREE, 0x1000, 0, walk);
	heap[3] = heap_at(40, CTX_HEAP_ALLOCATE, 0x1000, 200, solve);
	heap[4] = heap_at(120, CTX_HEAP_REALLOCATE, 0x3000, 5000, walk);
	heap[4].old_address = 0x2000;
	heap[5] = heap_at(130, CTX_HEAP_MAP, 0x100000, 1 << 20, solve);
	heap[6] = heap_at(310, CTX_HEAP_UNMAP, 0x100000, 1 << 19, solve);
	heap[7] = heap_at(420, CTX_HEAP_UNMAP, 0x180000, 1 << 19, solve);
	heap[8] = heap_at(500, CTX_HEAP_ALLOCATE, 0, 77, solve); /* failed */
	heap[9] = heap_at(600, CTX_HEAP_FREE, 0x9999, 0, solve); /* not known */
	heap[10] = heap_at(700, CTX_HEAP_ALLOCATE, 0x4000, 0, walk);
	heap[11] = heap_at(800, CTX_HEAP_ALLOCATE, 0x5000, 64, stack_of(fixture, PATH(7, 3)));
	heap[12] = heap_at(801, CTX_HEAP_FREE, 0x5000, 0, 0);
	heap[13] = heap_at(802, CTX_HEAP_ALLOCATE, 0x5000, 64, 0);
	heap[14] = heap_at(803, CTX_HEAP_REALLOCATE, 0, 0, walk);
	heap[14].old_address = 0x5000;
	heap[15] = heap_at(999, CTX_HEAP_ALLOCATE, 0x6000, 16, solve);
	heap[3].leaked = heap[4].leaked = heap[10].leaked = heap[15].leaked = true;
	for (unsigned i = 0; i < 16; i++)
		heap[i].leaked_size = heap[i].leaked ? heap[i].size - i / 4 : 0;
	fixture->profile.traced[CTX_TRACED_HEAP] = 16;
	fixture->input.traced[CTX_TRACED_HEAP] = (struct ctx_report_traced){heap, 16};
}

static void fill_sync(struct fixture *fixture, struct operations *all)
{
	static const uint64_t ns[] = {5, 700, 12345678, 40 * MS, 0, 99};

	for (unsigned i = 0; i < 6; i++)
		all->sync[i] = (struct ctx_traced){
			.time_ns = (100 + 100 * i) * MS,
			.duration_ns = ns[i],
			.address = i % 3 == 0 ? 0x7ffff7a01000 : 0x55550000 + i % 3 * 64,
			.thread = i % 2,
			.stack = i % 2 != 0 ? stack_of(fixture, PATH(7, 1)) : stack_of(fixture, PATH(0, 2)),
			.other = CTX_NONE,
			.kind = CTX_TRACED_SYNC};
	fixture->profile.traced[CTX_TRACED_SYNC] = 6;
	fixture->input.traced[CTX_TRACED_SYNC] = (struct ctx_report_traced){all->sync, 6};
}

/* As the runtime in the target records them, which knows kinds, holders and orders. */
static void fill_locks(struct fixture *fixture, struct operations *all)
{
	static const struct {
		uint8_t operation;
		uint8_t thread, other; /* 9: none */
		uint64_t ns, address, old_address, size;
	} locks[] = {
		{CTX_SYNC_MUTEX, 0, 1, 4000, 0x1000, 0, 0},
		{CTX_SYNC_BLOCK, 1, 0, 4000, 0x1000, 0, 0},
		{CTX_SYNC_HOLD, 0, 9, 300, 0x1000, 0, CTX_SYNC_MUTEX},
		{CTX_SYNC_HOLD, 1, 9, 500, 0x1000, 0, CTX_SYNC_MUTEX},
		{CTX_SYNC_READ_LOCK, 1, 9, 70000, 0x2000, 0, 0},
		{CTX_SYNC_HOLD, 0, 9, 900, 0x3000, 0, CTX_SYNC_SPIN},
		{CTX_SYNC_SEMAPHORE, 0, 9, 123456, 0x4000, 0, 0},
		{CTX_SYNC_ORDER, 0, 9, 0, 0x1000, 0x3000, 0},
		{CTX_SYNC_ORDER, 1, 9, 0, 0x3000, 0x1000, 0},
		{CTX_SYNC_ORDER, 1, 9, 0, 0x2000, 0x1000, CTX_SYNC_ORDER_TAKEN_READ},
		{CTX_SYNC_ORDER, 0, 9, 0, 0x1000, 0x2000, CTX_SYNC_ORDER_HELD_READ},
		{CTX_SYNC_MUTEX, 0, 1, 1000, 0x1000, 0, 0},
	};

	for (unsigned i = 0; i < CTX_COUNT_OF(locks); i++)
		all->locks[i] = (struct ctx_traced){.time_ns = (100 + 10 * i) * MS,
						    .duration_ns = locks[i].ns,
						    .address = locks[i].address,
						    .old_address = locks[i].old_address,
						    .size = locks[i].size,
						    .thread = locks[i].thread,
						    .other = locks[i].other != 9 ? locks[i].other : CTX_NONE,
						    .stack = i % 2 != 0 ? stack_of(fixture, PATH(7, 1))
									: stack_of(fixture, PATH(0, 2)),
						    .kind = CTX_TRACED_SYNC,
						    .operation = locks[i].operation};
	fixture->profile.traced[CTX_TRACED_SYNC] = CTX_COUNT_OF(locks);
	fixture->input.traced[CTX_TRACED_SYNC] = (struct ctx_report_traced){all->locks, CTX_COUNT_OF(locks)};
}

static void fill_io(struct fixture *fixture, struct operations *all)
{
	uint32_t read = stack_of(fixture, PATH(0, 2, 3)), solve = stack_of(fixture, PATH(0, 1));

	for (unsigned i = 0; i < 10; i++)
		all->io[i] = (struct ctx_traced){.time_ns = (50 + 90 * i) * MS,
						 .duration_ns = 1000 * i * i,
						 .size = 1000 * i,
						 .thread = i % 2,
						 .stack = i < 4 ? read : solve,
						 .file = i < 7 ? 0 : 1,
						 .descriptor = i < 7 ? 3 : 4,
						 .kind = CTX_TRACED_IO,
						 .operation = (uint8_t)(i % 2)};
	all->io[0].operation = CTX_IO_OPEN;
	all->io[6].operation = CTX_IO_CLOSE;
	all->io[8].file = 2;
	all->io[8].operation = CTX_IO_OPEN;
	all->io[8].descriptor = -1;
	all->io[8].failed = true;
	all->io[9].file = CTX_NONE;
	all->io[9].operation = CTX_IO_OTHER;
	fixture->profile.files = files;
	fixture->profile.n_files = CTX_COUNT_OF(files);
	fixture->profile.traced[CTX_TRACED_IO] = 10;
	fixture->input.traced[CTX_TRACED_IO] = (struct ctx_report_traced){all->io, 10};
}

static struct operations *operations_new(struct fixture *fixture)
{
	struct operations *all = ctx_calloc(1, sizeof(*all));

	assert_non_null(all);
	fill_heap(fixture, all);
	fill_sync(fixture, all);
	fill_io(fixture, all);
	return all;
}

static void test_report_traced__prints_every_report_in_every_format(void **state)
{
	struct fixture *fixture = *state;
	struct operations *all = operations_new(fixture);

	for (size_t i = 0; i < CTX_COUNT_OF(reports); i++)
		assert_every_format(reports[i], &fixture->input, (struct ctx_report_options){0}, "traced-%s",
				    reports[i]);
	assert_every_format("samples", &fixture->input, (struct ctx_report_options){0}, "traced-samples");
	free(all);
}

static void test_report_traced__locks_with_their_holders_and_cycles(void **state)
{
	struct fixture *fixture = *state;
	struct operations *all = operations_new(fixture);

	fill_locks(fixture, all);
	assert_every_format("sync", &fixture->input, (struct ctx_report_options){0}, "traced-locks");
	assert_every_format("sync", &fixture->input, (struct ctx_report_options){.cycles = true},
			    "traced-cycles");
	free(all);
}

/* A read-write lock of one process, and another process's spin lock at the same address. */
static void test_report_traced__locks_of_two_processes_may_have_one_address(void **state)
{
	struct ctx_thread_info others[] = {threads[0], threads[1]};
	struct fixture *fixture = *state;
	struct operations *all = operations_new(fixture);
	const char *object;
	char *text;

	others[1].process = 1;
	fixture->profile.threads = others;
	fill_locks(fixture, all);
	all->locks[4].address = all->locks[5].address = 0x5000;
	all->locks[5].operation = CTX_SYNC_SPIN;
	text = print_report("sync", &fixture->input, (struct ctx_report_options){.format = CTX_REPORT_JSON});
	object = strstr(text, "\"section\":\"object\",\"process\":101,\"address\":20480,");
	assert_non_null(object);
	assert_memory_equal(strstr(object, "\"kind\":") + 7, "\"read-write lock\"", 17);
	object = strstr(text, "\"section\":\"object\",\"process\":100,\"address\":20480,");
	assert_non_null(object);
	assert_memory_equal(strstr(object, "\"kind\":") + 7, "\"spin lock\"", 11);
	free(text);
	free(all);
}

static void test_report_traced__function_limit_and_order_options(void **state)
{
	static const char *const keys[] = {"leaked_bytes", "leaks", "waits", "errors"};
	struct fixture *fixture = *state;
	struct operations *all = operations_new(fixture);

	for (size_t i = 0; i < CTX_COUNT_OF(reports); i++)
		assert_every_format(reports[i], &fixture->input,
				    (struct ctx_report_options){
					    .function = "solve", .limit = 1, .sort = keys[i], .ascii = true},
				    "traced-solve-%s", reports[i]);
	free(all);
}

/* The number behind a key in the row of a section. */
static uint64_t number_of(const char *json, const char *section, const char *key)
{
	char wanted[64];
	const char *row, *at;

	snprintf(wanted, sizeof(wanted), "\"section\":\"%s\"", section);
	row = strstr(json, wanted);
	assert_non_null(row);
	snprintf(wanted, sizeof(wanted), "\"%s\":", key);
	at = strstr(row, wanted);
	assert_non_null(at);
	return strtoull(at + strlen(wanted), NULL, 10);
}

#define SLOW_PAGES 64u

struct slow { /* blocks: one entry each, searched from end to end; mappings: page by page */
	uint64_t begin[400], size[400];
	unsigned n;
	bool mapped[SLOW_PAGES];
};

static void slow_free(struct slow *slow, uint64_t address)
{
	for (unsigned i = 0; i < slow->n; i++) {
		if (slow->begin[i] == address) {
			slow->n--;
			slow->begin[i] = slow->begin[slow->n];
			slow->size[i] = slow->size[slow->n];
			return;
		}
	}
}

static void slow_block(struct slow *slow, const struct ctx_traced *operation)
{
	if (operation->operation == CTX_HEAP_REALLOCATE)
		slow_free(slow, operation->old_address);
	slow_free(slow, operation->address);
	if (operation->operation == CTX_HEAP_FREE)
		return;
	slow->begin[slow->n] = operation->address;
	slow->size[slow->n++] = operation->size;
}

static uint64_t slow_step(struct slow *slow, const struct ctx_traced *operation)
{
	bool maps = operation->operation == CTX_HEAP_MAP;
	uint64_t sum = 0;

	if (!maps && operation->operation != CTX_HEAP_UNMAP)
		slow_block(slow, operation);
	else
		for (uint64_t i = 0; i < operation->size / 4096; i++)
			slow->mapped[operation->address / 4096 - 1 + i] = maps;
	for (unsigned i = 0; i < slow->n; i++)
		sum += slow->size[i];
	for (unsigned i = 0; i < SLOW_PAGES; i++)
		sum += slow->mapped[i] ? 4096 : 0;
	return sum;
}

static struct ctx_traced random_operation(unsigned i, unsigned addresses, const uint32_t stacks[3])
{
	unsigned operation = (unsigned)below(5);
	struct ctx_traced made =
		heap_at(i, operation, 1 + below(addresses) * (1u << 20), 1 + below(5000), stacks[below(3)]);

	made.old_address = 1 + below(addresses) * (1u << 20);
	if (operation == CTX_HEAP_MAP || operation == CTX_HEAP_UNMAP) {
		uint64_t page = below(SLOW_PAGES), pages = 1 + below(SLOW_PAGES - page);

		made.address = (1 + page) * 4096;
		made.size = pages * 4096;
	}
	return made;
}

/*
 * Mappings are taken out of the middle, from the beginning and the end of others, and of several at
 * once.
 */
static void test_report_traced__the_peak_is_that_of_the_slow_way(void **state)
{
	struct fixture *fixture = *state;
	struct ctx_traced *heap = ctx_calloc(400, sizeof(*heap));
	uint32_t stacks[] = {stack_of(fixture, PATH(0, 1)), stack_of(fixture, PATH(0, 2)), 0};

	fixture->profile.traced[CTX_TRACED_HEAP] = 1;
	for (unsigned round = 0; round < 200; round++) {
		unsigned n = 1 + (unsigned)below(399), addresses = 1 + (unsigned)below(40);
		struct slow *slow = ctx_calloc(1, sizeof(*slow));
		uint64_t peak = 0, at = 0;
		char *text;

		for (unsigned i = 0; i < n; i++) {
			uint64_t live;

			heap[i] = random_operation(i, addresses, stacks);
			live = slow_step(slow, &heap[i]);
			if (live > peak) {
				peak = live;
				at = i * MS;
			}
		}
		fixture->input.traced[CTX_TRACED_HEAP] = (struct ctx_report_traced){heap, n};
		text = print_report("heap", &fixture->input,
				    (struct ctx_report_options){.format = CTX_REPORT_JSON});
		assert_int_equal(number_of(text, "total", "peak_bytes"), peak);
		assert_int_equal(number_of(text, "total", "peak_ns"), at);
		assert_int_equal(number_of(text, "total", "held_bytes"), peak);
		free(text);
		free(slow);
	}
	free(heap);
}

static enum ctx_status add_bytes(void *context, const struct ctx_heap_held *held)
{
	((uint64_t *)context)[held->stack] += held->bytes;
	return CTX_OK;
}

static void test_report_traced__mappings_are_taken_in_parts_and_several_at_once(void **state)
{
	struct fixture *fixture = *state;
	struct ctx_heap_life life;
	const struct ctx_traced steps[] = {
		heap_at(0, CTX_HEAP_MAP, 0x10000, 0x3000, 1),
		heap_at(1, CTX_HEAP_MAP, 0x13000, 0x1000, 2),
		heap_at(2, CTX_HEAP_UNMAP, 0x10000, 0x1000, 0),
		heap_at(3, CTX_HEAP_UNMAP, 0x12000, 0x1800, 0), /* the end of one, the beginning of another */
		heap_at(4, CTX_HEAP_UNMAP, 0x10000, 0x1000, 0),
		heap_at(5, CTX_HEAP_MAP, 0x11800, 0x1000, 3),	 /* takes the end of the first */
		heap_at(6, CTX_HEAP_UNMAP, 0x11c00, 0x400, 0),	 /* the middle */
		heap_at(7, CTX_HEAP_MAP, UINT64_MAX, 0x1000, 3), /* failed */
		heap_at(8, CTX_HEAP_ALLOCATE, 0x13800, 0x10, 1), /* no business of mappings */
	};
	static const uint64_t live[] = {0x3000, 0x4000, 0x3000, 0x1800, 0x1800,
					0x2000, 0x1c00, 0x1c00, 0x1c10};
	uint64_t held[4] = {0};

	assert_int_equal(ctx_heap_life_init(&life, &fixture->profile), CTX_OK);
	for (size_t i = 0; i < CTX_COUNT_OF(steps); i++) {
		assert_int_equal(ctx_heap_life_step(&life, &steps[i], true), CTX_OK);
		assert_int_equal(life.live, live[i]);
	}
	assert_int_equal(ctx_heap_life_each(&life, add_bytes, held), CTX_OK);
	assert_int_equal(held[1], 0x810);
	assert_int_equal(held[2], 0x800);
	assert_int_equal(held[3], 0xc00);
	ctx_heap_life_deinit(&life);
}

/* What a process has ends with it: ten of them one after the other hold no more than one. */
static void test_report_traced__memory_ends_with_its_process(void **state)
{
	struct fixture *fixture = *state;
	struct ctx_thread_info two[2] = {{.process = 0, .tid = 100, .name = "a"},
					 {.process = 1, .tid = 101, .name = "b"}};
	struct ctx_process_info both[2] = {fixture->profile.processes[0], fixture->profile.processes[0]},
				*old_processes = fixture->profile.processes;
	struct ctx_thread_info *old_threads = fixture->profile.threads;
	uint32_t n = fixture->profile.n_processes;
	struct ctx_traced heap[] = {
		heap_at(1, CTX_HEAP_ALLOCATE, 0x10, 100, 0), heap_at(2, CTX_HEAP_ALLOCATE, 0x10, 1000, 0),
		heap_at(3, CTX_HEAP_MAP, 0x1000, 4096, 0), heap_at(90, CTX_HEAP_ALLOCATE, 0x20, 5000, 0)};
	char *text;

	heap[1].thread = heap[2].thread = 1;
	both[1].life.end_ns = 3 * MS;
	fixture->profile.threads = two;
	fixture->profile.processes = both;
	fixture->profile.n_processes = 2;
	fixture->profile.traced[CTX_TRACED_HEAP] = 4;
	fixture->input.traced[CTX_TRACED_HEAP] = (struct ctx_report_traced){heap, 4};
	text = print_report("heap", &fixture->input, (struct ctx_report_options){.format = CTX_REPORT_JSON});
	assert_int_equal(number_of(text, "total", "peak_bytes"), 5196);
	assert_int_equal(number_of(text, "total", "peak_ns"), 3 * MS);
	assert_int_equal(number_of(text, "total", "held"), 3);
	assert_int_equal(number_of(text, "slice", "peak_bytes"), 5196);
	assert_int_equal(number_of(text, "slice", "live_bytes"), 100);
	free(text);
	fixture->profile.threads = old_threads;
	fixture->profile.processes = old_processes;
	fixture->profile.n_processes = n;
}

/* The same address in another process is another block. */
static void test_report_traced__processes_have_addresses_of_their_own(void **state)
{
	struct fixture *fixture = *state;
	struct ctx_thread_info two[2] = {{.process = 0, .tid = 100, .name = "a"},
					 {.process = 1, .tid = 101, .name = "b"}};
	struct ctx_traced heap[] = {
		heap_at(1, CTX_HEAP_ALLOCATE, 0x10, 1000, 0), heap_at(2, CTX_HEAP_ALLOCATE, 0x10, 500, 0),
		heap_at(3, CTX_HEAP_FREE, 0x10, 0, 0),	      heap_at(4, CTX_HEAP_ALLOCATE, 0x20, 501, 0),
		heap_at(5, CTX_HEAP_FREE, 0x10, 0, 0),	      heap_at(6, CTX_HEAP_ALLOCATE, 0x10, 1100, 0)};
	char *text;

	heap[1].thread = heap[4].thread = 1;
	fixture->profile.threads = two;
	fixture->profile.traced[CTX_TRACED_HEAP] = 6;
	fixture->input.traced[CTX_TRACED_HEAP] = (struct ctx_report_traced){heap, 6};
	text = print_report("heap", &fixture->input, (struct ctx_report_options){.format = CTX_REPORT_JSON});
	assert_int_equal(number_of(text, "total", "peak_bytes"), 1601);
	assert_int_equal(number_of(text, "total", "peak_ns"), 6 * MS);
	free(text);
	fixture->profile.threads = threads;
}

/*
 * With --function what others allocate does not live, but it replaces blocks whose free was not
 * recorded.
 */
static void test_report_traced__unselected_allocations_end_old_blocks(void **state)
{
	struct fixture *fixture = *state;
	uint32_t solve = stack_of(fixture, PATH(0, 1)), walk = stack_of(fixture, PATH(0, 2));
	struct ctx_traced heap[] = {heap_at(1, CTX_HEAP_ALLOCATE, 0x10, 1000, solve),
				    heap_at(2, CTX_HEAP_ALLOCATE, 0x10, 7000, walk),
				    heap_at(3, CTX_HEAP_ALLOCATE, 0x20, 500, solve)};
	char *text;

	fixture->profile.traced[CTX_TRACED_HEAP] = 3;
	fixture->input.traced[CTX_TRACED_HEAP] = (struct ctx_report_traced){heap, 3};
	text = print_report("heap", &fixture->input,
			    (struct ctx_report_options){.format = CTX_REPORT_JSON, .function = "solve"});
	assert_int_equal(number_of(text, "total", "bytes"), 1500);
	assert_int_equal(number_of(text, "total", "peak_bytes"), 1000);
	assert_int_equal(number_of(text, "total", "held"), 1);
	free(text);
}

static void test_report_traced__one_allocation_is_one(void **state)
{
	struct fixture *fixture = *state;
	struct ctx_traced heap[] = {heap_at(1, CTX_HEAP_ALLOCATE, 0x10, 1000, 0)};
	char *text;

	fixture->profile.traced[CTX_TRACED_HEAP] = 1;
	fixture->input.traced[CTX_TRACED_HEAP] = (struct ctx_report_traced){heap, 1};
	text = print_report("heap", &fixture->input, (struct ctx_report_options){.width = 100});
	assert_non_null(strstr(text, "the peak is 1000 at 1.000 ms, in 1 allocation\n"));
	free(text);
}

/* Every table of groups, and every histogram, has all operations. */
static void test_report_traced__tables_sum_up_to_the_total(void **state)
{
	static const struct {
		const char *report, *section, *key;
	} sums[] = {{"heap", "stack", "bytes"},	     {"heap", "size", "bytes"},
		    {"heap", "stack", "held_bytes"}, {"leaks", "stack", "leaked_bytes"},
		    {"sync", "stack", "wait_ns"},    {"sync", "object", "wait_ns"},
		    {"sync", "latency", "waits"},    {"io", "file", "time_ns"},
		    {"io", "descriptor", "time_ns"}, {"io", "stack", "read_bytes"},
		    {"io", "size", "write_bytes"},   {"io", "latency", "operations"}};
	struct fixture *fixture = *state;
	struct operations *all = operations_new(fixture);

	for (size_t i = 0; i < CTX_COUNT_OF(sums); i++) {
		char *text = print_report(sums[i].report, &fixture->input,
					  (struct ctx_report_options){.format = CTX_REPORT_JSON});
		char wanted[64];
		uint64_t sum = 0;

		snprintf(wanted, sizeof(wanted), "\"section\":\"%s\"", sums[i].section);
		for (char *at = text; (at = strstr(at, wanted)) != NULL; at++)
			sum += number_of(at, sums[i].section, sums[i].key);
		assert_int_not_equal(sum, 0);
		assert_int_equal(number_of(text, "total", sums[i].key), sum);
		free(text);
	}
	free(all);
}

static void test_report_traced__empty_and_hostile_operations_are_valid_reports(void **state)
{
	static const char *hostile_files[] = {"\033[2J\n\xff,\"", "\xe2\x80\xae", ""};
	struct fixture *fixture = *state;
	struct operations *all = operations_new(fixture);
	struct ctx_traced *hostile = ctx_calloc(64, sizeof(*hostile));
	unsigned char *bytes = (unsigned char *)hostile;

	for (size_t i = 0; i < 64 * sizeof(*hostile); i++)
		bytes[i] = (unsigned char)below(256);
	fixture->profile.files = hostile_files;
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned kind = 0; kind < CTX_TRACED_N; kind++)
			fixture->input.traced[kind] = (struct ctx_report_traced){hostile, round * 32};
		for (unsigned i = 0; i < 64; i++) {
			hostile[i].time_ns = (round == 2 ? i << 20 : i) * MS;
			hostile[i].kind = (uint8_t)(i % 3);
			hostile[i].leaked = i % 2;
			hostile[i].failed = i % 3 == 0;
			hostile[i].size >>= round == 2 ? 40 : 0;
			hostile[i].leaked_size >>= round == 2 ? 40 : 0;
			hostile[i].duration_ns >>= round == 2 ? 30 : 0;
		}
		for (size_t i = 0; i < CTX_COUNT_OF(reports) * 3; i++) {
			unsigned format = (unsigned)(i % 3);
			char *text =
				print_report(reports[i / 3], &fixture->input,
					     (struct ctx_report_options){
						     .format = (enum ctx_report_format)format, .width = 160});

			assert_harmless(text, (enum ctx_report_format)format, 160);
			free(text);
		}
	}
	free(hostile);
	free(all);
}

static void test_report_traced__unrecorded_operations_are_reported(void **state)
{
	static const char *const words[] = {"no allocations", "no allocations", "no waits",
					    "no input and output"};
	struct fixture *fixture = *state;
	struct ctx_property asked = {"heap trace", "on"};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	for (size_t i = 0; i < CTX_COUNT_OF(reports); i++) {
		struct ctx_err err = {0};
		struct ctx_report_options options = {.out = stdout};

		assert_int_equal(fake_print(reports[i], &fixture->input, &options, &err), CTX_E_NOTFOUND);
		assert_non_null(strstr(err.msg, words[i]));
	}
	/* Recorded, but none occurred. */
	fixture->profile.properties = &asked;
	fixture->profile.n_properties = 1;
	for (size_t i = 0; i < 3; i++) {
		struct ctx_report_options options = {.out = out};

		assert_int_equal(fake_print(reports[i], &fixture->input, &options, NULL),
				 i < 2 ? CTX_OK : CTX_E_NOTFOUND);
	}
	fclose(out);
	assert_non_null(strstr(text, "no allocations in this selection"));
	free(text);
	fixture->profile.n_properties = 0;
	fixture->profile.traced[CTX_TRACED_IO] = 1;
	for (unsigned i = 0; i < 2; i++) {
		struct ctx_err err = {0};
		struct ctx_report_options options = {.out = stdout};

		*(i == 0 ? &options.sort : &options.function) = "nonsense";
		assert_int_equal(fake_print("io", &fixture->input, &options, &err),
				 i == 0 ? CTX_E_ARG : CTX_E_NOTFOUND);
		assert_non_null(strstr(err.msg, "nonsense"));
	}
}

static void test_report_traced__gprofngs_names_are_accepted(void **state)
{
	size_t n = 0;
	bool takes_function;

	(void)state;
	for (const struct ctx_report_kind *const *kind = ctx_report_kinds(); *kind != NULL; kind++) {
		const struct ctx_report_alias *alias = (*kind)->aliases;

		for (; alias != NULL && alias->name != NULL; alias++, n++) {
			assert_ptr_equal(ctx_report_find_alias(alias->name, &takes_function), *kind);
			assert_int_equal(takes_function, alias->takes_function);
			assert_null(ctx_report_find(alias->name));
		}
	}
	assert_int_equal(n, 36);
	assert_string_equal(ctx_report_find_alias("sample_detail", &takes_function)->name, "samples");
	assert_string_equal(ctx_report_find_alias("callers_callees", &takes_function)->name,
			    "callers-callees");
	assert_false(takes_function);
	assert_string_equal(ctx_report_find_alias("csingle", &takes_function)->name, "callers-callees");
	assert_true(takes_function);
	assert_null(ctx_report_find_alias("csingl", &takes_function));
	assert_null(ctx_report_find_alias("", &takes_function));
}

enum { C_LIBRARY, PROGRAM, N_CHAIN_FUNCTIONS = 9 };

static const char *chain_of(const struct ctx_profile *profile, uint32_t stack, size_t room)
{
	static char text[256];
	struct ctx_buf buf = {0};

	ctx_wait_chain_put_within(profile, stack, room, true, &buf);
	ctx_buf_put_u8(&buf, '\0');
	assert_false(buf.failed);
	snprintf(text, sizeof(text), "%s", (const char *)buf.bytes);
	ctx_buf_deinit(&buf);
	return text;
}

static void test_wait_chain__shows_functions_that_fit(void **state)
{
	static const char whole[] = "malloc < grow < vprintf < printf < b < a < main";
	struct ctx_object_info libraries[] = {{.path = "/usr/lib/libc.so.6"}, {.path = "/bin/program"}};
	struct ctx_function_info named[N_CHAIN_FUNCTIONS] = {
		{.name = "_start", .object = C_LIBRARY}, {.name = "main", .object = PROGRAM},
		{.name = "a", .object = PROGRAM},	 {.name = "b", .object = PROGRAM},
		{.name = "printf", .object = C_LIBRARY}, {.name = "vprintf", .object = C_LIBRARY},
		{.name = "grow", .object = C_LIBRARY},	 {.name = "malloc", .object = C_LIBRARY},
		{.name = "c", .object = PROGRAM}};
	struct fixture world = {.profile = {.objects = libraries,
					    .n_objects = 2,
					    .functions = named,
					    .n_functions = N_CHAIN_FUNCTIONS}};
	const struct ctx_profile *profile = &world.profile;
	uint32_t deep, plain, library;

	(void)state;
	assert_int_equal(ctx_trie_init(&world.profile.cct, NULL), CTX_OK);
	deep = stack_of(&world, PATH(0, 1, 2, 3, 4, 5, 6, 7));
	plain = stack_of(&world, PATH(0, 1, 2, 3, 8, 2, 3, 8));
	library = stack_of(&world, PATH(4, 5, 6, 7));
	assert_string_equal(chain_of(profile, deep, SIZE_MAX), whole);
	assert_string_equal(chain_of(profile, deep, strlen(whole)), whole);
	assert_string_equal(chain_of(profile, deep, strlen(whole) - 1),
			    "malloc < .. < printf < b < a < main");
	assert_string_equal(chain_of(profile, deep, 0), "malloc < .. < printf < b < a < ..");
	assert_string_equal(chain_of(profile, plain, 28), "c < b < a < c < b < a < main");
	assert_string_equal(chain_of(profile, plain, 27), "c < b < a < c < b < a < ..");
	assert_string_equal(chain_of(profile, plain, 22), "c < b < a < c < b < ..");
	assert_string_equal(chain_of(profile, plain, 0), "c < b < a < c < ..");
	assert_string_equal(chain_of(profile, library, 10), "malloc < .. < printf");
	assert_string_equal(chain_of(profile, CTX_TRIE_ROOT, 10), "");
	assert_string_equal(chain_of(profile, 100000, 10), "");
	ctx_trie_deinit(&world.profile.cct);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_fixture(test_report_traced__prints_every_report_in_every_format),
		with_fixture(test_report_traced__locks_with_their_holders_and_cycles),
		with_fixture(test_report_traced__locks_of_two_processes_may_have_one_address),
		with_fixture(test_report_traced__function_limit_and_order_options),
		with_fixture(test_report_traced__the_peak_is_that_of_the_slow_way),
		with_fixture(test_report_traced__memory_ends_with_its_process),
		with_fixture(test_report_traced__one_allocation_is_one),
		with_fixture(test_report_traced__mappings_are_taken_in_parts_and_several_at_once),
		with_fixture(test_report_traced__processes_have_addresses_of_their_own),
		with_fixture(test_report_traced__unselected_allocations_end_old_blocks),
		with_fixture(test_report_traced__tables_sum_up_to_the_total),
		with_fixture(test_report_traced__empty_and_hostile_operations_are_valid_reports),
		with_fixture(test_report_traced__unrecorded_operations_are_reported),
		cmocka_unit_test(test_wait_chain__shows_functions_that_fit),
		with_fixture(test_report_traced__gprofngs_names_are_accepted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
