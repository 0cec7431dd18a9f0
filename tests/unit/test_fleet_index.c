/*
 * Sums of a fleet by keys, groups of recordings and tests of stacks, from a server that adds its cells up the slow way.
 */
#include "base/cursor.h"
#include "fleet/fleet_blocks.h"
#include "fleet/fleet_groups.h"
#include "model/histogram.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAIN, PARSE, READ, FUNCTIONS };
enum { RECORDINGS = 4, CELLS = 7 };

/* A server of four recordings of two hosts. */
static const struct recording {
	uint64_t push;
	const char *id, *host, *version, *name;
	uint64_t begin_ns, end_ns;
	uint32_t lost;
} recordings[RECORDINGS] = {
	{40, "a0", "h1", "1.3", "a.er", 100, 200, 0},
	{30, "b0", "h2", "1.3", "b.er", 150, 250, 5},
	{20, "c0", "h1", "1.4", "c.er", 300, 350, 0},
	{10, "d0", "h1\xff'\\", "1.4", "d.er", 400, 410, 2},
};

static const struct cell {
	unsigned recording;
	uint32_t thread; /* key */
	uint64_t stack;	 /* low half of the hash */
	uint64_t weight, samples;
} cells[CELLS] = {
	{0, 7, 2, 10, 1}, {0, 8, 3, 20, 2}, {1, 7, 3, 5, 1}, {2, 7, 2, 100, 10},
	{2, 7, 3, 1, 1},  {3, 8, 1, 50, 5}, {1, 8, 9, 0, 0}, /* calls of other spans alone */
};

struct fleet {
	struct ctx_fleet_profile profile;
	struct ctx_function_info functions[FUNCTIONS];
	struct ctx_object_info objects[2];
	struct ctx_metric_info metric;
	struct ctx_thread_info threads[2];
	struct ctx_fleet_choice choice;
	struct ctx_fleet_tests tests;
	struct ctx_buf said; /* the last question for cells */
	bool cuts;	     /* answers end too early */
	size_t n_cells;	     /* the first ones are there */
	unsigned n_more;     /* recordings besides, each of a host and with a cell of its own */
};

static const uint32_t metrics[] = {0};
static uint32_t metric_keys[] = {77}, thread_keys[] = {7, 8};

static void fleet_init(struct fleet *fleet)
{
	static const char *const names[] = {"main", "parse", "read"};
	struct ctx_profile *profile = &fleet->profile.profile;
	uint32_t node = 0;

	*fleet = (struct fleet){
		.n_cells = CELLS,
		.objects = {{.path = "/bin/web"}, {.path = "/lib/libc.so.6"}},
		.metric = {.name = "cpu-clock", .kind = CTX_METRIC_CPU_TIME, .unit = CTX_UNIT_NS},
		.threads = {{.name = "web"}, {.name = "worker-*"}}};
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		fleet->functions[i] = (struct ctx_function_info){.name = names[i],
								 .linkage_name = names[i],
								 .aliases = "",
								 .parts = "",
								 .object = i == READ ? 1 : 0};
	*profile = (struct ctx_profile){.functions = fleet->functions,
					.n_functions = FUNCTIONS,
					.objects = fleet->objects,
					.n_objects = 2,
					.metrics = &fleet->metric,
					.n_metrics = 1,
					.threads = fleet->threads,
					.n_threads = 2};
	fleet->profile.metric_keys = metric_keys;
	fleet->profile.thread_keys = thread_keys;
	assert_int_equal(ctx_trie_init(&profile->cct, NULL), CTX_OK);
	/* The stack with the hash i is main, parse, read up to depth i; that with 9 is empty. */
	fleet->profile.hashes = ctx_calloc(FUNCTIONS + 1, sizeof(*fleet->profile.hashes));
	*ctx_map64_place(&fleet->profile.stack_of, 9) = CTX_TRIE_ROOT;
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		assert_int_equal(ctx_trie_child(&profile->cct, node, i, &node, NULL), CTX_OK);
		*ctx_map64_place(&fleet->profile.stack_of, i + 1) = node;
		fleet->profile.hashes[node].low = i + 1;
	}
	fleet->choice.n = RECORDINGS;
	for (size_t i = 0; i < RECORDINGS; i++) {
		ctx_buf_put_u64(&fleet->choice.pushes, recordings[i].push);
		ctx_buf_put_u8(&fleet->choice.pushes, 1);
	}
}

