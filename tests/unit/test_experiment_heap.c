/* Heap operations of an experiment: written, read, damaged; which of them are leaks. */
#include "traced_fixture.h"

#include "base/fileio.h"
#include "formats/experiment/exp_heap_code.h"
#include "formats/experiment/exp_index.h"
#include "formats/experiment/exp_reader_state.h"
#include "model/heap_leaks.h"

#include <stdlib.h>

#define THREADS 4u
#define STEPS 9000u
#define ADDRESSES 300u

struct operation {
	struct ctx_exp_heap put;
	uint64_t frames[6];
	int64_t frees;	  /* the operation whose allocation ends with it; -1: none */
	uint64_t time_ns; /* as it is to come back */
	bool is_leaked;
};

#define TICK_NS 16384u /* times are as fine, or finer */

struct run {
	struct operation *operations; /* in the order in which they happened */
	size_t n;
	uint32_t processes[2], threads[THREADS]; /* numbers; the last two threads are of the second process */
	struct ctx_exp_writer *writer;
};

static void begin(struct run *run, const char *path)
{
	struct ctx_exp_options options = fixture_options(path);

	options.has_heap = true;
	options.memory_bytes = (size_t)1 << 30;
	assert_int_equal(ctx_exp_create(&options, &run->writer, NULL), CTX_OK);
	for (uint32_t i = 0; i < 2; i++) {
		struct ctx_exp_process process = {.origin = i == 0 ? CTX_EXP_ROOT_PROCESS : CTX_EXP_FORK,
						  .parent = i == 0 ? CTX_NONE : run->processes[0],
						  .pid = 100 + i,
						  .command = "c",
						  .time_ns = FIXTURE_START_NS};

		assert_int_equal(ctx_exp_process_start(run->writer, &process, &run->processes[i], NULL),
				 CTX_OK);
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		struct ctx_exp_thread thread = {.process = run->processes[i / 2],
						.tid = 100 + i,
						.name = "t",
						.time_ns = FIXTURE_START_NS};

		assert_int_equal(ctx_exp_thread_start(run->writer, &thread, &run->threads[i], NULL), CTX_OK);
	}
}

/* A sequence that is right by itself: what is live can be freed. Some times are late: of an interrupted thread. */
static void make_operations(struct run *run, uint64_t seed)
{
	int64_t live[2][ADDRESSES];
	uint64_t last_ns[2] = {0};

	memset(live, -1, sizeof(live));
	run->operations = calloc(STEPS, sizeof(*run->operations));
	assert_non_null(run->operations);
	for (run->n = 0; run->n < STEPS; run->n++) {
		struct operation *operation = &run->operations[run->n];
		uint32_t thread = (uint32_t)random_below(&seed, THREADS), which = thread / 2;
		uint64_t address = random_below(&seed, ADDRESSES), other = random_below(&seed, ADDRESSES);
		uint64_t late_ns = random_below(&seed, 30) == 0 ? 500 : 0;
		int64_t *at = &live[which][address];

		operation->put =
			(struct ctx_exp_heap){.time_ns = FIXTURE_START_NS + 1000 + run->n * 7 - late_ns,
					      .process = run->processes[which],
					      .thread = run->threads[thread],
					      .address = (address + 64) * 4096,
					      .frames = operation->frames};
		operation->frees = *at;
		operation->time_ns = operation->put.time_ns - FIXTURE_START_NS;
		if (operation->time_ns < last_ns[which])
			operation->time_ns = last_ns[which];
		last_ns[which] = operation->time_ns;
		if (*at >= 0 && random_below(&seed, 2) == 0) {
			operation->put.operation = CTX_HEAP_FREE;
			*at = -1;
			continue;
		}
		operation->put.size = random_below(&seed, 5) == 0 ? 0 : random_below(&seed, 100000);
		operation->put.n_frames = 1 + random_below(&seed, 5);
		for (size_t i = 0; i < operation->put.n_frames; i++)
			operation->frames[i] = 0x1000 + random_below(&seed, 9);
		operation->put.operation = CTX_HEAP_ALLOCATE;
		if (*at >= 0) { /* move it, resize it, or free it in this way */
			other = live[which][other] < 0 ? other : address;
			operation->put.operation = CTX_HEAP_REALLOCATE;
			operation->put.old_address = operation->put.address;
			operation->put.address = (other + 64) * 4096;
			*at = -1;
			at = &live[which][other];
			if (random_below(&seed, 9) == 0) {
				operation->put.address = operation->put.size = 0;
				continue;
			}
		}
		*at = (int64_t)run->n;
	}
	for (size_t i = 0; i < 2 * ADDRESSES; i++) {
		if (live[i / ADDRESSES][i % ADDRESSES] >= 0)
			run->operations[live[i / ADDRESSES][i % ADDRESSES]].is_leaked = true;
	}
}

