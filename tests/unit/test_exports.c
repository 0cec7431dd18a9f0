/*
 * Folded stacks, pprof, callgrind: made-up samples with hostile names, several threads and
 * recursion go in; the file is read again by a small reader here and held against what the samples
 * themselves add up to.
 */
#include "base/mem.h"
#include "formats/export/export_names.h"
#include "formats/export/export_stack.h"
#include "formats/export/exports.h"
#include "tests/unit/export_world.h"
#include "tests/unit/failing_malloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <profile.pb-c.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

/* Names */

static void check_names(const struct world *world)
{
	struct ctx_export_names all;

	assert_int_equal(ctx_export_names_init(&all, &world->profile, NULL), CTX_OK);
	for (uint32_t i = 0; i <= N; i++) {
		const char *name = ctx_export_names_get(&all, i);

		assert_clean(name, strlen(name));
		assert_null(strchr(name, '\n'));
		assert_true(name[0] != '\0' && name[0] != ' ' && name[strlen(name) - 1] != ' ');
		assert_string_not_equal(name, CTX_EXPORT_TOTAL);
		for (uint32_t k = 0; k < i; k++)
			assert_string_not_equal(name, ctx_export_names_get(&all, k));
	}
	ctx_export_names_deinit(&all);
}

static void test_export_names__no_two_functions_have_one_name(void **state)
{
	struct world *world = make_world(1, 0);

	(void)state;
	check_names(world);
	for (uint32_t i = 0; i < N; i++)
		world->functions[i].object = 1;
	check_names(world);
	for (uint32_t i = 0; i < N; i++)
		world->functions[i].offset = 0;
	check_names(world);
	for (uint32_t i = 0; i < N; i++)
		world->functions[i].object =
			CTX_NONE; /* only numbers are left, "dup #19" is a name of its own */
	check_names(world);
	free_world(world);
}

static void test_export_names__unique_names_are_kept_and_others_qualified(void **state)
{
	static const struct {
		uint32_t function;
		const char *name;
	} expected[] = {
		{0, "main [prog]"},
		{1, "main [libc.so.6] +0x1000"}, /* another function is called "main [libc.so.6]" */
		{2, "clock_gettime [libc.so.6]"},
		{3, "clock_gettime [kernel]"},
		{5, "f;g"},
		{9, "line break"},
		{24, "quote\"'s"},
		{N - 1, "<Unknown>"},
		{NO_STACK, "<No stack>"},
	};
	struct world *world = make_world(1, 0);
	struct ctx_export_names all;

	(void)state;
	assert_int_equal(ctx_export_names_init(&all, &world->profile, NULL), CTX_OK);
	for (size_t i = 0; i < CTX_COUNT_OF(expected); i++)
		assert_string_equal(ctx_export_names_get(&all, expected[i].function), expected[i].name);
	ctx_export_names_deinit(&all);
	free_world(world);
}

/* Folded stacks */

static void put_folded(struct ctx_buf *out, const char *text)
{
	struct ctx_buf clean = {0};

	ctx_export_put_text(&clean, text);
	for (size_t i = 0; i < clean.n; i++)
		ctx_buf_put_u8(out, clean.bytes[i] == ';' ? ':' : clean.bytes[i]);
	ctx_buf_deinit(&clean);
}

static bool take_line(struct world *world, const struct frames *sample)
{
	struct ctx_buf line = {0};
	uint64_t weight;
	char *place;

	sum_of(world, sample->thread, sample->functions, sample->n, &weight);
	ctx_buf_put_u8(&line, '\n');
	put_folded(&line, world->threads[sample->thread].name);
	for (uint32_t i = 0; i < sample->n; i++) {
		ctx_buf_put_u8(&line, ';');
		put_folded(&line, names[sample->functions[i]]);
		if (world->functions[sample->functions[i]].kind == CTX_FUNCTION_UNKNOWN &&
		    world->functions[sample->functions[i]].object != CTX_NONE)
			ctx_export_put_object(&line, &world->profile, sample->functions[i]);
	}
	ctx_buf_printf(&line, " %llu\n", (unsigned long long)weight);
	ctx_buf_put_u8(&line, 0);
	assert_false(line.failed);
	place = strstr(world->text, (const char *)line.bytes);
	if (place != NULL)
		place[line.n - 3] = 'x'; /* the last digit: is not found again */
	ctx_buf_deinit(&line);
	return place != NULL;
}

