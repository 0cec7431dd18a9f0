/*
 * The export for gprofng: made-up samples with hostile names go in, as raw stacks and without, and
 * what comes out is read by the reader of gprofng's experiments and by the reader of symbols.
 * gprofng itself looks at it in flow.export_gprofng.
 */
#include "base/fileio.h"
#include "formats/export/export_stack.h"
#include "formats/export/gprofng_blocks.h"
#include "formats/export/gprofng_elf.h"
#include "formats/export/gprofng_groups.h"
#include "formats/export/gprofng_places.h"
#include "formats/export/gprofng_texts.h"
#include "formats/gprofng/gp_blocks.h"
#include "formats/gprofng/gprofng.h"
#include "model/event_source.h"
#include "symbols/symtab.h"
#include "tests/unit/export_world.h"
#include "tests/unit/failing_malloc.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	SPOTS = 3,
	LOCATIONS = N * SPOTS + 2,
	CUT = N * SPOTS,
	JOIN = CUT + 1,
	PATHS = 2000,
	PATH_BYTES = 700
};

/*
 * The world with addresses: three in each function, a mark where stacks end, and one that is no
 * frame.
 */
struct addressed {
	struct world *world;
	struct ctx_location locations[LOCATIONS];
	struct ctx_trie raw;
	uint32_t *to_stack;
	struct ctx_code code;
	uint32_t raw_of[MAX_SAMPLES]; /* 0: the sample has a stack of functions alone */
	uint32_t stack_of[MAX_SAMPLES];
	uint64_t scale;
	char directory[64];
	char path[80];
};

static enum ctx_status hand_out(void *context, const struct ctx_samples_query *query,
				ctx_report_sample_fn each, void *each_context, struct ctx_err *err)
{
	const struct addressed *made = context;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < made->world->n && status == CTX_OK; i++) {
		const struct frames *from = &made->world->samples[i];
		struct ctx_sample sample = {.time_ns = 1000 + i * 1000,
					    .weight = from->weight * made->scale,
					    .stack = made->stack_of[i],
					    .raw_stack = made->raw_of[i],
					    .thread = from->thread,
					    .cpu = (int32_t)(i % 5) - 1};

		if (query->thread == CTX_NONE || query->thread == from->thread)
			status = each(each_context, &sample, err);
	}
	return status;
}

static void make_locations(struct addressed *made)
{
	for (uint32_t i = 0; i < N * SPOTS; i++) {
		const struct ctx_function_info *function = &made->world->functions[i / SPOTS];

		made->locations[i] = (struct ctx_location){.object = function->object,
							   .function = i / SPOTS,
							   .address = function->offset + i % SPOTS * 5,
							   .site = CTX_NONE};
	}
	/* 28 is a function as well, and stacks end there */
	made->locations[CUT] =
		(struct ctx_location){.object = CTX_NONE, .function = 7, .address = 7, .site = CTX_NONE};
	made->locations[JOIN] = (struct ctx_location){
		.object = CTX_NONE, .function = CTX_NONE, .site = CTX_NONE, .joins = true};
}

/* Most samples have addresses, some with a mark between two frames. */
static void make_stacks(struct addressed *made, uint32_t seed)
{
	assert_int_equal(ctx_trie_init(&made->raw, NULL), CTX_OK);
	for (size_t i = 0; i < made->world->n; i++) {
		const struct frames *sample = &made->world->samples[i];
		uint32_t nodes[DEPTH + 1] = {0}, raw = 0;

		assert_int_equal(ctx_trie_path(&made->world->profile.cct, CTX_TRIE_ROOT,
					       (struct ctx_trie_keys){sample->functions, sample->n},
					       nodes + 1, NULL),
				 CTX_OK);
		made->stack_of[i] = nodes[sample->n];
		if (next_random(&seed) % 8 == 0)
			continue;
		for (uint32_t k = 0; k < sample->n; k++) {
			uint32_t place = sample->functions[k] * SPOTS + next_random(&seed) % SPOTS;

			assert_int_equal(ctx_trie_child(&made->raw, raw, place, &raw, NULL), CTX_OK);
			if (next_random(&seed) % 9 == 0)
				assert_int_equal(ctx_trie_child(&made->raw, raw, JOIN, &raw, NULL), CTX_OK);
		}
		made->raw_of[i] = raw;
	}
}

static struct addressed *make_addressed(uint32_t seed, size_t n, uint64_t scale)
{
	struct addressed *made = ctx_calloc(1, sizeof(*made));