/* `every`: so many operations make a block, about; 0: they fill blocks. */
static void write_operations(struct run *run, size_t every)
{
	for (size_t i = 0; i < run->n; i++) {
		assert_int_equal(ctx_exp_heap(run->writer, &run->operations[i].put, NULL), CTX_OK);
		if (every != 0 && i % every == every - 1)
			assert_int_equal(ctx_exp_tick(run->writer, FIXTURE_START_NS + 2000000000 + i, NULL),
					 CTX_OK);
	}
	assert_int_equal(ctx_exp_close(run->writer, FIXTURE_START_NS + 3000000000, NULL), CTX_OK);
}

struct reading {
	uint64_t n, n_damages, allocated, leaked, n_allocations, n_leaks;
	uint64_t samples[2], n_samples[2]; /* of the two metrics */
	size_t at[2];			   /* by process: the next operation, where none is missing */
	struct {
		uint64_t address;
		int64_t by;
	} live[2][ADDRESSES]; /* what stands for an address, and the operation that allocated it */
	bool is_whole;
};

/* The operation is that of which it says that it frees it. */
static int64_t take_live(struct reading *reading, uint32_t which, uint64_t address, int64_t by)
{
	int64_t old = -1;
	size_t i = 0;

	while (i < ADDRESSES - 1 && reading->live[which][i].address != address)
		i++;
	if (reading->live[which][i].address == address) {
		old = reading->live[which][i].by;
		reading->live[which][i].address = 0;
	}
	if (by < 0)
		return old;
	for (i = 0; reading->live[which][i].address != 0;)
		assert_in_range(++i, 1, ADDRESSES - 1);
	reading->live[which][i].address = address;
	reading->live[which][i].by = by;
	return old;
}

static void check_whole(struct run *run, const struct ctx_event *event, struct reading *reading, size_t i)
{
	const struct ctx_traced *got = event->traced.operation;
	const struct operation *wanted = &run->operations[i];
	uint32_t which = wanted->put.process == run->processes[1];

	if (got->operation == CTX_HEAP_FREE)
		assert_int_equal(take_live(reading, which, got->address, -1), wanted->frees);
	if (got->operation == CTX_HEAP_REALLOCATE)
		assert_int_equal(take_live(reading, which, got->old_address, -1), wanted->frees);
	if (ctx_traced_is_allocation(got))
		assert_int_equal(take_live(reading, which, got->address, (int64_t)i), -1);
	assert_int_equal(got->leaked, wanted->is_leaked);
	assert_in_range(wanted->time_ns - event->time_ns, 0, TICK_NS - 1);
}

/* Operations of one process come in their order. */
static void check_operation(struct run *run, const struct ctx_event *event, struct reading *reading)
{
	const struct ctx_traced *got = event->traced.operation;
	size_t *at = &reading->at[event->process != 0];
	const struct operation *wanted;

	while ((run->operations[*at].put.process == run->processes[1]) != (event->process != 0))
		assert_in_range(++*at, 1, run->n - 1);
	wanted = &run->operations[*at];
	assert_int_equal(got->kind, CTX_TRACED_HEAP);
	if (reading->is_whole) {
		assert_int_equal(got->operation, wanted->put.operation);
		assert_int_equal(got->size, wanted->put.size);
		assert_int_equal(got->address != 0, wanted->put.address != 0);
		assert_true(got->address <= CTX_EXP_HEAP_MAX || got->address == wanted->put.address);
		assert_true(got->old_address <= CTX_EXP_HEAP_MAX ||
			    got->old_address == wanted->put.old_address);
		assert_int_equal(event->traced.stack.id != 0, wanted->put.n_frames != 0);
		check_whole(run, event, reading, *at);
	}
	++*at;
	reading->n++;
	if (ctx_traced_is_allocation(got)) {
		reading->n_allocations++;
		reading->allocated += got->size;
	}
	if (got->leaked) {
		reading->n_leaks++;
		reading->leaked += got->leaked_size;
	}
}