static void fleet_deinit(struct fleet *fleet)
{
	ctx_trie_deinit(&fleet->profile.profile.cct);
	ctx_map64_deinit(&fleet->profile.stack_of);
	free(fleet->profile.hashes);
	ctx_fleet_tests_deinit(&fleet->tests);
	ctx_buf_deinit(&fleet->choice.pushes);
	ctx_buf_deinit(&fleet->said);
}

/* The columns of a question, one after the other. */
static void put_columns(const struct ctx_fleet_request *request, const struct recording *recording,
			struct ctx_buf *answer)
{
	const char *at = request->sql + strlen("SELECT ");
	const char *end = strstr(request->sql, " FROM ");

	while (at < end) {
		size_t n = strcspn(at, ",");

		n = at + n < end ? n : (size_t)(end - at);
		if (strncmp(at, "push", n) == 0)
			ctx_buf_put_u64(answer, recording->push);
		else if (strncmp(at, "host", n) == 0)
			ctx_buf_put_string(answer, recording->host);
		else if (strncmp(at, "service", n) == 0)
			ctx_buf_put_string(answer, "web");
		else if (strncmp(at, "version", n) == 0)
			ctx_buf_put_string(answer, recording->version);
		else if (strncmp(at, "name", n) == 0)
			ctx_buf_put_string(answer, recording->name);
		else if (strncmp(at, "lower(hex(recording))", n) == 0)
			ctx_buf_put_string(answer, recording->id);
		else if (strncmp(at, "begin_ns", n) == 0)
			ctx_buf_put_u64(answer, recording->begin_ns);
		else if (strncmp(at, "end_ns", n) == 0)
			ctx_buf_put_u64(answer, recording->end_ns);
		else if (strncmp(at, "toUInt64(lost)", n) == 0)
			ctx_buf_put_u64(answer, recording->lost);
		else if (strncmp(at, "toUInt64(damaged)", n) == 0)
			ctx_buf_put_u64(answer, 0);
		else if (strncmp(at, "toUInt8(closed)", n) == 0)
			ctx_buf_put_u8(answer, recording->lost == 0);
		else
			fail_msg("a column that this server does not have: %.*s", (int)n, at);
		at += n;
		at += strspn(at, ", ");
	}
}

static uint32_t part_of(const struct ctx_fleet_request *request, uint64_t push)
{
	struct ctx_cursor cursor = ctx_cursor_make(request->table.rows.at, request->table.rows.n);

	assert_string_equal(request->table.columns, "push UInt64, whole UInt8, part UInt32");
	while (ctx_cursor_left(&cursor) != 0) {
		uint64_t one = ctx_cursor_get_u64(&cursor);
		uint32_t part;

		(void)ctx_cursor_get_u8(&cursor);
		part = ctx_cursor_get_u32(&cursor);
		if (one == push)
			return part;
	}
	fail_msg("a recording is not chosen");
	return 0;
}

/* One row for each cell: those with the same columns are not added up, as cells of several shards may be. */
static void put_cell(const struct ctx_fleet_request *request, uint64_t push, const struct cell *cell,
		     struct ctx_buf *answer)
{
	const char *by = request->sql + strlen("SELECT ");

	if (strncmp(by, "part", 4) == 0) {
		ctx_buf_put_u32(answer, part_of(request, push));
		by += strlen("part, ");
	}
	if (strncmp(by, "thread", 6) == 0) {
		ctx_buf_put_u32(answer, cell->thread);
		by += strlen("thread, ");
	}
	if (strncmp(by, "stack", 5) == 0) {
		ctx_buf_put_u64(answer, cell->stack);
		ctx_buf_put_u64(answer, 0);
	}
	ctx_buf_put_u64(answer, cell->weight);
	ctx_buf_put_u64(answer, cell->samples);
	ctx_buf_put_u64(answer, 1);
}

enum { MORE_PUSH = 1000 };

static void add_more(struct fleet *fleet, unsigned n)
{
	fleet->n_more = n;
	fleet->choice.n += n;
	for (unsigned i = 0; i < n; i++) {
		ctx_buf_put_u64(&fleet->choice.pushes, MORE_PUSH + i);
		ctx_buf_put_u8(&fleet->choice.pushes, 1);
	}
}