static void test_folded__has_one_line_for_each_stack_of_each_thread(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed < 20; seed++) {
		struct world *world = make_world(seed, seed * 20);
		size_t n_lines = 0;
		char *with_break;

		assert_int_equal(write_file(world, &ctx_export_folded, NULL), CTX_OK);
		assert_clean(world->text, world->size);
		for (size_t i = 0; i < world->size; i++)
			n_lines += world->text[i] == '\n';
		assert_int_equal(n_lines, n_stacks(world));
		/* Every line begins behind a line break, also the first. */
		assert_true(asprintf(&with_break, "\n%s", world->text) > 0);
		free(world->text);
		world->text = with_break;
		for (size_t i = 0; i < world->n; i++) {
			if (is_first_of_kind(world, i))
				assert_true(take_line(world, &world->samples[i]));
		}
		free_world(world);
	}
}

/* pprof */

static Pprof__Profile *read_pprof(const struct world *world)
{
	struct ctx_buf plain = {0};
	z_stream inflate_it = {.next_in = (Bytef *)world->text, .avail_in = (uInt)world->size};
	Pprof__Profile *profile;
	int code;

	assert_int_equal(inflateInit2(&inflate_it, 15 + 16), Z_OK);
	do {
		assert_non_null(ctx_buf_reserve(&plain, 4096));
		inflate_it.next_out = plain.bytes + plain.n;
		inflate_it.avail_out = 4096;
		code = inflate(&inflate_it, Z_NO_FLUSH);
		assert_true(code == Z_OK || code == Z_STREAM_END);
		plain.n += 4096 - inflate_it.avail_out;
	} while (code != Z_STREAM_END);
	assert_int_equal(inflate_it.avail_in, 0);
	inflateEnd(&inflate_it);
	profile = pprof__profile__unpack(NULL, plain.n, plain.bytes);
	assert_non_null(profile);
	ctx_buf_deinit(&plain);
	return profile;
}

static const char *string_of(const Pprof__Profile *file, int64_t id)
{
	assert_true(id >= 0 && (size_t)id < file->n_string_table);
	return file->string_table[id];
}

static uint32_t function_of(const struct ctx_export_names *all, const char *name)
{
	for (uint32_t i = 0; i <= N; i++) {
		if (strcmp(ctx_export_names_get(all, i), name) == 0)
			return i;
	}
	fail_msg("no function is called %s", name);
	return N;
}

/* The function of a location, after a look at all that hangs on it. */
static uint32_t follow(const struct world *world, const struct ctx_export_names *all,
		       const Pprof__Profile *file, uint64_t location_id)
{
	const Pprof__Location *location;
	const Pprof__Function *function;
	uint32_t id, object;

	assert_true(location_id >= 1 && location_id <= file->n_location);
	location = file->location[location_id - 1];
	assert_int_equal(location->id, location_id);
	assert_int_equal(location->n_line, 1);
	assert_true(location->line[0]->function_id >= 1 &&
		    location->line[0]->function_id <= file->n_function);
	function = file->function[location->line[0]->function_id - 1];
	assert_int_equal(function->id, location->line[0]->function_id);
	id = function_of(all, string_of(file, function->name));
	object = id < N ? world->functions[id].object : CTX_NONE;
	assert_int_equal(location->mapping_id == 0, object == CTX_NONE);
	if (object != CTX_NONE) {
		const Pprof__Mapping *mapping = file->mapping[location->mapping_id - 1];

		assert_int_equal(mapping->id, location->mapping_id);
		if (object != 4 && object != 6) /* no text that is changed on its way */
			assert_string_equal(string_of(file, mapping->filename), objects[object].path);
		assert_string_equal(string_of(file, mapping->build_id), objects[object].build_id);
		assert_true(mapping->has_functions);
	}
	return id;
}