	assert_non_null(made);
	made->world = make_world(seed, n);
	made->world->processes[0].lineage = made->world->processes[1].lineage = "";
	made->world->profile.closed = true;
	made->scale = scale;
	make_locations(made);
	make_stacks(made, seed);
	made->to_stack = ctx_calloc(made->raw.n, sizeof(*made->to_stack));
	assert_non_null(made->to_stack);
	made->code = (struct ctx_code){.raw_stacks = &made->raw,
				       .raw_to_stack = made->to_stack,
				       .locations = made->locations,
				       .n_locations = LOCATIONS};
	made->world->input.code = &made->code;
	made->world->input.samples = hand_out;
	made->world->input.samples_context = made;
	made->world->input.path = "dir/x\n\"<&>.er";
	snprintf(made->directory, sizeof(made->directory), "/tmp/ctx-test-gpx-XXXXXX");
	assert_non_null(mkdtemp(made->directory));
	snprintf(made->path, sizeof(made->path), "%s/out.er", made->directory);
	return made;
}

static void free_addressed(struct addressed *made)
{
	assert_int_equal(ctx_dir_remove(made->directory, NULL), CTX_OK);
	ctx_trie_deinit(&made->raw);
	free(made->to_stack);
	free_world(made->world);
	free(made);
}

static enum ctx_status write_experiment(struct addressed *made, struct ctx_err *err)
{
	assert_int_equal(ctx_dir_remove(made->path, NULL), CTX_OK);
	assert_int_equal(mkdir(made->path, 0777), 0);
	made->world->remarks[0] = '\0';
	return ctx_export_gprofng.write_directory(fake_export(&made->world->input), made->path, err);
}

/* What there is to be: sums by thread and path of names. */

struct sums {
	struct {
		char path[PATH_BYTES];
		int64_t tid;
		uint64_t weight;
	} items[PATHS];
	size_t n;
};

static void add_sum(struct sums *sums, int64_t tid, const char *path, uint64_t weight)
{
	size_t i = 0;

	while (i < sums->n && (sums->items[i].tid != tid || strcmp(sums->items[i].path, path) != 0))
		i++;
	assert_true(i < PATHS);
	if (i == sums->n) {
		sums->items[sums->n++].tid = tid;
		snprintf(sums->items[i].path, PATH_BYTES, "%s", path);
	}
	sums->items[i].weight += weight;
}

static void expect_equal(const struct sums *a, const struct sums *b)
{
	assert_int_equal(a->n, b->n);
	for (size_t i = 0; i < a->n; i++) {
		size_t k = 0;

		while (k < b->n && (a->items[i].tid != b->items[k].tid ||
				    strcmp(a->items[i].path, b->items[k].path) != 0))
			k++;
		if (k == b->n)
			fail_msg("only in one: thread %lld %s", (long long)a->items[i].tid, a->items[i].path);
		assert_int_equal(a->items[i].weight, b->items[k].weight);
	}
}

/*
 * "name;name;", root first. A function without code is known by its name too; <Unknown> has no
 * object.
 */
static void name_of(const struct addressed *made, uint32_t function, char *out, size_t size)
{
	const struct ctx_function_info *info = &made->world->functions[function];
	struct ctx_buf text = {0};
	size_t blanks = 0;

	ctx_export_put_text(&text, info->linkage_name);
	while (blanks < text.n && text.bytes[blanks] == ' ')
		blanks++;
	if (blanks == text.n) {
		ctx_buf_clear(&text);
		ctx_buf_put_text(&text, "<no name>");
	}
	if (info->kind == CTX_FUNCTION_UNKNOWN) {
		ctx_buf_clear(&text);
		ctx_buf_put_text(&text, "?");
	}
	ctx_buf_put_u8(&text, 0);
	assert_false(text.failed);
	snprintf(out, size, "%s;", (const char *)text.bytes);
	ctx_buf_deinit(&text);
}

static void truth(const struct addressed *made, struct sums *sums)
{
	for (size_t i = 0; i < made->world->n; i++) {
		const struct frames *sample = &made->world->samples[i];
		char path[PATH_BYTES] = "";

		for (uint32_t k = 0; k < sample->n; k++)
			name_of(made, sample->functions[k], path + strlen(path), sizeof(path) - strlen(path));
		add_sum(sums, made->world->threads[sample->thread].tid, path, sample->weight * made->scale);
	}
}

/* What came out: maps and symbol tables by process, then each sample's frames. */

struct mapped {
	uint32_t process;
	struct ctx_map_event map;
	char archive[1200];
	struct ctx_symtab *symbols;
};

struct reading {
	struct mapped maps[600];
	size_t n_maps;
	int64_t tids[16];
	size_t n_samples;
};