static void put_more_columns(const struct ctx_fleet_request *request, unsigned i, struct ctx_buf *answer)
{
	char host[16];

	snprintf(host, sizeof(host), "more%03u", i);
	put_columns(request,
		    &(struct recording){.push = MORE_PUSH + i,
					.id = host,
					.host = host,
					.version = "1.5",
					.name = host,
					.begin_ns = 500,
					.end_ns = 510},
		    answer);
}

static enum ctx_status serve(void *context, const struct ctx_fleet_request *request, struct ctx_buf *answer,
			     struct ctx_err *err)
{
	struct fleet *fleet = context;

	(void)err;
	if (strstr(request->sql, " FROM ctx_recording ") != NULL) {
		for (size_t i = 0; i < RECORDINGS; i++)
			put_columns(request, &recordings[i], answer);
		for (unsigned i = 0; i < fleet->n_more; i++)
			put_more_columns(request, i, answer);
	} else {
		ctx_buf_clear(&fleet->said);
		ctx_buf_put(&fleet->said, request->sql, strlen(request->sql) + 1);
		for (size_t i = 0; i < fleet->n_cells; i++)
			put_cell(request, recordings[cells[i].recording].push, &cells[i], answer);
		for (unsigned i = 0; i < fleet->n_more; i++)
			put_cell(request, MORE_PUSH + i, &(struct cell){0, 7, 2, 1000, 1}, answer);
	}
	answer->n -= fleet->cuts;
	return CTX_OK;
}

static struct ctx_fleet_index_spec spec_of(struct fleet *fleet, const struct ctx_fleet_server *server,
					   const char *by)
{
	return (struct ctx_fleet_index_spec){.server = server,
					     .choice = &fleet->choice,
					     .fleet = &fleet->profile,
					     .metrics = metrics,
					     .n_metrics = 1,
					     .by = by,
					     .tests = &fleet->tests};
}

/* The weight of the row with these values: texts, or numbers of functions and objects. */
static uint64_t weight_of(const struct ctx_report_index *rows, const char *text, int64_t number)
{
	for (size_t i = 0; i < rows->n; i++) {
		const int64_t *keys = rows->keys + i * rows->n_by;
		bool fits = true;

		for (size_t k = 0; k < rows->n_by; k++) {
			bool is_text = rows->by[k].entity == CTX_INDEX_LABEL ||
				       rows->by[k].entity == CTX_INDEX_THREAD_PATTERN;

			fits &= is_text ? strcmp(rows->names[keys[k]], text) == 0 : keys[k] == number;
		}
		if (fits)
			return rows->sums[i].weight;
	}
	return 0;
}

static void test_index__rows_are_the_sums_of_cells(void **state)
{
	struct fleet fleet;
	const struct ctx_fleet_server server = {serve, &fleet};
	struct ctx_fleet_index_spec spec;
	struct ctx_fleet_index *index;
	const struct ctx_report_index *rows;

	(void)state;
	fleet_init(&fleet);
	spec = spec_of(&fleet, &server, "host");
	assert_int_equal(ctx_fleet_index_make(&spec, &index, NULL), CTX_OK);
	rows = ctx_fleet_index_rows(index);
	assert_int_equal(rows->n, 3);
	assert_true(weight_of(rows, "h1", 0) == 131 && weight_of(rows, "h2", 0) == 5);
	assert_true(weight_of(rows, "h1\xff'\\", 0) == 50);
	assert_true(rows->totals[0].weight == 186 && rows->totals[0].samples == 20);
	assert_null(strstr((char *)fleet.said.bytes, "stack,"));
	ctx_fleet_index_destroy(index);

	/* Innermost functions; the empty stack has no weight here. */
	spec.by = "version,function";
	assert_int_equal(ctx_fleet_index_make(&spec, &index, NULL), CTX_OK);
	rows = ctx_fleet_index_rows(index);
	assert_int_equal(rows->n, 5);
	assert_true(weight_of(rows, "1.3", PARSE) == 10 && weight_of(rows, "1.3", READ) == 25);
	assert_true(weight_of(rows, "1.4", PARSE) == 100 && weight_of(rows, "1.4", READ) == 1);
	assert_true(weight_of(rows, "1.4", MAIN) == 50);
	ctx_fleet_index_destroy(index);

	/* Without a key of recordings the question has no parts. */
	spec.by = "thread-pattern,object";
	assert_int_equal(ctx_fleet_index_make(&spec, &index, NULL), CTX_OK);
	rows = ctx_fleet_index_rows(index);
	assert_true(weight_of(rows, "web", 0) == 110 && weight_of(rows, "web", 1) == 6);
	assert_true(weight_of(rows, "worker-*", 0) == 50 && weight_of(rows, "worker-*", 1) == 20);
	assert_null(strstr((char *)fleet.said.bytes, "part"));
	ctx_fleet_index_destroy(index);
	fleet_deinit(&fleet);
}