static void check_sample(const struct world *world, const struct ctx_export_names *all,
			 const Pprof__Profile *file, const Pprof__Sample *sample)
{
	uint32_t frames[DEPTH + 1], n = (uint32_t)sample->n_location_id, thread = 0;
	uint64_t weight;

	assert_in_range(n, 1, DEPTH);
	assert_int_equal(sample->n_label, 4);
	assert_string_equal(string_of(file, sample->label[0]->key), "process");
	assert_string_equal(string_of(file, sample->label[1]->key), "thread");
	assert_string_equal(string_of(file, sample->label[2]->key), "pid");
	assert_string_equal(string_of(file, sample->label[3]->key), "tid");
	while (thread < THREADS && world->threads[thread].tid != sample->label[3]->num)
		thread++;
	assert_true(thread < THREADS);
	assert_int_equal(sample->label[2]->num, thread == 2 ? 8 : 7);
	assert_string_equal(string_of(file, sample->label[0]->str), thread == 2 ? "ch\"ild " : "./prog -x");
	if (thread != 1)
		assert_string_equal(string_of(file, sample->label[1]->str), world->threads[thread].name);
	for (uint32_t i = 0; i < n; i++)
		frames[n - 1 - i] = follow(world, all, file, sample->location_id[i]);
	if (n == 1 && frames[0] == NO_STACK)
		n = 0;
	assert_int_equal(sample->n_value, 2);
	assert_int_equal(sample->value[0], sum_of(world, thread, frames, n, &weight));
	assert_int_equal(sample->value[1], weight);
}

static void test_pprof__has_one_sample_for_each_stack_of_each_thread(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed < 20; seed++) {
		struct world *world = make_world(seed, seed * 20);
		struct ctx_export_names all;
		Pprof__Profile *file;

		assert_int_equal(ctx_export_names_init(&all, &world->profile, NULL), CTX_OK);
		assert_int_equal(write_file(world, &ctx_export_pprof, NULL), CTX_OK);
		file = read_pprof(world);
		assert_string_equal(file->string_table[0], "");
		for (size_t i = 0; i < file->n_string_table; i++)
			assert_clean(file->string_table[i], strlen(file->string_table[i]));
		assert_int_equal(file->n_sample, n_stacks(world));
		for (size_t i = 0; i < file->n_sample; i++)
			check_sample(world, &all, file, file->sample[i]);
		assert_string_equal(string_of(file, file->mapping[0]->filename), "/bin/prog");
		pprof__profile__free_unpacked(file, NULL);
		ctx_export_names_deinit(&all);
		free_world(world);
	}
}

static void test_pprof__the_header_has_value_types_and_time(void **state)
{
	struct world *world = make_world(3, 50);
	Pprof__Profile *file;

	(void)state;
	for (size_t i = 0; i < world->n; i++) /* all alike: there is a period */
		world->metric.weight = 250 * world->metric.samples;
	assert_int_equal(write_file(world, &ctx_export_pprof, NULL), CTX_OK);
	file = read_pprof(world);
	assert_int_equal(file->n_sample_type, 2);
	assert_string_equal(string_of(file, file->sample_type[0]->type), "samples");
	assert_string_equal(string_of(file, file->sample_type[0]->unit), "count");
	assert_string_equal(string_of(file, file->sample_type[1]->type), "cpu-clock:u");
	assert_string_equal(string_of(file, file->sample_type[1]->unit), "nanoseconds");
	assert_string_equal(string_of(file, file->default_sample_type), "cpu-clock:u");
	assert_string_equal(string_of(file, file->period_type->type), "cpu-clock:u");
	assert_int_equal(file->period, 250);
	assert_int_equal(file->time_nanos, INT64_C(1795244645) * 1000000000 + 1000); /* date -u -d ... +%s */
	assert_int_equal(file->duration_nanos, 5000000);
	assert_int_equal(file->n_comment, 2);
	assert_string_equal(string_of(file, file->comment[0]), "recording: dir/x .er");
	assert_non_null(strstr(world->remarks, "no time"));
	pprof__profile__free_unpacked(file, NULL);

	world->metric = (struct ctx_metric_info){.name = "cycles",
						 .kind = CTX_METRIC_EVENTS,
						 .unit = CTX_UNIT_EVENTS,
						 .samples = 3,
						 .weight = 7};
	world->properties[0].value = "2026-11-21 07:04:05 somewhere";
	assert_int_equal(write_file(world, &ctx_export_pprof, NULL), CTX_OK);
	file = read_pprof(world);
	assert_string_equal(string_of(file, file->sample_type[1]->unit), "count");
	assert_int_equal(file->period, 0);
	assert_int_equal(file->time_nanos, 0);
	pprof__profile__free_unpacked(file, NULL);
	free_world(world);
}