static void keep_map(struct reading *reading, const struct ctx_event *event)
{
	struct mapped *mapped = &reading->maps[reading->n_maps++];
	struct ctx_file_request request = {
		.path = "", .build_id = "", .debug_root = "/nonexistent", .symfs = ""};
	struct ctx_symtab *table = NULL;

	assert_true(reading->n_maps < CTX_COUNT_OF(reading->maps));
	*mapped = (struct mapped){.process = event->process, .map = event->map};
	assert_string_not_equal(event->map.archive, "");
	snprintf(mapped->archive, sizeof(mapped->archive), "%s", event->map.archive);
	request.archive = mapped->archive;
	assert_int_equal(ctx_symtab_open(&request, &table, NULL), CTX_OK);
	mapped->symbols = table;
}

static void put_frame(const struct reading *reading, uint32_t process, uint64_t address, char *out,
		      size_t size)
{
	for (size_t i = 0; i < reading->n_maps; i++) {
		const struct mapped *mapped = &reading->maps[i];
		struct ctx_symbol symbol;
		uint64_t virtual;
		uint32_t index;

		if (mapped->process != process || address < mapped->map.address ||
		    address - mapped->map.address >= mapped->map.size)
			continue;
		assert_true(ctx_symtab_address(mapped->symbols,
					       mapped->map.file_offset + (address - mapped->map.address),
					       &virtual));
		assert_true(ctx_symtab_find(mapped->symbols, virtual, &index));
		assert_int_equal(ctx_symtab_get(mapped->symbols, index, &symbol, NULL), CTX_OK);
		snprintf(out, size, "%s;", symbol.linkage_name);
		return;
	}
	snprintf(out, size, "?;");
}

static void read_back(const char *path, struct sums *sums, struct reading *reading)
{
	struct ctx_event_source *source = NULL;
	struct ctx_event event;
	struct ctx_err err = {0};
	enum ctx_status status;

	assert_int_equal(ctx_gprofng_open(path, &source, &err), CTX_OK);
	while ((status = source->next(source, &event, &err)) == CTX_OK) {
		char names_text[PATH_BYTES] = "";
		struct ctx_event_stack stack = {0};

		if (event.kind == CTX_EV_DAMAGE || event.kind == CTX_EV_WARNING)
			fail_msg("%s", event.text);
		if (event.kind == CTX_EV_MAP)
			keep_map(reading, &event);
		if (event.kind == CTX_EV_THREAD_START)
			reading->tids[event.thread] = event.thread_start.tid;
		if (event.kind != CTX_EV_SAMPLE)
			continue;
		if (event.sample.stack.id != 0)
			assert_int_equal(source->stack_frames(source, event.process, event.sample.stack.id,
							      &stack, NULL),
					 CTX_OK);
		for (uint32_t i = stack.n_frames; i > 0; i--)
			put_frame(reading, event.process, stack.frames[i - 1],
				  names_text + strlen(names_text), sizeof(names_text) - strlen(names_text));
		add_sum(sums, reading->tids[event.thread], names_text, event.sample.weight);
		reading->n_samples++;
	}
	if (status != CTX_END)
		fail_msg("%s", err.msg);
	assert_true(source->info.closed);
	source->close(source);
}

static void check_back(struct addressed *made)
{
	struct sums *expected = ctx_calloc(1, sizeof(*expected)), *found = ctx_calloc(1, sizeof(*found));
	struct reading *reading = ctx_calloc(1, sizeof(*reading));
	struct ctx_err err = {0};

	assert_non_null(expected);
	assert_non_null(found);
	assert_non_null(reading);
	if (write_experiment(made, &err) != CTX_OK)
		fail_msg("%s", err.msg);
	truth(made, expected);
	read_back(made->path, found, reading);
	expect_equal(expected, found);
	expect_equal(found, expected);
	assert_int_equal(reading->n_samples, made->world->n);
	for (size_t i = 0; i < reading->n_maps; i++)
		ctx_symtab_close(reading->maps[i].symbols);
	free(expected);
	free(found);
	free(reading);
}

static void test_export_gprofng__every_stack_of_every_thread_round_trips_with_its_weight(void **state)
{
	static const uint64_t scales[] = {1, 1000, 1001, 1000000, UINT64_C(4000000000000)};

	(void)state;
	for (uint32_t seed = 1; seed <= 10; seed++) {
		struct addressed *made = make_addressed(seed, seed == 1 ? 0 : MAX_SAMPLES / (1 + seed % 3),
							scales[seed % CTX_COUNT_OF(scales)]);

		check_back(made);
		free_addressed(made);
	}
}

static void test_export_gprofng__a_counter_is_written_as_one(void **state)
{
	struct addressed *made = make_addressed(4, 300, 7);

	(void)state;
	made->world->metric.kind = CTX_METRIC_EVENTS;
	made->world->metric.unit = CTX_UNIT_EVENTS;
	check_back(made);
	assert_non_null(strstr(made->world->remarks, "hardware counter"));
	free_addressed(made);
}