static void test_index__tests_drop_stacks(void **state)
{
	static const char *const texts[] = {"STACK SOME IN \"read\""};
	struct fleet fleet;
	const struct ctx_fleet_server server = {serve, &fleet};
	struct ctx_fleet_index_spec spec;
	struct ctx_fleet_index *index;

	(void)state;
	fleet_init(&fleet);
	assert_int_equal(ctx_fleet_tests_make(&fleet.tests, texts, 1, NULL), CTX_OK);
	assert_int_equal(ctx_fleet_tests_bind(&fleet.tests, &fleet.profile.profile, NULL), CTX_OK);
	spec = spec_of(&fleet, &server, "host");
	assert_int_equal(ctx_fleet_index_make(&spec, &index, NULL), CTX_OK);
	assert_int_equal(ctx_fleet_index_rows(index)->n, 2);
	assert_true(weight_of(ctx_fleet_index_rows(index), "h1", 0) == 21);
	assert_true(weight_of(ctx_fleet_index_rows(index), "h2", 0) == 5);
	ctx_fleet_index_destroy(index);
	fleet_deinit(&fleet);
}

static void test_index__hidden_frames_are_their_callers(void **state)
{
	/* parse and read are hidden: all is main's. */
	static const uint32_t stack_of[] = {0, 1, 1, 1};
	struct fleet fleet;
	const struct ctx_fleet_server server = {serve, &fleet};
	struct ctx_index_stacks stacks;
	struct ctx_fleet_index_spec spec;
	struct ctx_fleet_index *index;

	(void)state;
	fleet_init(&fleet);
	stacks = (struct ctx_index_stacks){.profile = &fleet.profile.profile, .stack_of = stack_of, .n = 4};
	spec = spec_of(&fleet, &server, "function");
	spec.stacks = &stacks;
	assert_int_equal(ctx_fleet_index_make(&spec, &index, NULL), CTX_OK);
	assert_int_equal(ctx_fleet_index_rows(index)->n, 1);
	assert_true(weight_of(ctx_fleet_index_rows(index), "", MAIN) == 186);
	ctx_fleet_index_destroy(index);
	fleet_deinit(&fleet);
}

static void test_index__what_is_no_key_is_refused(void **state)
{
	static const char *const wrong[] = {
		"",	    "host,",	",host", "host,host",
		"build-id", "duration", "lost",	 "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q"};

	(void)state;
	assert_int_equal(ctx_fleet_index_check("host,region,function,thread-pattern,day", NULL), CTX_OK);
	for (size_t i = 0; i < CTX_COUNT_OF(wrong); i++)
		assert_int_not_equal(ctx_fleet_index_check(wrong[i], NULL), CTX_OK);
}

static void test_index__a_cut_answer_is_refused(void **state)
{
	struct fleet fleet;
	const struct ctx_fleet_server server = {serve, &fleet};
	struct ctx_fleet_index_spec spec;
	struct ctx_fleet_index *index;

	(void)state;
	fleet_init(&fleet);
	fleet.cuts = true;
	for (const char *const *by = (const char *const[]){"host", "function", "thread-pattern", NULL};
	     *by != NULL; by++) {
		spec = spec_of(&fleet, &server, *by);
		assert_int_equal(ctx_fleet_index_make(&spec, &index, NULL), CTX_E_FORMAT);
	}
	fleet_deinit(&fleet);
}

