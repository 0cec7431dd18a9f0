/*
 * Kept stacks: what goes in comes out by time, with the numbers of processes and threads; damage,
 * failing memory and a full disk.
 */
#include "experiment_fixture.h"

#include "formats/experiment/exp_keep.h"
#include "formats/experiment/exp_kept.h"
#include "tests/unit/every.h"
#include "tests/unit/failing_malloc.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#define STACK_MAX 3000u

struct kept {
	uint64_t time_ns; /* relative */
	uint32_t process, thread;
	struct ctx_user_regs regs;
	size_t stack_bytes;
	uint8_t first; /* byte i of the stack is first + i * i / 7 */
};

struct kept_list {
	struct kept items[4000];
	size_t n;
	uint64_t damaged;
};

static uint8_t byte_of(const struct kept *kept, size_t i)
{
	return (uint8_t)(kept->first + i * i / 7);
}

static struct kept draw(uint64_t *seed, uint64_t now_ns, size_t max_stack)
{
	struct kept kept = {.time_ns = now_ns,
			    .stack_bytes =
				    fixture_random(seed, 4) == 0 ? 0 : fixture_random(seed, max_stack + 1),
			    .first = (uint8_t)fixture_random(seed, 256)};

	kept.regs.machine = fixture_random(seed, 2) != 0 ? CTX_MACHINE_X86_64 : CTX_MACHINE_AARCH64;
	for (unsigned i = 0; i < CTX_USER_REGS_MAX; i++) {
		if (fixture_random(seed, 5) == 0)
			continue;
		kept.regs.valid |= UINT64_C(1) << i;
		kept.regs.value[i] = fixture_random(seed, UINT64_MAX) << fixture_random(seed, 25);
	}
	return kept;
}

static enum ctx_status keep(struct ctx_exp_writer *writer, const struct kept *kept)
{
	struct ctx_exp_sample sample = {.time_ns = FIXTURE_START_NS + kept->time_ns,
					.process = kept->process,
					.thread = kept->thread};
	uint8_t stack[STACK_MAX + 1];
	struct ctx_user_state state = {.regs = kept->regs, .stack = stack, .stack_bytes = kept->stack_bytes};

	for (size_t i = 0; i < kept->stack_bytes; i++)
		stack[i] = byte_of(kept, i);
	return ctx_exp_keep_stack(writer, &sample, &state, NULL);
}

/*
 * Before its process and thread are known a stack is one of pid -1: so all events are read first.
 */
static enum ctx_status read_kept(const char *path, struct kept_list *out)
{
	struct ctx_event_source *source;
	struct ctx_exp_kept *stacks = NULL;
	struct ctx_exp_kept_sample sample;
	struct ctx_event event;
	enum ctx_status status = ctx_exp_open(path, &source, NULL);

	out->n = 0;
	out->damaged = 0;
	if (status != CTX_OK)
		return status;
	while ((status = source->next(source, &event, NULL)) == CTX_OK)
		;
	if (status == CTX_END)
		status = ctx_exp_kept_open(source, &stacks, NULL);
	while (status == CTX_OK && (status = ctx_exp_kept_next(stacks, &sample, NULL)) == CTX_OK) {
		struct kept *kept = &out->items[out->n++];

		assert_true(out->n < CTX_COUNT_OF(out->items));
		*kept = (struct kept){.time_ns = sample.time_ns,
				      .process = sample.process,
				      .thread = sample.thread,
				      .regs = sample.state.regs,
				      .stack_bytes = sample.state.stack_bytes,
				      .first = sample.state.stack_bytes != 0 ? sample.state.stack[0] : 0};
		assert_int_equal(sample.pid, 1000 + (int64_t)sample.process);
		assert_int_equal(sample.tid, 50000 + (int64_t)sample.thread);
		for (size_t i = 0; i < kept->stack_bytes; i++)
			assert_int_equal(sample.state.stack[i], byte_of(kept, i));
	}
	if (stacks != NULL)
		out->damaged = ctx_exp_kept_damaged(stacks);
	ctx_exp_kept_close(stacks);
	source->close(source);
	return status == CTX_END ? CTX_OK : status;
}