static void test_pprof__linkage_names_are_written_if_they_differ(void **state)
{
	struct world *world = make_world(5, MAX_SAMPLES);
	Pprof__Profile *file;
	int seen = 0;

	(void)state;
	assert_int_equal(write_file(world, &ctx_export_pprof, NULL), CTX_OK);
	file = read_pprof(world);
	for (size_t i = 0; i < file->n_function; i++) {
		bool mangled =
			strcmp(string_of(file, file->function[i]->name), "std::map<int, x>::f(int)") == 0;

		assert_string_equal(string_of(file, file->function[i]->system_name),
				    mangled ? "_ZN3map1fEi" : "");
		seen += mangled;
	}
	assert_int_equal(seen, 1);
	pprof__profile__free_unpacked(file, NULL);
	free_world(world);
}

static void test_pprof__weights_beyond_int64_are_clamped_with_a_warning(void **state)
{
	struct world *world = make_world(1, 1);
	Pprof__Profile *file;

	(void)state;
	assert_int_equal(write_file(world, &ctx_export_pprof, NULL), CTX_OK);
	assert_null(strstr(world->remarks, "2^63"));
	world->by_thread[world->samples[0].thread].entries[0].weight = UINT64_MAX;
	for (uint32_t i = 0; i < THREADS; i++)
		for (size_t k = 0; k < world->by_thread[i].n; k++)
			world->by_thread[i].entries[k].weight = UINT64_MAX;
	assert_int_equal(write_file(world, &ctx_export_pprof, NULL), CTX_OK);
	assert_non_null(strstr(world->remarks, "2^63"));
	file = read_pprof(world);
	assert_int_equal(file->sample[0]->value[1], INT64_MAX);
	pprof__profile__free_unpacked(file, NULL);
	free_world(world);
}

static void test_pprof__same_input_gives_the_same_bytes(void **state)
{
	struct world *world = make_world(9, MAX_SAMPLES);
	char *first;
	size_t size;

	(void)state;
	assert_int_equal(write_file(world, &ctx_export_pprof, NULL), CTX_OK);
	first = world->text;
	size = world->size;
	world->text = NULL;
	assert_int_equal(write_file(world, &ctx_export_pprof, NULL), CTX_OK);
	assert_int_equal(world->size, size);
	assert_memory_equal(world->text, first, size);
	assert_memory_equal(first, "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", 10); /* no name, no time */
	free(first);
	free_world(world);
}

/* callgrind */

struct calls { /* what a file, or the samples, say */
	uint64_t self[N + 1];
	uint64_t weight[N + 2][N + 1]; /* by caller (TOTAL: <Total>) and callee */
	int64_t count[N + 2][N + 1];
	bool is[N + 2][N + 1];
	uint64_t total;
};

static void count_from_samples(const struct world *world, struct calls *calls)
{
	for (size_t s = 0; s < world->n; s++) {
		const struct frames *sample = &world->samples[s];
		uint32_t leaf = sample->n != 0 ? sample->functions[sample->n - 1] : NO_STACK;

		calls->total += sample->weight;
		calls->self[leaf] += sample->weight;
		if (sample->n == 0) {
			calls->is[TOTAL][NO_STACK] = true;
			calls->weight[TOTAL][NO_STACK] += sample->weight;
			calls->count[TOTAL][NO_STACK] = 1;
		}
		for (uint32_t i = 0; i < sample->n; i++) {
			uint32_t caller = i != 0 ? sample->functions[i - 1] : TOTAL;
			uint32_t callee = sample->functions[i], before = 0;

			while (sample->functions[before] != callee)
				before++;
			calls->is[caller][callee] = true;
			calls->weight[caller][callee] += before == i ? sample->weight : 0;
			calls->count[caller][callee] += i >= sample->kept;
		}
	}
}

/* "(12) name" or "(12)": the function, by a table of numbers. */
static uint32_t read_name(const struct ctx_export_names *all, char **table, char *text)
{
	char *end;
	unsigned long number = strtoul(text + 1, &end, 10);

	assert_true(text[0] == '(' && *end == ')' && number > 0 && number < 2 * N);
	if (end[1] == ' ') {
		assert_null(table[number]);
		table[number] = end + 2;
	}
	assert_non_null(table[number]);
	return strcmp(table[number], CTX_EXPORT_TOTAL) == 0 ? (uint32_t)TOTAL
							    : function_of(all, table[number]);
}