static void test_groups__have_what_their_recordings_have_in_all(void **state)
{
	struct fleet fleet;
	const struct ctx_fleet_server server = {serve, &fleet};
	struct ctx_fleet_index_spec spec;
	struct ctx_fleet_groups *groups;
	const struct ctx_report_fleet_group *rows;
	size_t n;

	(void)state;
	fleet_init(&fleet);
	spec = spec_of(&fleet, &server, "version");
	assert_int_equal(ctx_fleet_groups_make(&spec, &groups, NULL), CTX_OK);
	rows = ctx_fleet_groups_rows(groups, &n);
	assert_int_equal(n, 2);
	assert_string_equal(rows[0].value, "1.4");
	assert_true(rows[0].sum.weight == 151 && rows[0].sum.samples == 16);
	assert_true(rows[1].recordings == 2 && rows[1].hosts == 2 && rows[1].lost == 5);
	assert_true(rows[1].begin_ns == 100 && rows[1].end_ns == 250 && rows[1].recorded_ns == 200);
	assert_true(rows[1].unclosed == 1 && rows[1].host == NULL && rows[1].name == NULL);
	assert_string_equal(rows[1].service, "web");
	ctx_fleet_groups_destroy(groups);

	spec.by = "recording";
	assert_int_equal(ctx_fleet_groups_make(&spec, &groups, NULL), CTX_OK);
	rows = ctx_fleet_groups_rows(groups, &n);
	assert_int_equal(n, RECORDINGS);
	assert_string_equal(rows[0].value, "c0");
	assert_string_equal(rows[0].name, "c.er");
	ctx_fleet_groups_destroy(groups);
	fleet.cuts = true;
	assert_int_equal(ctx_fleet_groups_make(&spec, &groups, NULL), CTX_E_FORMAT);
	fleet_deinit(&fleet);
}

static uint64_t histogram_weight(struct ctx_report_source *source, uint32_t stack)
{
	struct ctx_report_parts parts;
	const struct ctx_hist_entry *entry;

	assert_int_equal(source->parts(source, &(struct ctx_parts_query){0}, &parts, NULL), CTX_OK);
	assert_true(parts.n == 1 && parts.n_metrics == 1);
	entry = ctx_histogram_get(parts.parts[0].histograms, stack);
	return entry != NULL ? entry->weight : 0;
}

static void test_blocks__are_sources_of_a_host_or_a_recording_each(void **state)
{
	struct fleet fleet;
	const struct ctx_fleet_server server = {serve, &fleet};
	const struct ctx_report_selection selection = {.metrics = metrics, .n_metrics = 1, .filter = ""};
	struct ctx_fleet_index_spec spec;
	struct ctx_fleet_blocks *blocks;
	struct ctx_report_source *const *sources;
	struct ctx_report_parts parts;
	const uint32_t parse = 2, read = 3; /* nodes */
	size_t n;

	(void)state;
	fleet_init(&fleet);
	spec = spec_of(&fleet, &server, "host");
	assert_int_equal(ctx_fleet_blocks_make(&spec, &selection, &blocks, NULL), CTX_OK);
	sources = ctx_fleet_blocks_sources(blocks, &n);
	assert_int_equal(n, 3);
	assert_int_equal(ctx_fleet_blocks_n_groups(blocks), 3);
	assert_string_equal(sources[0]->selection.path, "h1");
	assert_true(histogram_weight(sources[0], parse) == 110 && histogram_weight(sources[0], read) == 21);
	assert_string_equal(sources[2]->selection.path, "h2");
	assert_true(histogram_weight(sources[2], read) == 5 && histogram_weight(sources[2], parse) == 0);
	/* As long as what was recorded there. */
	assert_int_equal(sources[0]->selection.intervals[0].end_ns, 150);
	/* It has no samples one by one, and the fleet's own profile still has. */
	assert_true(sources[0]->selection.profile->losses.sample_blocks);
	assert_false(fleet.profile.profile.losses.sample_blocks);
	assert_int_equal(
		sources[0]->parts(sources[0], &(struct ctx_parts_query){.per_thread = true}, &parts, NULL),
		CTX_E_ARG);
	assert_int_equal(sources[0]->samples(sources[0], NULL, NULL, NULL, NULL), CTX_E_ARG);
	ctx_fleet_blocks_destroy(blocks);

	/* Recordings are called by their names. */
	spec.by = "recording";
	assert_int_equal(ctx_fleet_blocks_make(&spec, &selection, &blocks, NULL), CTX_OK);
	sources = ctx_fleet_blocks_sources(blocks, &n);
	assert_int_equal(n, RECORDINGS);
	assert_string_equal(sources[2]->selection.path, "c.er");
	assert_true(histogram_weight(sources[2], parse) == 100 && histogram_weight(sources[2], read) == 1);
	ctx_fleet_blocks_destroy(blocks);
	fleet_deinit(&fleet);
}