static void test_export_gprofng__objects_that_were_mapped_stay_where_they_were(void **state)
{
	/*
	 * The second lies in the first, and has to go elsewhere; the third reaches around the end.
	 */
	const struct ctx_mapping_info mappings[] = {
		{.process = 0, .object = 0, .address = 0x555500001000, .size = 0x1000, .file_offset = 0x1000},
		{.process = 0, .object = 1, .address = 0x555500001000, .size = 0x1000, .file_offset = 0x1000},
		{.process = 0, .object = 2, .address = UINT64_MAX - 0xfff, .size = 0x1000, .file_offset = 0}};
	struct addressed *made = make_addressed(5, MAX_SAMPLES, 1000);
	struct ctx_buf map = {0};
	char path[120];

	(void)state;
	made->world->input.mappings = mappings;
	made->world->input.n_mappings = CTX_COUNT_OF(mappings);
	check_back(made);
	snprintf(path, sizeof(path), "%s/map.xml", made->path);
	assert_int_equal(ctx_file_read(path, 1 << 20, &map, NULL), CTX_OK);
	ctx_buf_put_u8(&map, 0);
	assert_non_null(strstr((const char *)map.bytes, "vaddr=\"0x0000555500001000\" size=\"4096\""));
	assert_non_null(strstr(made->world->remarks, "another address"));
	ctx_buf_deinit(&map);
	free_addressed(made);
}

/* The ticks of one file, in microseconds. */
static uint64_t ticks_in(const char *path)
{
	int fd CTX_AUTO_CLOSE = open(path, O_RDONLY | O_CLOEXEC);
	struct ctx_gp_blocks blocks;
	struct ctx_gp_record record;
	uint64_t ticks = 0;
	struct stat info;

	assert_int_equal(fstat(fd, &info), 0);
	assert_int_equal(info.st_size % 65536, 0);
	assert_int_equal(ctx_gp_blocks_init(&blocks, fd, "profile", false, NULL), CTX_OK);
	while (ctx_gp_blocks_next(&blocks, &record, NULL) == CTX_OK) {
		assert_int_equal(record.type, 8);
		ticks += (uint64_t)record.bytes[48] | (uint64_t)record.bytes[49] << 8 |
			 (uint64_t)record.bytes[50] << 16 | (uint64_t)record.bytes[51] << 24;
	}
	assert_int_equal(blocks.invalid, 0);
	ctx_gp_blocks_deinit(&blocks);
	return ticks;
}

static void test_export_gprofng__rounded_weights_add_up_to_the_total(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 6; seed++) {
		struct addressed *made = make_addressed(seed, MAX_SAMPLES, 1);
		char path[120];
		uint64_t ticks, weight = 0;

		assert_int_equal(write_experiment(made, NULL), CTX_OK);
		assert_non_null(strstr(made->world->remarks, "microseconds"));
		for (size_t i = 0; i < made->world->n; i++)
			weight += made->world->samples[i].weight;
		snprintf(path, sizeof(path), "%s/profile", made->path);
		ticks = ticks_in(path);
		snprintf(path, sizeof(path), "%s/_f1.er/profile", made->path);
		ticks += ticks_in(path);
		assert_true(ticks * 1000 <= weight + 2000 && weight <= ticks * 1000 + 2000);
		free_addressed(made);
	}
}

static void test_export_gprofng__text_is_one_that_xml_has(void **state)
{
	struct addressed *made = make_addressed(3, 50, 1000);
	static const char *const files[] = {"log.xml", "map.xml", "_f1.er/log.xml", "notes"};

	(void)state;
	made->world->profile.notes = "first\nsecond \033[31m\xff\n";
	made->world->properties[1] = (struct ctx_property){"host", "h\"<&>\001"};
	assert_int_equal(write_experiment(made, NULL), CTX_OK);
	for (size_t i = 0; i < CTX_COUNT_OF(files); i++) {
		struct ctx_buf text = {0};
		char path[120];

		snprintf(path, sizeof(path), "%s/%s", made->path, files[i]);
		assert_int_equal(ctx_file_read(path, 1 << 20, &text, NULL), CTX_OK);
		assert_clean((const char *)text.bytes, text.n);
		ctx_buf_put_u8(&text, 0);
		if (i == 0)
			assert_non_null(
				strstr((const char *)text.bytes, "hostname=\"h&quot;&lt;&amp;&gt; \""));
		if (i == 2)
			assert_non_null(strstr((const char *)text.bytes, "<process>ch&quot;ild </process>"));
		if (i == 3)
			assert_non_null(strstr((const char *)text.bytes, "first\nsecond  [31m"));
		ctx_buf_deinit(&text);
	}
	free_addressed(made);
}