static bool is_same(const struct kept *a, const struct kept *b)
{
	if (a->time_ns != b->time_ns || a->process != b->process || a->thread != b->thread ||
	    a->regs.machine != b->regs.machine || a->regs.valid != b->regs.valid ||
	    a->stack_bytes != b->stack_bytes || (a->stack_bytes != 0 && a->first != b->first))
		return false;
	for (unsigned i = 0; i < CTX_USER_REGS_MAX; i++) {
		if ((a->regs.valid >> i & 1) != 0 && a->regs.value[i] != b->regs.value[i])
			return false;
	}
	return true;
}

/* All that came out went in, in this order; returns how many are missing. Times differ. */
static size_t missing(const struct kept_list *in, const struct kept_list *out)
{
	size_t at = 0;

	for (size_t i = 0; i < out->n; i++) {
		while (at < in->n && !is_same(&in->items[at], &out->items[i]))
			at++;
		assert_true(at < in->n);
		at++;
	}
	return in->n - out->n;
}

static const uint32_t process_of[] = {0, 1, 2, 0, 2}; /* by thread */

static enum ctx_status begin(struct ctx_exp_writer *writer)
{
	enum ctx_status status = CTX_OK;
	uint32_t number;

	for (uint32_t i = 0; i < 3 && status == CTX_OK; i++) {
		struct ctx_exp_process process = {i == 0 ? CTX_EXP_ROOT_PROCESS : CTX_EXP_FORK,
						  i == 0 ? CTX_NONE : 0,
						  1000 + i,
						  "app",
						  FIXTURE_START_NS,
						  NULL,
						  0};

		status = ctx_exp_process_start(writer, &process, &number, NULL);
	}
	for (uint32_t i = 0; i < CTX_COUNT_OF(process_of) && status == CTX_OK; i++)
		status = ctx_exp_thread_start(
			writer, &(struct ctx_exp_thread){process_of[i], 50000 + i, "t", FIXTURE_START_NS, 0},
			&number, NULL);
	return status;
}

/* A block of each process now and then. Nothing but the writer asks for memory. */
static enum ctx_status record(const char *path, size_t n, size_t max_stack, size_t tick_each,
			      struct kept_list *in)
{
	struct ctx_exp_options options = fixture_options(path);
	struct ctx_exp_writer *writer;
	uint64_t seed = 5, now_ns = 1000;
	enum ctx_status status, closed;

	options.overwrite = true;
	in->n = 0;
	status = ctx_exp_create(&options, &writer, NULL);
	if (status != CTX_OK)
		return status;
	status = begin(writer);
	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		struct kept *kept = &in->items[in->n];

		now_ns += 1 + fixture_random(&seed, 3000000);
		*kept = draw(&seed, now_ns, max_stack);
		kept->thread = (uint32_t)fixture_random(&seed, 5);
		kept->process = process_of[kept->thread];
		status = keep(writer, kept);
		in->n += status == CTX_OK;
		if (status == CTX_OK && i % tick_each == tick_each - 1)
			status = ctx_exp_tick(writer, FIXTURE_START_NS + now_ns + 2000000000, NULL);
	}
	closed = ctx_exp_close(writer, FIXTURE_START_NS + now_ns, NULL);
	return status == CTX_OK ? closed : status;
}

struct place {
	char *directory, *path;
	struct kept_list *in, *out;
};

static struct place make_place(void)
{
	struct place place = {.directory = fixture_directory()};

	place.path = ctx_path_join(place.directory, "run.er");
	place.in = calloc(1, sizeof(*place.in));
	place.out = calloc(1, sizeof(*place.out));
	assert_non_null(place.in);
	assert_non_null(place.out);
	return place;
}

static void remove_place(struct place *place)
{
	free(place->path);
	fixture_remove(place->directory);
	free(place->in);
	free(place->out);
}

static void test_experiment_kept__stacks_of_all_processes_come_back_by_time(void **state)
{
	struct place place = make_place();

	(void)state;
	/* Large stacks fill a buffer, small ones wait for the tick. */
	for (int round = 0; round < 3; round++) {
		assert_int_equal(record(place.path, 1500, round == 0 ? STACK_MAX : 40,
					round == 2 ? 10000 : 100, place.in),
				 CTX_OK);
		assert_int_equal(place.in->n, 1500);
		assert_int_equal(read_kept(place.path, place.out), CTX_OK);
		assert_int_equal(missing(place.in, place.out), 0);
		assert_int_equal(place.out->damaged, 0);
	}
	remove_place(&place);
}