static void test_blocks__without_samples_are_left_out(void **state)
{
	struct fleet fleet;
	const struct ctx_fleet_server server = {serve, &fleet};
	const struct ctx_report_selection selection = {.metrics = metrics, .n_metrics = 1, .filter = ""};
	struct ctx_fleet_index_spec spec;
	struct ctx_fleet_blocks *blocks;
	struct ctx_report_source *const *sources;
	struct ctx_err err;
	size_t n;

	(void)state;
	fleet_init(&fleet);
	/* Cells of a.er and b.er alone. */
	fleet.n_cells = 3;
	spec = spec_of(&fleet, &server, "host");
	assert_int_equal(ctx_fleet_blocks_make(&spec, &selection, &blocks, NULL), CTX_OK);
	sources = ctx_fleet_blocks_sources(blocks, &n);
	assert_int_equal(n, 2);
	assert_string_equal(sources[0]->selection.path, "h1");
	assert_string_equal(sources[1]->selection.path, "h2");
	ctx_fleet_blocks_destroy(blocks);
	spec.by = "recording";
	assert_int_equal(ctx_fleet_blocks_make(&spec, &selection, &blocks, NULL), CTX_OK);
	sources = ctx_fleet_blocks_sources(blocks, &n);
	assert_int_equal(n, 2);
	assert_string_equal(sources[1]->selection.path, "b.er");
	assert_int_equal(histogram_weight(sources[1], 3), 5);
	ctx_fleet_blocks_destroy(blocks);

	fleet.n_cells = 0;
	assert_int_equal(ctx_fleet_blocks_make(&spec, &selection, &blocks, &err), CTX_E_NOTFOUND);
	assert_string_equal(err.msg, "no samples are selected");
	fleet_deinit(&fleet);
}

static void test_blocks__many_are_put_together(void **state)
{
	enum { MORE = 2 * CTX_FLEET_BLOCKS_MAX };
	struct fleet fleet;
	const struct ctx_fleet_server server = {serve, &fleet};
	const struct ctx_report_selection selection = {.metrics = metrics, .n_metrics = 1, .filter = ""};
	struct ctx_fleet_index_spec spec;
	struct ctx_fleet_blocks *blocks;
	struct ctx_report_source *const *sources;
	uint64_t weight = 0;
	size_t n;

	(void)state;
	fleet_init(&fleet);
	fleet.n_cells = 0; /* the others are left out */
	add_more(&fleet, MORE);
	spec = spec_of(&fleet, &server, "host");
	assert_int_equal(ctx_fleet_blocks_make(&spec, &selection, &blocks, NULL), CTX_OK);
	sources = ctx_fleet_blocks_sources(blocks, &n);
	assert_int_equal(n, CTX_FLEET_BLOCKS_MAX);
	assert_int_equal(ctx_fleet_blocks_n_groups(blocks), MORE);
	/* Neighbours by name. */
	assert_string_equal(sources[0]->selection.path, "more000 ... more001");
	assert_string_equal(sources[n - 1]->selection.path, "more398 ... more399");
	assert_int_equal(sources[0]->selection.intervals[0].end_ns, 20);
	for (size_t i = 0; i < n; i++)
		weight += histogram_weight(sources[i], 2);
	assert_int_equal(weight, 1000 * MORE);
	ctx_fleet_blocks_destroy(blocks);
	fleet_deinit(&fleet);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_index__rows_are_the_sums_of_cells),
		cmocka_unit_test(test_index__tests_drop_stacks),
		cmocka_unit_test(test_index__hidden_frames_are_their_callers),
		cmocka_unit_test(test_index__what_is_no_key_is_refused),
		cmocka_unit_test(test_index__a_cut_answer_is_refused),
		cmocka_unit_test(test_groups__have_what_their_recordings_have_in_all),
		cmocka_unit_test(test_blocks__are_sources_of_a_host_or_a_recording_each),
		cmocka_unit_test(test_blocks__without_samples_are_left_out),
		cmocka_unit_test(test_blocks__many_are_put_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