/*
 * Two objects whose names are the same where they are cut, in the middle of a character; a
 * function's name beyond any line.
 */
static void test_export_gprofng__long_names_are_cut_where_files_have_a_limit(void **state)
{
	enum { LONG = 70000 };
	struct addressed *made = make_addressed(8, 200, 1000);
	struct ctx_object_info own[CTX_COUNT_OF(objects)];
	char *path = ctx_calloc(1, LONG), *other, *function;
	struct ctx_buf map = {0};
	char file[120];

	(void)state;
	memcpy(own, objects, sizeof(own));
	strcpy(path, "/lib/a");
	for (size_t i = 6; i < 900; i += 3)
		memcpy(path + i, "\xe2\x82\xac", 3);
	other = strdup(path);
	other[899 - 3 * 3] = 'x';
	other[899 - 3 * 3 + 1] = '\0';
	function = ctx_calloc(1, LONG);
	memset(function, 'f', LONG - 1);
	own[0].path = path;
	own[1].path = other;
	made->world->profile.objects = own;
	made->world->functions[0].name = made->world->functions[0].linkage_name = function;
	assert_int_equal(write_experiment(made, NULL), CTX_OK);
	snprintf(file, sizeof(file), "%s/map.xml", made->path);
	assert_int_equal(ctx_file_read(file, 1 << 20, &map, NULL), CTX_OK);
	assert_clean((const char *)map.bytes, map.n);
	ctx_buf_put_u8(&map, 0);
	assert_non_null(strstr((const char *)map.bytes, "\xe2\x82\xac (2)\""));
	ctx_buf_deinit(&map);
	free(path);
	free(other);
	free(function);
	free_addressed(made);
}

/* Each forks the next: names of directories have a limit. */
static void test_export_gprofng__many_generations_are_still_directories(void **state)
{
	enum { GENERATIONS = 150 };
	struct addressed *made = make_addressed(9, 100, 1000);
	struct ctx_process_info *processes = ctx_calloc(GENERATIONS, sizeof(*processes));
	struct ctx_event_source *source = NULL;
	struct ctx_event event;
	size_t found = 0;

	(void)state;
	assert_non_null(processes);
	for (uint32_t i = 0; i < GENERATIONS; i++)
		processes[i] = (struct ctx_process_info){.parent = i != 0 ? i - 1 : CTX_NONE,
							 .pid = 100 + i / 2, /* every other one by exec */
							 .command = "x",
							 .lineage = ""};
	made->world->profile.processes = processes;
	made->world->profile.n_processes = GENERATIONS;
	made->world->threads[2].process = GENERATIONS - 1;
	assert_int_equal(write_experiment(made, NULL), CTX_OK);
	assert_int_equal(ctx_gprofng_open(made->path, &source, NULL), CTX_OK);
	while (source->next(source, &event, NULL) == CTX_OK) {
		assert_int_not_equal(event.kind, CTX_EV_DAMAGE);
		found += event.kind == CTX_EV_PROCESS_START;
	}
	source->close(source);
	assert_int_equal(found, GENERATIONS);
	made->world->profile.processes = made->world->processes;
	made->world->profile.n_processes = 2;
	free(processes);
	free_addressed(made);
}

static void test_export_gprofng__a_full_or_missing_directory_is_reported(void **state)
{
	struct addressed *made = make_addressed(2, 50, 1000);
	struct ctx_err err = {0};

	(void)state;
	assert_int_equal(ctx_export_gprofng.write_directory(fake_export(&made->world->input),
							    "/nonexistent/out.er", &err),
			 CTX_E_IO);
	assert_non_null(strstr(err.msg, "/nonexistent/out.er"));
	/* A file of an earlier one is not written into. */
	assert_int_equal(write_experiment(made, NULL), CTX_OK);
	assert_int_equal(
		ctx_export_gprofng.write_directory(fake_export(&made->world->input), made->path, &err),
		CTX_E_IO);
	assert_non_null(strstr(err.msg, "File exists"));
	free_addressed(made);
}

static void test_export_gprofng__a_run_that_was_not_closed_is_not_closed(void **state)
{
	struct addressed *made = make_addressed(2, 50, 1000);
	struct ctx_event_source *source = NULL;

	(void)state;
	made->world->profile.closed = false;
	assert_int_equal(write_experiment(made, NULL), CTX_OK);
	assert_int_equal(ctx_gprofng_open(made->path, &source, NULL), CTX_OK);
	assert_false(source->info.closed);
	source->close(source);
	free_addressed(made);
}