static void test_experiment_kept__none_come_from_a_recording_without_them(void **state)
{
	struct ctx_event_source strange = {0};
	struct ctx_exp_kept *stacks;
	struct place place = make_place();

	(void)state;
	assert_int_equal(record(place.path, 0, 0, 1, place.in), CTX_OK);
	assert_int_equal(read_kept(place.path, place.out), CTX_OK);
	assert_int_equal(place.out->n, 0);
	assert_int_equal(ctx_exp_kept_open(&strange, &stacks, NULL), CTX_E_ARG);
	remove_place(&place);
}

static void put_bytes(const char *file, const struct ctx_buf *bytes, size_t n)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes->bytes, n), (ssize_t)n);
	assert_int_equal(ftruncate(fd, (off_t)n), 0);
	close(fd);
}

static size_t count_blocks(const struct ctx_buf *file)
{
	size_t n = 0;

	for (size_t at = 16; at + 64 <= file->n; at++)
		n += memcmp(file->bytes + at, CTX_EXP_BLOCK_MAGIC, 4) == 0;
	return n;
}

/* Every changed byte, and every length: the blocks that are whole are read. */
static void test_experiment_kept__damage_costs_one_block(void **state)
{
	struct place place = make_place();
	struct ctx_buf whole = {0};
	size_t n_blocks, largest = 0;
	char *file;

	(void)state;
	assert_int_equal(record(place.path, 24, 20, 5, place.in), CTX_OK);
	file = ctx_path_join(place.path, "stacks");
	assert_int_equal(ctx_file_read(file, 1 << 20, &whole, NULL), CTX_OK);
	n_blocks = count_blocks(&whole);
	assert_true(n_blocks >= 4);
	for (size_t at = 16; at < whole.n; at += EVERY) {
		size_t lost;

		whole.bytes[at] ^= 0x10;
		put_bytes(file, &whole, whole.n);
		whole.bytes[at] ^= 0x10;
		assert_int_equal(read_kept(place.path, place.out), CTX_OK);
		lost = missing(place.in, place.out);
		assert_in_range(lost, 0, 5);
		largest = lost > largest ? lost : largest;
	}
	assert_true(largest > 0);
	for (size_t n = 0; n < whole.n; n += EVERY) {
		put_bytes(file, &whole, n);
		assert_int_equal(read_kept(place.path, place.out), CTX_OK);
		missing(place.in, place.out);
		assert_true(place.out->n < place.in->n);
	}
	ctx_buf_deinit(&whole);
	free(file);
	remove_place(&place);
}

/*
 * A block whose checksums are right and whose records are not: those before the bad one are read.
 */
static void test_experiment_kept__records_that_lie_end_their_block(void **state)
{
	static const size_t n_records = 4;
	struct kept kept = {.time_ns = 5, .regs = {.machine = CTX_MACHINE_X86_64}, .stack_bytes = 24};
	struct ctx_exp_kept_record record = {
		.time_ns = 5,
		.state = {.regs = kept.regs, .stack = (const uint8_t[24]){0}, .stack_bytes = 24}};
	struct ctx_exp_kept_record back;
	struct ctx_buf payload = {0};
	struct ctx_cursor cursor;
	size_t first;

	(void)state;
	for (size_t i = 0; i < n_records; i++)
		ctx_exp_put_kept(&payload, i == 0 ? 0 : 5, &record);
	first = payload.n / n_records;
	for (size_t n = 0; n <= payload.n; n++) {
		uint8_t *exact = malloc(n + 1);
		enum ctx_status status;
		size_t read = 0;

		assert_non_null(exact);
		memcpy(exact, payload.bytes, n);
		cursor = ctx_cursor_make(exact, n);
		while ((status = ctx_exp_get_kept(&cursor, read == 0 ? 0 : 5, &back, NULL)) == CTX_OK)
			read++;
		assert_int_equal(read, n / first);
		assert_int_equal(status, n % first == 0 ? CTX_END : CTX_E_FORMAT);
		free(exact);
	}
	payload.bytes[2] = 9; /* no such machine */
	cursor = ctx_cursor_make(payload.bytes, payload.n);
	assert_int_equal(ctx_exp_get_kept(&cursor, 0, &back, NULL), CTX_E_FORMAT);
	ctx_buf_deinit(&payload);
}

