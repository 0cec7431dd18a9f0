/*
 * Thread states: from the bytes of perf's records to the changes in an experiment.
 */
#include "collect/recargs.h"
#include "collect/state_records.h"
#include "collect/tracepoint.h"
#include "experiment_fixture.h"
#include "tests/unit/failing_malloc.h"

#include <stdlib.h>

#define P 5000000u /* above pid_max: nothing in /proc has it */

/* --- tracepoints --- */

static const char SWITCH_FORMAT[] = "name: sched_switch\nID: 372\nformat:\n"
				    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
				    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
				    "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
				    "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
				    "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
				    "\nprint fmt: \"prev_pid=%d\", REC->prev_pid\n";

static const char WAKING_FORMAT[] = "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
				    "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n";

static void write_text(const char *directory, const char *name, const char *text)
{
	char *path = ctx_path_join(directory, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	free(path);
}

/* A tracefs of our own. */
static char *make_tracefs(void)
{
	static const char *const parts[] = {"events", "events/sched", "events/sched/sched_switch",
					    "events/sched/sched_waking"};
	char *root = fixture_directory();

	for (size_t i = 0; i < CTX_COUNT_OF(parts); i++) {
		char *path = ctx_path_join(root, parts[i]);

		assert_int_equal(mkdir(path, 0700), 0);
		free(path);
	}
	write_text(root, "events/sched/sched_switch/id", "372\n");
	write_text(root, "events/sched/sched_switch/format", SWITCH_FORMAT);
	write_text(root, "events/sched/sched_waking/id", "375\n");
	write_text(root, "events/sched/sched_waking/format", WAKING_FORMAT);
	return root;
}

static void test_tracepoint__is_read_from_tracefs(void **state)
{
	char *root = make_tracefs();
	struct ctx_tracepoint tracepoint;
	struct ctx_err err = {0};
	uint64_t id = 0;

	(void)state;
	assert_int_equal(ctx_tracepoint_read(root, "sched/sched_switch", &tracepoint, NULL), CTX_OK);
	assert_int_equal(tracepoint.id, 372);
	assert_int_equal(ctx_tracepoint_id(root, "sched/sched_switch", &id, NULL), CTX_OK);
	assert_int_equal(id, 372);
	assert_string_equal(tracepoint.format, SWITCH_FORMAT);
	ctx_tracepoint_deinit(&tracepoint);
	assert_int_equal(ctx_tracepoint_read(root, "sched/none", &tracepoint, NULL), CTX_E_NOTFOUND);
	assert_int_equal(ctx_tracepoint_read("/no/such", "sched/sched_switch", &tracepoint, &err),
			 CTX_E_PERM);
	assert_non_null(strstr(err.msg, "not mounted or not readable"));
	write_text(root, "events/sched/sched_switch/id", "none\n");
	assert_int_equal(ctx_tracepoint_read(root, "sched/sched_switch", &tracepoint, NULL), CTX_E_FORMAT);
	fixture_remove(root);
}

/* --- levels --- */

static void test_state_events__forbidden_events_are_refused_if_requested_else_left_out(void **state)
{
	struct ctx_state_events_options options = {
		.asked = CTX_REC_STATES_FULL, .tracefs = "/no/such", .without_kernel = false};
	struct ctx_state_events events;
	struct ctx_err err = {0};

	(void)state;
	assert_int_equal(ctx_state_events_choose(&options, &events, &err), CTX_E_PERM);
	assert_non_null(strstr(err.msg, "--states full: "));
	assert_non_null(strstr(err.msg, "/no/such"));
	options.asked = CTX_REC_STATES_AUTO;
	assert_int_equal(ctx_state_events_choose(&options, &events, &err), CTX_OK);
	assert_int_equal(events.level, CTX_STATES_MIN);
	options.without_kernel = true;
	assert_int_equal(ctx_state_events_choose(&options, &events, &err), CTX_OK);
	assert_int_equal(events.level, CTX_STATES_SWITCHES);
	options.asked = CTX_REC_STATES_MIN;
	assert_int_equal(ctx_state_events_choose(&options, &events, &err), CTX_E_PERM);
	assert_non_null(strstr(err.msg, "--states min: "));
	options.asked = CTX_REC_STATES_FULL;
	assert_int_equal(ctx_state_events_choose(&options, &events, &err), CTX_E_PERM);
	options.asked = CTX_REC_STATES_OFF;
	assert_int_equal(ctx_state_events_choose(&options, &events, &err), CTX_OK);
	assert_int_equal(events.level, CTX_STATES_NONE);
	for (unsigned i = 0; i < CTX_STATE_EVENT_N; i++)
		assert_false(ctx_state_events_has(&events, (enum ctx_state_event)i));
}

/* A tracepoint costs each new task 10 us on each CPU: none may be inherited. */
static void test_state_events__tasks_inherit_no_tracepoint_and_what_only_they_have(void **state)
{
	const struct ctx_state_events of_threads = {.level = CTX_STATES_FULL},
				      of_all = {.level = CTX_STATES_FULL, .has_switch = true},
				      min = {.level = CTX_STATES_MIN};
	unsigned tracepoints = 0, events = 0;

	(void)state;
	for (unsigned i = 0; i < CTX_STATE_EVENT_N; i++) {
		enum ctx_state_event event = (enum ctx_state_event)i;
		struct perf_event_attr attr = ctx_state_event_attr(&of_threads, event, 0, 0);

		if (!ctx_state_events_has(&of_threads, event) ||
		    ctx_state_event_is_of_cpu(&of_threads, event))
			continue;
		events++;
		tracepoints += attr.type == PERF_TYPE_TRACEPOINT;
	}
	assert_int_equal(events, 1);
	assert_int_equal(tracepoints, 0);
	assert_true(ctx_state_events_has(&of_threads, CTX_STATE_EVENT_LEAVES));
	assert_true(ctx_state_events_has(&of_threads, CTX_STATE_EVENT_FAULT));
	assert_true(ctx_state_events_has(&of_all, CTX_STATE_EVENT_SWITCH));
	assert_false(ctx_state_events_has(&of_all, CTX_STATE_EVENT_LEAVES));
	/* What an ordinary user may not watch on a whole CPU is each thread's own. */
	assert_false(ctx_state_event_is_of_cpu(&min, CTX_STATE_EVENT_FAULT));
}

static void test_recargs__states_are_one_of_four(void **state)
{
	static const char *const words[] = {"auto", "full", "min", "off"};
	struct ctx_rec_options options;
	struct ctx_err err = {0};

	(void)state;
	for (int i = 0; i < 4; i++) {
		char *argv[] = {"ctxrec", "--states", (char *)(uintptr_t)words[i], "true", NULL};

		assert_int_equal(ctx_rec_options_parse(4, argv, &options, NULL), CTX_OK);
		assert_int_equal(options.waits.states, i);
		ctx_rec_options_deinit(&options);
	}
	assert_int_equal(ctx_rec_options_parse(4, (char *[]){"ctxrec", "--states", "all", "true", NULL},
					       &options, &err),
			 CTX_E_ARG);
	assert_non_null(strstr(err.msg, "--states 'all'"));
	ctx_rec_options_deinit(&options);
}

/* --- records --- */

struct bytes {
	uint64_t words[64];
	size_t n;
};

static void put(struct bytes *bytes, const void *from, size_t n)
{
	memcpy((char *)bytes->words + bytes->n, from, n);
	bytes->n += n;
}

static void put32(struct bytes *bytes, uint32_t value)
{
	put(bytes, &value, 4);
}

static void put64(struct bytes *bytes, uint64_t value)
{
	put(bytes, &value, 8);
}

static void begin(struct bytes *bytes, uint32_t type, uint16_t misc)
{
	*bytes = (struct bytes){0};
	put32(bytes, type);
	put(bytes, &misc, 2);
	put(bytes, "\0\0", 2);
}

static void set_size(struct bytes *bytes)
{
	memcpy((char *)bytes->words + 6, &(uint16_t){(uint16_t)bytes->n}, 2);
}

/* What sample_id_all puts behind everything. */
static void put_trailer(struct bytes *bytes, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	put32(bytes, pid);
	put32(bytes, tid);
	put64(bytes, time_ns);
	put64(bytes, 1);
	put64(bytes, 9);
	set_size(bytes);
}

struct layout {
	struct ctx_map64 ids;
	struct ctx_pe_layout layouts[CTX_STATE_EVENT_N];
	struct ctx_perf_layout layout;
};

static const struct ctx_state_events EVENTS = {.level = CTX_STATES_FULL,
					       .prev_pid = {24, 4, true},
					       .prev_state = {32, 8, true},
					       .prev_states = {.dead = 0x30, .stopped = 0x0c, .waits = 0xc3},
					       .common_pid = {4, 4, true},
					       .pid = {24, 4, true}};

/* State events alone: the event with id 10 + i is the i-th. */
static void layout_begin(struct layout *layout)
{
	struct perf_event_attr attr;

	*layout = (struct layout){0};
	for (uint32_t i = 0; i < CTX_STATE_EVENT_N; i++) {
		*ctx_map64_place(&layout->ids, 10 + i) = i;
		attr = ctx_state_event_attr(&EVENTS, (enum ctx_state_event)i, 0, 0);
		layout->layouts[i] = ctx_pe_layout_make(&attr, false);
	}
	layout->layout = (struct ctx_perf_layout){
		.event_of_id = &layout->ids, .events = layout->layouts, .n_events = CTX_STATE_EVENT_N};
}

/* A sample with one frame of the kernel, wake-ups with one of the program; `raw` 40 bytes for tracepoints. */
static void make_sample(struct bytes *bytes, enum ctx_state_event event, uint32_t pid, uint32_t tid,
			uint64_t time_ns, const uint8_t *raw)
{
	begin(bytes, PERF_RECORD_SAMPLE,
	      event == CTX_STATE_EVENT_FAULT ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL);
	put64(bytes, 10 + (uint64_t)event);
	put64(bytes, 0x401ffe);
	put32(bytes, pid);
	put32(bytes, tid);
	put64(bytes, time_ns);
	if (event == CTX_STATE_EVENT_FAULT)
		put64(bytes, 0x402000);
	put64(bytes, 1);
	put64(bytes, event == CTX_STATE_EVENT_WAKING ? 4 : 2);
	put64(bytes, PERF_CONTEXT_KERNEL);
	put64(bytes, UINT64_C(0xffffffff81000000) + event);
	if (event == CTX_STATE_EVENT_WAKING) {
		put64(bytes, PERF_CONTEXT_USER);
		put64(bytes, 0x402000);
	}
	if (raw != NULL) {
		put32(bytes, 44);
		put(bytes, raw, 40);
		put32(bytes, 0);
	}
	/* Registers of a thread without any. */
	if (ctx_state_event_has_stack(event))
		put64(bytes, 0);
	set_size(bytes);
}

static void make_fault(struct bytes *bytes, uint64_t id)
{
	begin(bytes, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put64(bytes, id);
	put64(bytes, 0x402000);
	put32(bytes, 7);
	put32(bytes, 9);
	put64(bytes, 123);
	put64(bytes, 0x402000);
	put64(bytes, 1);
	put64(bytes, 0);
	set_size(bytes);
}

static void make_switch(struct bytes *bytes, bool cpu_wide, uint16_t misc, uint32_t pid, uint32_t tid,
			uint64_t time_ns)
{
	begin(bytes, cpu_wide ? PERF_RECORD_SWITCH_CPU_WIDE : PERF_RECORD_SWITCH, misc);
	if (cpu_wide)
		put64(bytes, 0);
	put_trailer(bytes, pid, tid, time_ns);
}

/* From memory of exactly this size. */
static enum ctx_status parse_exact(const struct bytes *bytes, size_t n, const struct ctx_perf_layout *layout,
				   struct ctx_perf_record *record, uint64_t *ret_sum)
{
	uint8_t *exact = malloc(n);
	enum ctx_status status;

	assert_non_null(exact);
	memcpy(exact, bytes->words, n);
	if (n >= 8)
		memcpy(exact + 6, &(uint16_t){(uint16_t)n}, 2);
	status = ctx_perf_record_parse(exact, n, layout, record, NULL);
	if (status == CTX_OK && record->type == PERF_RECORD_SAMPLE) {
		for (size_t i = 0; i < record->sample.raw_bytes; i++)
			*ret_sum += record->sample.raw[i];
	}
	free(exact);
	return status;
}

static void test_perfrecord__parses_switches_and_tracepoints_and_refuses_truncated_ones(void **state)
{
	struct layout layout;
	struct ctx_perf_record record;
	struct bytes bytes;
	uint8_t raw[40];
	uint64_t sum = 0;

	(void)state;
	layout_begin(&layout);
	memset(raw, 3, sizeof(raw));
	make_sample(&bytes, CTX_STATE_EVENT_SWITCH, 5, 6, 77, raw);
	assert_int_equal(parse_exact(&bytes, bytes.n, &layout.layout, &record, &sum), CTX_OK);
	assert_int_equal(record.event, CTX_STATE_EVENT_SWITCH);
	assert_int_equal(record.sample.raw_bytes, 44);
	assert_int_equal(sum, 120);
	for (size_t n = 0; n < bytes.n; n++)
		assert_int_equal(parse_exact(&bytes, n, &layout.layout, &record, &sum), CTX_E_FORMAT);
	bytes.words[bytes.n / 8 - 7] |= UINT32_MAX; /* a size that is a lie */
	assert_int_equal(parse_exact(&bytes, bytes.n, &layout.layout, &record, &sum), CTX_E_FORMAT);
	make_sample(&bytes, CTX_STATE_EVENT_FAULT, 5, 6, 77, NULL);
	assert_int_equal(parse_exact(&bytes, bytes.n, &layout.layout, &record, &sum), CTX_OK);
	assert_int_equal(record.sample.address, 0x402000);
	assert_int_equal(record.cpu, 1);
	assert_int_equal(record.sample.n_chain, 2);
	make_switch(&bytes, true, PERF_RECORD_MISC_SWITCH_OUT, 5, 6, 78);
	assert_int_equal(parse_exact(&bytes, bytes.n, &layout.layout, &record, &sum), CTX_OK);
	assert_int_equal(record.tid, 6);
	assert_int_equal(record.time_ns, 78);
	assert_int_equal(record.misc, PERF_RECORD_MISC_SWITCH_OUT);
	assert_int_equal(parse_exact(&bytes, bytes.n - 8, &layout.layout, &record, &sum), CTX_E_FORMAT);
	make_switch(&bytes, false, 0, 5, 6, 79);
	assert_int_equal(parse_exact(&bytes, bytes.n, &layout.layout, &record, &sum), CTX_OK);
	assert_int_equal(parse_exact(&bytes, bytes.n - 8, &layout.layout, &record, &sum), CTX_E_FORMAT);
	ctx_map64_deinit(&layout.ids);
}

/* Another recorder on this CPU watches the same event: the kernel gives both samples its id. */
static void test_perfrecord__a_sample_with_a_foreign_id_is_known_by_its_size(void **state)
{
	struct layout layout;
	struct ctx_perf_record record;
	struct bytes bytes;

	(void)state;
	layout_begin(&layout);
	for (int shared = 0; shared < 2; shared++) {
		layout.layout.has_shared = shared != 0;
		layout.layout.shared = CTX_STATE_EVENT_FAULT;
		layout.layout.shared_longer = CTX_STATE_EVENT_LEAVES;
		make_fault(&bytes, 4711);
		assert_int_equal(ctx_perf_record_parse(bytes.words, bytes.n, &layout.layout, &record, NULL),
				 CTX_OK);
		assert_int_equal(record.event, shared != 0 ? (uint32_t)CTX_STATE_EVENT_FAULT : UINT32_MAX);
		if (shared != 0)
			assert_int_equal(record.sample.address, 0x402000);
		assert_int_equal(record.tid, 9);
		assert_int_equal(record.time_ns, 123);
		make_sample(&bytes, CTX_STATE_EVENT_LEAVES, 7, 9, 123, NULL);
		bytes.words[1] = 4711;
		assert_int_equal(ctx_perf_record_parse(bytes.words, bytes.n, &layout.layout, &record, NULL),
				 CTX_OK);
		assert_int_equal(record.event, shared != 0 ? (uint32_t)CTX_STATE_EVENT_LEAVES : UINT32_MAX);
		assert_int_equal(record.sample.n_chain, 2);
		/* One of our own is what its id says. */
		make_fault(&bytes, 10 + CTX_STATE_EVENT_ENTER);
		assert_int_equal(ctx_perf_record_parse(bytes.words, bytes.n, &layout.layout, &record, NULL),
				 CTX_OK);
		assert_int_equal(record.event, CTX_STATE_EVENT_ENTER);
	}
	ctx_map64_deinit(&layout.ids);
}

/* Of a waker that is not recorded. */
static void test_perfrecord__without_the_users_part_the_kernels_is_left(void **state)
{
	struct perf_event_attr attr = {.size = sizeof(attr),
				       .sample_type = CTX_PERF_SAMPLE_TYPE | PERF_SAMPLE_REGS_USER |
						      PERF_SAMPLE_STACK_USER,
				       .sample_regs_user = 0x180};
	struct ctx_pe_layout of_waking = ctx_pe_layout_make(&attr, false);
	struct ctx_map64 ids = {0};
	struct ctx_perf_layout layout = {.event_of_id = &ids, .events = &of_waking, .n_events = 1};
	struct ctx_user_state user = {0};
	struct ctx_perf_record record;
	struct bytes bytes;

	(void)state;
	*ctx_map64_place(&ids, 10) = 0;
	begin(&bytes, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	put64(&bytes, 10);
	put64(&bytes, 0x401ffe);
	put32(&bytes, 7);
	put32(&bytes, 9);
	put64(&bytes, 123);
	put64(&bytes, 1);
	put64(&bytes, 4);
	put64(&bytes, PERF_CONTEXT_KERNEL);
	put64(&bytes, UINT64_C(0xffffffff81000000));
	put64(&bytes, PERF_CONTEXT_USER);
	put64(&bytes, 0x402000);
	put64(&bytes, PERF_SAMPLE_REGS_ABI_64);
	put64(&bytes, 0x7ffe0000);
	put64(&bytes, 0x402000);
	put64(&bytes, 8);
	put64(&bytes, 4711);
	put64(&bytes, 8);
	set_size(&bytes);
	assert_int_equal(ctx_perf_record_parse(bytes.words, bytes.n, &layout, &record, NULL), CTX_OK);
	assert_int_equal(record.sample.n_chain, 4);
	assert_non_null(record.sample.user_regs);
	assert_int_equal(record.sample.user_stack_bytes, 8);
	ctx_perf_record_drop_user(&record);
	assert_int_equal(record.sample.n_chain, 2);
	assert_null(record.sample.user_regs);
	ctx_pe_sample_user_state(&record.sample, &user);
	assert_int_equal(user.regs.machine, CTX_MACHINE_UNKNOWN);
	assert_int_equal(user.stack_bytes, 0);
	ctx_map64_deinit(&ids);
}

/* --- from records to an experiment --- */

struct world {
	char *directory, *path;
	struct layout layout;
	struct ctx_exp_writer *writer;
	struct ctx_mapped_files *files;
	struct ctx_proctree *tree;
	struct ctx_sample_batch *batch;
	struct ctx_wait_sampling *sampling;
	struct ctx_state_records *records;
	struct bytes *kept; /* of records: a batch borrows from them */
	size_t n_kept;
};

#define KEPT_MAX 64u

static enum ctx_status world_begin(struct world *world)
{
	struct ctx_exp_options options;
	struct ctx_sample_batch_options batch = {.max_stack = 127};
	struct ctx_state_records_options records = {.events = &EVENTS};
	struct ctx_wait_sampling_options sampling = {.per_mille = CTX_WAIT_BUDGET_OFF};
	enum ctx_status status;

	*world = (struct world){.directory = fixture_directory()};
	world->path = ctx_path_join(world->directory, "run.er");
	world->kept = malloc(KEPT_MAX * sizeof(*world->kept));
	layout_begin(&world->layout);
	options = fixture_options(world->path);
	options.has_states = true;
	assert_int_equal(ctx_exp_create(&options, &world->writer, NULL), CTX_OK);
	batch.writer = records.writer = world->writer;
	status = ctx_mapped_files_create(&world->files, NULL);
	if (status == CTX_OK)
		status = ctx_proctree_create(world->writer, world->files, &world->tree, NULL);
	if (status == CTX_OK)
		status = ctx_sample_batch_create(&batch, &world->batch, NULL);
	if (status == CTX_OK)
		status = ctx_wait_sampling_create(&sampling, &world->sampling, NULL);
	records.tree = world->tree;
	records.batch = world->batch;
	records.sampling = world->sampling;
	if (status == CTX_OK)
		status = ctx_proctree_add_root_process(world->tree, P, "app", FIXTURE_START_NS, NULL);
	return status == CTX_OK ? ctx_state_records_create(&records, &world->records, NULL) : status;
}

static void world_end(struct world *world)
{
	ctx_state_records_destroy(world->records);
	ctx_sample_batch_destroy(world->batch);
	ctx_wait_sampling_destroy(world->sampling);
	ctx_proctree_destroy(world->tree);
	ctx_mapped_files_destroy(world->files);
	if (world->writer != NULL)
		assert_int_equal(ctx_exp_close(world->writer, FIXTURE_START_NS + 1000000, NULL), CTX_OK);
	ctx_map64_deinit(&world->layout.ids);
	free(world->kept);
	free(world->path);
	fixture_remove(world->directory);
}

static enum ctx_status parse(struct world *world, const struct bytes *bytes, struct ctx_perf_record *record)
{
	assert_true(world->n_kept < KEPT_MAX);
	world->kept[world->n_kept] = *bytes;
	return ctx_perf_record_parse(world->kept[world->n_kept++].words, bytes->n, &world->layout.layout,
				     record, NULL);
}

static enum ctx_status take_switch(struct world *world, uint16_t misc, uint32_t tid, uint64_t time_ns)
{
	struct ctx_perf_record record;
	struct bytes bytes;

	make_switch(&bytes, false, misc, P, tid, FIXTURE_START_NS + time_ns);
	assert_int_equal(parse(world, &bytes, &record), CTX_OK);
	return ctx_state_records_switch(world->records, &record, NULL);
}

/* `id`: the kernel's own of the thread. */
static enum ctx_status take_sample_of(struct world *world, enum ctx_state_event event, uint32_t tid,
				      uint32_t id, uint64_t time_ns, int32_t pid_field, int64_t prev_state)
{
	struct ctx_perf_record record;
	struct bytes bytes;
	uint8_t raw[40] = {0};
	bool has_raw = event <= CTX_STATE_EVENT_WAKING;

	memcpy(raw + 4, &id, 4);
	memcpy(raw + 24, &pid_field, 4);
	memcpy(raw + 32, &prev_state, 8);
	make_sample(&bytes, event, P, tid, FIXTURE_START_NS + time_ns, has_raw ? raw : NULL);
	assert_int_equal(parse(world, &bytes, &record), CTX_OK);
	return ctx_state_records_sample(world->records, event, &record, NULL);
}

static enum ctx_status take_sample(struct world *world, enum ctx_state_event event, uint32_t tid,
				   uint64_t time_ns, int32_t pid_field, int64_t prev_state)
{
	return take_sample_of(world, event, tid, tid, time_ns, pid_field, prev_state);
}

/* FORK or EXIT of a thread of the one process, as the recorder takes them. */
static enum ctx_status take_task(struct world *world, uint32_t type, uint32_t tid, uint64_t time_ns)
{
	struct ctx_perf_record record;
	struct bytes bytes;
	enum ctx_status status;

	begin(&bytes, type, 0);
	put32(&bytes, P);
	put32(&bytes, P);
	put32(&bytes, tid);
	put32(&bytes, P);
	put64(&bytes, FIXTURE_START_NS + time_ns);
	put_trailer(&bytes, P, tid, FIXTURE_START_NS + time_ns);
	assert_int_equal(parse(world, &bytes, &record), CTX_OK);
	status = ctx_sample_batch_flush(world->batch, NULL);
	if (type == PERF_RECORD_EXIT)
		ctx_state_records_exit(world->records, &record);
	return status == CTX_OK ? ctx_proctree_apply(world->tree, &record, NULL) : status;
}

struct seen {
	uint64_t time_ns;
	enum ctx_state_change change;
	uint32_t thread, waker;
	bool has_stack;
	char external_waker[32];
	uint32_t stack;
};

static size_t read_changes(struct world *world, struct seen *seen, size_t max)
{
	struct ctx_event_source *source;
	struct ctx_event event;
	size_t n = 0;

	assert_int_equal(ctx_sample_batch_flush(world->batch, NULL), CTX_OK);
	assert_int_equal(ctx_exp_close(world->writer, FIXTURE_START_NS + 1000000, NULL), CTX_OK);
	world->writer = NULL;
	assert_int_equal(ctx_exp_open(world->path, &source, NULL), CTX_OK);
	assert_true(source->info.has_states);
	while (source->next(source, &event, NULL) == CTX_OK) {
		if (event.kind != CTX_EV_STATE)
			continue;
		assert_true(n < max);
		seen[n] = (struct seen){event.time_ns,	     event.state.change,	event.thread,
					event.state.waker,   event.state.stack.id != 0, "",
					event.state.stack.id};
		if (event.state.external_waker != NULL)
			snprintf(seen[n].external_waker, sizeof(seen[n].external_waker), "%s",
				 event.state.external_waker);
		n++;
	}
	source->close(source);
	return n;
}

#define OUT PERF_RECORD_MISC_SWITCH_OUT
#define OUT_PREEMPTED (PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT)

/* A wait, and a second thread that ends it. */
static enum ctx_status play(struct world *world)
{
	enum ctx_status status = take_task(world, PERF_RECORD_FORK, P + 1, 100);

	if (status == CTX_OK)
		status = take_switch(world, 0, P, 200);
	if (status == CTX_OK)
		status = take_sample(world, CTX_STATE_EVENT_SWITCH, P, 300, (int32_t)P, 1);
	if (status == CTX_OK)
		status = take_switch(world, OUT, P, 301);
	if (status == CTX_OK)
		status = take_switch(world, 0, P + 1, 400);
	if (status == CTX_OK)
		status = take_sample(world, CTX_STATE_EVENT_WAKING, P + 1, 501, (int32_t)P, 0);
	if (status == CTX_OK)
		status = take_switch(world, OUT_PREEMPTED, P + 1, 600);
	if (status == CTX_OK)
		status = take_switch(world, 0, P, 700);
	return status == CTX_OK ? ctx_sample_batch_flush(world->batch, NULL) : status;
}

/* After that: a wait whose end was seen before its beginning. */
static enum ctx_status play_early(struct world *world)
{
	enum ctx_status status = take_sample(world, CTX_STATE_EVENT_WAKING, P + 1, 750, (int32_t)P, 0);

	if (status == CTX_OK)
		status = take_sample(world, CTX_STATE_EVENT_SWITCH, P, 760, (int32_t)P, 1);
	if (status == CTX_OK)
		status = take_switch(world, 0, P, 780);
	return status == CTX_OK ? ctx_sample_batch_flush(world->batch, NULL) : status;
}

static void test_state_records__a_wait_and_its_waker(void **state)
{
	static const struct seen want[] = {
		{200, CTX_CHANGE_RUNS, 0, CTX_NONE, false, "", 0},
		{300, CTX_CHANGE_BLOCKED, 0, CTX_NONE, true, "", 0},
		{400, CTX_CHANGE_RUNS, 1, CTX_NONE, false, "", 0},
		{501, CTX_SEEN_WAKING, 0, 1, true, "", 0},
		{600, CTX_SEEN_OFF_PREEMPTED, 1, CTX_NONE, false, "", 0},
		{700, CTX_CHANGE_RUNS, 0, CTX_NONE, false, "", 0},
	};
	struct world world;
	struct seen seen[16];

	(void)state;
	assert_int_equal(world_begin(&world), CTX_OK);
	assert_int_equal(play(&world), CTX_OK);
	assert_int_equal(read_changes(&world, seen, 16), CTX_COUNT_OF(want));
	for (size_t i = 0; i < CTX_COUNT_OF(want); i++) {
		assert_int_equal(seen[i].time_ns, want[i].time_ns);
		assert_int_equal(seen[i].change, want[i].change);
		assert_int_equal(seen[i].thread, want[i].thread);
		assert_int_equal(seen[i].has_stack, want[i].has_stack);
		if (seen[i].change == CTX_SEEN_WAKING)
			assert_int_equal(seen[i].waker, want[i].waker);
	}
	world_end(&world);
}

/*
 * Who wakes a thread that has not left its CPU yet is written like all others, with the stack of
 * the moment.
 */
static void test_state_records__an_early_waker_has_its_stack(void **state)
{
	struct world world;
	struct seen seen[16];

	(void)state;
	assert_int_equal(world_begin(&world), CTX_OK);
	assert_int_equal(take_task(&world, PERF_RECORD_FORK, P + 1, 100), CTX_OK);
	assert_int_equal(take_switch(&world, 0, P, 200), CTX_OK);
	assert_int_equal(take_sample(&world, CTX_STATE_EVENT_WAKING, 0, 250, (int32_t)P, 0), CTX_OK);
	assert_int_equal(take_sample(&world, CTX_STATE_EVENT_WAKING, P + 1, 290, (int32_t)P, 0), CTX_OK);
	assert_int_equal(take_sample(&world, CTX_STATE_EVENT_SWITCH, P, 300, (int32_t)P, 1), CTX_OK);
	assert_int_equal(take_switch(&world, 0, P, 400), CTX_OK);
	assert_int_equal(read_changes(&world, seen, 16), 5);
	assert_int_equal(seen[1].change, CTX_SEEN_WAKING);
	assert_int_equal(seen[1].time_ns, 250);
	assert_int_equal(seen[1].waker, CTX_NONE);
	assert_string_equal(seen[1].external_waker, "<idle>");
	assert_true(seen[1].has_stack);
	assert_int_equal(seen[2].change, CTX_SEEN_WAKING);
	assert_int_equal(seen[2].waker, 1);
	assert_true(seen[2].has_stack);
	assert_int_equal(seen[3].change, CTX_CHANGE_BLOCKED);
	assert_int_equal(seen[4].change, CTX_CHANGE_RUNS);
	world_end(&world);
}

/* The user's part of the stack of a waker outside of the recording is not ours. */
static void test_state_records__a_waker_outside_has_the_kernels_part_of_its_stack(void **state)
{
	struct world world;
	struct seen seen[16];

	(void)state;
	assert_int_equal(world_begin(&world), CTX_OK);
	assert_int_equal(take_task(&world, PERF_RECORD_FORK, P + 1, 100), CTX_OK);
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t waker = i % 2 == 0 ? P + 1 : P + 7;

		assert_int_equal(take_sample(&world, CTX_STATE_EVENT_SWITCH, P, 200 + 100 * i, (int32_t)P, 1),
				 CTX_OK);
		assert_int_equal(
			take_sample(&world, CTX_STATE_EVENT_WAKING, waker, 210 + 100 * i, (int32_t)P, 0),
			CTX_OK);
	}
	assert_int_equal(read_changes(&world, seen, 16), 8);
	assert_int_equal(seen[1].stack, seen[5].stack);
	assert_int_equal(seen[3].stack, seen[7].stack);
	assert_true(seen[1].stack != seen[3].stack);
	assert_int_equal(seen[1].waker, 1);
	assert_int_equal(seen[3].waker, CTX_NONE);
	world_end(&world);
}

static void test_state_records__nobody_is_announced_and_a_tid_used_again_is_another_thread(void **state)
{
	struct world world;
	struct seen seen[16];
	uint32_t threads;

	(void)state;
	assert_int_equal(world_begin(&world), CTX_OK);
	assert_int_equal(take_task(&world, PERF_RECORD_FORK, P + 1, 100), CTX_OK);
	assert_int_equal(take_sample(&world, CTX_STATE_EVENT_SWITCH, P + 1, 200, (int32_t)P + 1, 1), CTX_OK);
	assert_int_equal(take_task(&world, PERF_RECORD_EXIT, P + 1, 300), CTX_OK);
	threads = ctx_exp_stats(world.writer).threads;
	/*
	 * Its last switch, one of an untracked task, of an idle CPU; wake-ups of unknown threads.
	 */
	assert_int_equal(take_sample(&world, CTX_STATE_EVENT_SWITCH, P + 1, 310, (int32_t)P + 1, 0x20),
			 CTX_OK);
	assert_int_equal(take_switch(&world, OUT, P + 1, 311), CTX_OK);
	assert_int_equal(take_switch(&world, 0, P + 9, 312), CTX_OK);
	assert_int_equal(take_switch(&world, 0, 0, 313), CTX_OK);
	assert_int_equal(take_switch(&world, 0, UINT32_MAX, 314), CTX_OK);
	assert_int_equal(take_sample(&world, CTX_STATE_EVENT_WAKING, P, 315, (int32_t)P + 9, 0), CTX_OK);
	assert_int_equal(take_sample(&world, CTX_STATE_EVENT_WAKING, P + 9, 316, -5, 0), CTX_OK);
	assert_int_equal(ctx_exp_stats(world.writer).threads, threads);
	assert_int_equal(take_task(&world, PERF_RECORD_FORK, P + 1, 400), CTX_OK);
	assert_int_equal(take_switch(&world, 0, P + 1, 500), CTX_OK);
	assert_int_equal(read_changes(&world, seen, 16), 2);
	assert_int_equal(seen[0].time_ns, 200);
	assert_int_equal(seen[0].thread, 1);
	assert_int_equal(seen[1].time_ns, 500);
	assert_int_equal(seen[1].thread, 2);
	world_end(&world);
}

static void test_state_records__wakers_outside_have_names_and_the_ended_are_threads(void **state)
{
	struct world world;
	struct seen seen[16];

	(void)state;
	assert_int_equal(world_begin(&world), CTX_OK);
	assert_int_equal(take_task(&world, PERF_RECORD_FORK, P + 1, 100), CTX_OK);
	assert_int_equal(take_sample(&world, CTX_STATE_EVENT_SWITCH, P, 200, (int32_t)P, 1), CTX_OK);
	assert_int_equal(take_sample(&world, CTX_STATE_EVENT_WAKING, 0, 210, (int32_t)P, 0), CTX_OK);
	assert_int_equal(take_sample(&world, CTX_STATE_EVENT_SWITCH, P, 300, (int32_t)P, 4), CTX_OK);
	assert_int_equal(take_sample(&world, CTX_STATE_EVENT_WAKING, P + 7, 310, (int32_t)P, 0), CTX_OK);
	assert_int_equal(take_sample(&world, CTX_STATE_EVENT_SWITCH, P, 400, (int32_t)P, 1), CTX_OK);
	assert_int_equal(take_sample(&world, CTX_STATE_EVENT_WAKING, (uint32_t)getpid(), 410, (int32_t)P, 0),
			 CTX_OK);
	assert_int_equal(take_sample(&world, CTX_STATE_EVENT_SWITCH, P, 500, (int32_t)P, 1), CTX_OK);
	assert_int_equal(take_task(&world, PERF_RECORD_EXIT, P + 1, 505), CTX_OK);
	assert_int_equal(take_sample(&world, CTX_STATE_EVENT_WAKING, P + 1, 510, (int32_t)P, 0), CTX_OK);
	assert_int_equal(take_sample(&world, CTX_STATE_EVENT_SWITCH, P, 600, (int32_t)P, 1), CTX_OK);
	assert_int_equal(take_sample_of(&world, CTX_STATE_EVENT_WAKING, 0, 77, 610, (int32_t)P, 0), CTX_OK);
	assert_int_equal(read_changes(&world, seen, 16), 10);
	assert_string_equal(seen[1].external_waker, "<idle>");
	assert_int_equal(seen[2].change, CTX_CHANGE_STOPPED);
	assert_string_equal(seen[3].external_waker, "<ended>");
	assert_memory_equal(seen[5].external_waker, "test_collect_st", 15);
	assert_int_equal(seen[7].waker, 1);
	assert_string_equal(seen[7].external_waker, "");
	assert_string_equal(seen[9].external_waker, "<another container>");
	world_end(&world);
}

/*
 * The sample in front of a switch and the record behind it are one, in a batch; behind a batch they
 * are two.
 */
static void test_state_records__both_reports_of_a_switch_are_one(void **state)
{
	struct world world;
	struct seen seen[16];

	(void)state;
	assert_int_equal(world_begin(&world), CTX_OK);
	assert_int_equal(take_task(&world, PERF_RECORD_FORK, P + 1, 100), CTX_OK);
	assert_int_equal(take_sample(&world, CTX_STATE_EVENT_LEAVES, P, 200, 0, 0), CTX_OK);
	assert_int_equal(take_switch(&world, OUT_PREEMPTED, P, 201), CTX_OK);
	assert_int_equal(take_switch(&world, 0, P, 300), CTX_OK);
	assert_int_equal(take_sample(&world, CTX_STATE_EVENT_LEAVES, P, 400, 0, 0), CTX_OK);
	/* Woken by another CPU in between. */
	assert_int_equal(take_sample(&world, CTX_STATE_EVENT_WAKING, P + 1, 401, (int32_t)P, 0), CTX_OK);
	assert_int_equal(take_switch(&world, OUT, P, 402), CTX_OK);
	assert_int_equal(take_switch(&world, 0, P, 500), CTX_OK);
	assert_int_equal(take_switch(&world, OUT, P, 600), CTX_OK); /* its sample was lost */
	assert_int_equal(take_sample(&world, CTX_STATE_EVENT_LEAVES, P, 700, 0, 0), CTX_OK);
	assert_int_equal(ctx_sample_batch_flush(world.batch, NULL), CTX_OK);
	assert_int_equal(take_switch(&world, OUT_PREEMPTED, P, 701), CTX_OK);
	assert_int_equal(take_sample(&world, CTX_STATE_EVENT_FAULT, P, 800, 0, 0), CTX_OK);
	assert_int_equal(read_changes(&world, seen, 16), 9);
	assert_int_equal(seen[0].change, CTX_CHANGE_PREEMPTED);
	assert_true(seen[0].has_stack);
	assert_int_equal(seen[1].change, CTX_CHANGE_RUNS);
	assert_int_equal(seen[2].change, CTX_CHANGE_BLOCKED);
	assert_true(seen[2].has_stack);
	assert_int_equal(seen[3].change, CTX_SEEN_WAKING);
	assert_int_equal(seen[4].change, CTX_CHANGE_RUNS);
	assert_int_equal(seen[5].change, CTX_SEEN_OFF);
	assert_int_equal(seen[6].change, CTX_SEEN_LEAVES);
	assert_int_equal(seen[7].change, CTX_SEEN_OFF_PREEMPTED);
	assert_int_equal(seen[8].change, CTX_CHANGE_TEXT_FAULT);
	world_end(&world);
}

/* A tracepoint's sample without its fields is refused, not read past its end. */
static void test_state_records__a_sample_that_is_too_short_is_a_status(void **state)
{
	struct world world;
	struct ctx_perf_record record = {.type = PERF_RECORD_SAMPLE, .pid = P, .tid = P};
	uint8_t raw[30] = {0};

	(void)state;
	assert_int_equal(world_begin(&world), CTX_OK);
	record.sample.raw = raw;
	for (size_t n = 0; n < 28; n++) {
		record.sample.raw_bytes = (uint32_t)n;
		for (unsigned i = 0; i <= CTX_STATE_EVENT_WAKING; i++)
			assert_int_equal(ctx_state_records_sample(world.records, (enum ctx_state_event)i,
								  &record, NULL),
					 CTX_E_FORMAT);
	}
	world_end(&world);
}

static void test_state_records__a_failing_allocation_is_a_status(void **state)
{
	enum ctx_status status = CTX_E_NOMEM;
	unsigned n = 0;

	(void)state;
	for (; status != CTX_OK && n < 1000; n++) {
		struct world world;

		status = world_begin(&world);
		assert_int_equal(status, CTX_OK);
		fail_after = (long)n;
		status = play(&world);
		if (status == CTX_OK)
			status = play_early(&world);
		if (fail_after == -1 && status != CTX_OK)
			assert_int_equal(status, CTX_E_NOMEM);
		else if (fail_after == -1)
			status = CTX_E_NOMEM; /* what failed could be done without */
		fail_after = -1;
		/* Memory that was short sticks in the writer: closing says so again. */
		if (ctx_exp_close(world.writer, FIXTURE_START_NS + 1000000, NULL) == CTX_OK)
			world.writer = NULL;
		world.writer = NULL;
		world_end(&world);
	}
	assert_true(n > 3 && n < 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tracepoint__is_read_from_tracefs),
		cmocka_unit_test(test_state_events__forbidden_events_are_refused_if_requested_else_left_out),
		cmocka_unit_test(test_state_events__tasks_inherit_no_tracepoint_and_what_only_they_have),
		cmocka_unit_test(test_recargs__states_are_one_of_four),
		cmocka_unit_test(test_perfrecord__parses_switches_and_tracepoints_and_refuses_truncated_ones),
		cmocka_unit_test(test_perfrecord__a_sample_with_a_foreign_id_is_known_by_its_size),
		cmocka_unit_test(test_perfrecord__without_the_users_part_the_kernels_is_left),
		cmocka_unit_test(test_state_records__a_wait_and_its_waker),
		cmocka_unit_test(test_state_records__an_early_waker_has_its_stack),
		cmocka_unit_test(test_state_records__a_waker_outside_has_the_kernels_part_of_its_stack),
		cmocka_unit_test(
			test_state_records__nobody_is_announced_and_a_tid_used_again_is_another_thread),
		cmocka_unit_test(test_state_records__wakers_outside_have_names_and_the_ended_are_threads),
		cmocka_unit_test(test_state_records__both_reports_of_a_switch_are_one),
		cmocka_unit_test(test_state_records__a_sample_that_is_too_short_is_a_status),
		cmocka_unit_test(test_state_records__a_failing_allocation_is_a_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