static void test_export_gprofng__samples_of_unknown_ids_are_refused(void **state)
{
	struct addressed *made = make_addressed(6, 20, 1000);
	struct ctx_err err = {0};

	(void)state;
	made->raw_of[7] = made->raw.n;
	assert_int_equal(write_experiment(made, &err), CTX_E_FORMAT);
	made->raw_of[7] = 0;
	made->stack_of[7] = made->world->profile.cct.n;
	assert_int_equal(write_experiment(made, &err), CTX_E_FORMAT);
	made->stack_of[7] = 0;
	made->world->samples[7].thread = THREADS;
	assert_int_equal(write_experiment(made, &err), CTX_E_FORMAT);
	made->world->samples[7].thread = 0;
	made->world->profile.n_processes = 0;
	assert_int_equal(write_experiment(made, &err), CTX_E_ARG);
	made->world->profile.n_processes = 2;
	free_addressed(made);
}

static void test_export_gprofng__memory_that_runs_out_is_an_error(void **state)
{
	struct addressed *made = make_addressed(7, 60, 1);
	struct ctx_err err = {0};
	enum ctx_status status = CTX_E_NOMEM;
	long n;

	(void)state;
	for (n = 0; n < 3000 && status != CTX_OK; n++) {
		assert_int_equal(ctx_dir_remove(made->path, NULL), CTX_OK);
		assert_int_equal(mkdir(made->path, 0777), 0);
		fail_after = n;
		status = ctx_export_gprofng.write_directory(fake_export(&made->world->input), made->path,
							    &err);
		fail_after = -1;
		if (status != CTX_OK && status != CTX_E_NOMEM)
			fail_msg("after %ld: %s", n, err.msg);
	}
	assert_int_equal(status, CTX_OK);
	assert_true(n > 50);
	free_addressed(made);
}

/* Records */

static void test_gpx_blocks__records_round_trip(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 8; seed++) {
		char path[] = "/tmp/ctx-test-gpx-XXXXXX";
		int fd = mkstemp(path);
		uint32_t random = seed, again = seed;
		size_t n = seed == 1 ? 0 : next_random(&random) % 3000;
		struct ctx_gpx_blocks out = {0};
		struct ctx_gp_blocks in;
		struct ctx_gp_record record;
		struct stat info;

		assert_true(fd >= 0);
		close(fd);
		unlink(path);
		out.path = strdup(path);
		again = random;
		for (size_t i = 0; i < n; i++) {
			size_t bytes = 8 + next_random(&random) % (i % 50 == 0 ? 8000 : 20) * 8;
			uint8_t *at = ctx_gpx_blocks_add(&out, 11, bytes, NULL);

			assert_non_null(at);
			if (bytes >= 16)
				ctx_gpx_put_u64(at + 8, i);
		}
		assert_int_equal(ctx_gpx_blocks_finish(&out, NULL), CTX_OK);
		ctx_gpx_blocks_deinit(&out);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		assert_int_equal(fstat(fd, &info), 0);
		assert_int_equal(info.st_size % 65536, 0);
		assert_int_equal(info.st_size == 0, n == 0);
		assert_int_equal(ctx_gp_blocks_init(&in, fd, path, false, NULL), CTX_OK);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(ctx_gp_blocks_next(&in, &record, NULL), CTX_OK);
			assert_int_equal(record.n, 8 + next_random(&again) % (i % 50 == 0 ? 8000 : 20) * 8);
			if (record.n >= 16)
				assert_int_equal(record.bytes[8] | record.bytes[9] << 8, i);
		}
		assert_int_equal(ctx_gp_blocks_next(&in, &record, NULL), CTX_END);
		assert_int_equal(in.invalid, 0);
		ctx_gp_blocks_deinit(&in);
		close(fd);
		unlink(path);
	}
}

static void test_gpx_blocks__a_record_that_cannot_be_is_refused(void **state)
{
	static const size_t sizes[] = {0, 3, 12, 65008};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(sizes); i++) {
		struct ctx_gpx_blocks out = {.path = strdup("/nonexistent/file")};

		assert_null(ctx_gpx_blocks_add(&out, 8, sizes[i], NULL));
		assert_null(ctx_gpx_blocks_add(&out, 8, 56, NULL)); /* the first failure stays */
		assert_int_equal(ctx_gpx_blocks_finish(&out, NULL), CTX_E_INTERNAL);
		ctx_gpx_blocks_deinit(&out);
	}
}

/* Groups */

static uint32_t group_of(const void *context, uint32_t item)
{
	return ((const uint32_t *)context)[item];
}