static void test_experiment_kept__a_failing_allocation_is_a_status(void **state)
{
	struct place place = make_place();
	enum ctx_status status = CTX_E_NOMEM;
	uint32_t failures = 0;

	(void)state;
	for (long n = 0; n < 100000; n++) {
		fail_after = n;
		status = record(place.path, 60, 20, 12, place.in);
		if (fail_after >= 0)
			break;
		failures += status == CTX_E_NOMEM;
		if (status == CTX_OK) {
			assert_int_equal(read_kept(place.path, place.out), CTX_OK);
			assert_int_equal(missing(place.in, place.out), 0);
		}
	}
	fail_after = -1;
	assert_int_equal(status, CTX_OK);
	assert_true(failures > 30);
	failures = 0;
	for (long n = 0; n < 100000; n++) {
		fail_after = n;
		status = read_kept(place.path, place.out);
		if (fail_after >= 0)
			break;
		failures += status == CTX_E_NOMEM;
		missing(place.in, place.out);
	}
	fail_after = -1;
	assert_int_equal(status, CTX_OK);
	assert_int_equal(missing(place.in, place.out), 0);
	assert_true(failures > 20);
	remove_place(&place);
}

static void test_experiment_kept__a_full_disk_leaves_a_readable_prefix(void **state)
{
	struct place place = make_place();
	struct rlimit before, small;
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
	enum ctx_status status;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = 20000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	status = record(place.path, 3000, 200, 20, place.in);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, handler);
	assert_int_equal(status, CTX_E_IO);
	assert_int_equal(read_kept(place.path, place.out), CTX_OK);
	assert_int_equal(place.out->damaged, 0);
	missing(place.in, place.out);
	assert_true(place.out->n >= 20);
	remove_place(&place);
}

static void test_experiment_kept__wrong_arguments_are_refused(void **state)
{
	struct place place = make_place();
	struct ctx_exp_options options = fixture_options(place.path);
	struct fixture_recording recording = {.seed = 1};
	struct ctx_exp_sample sample = {.time_ns = FIXTURE_START_NS + 2000};
	struct ctx_user_state user = {.regs = {.machine = CTX_MACHINE_X86_64}};

	(void)state;
	fixture_begin(&recording, &options);
	assert_int_equal(ctx_exp_keep_stack(recording.writer, &sample, &user, NULL), CTX_OK);
	user.stack_bytes = UINT16_MAX + 1;
	assert_int_equal(ctx_exp_keep_stack(recording.writer, &sample, &user, NULL), CTX_E_ARG);
	user.stack_bytes = 0;
	sample.thread = 1;
	assert_int_equal(ctx_exp_keep_stack(recording.writer, &sample, &user, NULL), CTX_E_ARG);
	sample.thread = 0;
	sample.process = 1;
	assert_int_equal(ctx_exp_keep_stack(recording.writer, &sample, &user, NULL), CTX_E_ARG);
	fixture_close(&recording);
	fixture_contents_deinit(&recording.in);
	assert_int_equal(read_kept(place.path, place.out), CTX_OK);
	assert_int_equal(place.out->n, 1);
	remove_place(&place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_experiment_kept__stacks_of_all_processes_come_back_by_time),
		cmocka_unit_test(test_experiment_kept__none_come_from_a_recording_without_them),
		cmocka_unit_test(test_experiment_kept__damage_costs_one_block),
		cmocka_unit_test(test_experiment_kept__records_that_lie_end_their_block),
		cmocka_unit_test(test_experiment_kept__a_failing_allocation_is_a_status),
		cmocka_unit_test(test_experiment_kept__a_full_disk_leaves_a_readable_prefix),
		cmocka_unit_test(test_experiment_kept__wrong_arguments_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