static void read_back(struct run *run, const char *path, bool is_whole, struct reading *reading)
{
	struct ctx_event_source *source;
	struct ctx_event event;
	enum ctx_status status;
	uint32_t n = CTX_COUNT_OF(FIXTURE_METRICS);

	*reading = (struct reading){.is_whole = is_whole};
	assert_int_equal(ctx_exp_open(path, &source, NULL), CTX_OK);
	assert_int_equal(source->info.n_metrics, n + 4);
	assert_string_equal(source->info.metrics[n].word, "heapallocbytes");
	assert_int_equal(source->info.metrics[n + 3].of, n + 2);
	while ((status = source->next(source, &event, NULL)) == CTX_OK) {
		if (event.kind == CTX_EV_TRACED) {
			check_operation(run, &event, reading);
		} else if (event.kind == CTX_EV_SAMPLE) {
			uint32_t which = (event.sample.metric - n) / 2;

			assert_in_range(event.sample.metric, n, n + 2);
			reading->samples[which] += event.sample.weight;
			reading->n_samples[which]++;
		}
		reading->n_damages += event.kind == CTX_EV_DAMAGE;
	}
	assert_int_equal(status, CTX_END);
	source->close(source);
	/* The metrics say the same as the operations. */
	assert_int_equal(reading->samples[0], reading->allocated);
	assert_int_equal(reading->samples[1], reading->leaked);
	assert_int_equal(reading->n_samples[0], reading->n_allocations);
	assert_int_equal(reading->n_samples[1], reading->n_leaks);
}

static void test_experiment_heap__operations_of_several_threads_come_back_with_their_leaks(void **state)
{
	static const size_t bursts[] = {1, 50, 5000, 0};
	struct place *place = *state;

	for (size_t i = 0; i < CTX_COUNT_OF(bursts); i++) {
		struct reading reading;
		struct run run = {0};

		begin(&run, place->path);
		make_operations(&run, i + 1);
		write_operations(&run, bursts[i]);
		read_back(&run, place->path, true, &reading);
		assert_int_equal(reading.n, STEPS);
		assert_int_equal(reading.n_damages, 0);
		free(run.operations);
		assert_int_equal(ctx_dir_remove(place->path, NULL), CTX_OK);
	}
}

/* Allocations in one block that is read as it is, and such as would be too large for a block: stacks, sizes, times. */
static void write_many(const char *path, uint64_t n, uint64_t unlike)
{
	struct run run = {0};

	begin(&run, path);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t frames[] = {0x1000 + i % 7 + unlike * i};
		struct ctx_exp_heap heap = {.time_ns = FIXTURE_START_NS + 1000 + i * (1 + unlike * 20000),
					    .process = run.processes[0],
					    .thread = run.threads[unlike * i % 2],
					    .operation = CTX_HEAP_ALLOCATE,
					    .size = 1 + unlike * (CTX_TRACED_WEIGHT_MAX / 2 - i),
					    .address = unlike != 0 ? (i * 7919 + 4096) << 40
								   : 0x1000000 + i * 16,
					    .frames = frames,
					    .n_frames = 1};

		assert_int_equal(ctx_exp_heap(run.writer, &heap, NULL), CTX_OK);
	}
	assert_int_equal(ctx_exp_close(run.writer, FIXTURE_START_NS + n * 30000, NULL), CTX_OK);
}

/* *ret_blocks: of the large kind, and others. */
static void count_heap_blocks(const char *path, uint32_t ret_blocks[2])
{
	char *name = ctx_path_join(path, "heaptrace");
	struct ctx_exp_block_file file = {.fd = open(name, O_RDONLY | O_CLOEXEC)};
	off_t size = lseek(file.fd, 0, SEEK_END);

	ret_blocks[0] = ret_blocks[1] = 0;
	for (uint64_t offset = CTX_EXP_FILE_HEADER_BYTES; offset < (uint64_t)size;) {
		struct ctx_exp_block_header header;

		assert_int_equal(ctx_exp_read_block(&file, name, offset, &header, NULL), CTX_OK);
		offset += header.header_bytes + (uint64_t)header.frame_bytes;
		ret_blocks[header.kind != CTX_EXP_BLOCK_LARGE_HEAP]++;
	}
	close(file.fd);
	ctx_compressor_deinit(&file.compressor);
	ctx_buf_deinit(&file.scratch);
	ctx_buf_deinit(&file.payload);
	free(name);
}