static void test_gpx_groups__are_those_that_are_found_by_looking_through_all(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 40; seed++) {
		uint32_t random = seed, group[200], n = next_random(&random) % 200;
		uint32_t n_groups = next_random(&random) % 20;
		struct ctx_gpx_groups groups;

		for (uint32_t i = 0; i < n; i++)
			group[i] = next_random(&random) % 9 == 0 ? CTX_NONE : next_random(&random) % 25;
		assert_int_equal(ctx_gpx_groups_init(&groups,
						     &(struct ctx_gpx_grouping){n_groups, n, group_of, group},
						     NULL),
				 CTX_OK);
		for (uint32_t g = 0; g < n_groups; g++) {
			uint32_t at = groups.begins[g];

			for (uint32_t i = 0; i < n; i++) {
				if (group[i] == g)
					assert_int_equal(groups.items[at++], i);
			}
			assert_int_equal(at, groups.begins[g + 1]);
		}
		ctx_gpx_groups_deinit(&groups);
	}
}

/* ELF files */

static struct ctx_gpx_symbol three[] = {
	{0x401010, 0x401020, 0}, {0x401020, 0x401030, 2}, {0x40a000, 0x40a123, 24}};

static void make_elf(struct world *world, const char *path, struct ctx_buf *image)
{
	struct ctx_gpx_object object = {.name = "prog", .symbols = three, .n_symbols = CTX_COUNT_OF(three)};
	struct ctx_gpx_elf elf = {.input = fake_export(&world->input),
				  .object = &object,
				  .build_id = "0123456789abcdef",
				  .machine = 62};
	struct ctx_err err = {0};

	unlink(path);
	if (ctx_gpx_elf_make(&elf, path, &err) != CTX_OK)
		fail_msg("%s", err.msg);
	assert_int_equal(ctx_file_read(path, 1 << 24, image, NULL), CTX_OK);
	free(object.segments);
}

static enum ctx_status copy_elf(struct world *world, struct ctx_buf *image, const char *path)
{
	struct ctx_gpx_object object = {.name = "prog", .symbols = three, .n_symbols = CTX_COUNT_OF(three)};
	struct ctx_gpx_elf elf = {
		.input = fake_export(&world->input), .object = &object, .build_id = "", .machine = 62};
	enum ctx_status status;

	unlink(path);
	status = ctx_gpx_elf_copy(&elf, image, path, NULL);
	free(object.segments);
	return status;
}

static void check_symbols(const struct ctx_buf *image, const char *const expected[])
{
	struct ctx_symtab *table;
	struct ctx_symbol symbol;
	uint32_t index;

	assert_int_equal(ctx_symtab_open_bytes(image->bytes, image->n, &table, NULL), CTX_OK);
	assert_string_equal(ctx_symtab_build_id(table), "0123456789abcdef");
	for (size_t i = 0; i < CTX_COUNT_OF(three); i++) {
		assert_true(ctx_symtab_find(table, three[i].end - 1, &index));
		assert_int_equal(ctx_symtab_get(table, index, &symbol, NULL), CTX_OK);
		assert_string_equal(symbol.linkage_name, expected[i]);
		assert_int_equal(symbol.start, three[i].begin);
	}
	assert_false(ctx_symtab_find(table, three[2].end, &index));
	ctx_symtab_close(table);
}

static void test_gpx_elf__made_and_copied_files_have_the_symbols(void **state)
{
	static const char *const expected[] = {"main", "clock_gettime", "quote\"'s"};
	struct world *world = make_world(1, 0);
	struct ctx_buf image = {0}, copy = {0};
	char path[] = "/tmp/ctx-test-gpx-XXXXXX";

	(void)state;
	close(mkstemp(path));
	make_elf(world, path, &image);
	check_symbols(&image, expected);
	assert_int_equal(copy_elf(world, &image, path), CTX_OK);
	assert_int_equal(ctx_file_read(path, 1 << 24, &copy, NULL), CTX_OK);
	check_symbols(&copy, expected);
	/* An address that is not in the file: another file is made. */
	three[2].end = 0x40f000;
	assert_int_equal(copy_elf(world, &image, path), CTX_END);
	three[2].end = 0x40a123;
	ctx_buf_deinit(&image);
	ctx_buf_deinit(&copy);
	unlink(path);
	free_world(world);
}

/*
 * What has an "@" of its own is no version: slots of the procedure linkage table, functions that
 * unwind tables know.
 */
static void test_gpx_elf__names_that_ctxan_gives_are_read_as_they_are(void **state)
{
	static const char *const expected[] = {"@plt", "<static>@0x401020", "puts@plt"};
	struct world *world = make_world(1, 0);
	struct ctx_buf image = {0};
	char path[] = "/tmp/ctx-test-gpx-XXXXXX";

	(void)state;
	close(mkstemp(path));
	for (size_t i = 0; i < CTX_COUNT_OF(three); i++)
		world->functions[three[i].function].linkage_name = expected[i];
	make_elf(world, path, &image);
	check_symbols(&image, expected);
	/* gprofng drops frames in a function of this name. */
	assert_null(memmem(image.bytes, image.n, "\0@plt", 6));
	ctx_buf_deinit(&image);
	unlink(path);
	free_world(world);
}