/* Reads the body; every line must be one that the format has. */
static void read_callgrind(struct world *world, const struct ctx_export_names *all, struct calls *calls)
{
	char *table[2 * N] = {0}, *objects_seen[2 * N] = {0};
	char *at = strstr(world->text, "\nevents: cpuClockU\n");
	uint32_t caller = 0, callee = 0;
	long long count = 0;

	assert_non_null(at);
	at += strlen("\nevents: cpuClockU\n");
	for (char *line = strtok(at, "\n"); line != NULL; line = strtok(NULL, "\n")) {
		unsigned long long number;
		char *place;

		if (sscanf(line, "summary: %llu", &number) == 1) {
			assert_int_equal(number, calls->total = world->whole.weight);
		} else if (sscanf(line, "totals: %llu", &number) == 1) {
			assert_int_equal(number, world->whole.weight);
		} else if (strncmp(line, "fn=", 3) == 0) {
			caller = read_name(all, table, line + 3);
		} else if (strncmp(line, "cfn=", 4) == 0) {
			callee = read_name(all, table, line + 4);
		} else if (sscanf(line, "calls=%lld 0", &count) == 1) {
			assert_true(count > 0); /* with 0 the next line would be a cost of its own */
		} else if (sscanf(line, "0 %llu", &number) == 1 && count != 0) {
			assert_false(calls->is[caller][callee]);
			calls->is[caller][callee] = true;
			calls->weight[caller][callee] = number;
			calls->count[caller][callee] = count;
			count = 0;
		} else if (sscanf(line, "0 %llu", &number) == 1) {
			assert_true(caller != TOTAL || number == 0);
			if (caller != TOTAL)
				calls->self[caller] += number;
		} else if ((place = strstr(line, "ob=(")) != NULL && place - line <= 1) {
			unsigned long id = strtoul(place + 4, &place, 10);

			assert_true(id > 0 && id < 2 * N && place[0] == ')');
			assert_true((objects_seen[id] == NULL) == (place[1] == ' ' && place[2] != '\0'));
			objects_seen[id] = place;
		} else {
			assert_true(strcmp(line, "fl=(1)") == 0 || strcmp(line, "fl=(1) ???") == 0);
		}
	}
}

static void test_callgrind__costs_and_calls_are_those_of_the_samples(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed < 20; seed++) {
		struct world *world = make_world(seed, seed * 20);
		struct calls *expected = ctx_calloc(2, sizeof(*expected)), *got = expected + 1;
		struct ctx_export_names all;

		assert_non_null(expected);
		assert_int_equal(ctx_export_names_init(&all, &world->profile, NULL), CTX_OK);
		count_from_samples(world, expected);
		assert_int_equal(write_file(world, &ctx_export_callgrind, NULL), CTX_OK);
		assert_clean(world->text, world->size);
		read_callgrind(world, &all, got);
		assert_memory_equal(got->self, expected->self, sizeof(got->self));
		assert_memory_equal(got->is, expected->is, sizeof(got->is));
		assert_memory_equal(got->weight, expected->weight, sizeof(got->weight));
		for (uint32_t caller = 0; caller < N + 2; caller++)
			for (uint32_t callee = 0; callee <= N; callee++)
				assert_int_equal(got->count[caller][callee], expected->count[caller][callee]);
		ctx_export_names_deinit(&all);
		free(expected);
		free_world(world);
	}
}

/* What readers do: the inclusive cost of a function is the sum of the calls to it. */
static void test_callgrind__the_calls_to_a_function_add_up_to_its_inclusive_cost(void **state)
{
	struct world *world = make_world(77, MAX_SAMPLES);
	struct calls *got = ctx_calloc(1, sizeof(*got));
	struct ctx_export_names all;

	(void)state;
	assert_non_null(got);
	assert_int_equal(ctx_export_names_init(&all, &world->profile, NULL), CTX_OK);
	assert_int_equal(write_file(world, &ctx_export_callgrind, NULL), CTX_OK);
	read_callgrind(world, &all, got);
	for (uint32_t function = 0; function < N; function++) {
		uint64_t inclusive = 0, sum = 0;

		for (size_t s = 0; s < world->n; s++) {
			const struct frames *sample = &world->samples[s];
			bool is_on_it = false;

			for (uint32_t i = 0; i < sample->n; i++)
				is_on_it |= sample->functions[i] == function;
			inclusive += is_on_it ? sample->weight : 0;
		}
		for (uint32_t caller = 0; caller < N + 2; caller++)
			sum += got->weight[caller][function];
		assert_int_equal(sum, inclusive);
	}
	ctx_export_names_deinit(&all);
	free(got);
	free_world(world);
}