static void test_experiment_heap__many_operations_are_a_block_unless_it_were_too_large(void **state)
{
	struct place *place = *state;

	for (uint64_t unlike = 0; unlike < 2; unlike++) {
		struct ctx_event_source *source;
		struct ctx_event event;
		uint64_t n = 0, bytes = 0, wanted = 0;
		uint32_t blocks[2];

		write_many(place->path, CTX_EXP_HEAP_MAX, unlike);
		for (uint64_t i = 0; i < CTX_EXP_HEAP_MAX; i++)
			wanted += 1 + unlike * (CTX_TRACED_WEIGHT_MAX / 2 - i);
		assert_int_equal(ctx_exp_open(place->path, &source, NULL), CTX_OK);
		while (source->next(source, &event, NULL) == CTX_OK) {
			assert_int_not_equal(event.kind, CTX_EV_DAMAGE);
			if (event.kind != CTX_EV_TRACED)
				continue;
			n++;
			bytes += event.traced.operation->size;
			assert_true(event.traced.operation->leaked);
		}
		source->close(source);
		assert_int_equal(n, CTX_EXP_HEAP_MAX);
		assert_int_equal(bytes, wanted);
		count_heap_blocks(place->path, blocks);
		assert_int_equal(blocks[0], 1);
		assert_int_equal(blocks[1], unlike); /* 65535 of them, so that the others fit */
		assert_int_equal(ctx_dir_remove(place->path, NULL), CTX_OK);
	}
}

/* A loop that only allocates packs as well as any: what of it is followed is bounded by the size of the file. */
#ifndef CTX_SANITIZED /* four million operations */
static void test_experiment_heap__of_a_loop_that_leaks_the_first_blocks_are_followed(void **state)
{
	struct place *place = *state;
	struct ctx_event_source *source;
	struct ctx_event event = {0};

	write_many(place->path, CTX_EXP_HEAP_LIVE_ALWAYS + 2 * CTX_EXP_HEAP_MAX, 0);
	assert_int_equal(ctx_exp_open(place->path, &source, NULL), CTX_OK);
	while (event.kind != CTX_EV_DAMAGE)
		assert_int_equal(source->next(source, &event, NULL), CTX_OK);
	assert_non_null(strstr(event.text, "blocks of memory live at a time"));
	while (event.kind != CTX_EV_TRACED)
		assert_int_equal(source->next(source, &event, NULL), CTX_OK);
	assert_true(event.traced.operation->leaked);
	source->close(source);
}
#endif

static void test_experiment_heap__a_damaged_block_costs_its_operations(void **state)
{
	struct place *place = *state;
	struct reading reading;
	struct run run = {0};

	begin(&run, place->path);
	make_operations(&run, 7);
	write_operations(&run, 200);
	traced_damage(place->path, "heaptrace");
	read_back(&run, place->path, false, &reading);
	assert_int_equal(reading.n_damages, 1);
	assert_in_range(reading.n, STEPS - 200, STEPS - 1);
	free(run.operations);
}

static void test_experiment_heap__is_refused_where_none_was_announced(void **state)
{
	struct place *place = *state;
	struct ctx_exp_options options = fixture_options(place->path);
	struct ctx_exp_heap heap = {.operation = CTX_HEAP_FREE};
	struct ctx_exp_process process = {.origin = CTX_EXP_ROOT_PROCESS, .parent = CTX_NONE, .command = "c"};
	struct ctx_exp_thread thread = {.name = "t"};
	struct ctx_exp_writer *writer;

	assert_int_equal(ctx_exp_create(&options, &writer, NULL), CTX_OK);
	assert_int_equal(ctx_exp_process_start(writer, &process, &heap.process, NULL), CTX_OK);
	thread.process = heap.process;
	assert_int_equal(ctx_exp_thread_start(writer, &thread, &heap.thread, NULL), CTX_OK);
	assert_int_equal(ctx_exp_heap(writer, &heap, NULL), CTX_E_ARG);
	assert_int_equal(ctx_exp_close(writer, FIXTURE_START_NS + 1, NULL), CTX_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		place_test(test_experiment_heap__operations_of_several_threads_come_back_with_their_leaks),
		place_test(test_experiment_heap__many_operations_are_a_block_unless_it_were_too_large),
#ifndef CTX_SANITIZED
		place_test(test_experiment_heap__of_a_loop_that_leaks_the_first_blocks_are_followed),
#endif
		place_test(test_experiment_heap__a_damaged_block_costs_its_operations),
		place_test(test_experiment_heap__is_refused_where_none_was_announced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