/* Cut anywhere, and with any byte of its tables another one: it is copied or refused. */
static void test_gpx_elf__a_damaged_file_is_refused_or_copied(void **state)
{
	struct world *world = make_world(1, 0);
	struct ctx_buf image = {0};
	char path[] = "/tmp/ctx-test-gpx-XXXXXX";
	uint32_t seed = 3;
	size_t refused = 0;

	(void)state;
	close(mkstemp(path));
	make_elf(world, path, &image);
	for (unsigned i = 0; i < 3000; i++) {
		struct ctx_buf other = {0};
		size_t n = i % 3 == 0 ? next_random(&seed) % image.n : image.n;
		enum ctx_status status;

		ctx_buf_put(&other, image.bytes, n);
		for (unsigned k = 0; k <= i % 4 && n > 700; k++) {
			size_t at = next_random(&seed) % 2 == 0 ? next_random(&seed) % 200
								: n - 1 - next_random(&seed) % 500;

			other.bytes[at] = (uint8_t)next_random(&seed);
		}
		status = copy_elf(world, &other, path);
		assert_true(status == CTX_OK || status == CTX_END);
		refused += status == CTX_END;
		ctx_buf_deinit(&other);
	}
	assert_true(refused > 100 && refused < 3000);
	ctx_buf_deinit(&image);
	unlink(path);
	free_world(world);
}

static void test_gpx_elf__distant_functions_are_adjacent_pages(void **state)
{
	struct ctx_gpx_symbol far[] = {{0x1000, 0x1010, 0},
				       {UINT64_C(0xffffffff81000010), UINT64_C(0xffffffff81000020), 2},
				       {UINT64_C(0xffffffffc0001000), UINT64_C(0xffffffffc0003000), 24},
				       {UINT64_MAX - 4096, UINT64_MAX, 5}};
	struct ctx_gpx_object object = {.name = "far", .symbols = far, .n_symbols = CTX_COUNT_OF(far)};
	struct world *world = make_world(1, 0);
	struct ctx_gpx_elf elf = {
		.input = fake_export(&world->input), .object = &object, .build_id = "", .machine = 62};
	char path[] = "/tmp/ctx-test-gpx-XXXXXX";
	struct stat info;

	(void)state;
	close(mkstemp(path));
	unlink(path);
	assert_int_equal(ctx_gpx_elf_make(&elf, path, NULL), CTX_OK);
	assert_int_equal(object.n_segments, 4);
	assert_non_null(ctx_gpx_object_segment(&object, far[2].end - 1));
	assert_null(ctx_gpx_object_segment(&object, 0x2000));
	assert_int_equal(stat(path, &info), 0);
	assert_true(info.st_size < 100000);
	free(object.segments);
	unlink(path);
	free_world(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_export_gprofng__every_stack_of_every_thread_round_trips_with_its_weight),
		cmocka_unit_test(test_export_gprofng__a_counter_is_written_as_one),
		cmocka_unit_test(test_export_gprofng__objects_that_were_mapped_stay_where_they_were),
		cmocka_unit_test(test_export_gprofng__rounded_weights_add_up_to_the_total),
		cmocka_unit_test(test_export_gprofng__text_is_one_that_xml_has),
		cmocka_unit_test(test_export_gprofng__long_names_are_cut_where_files_have_a_limit),
		cmocka_unit_test(test_export_gprofng__many_generations_are_still_directories),
		cmocka_unit_test(test_export_gprofng__a_full_or_missing_directory_is_reported),
		cmocka_unit_test(test_export_gprofng__a_run_that_was_not_closed_is_not_closed),
		cmocka_unit_test(test_export_gprofng__samples_of_unknown_ids_are_refused),
		cmocka_unit_test(test_export_gprofng__memory_that_runs_out_is_an_error),
		cmocka_unit_test(test_gpx_blocks__records_round_trip),
		cmocka_unit_test(test_gpx_blocks__a_record_that_cannot_be_is_refused),
		cmocka_unit_test(test_gpx_groups__are_those_that_are_found_by_looking_through_all),
		cmocka_unit_test(test_gpx_elf__made_and_copied_files_have_the_symbols),
		cmocka_unit_test(test_gpx_elf__names_that_ctxan_gives_are_read_as_they_are),
		cmocka_unit_test(test_gpx_elf__a_damaged_file_is_refused_or_copied),
		cmocka_unit_test(test_gpx_elf__distant_functions_are_adjacent_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