static void test_callgrind__a_call_that_began_before_the_interval_is_one_call(void **state)
{
	struct world *world = make_world(1, 0);
	struct frames sample = {.n = 2, .kept = 2, .functions = {0, 5}, .weight = 10};

	(void)state;
	add_sample(world, &sample);
	assert_int_equal(write_file(world, &ctx_export_callgrind, NULL), CTX_OK);
	assert_non_null(strstr(world->text, " f;g\ncalls=1 0\n0 10\n"));
	free_world(world);
}

static void test_callgrind__events_have_names_that_the_format_allows(void **state)
{
	static const char *const events[][2] = {
		{"cpu-clock", "cpuClock"},
		{"cycles:ppp", "cyclesPpp"},
		{"sched:sched_switch", "schedSchedSwitch"},
		{"0x1 y", "event0x1Y"},
		{"", "event"},
		{"\xc3\xa9\n-", "event"},
	};
	struct world *world = make_world(1, 3);

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(events); i++) {
		char line[64];

		world->metric.name = events[i][0];
		assert_int_equal(write_file(world, &ctx_export_callgrind, NULL), CTX_OK);
		snprintf(line, sizeof(line), "\nevents: %s\nsummary: ", events[i][1]);
		assert_non_null(strstr(world->text, line));
	}
	free_world(world);
}

/* All of them */

static const struct ctx_export_kind *const kinds[] = {&ctx_export_folded, &ctx_export_pprof,
						      &ctx_export_callgrind};

static void test_exports__an_empty_selection_is_a_valid_empty_file(void **state)
{
	struct world *world = make_world(1, 0);
	Pprof__Profile *file;

	(void)state;
	assert_int_equal(write_file(world, &ctx_export_folded, NULL), CTX_OK);
	assert_int_equal(world->size, 0);
	assert_int_equal(write_file(world, &ctx_export_callgrind, NULL), CTX_OK);
	assert_non_null(strstr(world->text, "\nsummary: 0\n\ntotals: 0\n"));
	assert_int_equal(write_file(world, &ctx_export_pprof, NULL), CTX_OK);
	file = read_pprof(world);
	assert_int_equal(file->n_sample, 0);
	assert_int_equal(file->n_sample_type, 2);
	assert_int_equal(file->n_location, 0);
	pprof__profile__free_unpacked(file, NULL);
	free_world(world);
}

static void test_exports__memory_that_runs_out_is_an_error(void **state)
{
	struct world *world = make_world(4, 60);

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(kinds); i++) {
		enum ctx_status status = CTX_E_NOMEM;
		long n = 0;

		for (; status != CTX_OK && n < 2000; n++) {
			struct ctx_err err = {0};

			fail_after = n;
			status = write_file(world, kinds[i], &err);
			if (fail_after < 0 && status != CTX_OK) {
				assert_int_equal(status, CTX_E_NOMEM);
				assert_int_equal(err.status, CTX_E_NOMEM);
			}
			if (status == CTX_OK && fail_after < 0)
				fail_msg("%s: allocation %ld failed, and nobody said so", kinds[i]->name, n);
			fail_after = -1;
		}
		assert_int_equal(status, CTX_OK);
		assert_true(n > 3);
	}
	free_world(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_export_names__no_two_functions_have_one_name),
		cmocka_unit_test(test_export_names__unique_names_are_kept_and_others_qualified),
		cmocka_unit_test(test_folded__has_one_line_for_each_stack_of_each_thread),
		cmocka_unit_test(test_pprof__has_one_sample_for_each_stack_of_each_thread),
		cmocka_unit_test(test_pprof__the_header_has_value_types_and_time),
		cmocka_unit_test(test_pprof__linkage_names_are_written_if_they_differ),
		cmocka_unit_test(test_pprof__weights_beyond_int64_are_clamped_with_a_warning),
		cmocka_unit_test(test_pprof__same_input_gives_the_same_bytes),
		cmocka_unit_test(test_callgrind__costs_and_calls_are_those_of_the_samples),
		cmocka_unit_test(test_callgrind__the_calls_to_a_function_add_up_to_its_inclusive_cost),
		cmocka_unit_test(test_callgrind__a_call_that_began_before_the_interval_is_one_call),
		cmocka_unit_test(test_callgrind__events_have_names_that_the_format_allows),
		cmocka_unit_test(test_exports__an_empty_selection_is_a_valid_empty_file),
		cmocka_unit_test(test_exports__memory_that_runs_out_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
