/*
 * A fleet without a server: hashes, literals, conditions, cells against the slow way, and a push to a fake that says what arrived in
 * which order.
 */
#include "base/cursor.h"
#include "fleet/fleet_cells.h"
#include "fleet/fleet_choice.h"
#include "fleet/path_hash.h"
#include "fleet/push.h"
#include "fleet/sql_quote.h"
#include "fleet/where.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define WALL_NS UINT64_C(1700000000400000000)
#define NS_PER_S UINT64_C(1000000000)

/* ---- a profile of four functions and two metrics ---- */

enum { MAIN, PARSE, READ, LOCK, FUNCTIONS };
enum { CLOCK, SLEEP, METRICS };

struct made {
	struct ctx_profile profile;
	struct ctx_function_info functions[FUNCTIONS];
	struct ctx_object_info object;
	struct ctx_metric_info metrics[METRICS];
	struct ctx_thread_info threads[3];
	struct ctx_process_info process;
	struct ctx_property properties[4];
	uint32_t main, parse, read, lock; /* stacks */
};

static void made_init(struct made *made, const uint32_t order[FUNCTIONS])
{
	static const char *const names[FUNCTIONS] = {"main", "parse", "read", "lock"};
	uint32_t id_of[FUNCTIONS];

	*made = (struct made){
		.object = {.path = "/bin/web", .build_id = "ab12", .symbols = ""},
		.process = {.parent = CTX_NONE, .pid = 7, .command = "web", .lineage = "", .cgroup = ""}};
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		id_of[order[i]] = i;
		made->functions[i] = (struct ctx_function_info){
			.name = names[order[i]], .linkage_name = names[order[i]], .aliases = "", .parts = ""};
	}
	made->metrics[CLOCK] = (struct ctx_metric_info){.name = "cpu-clock",
							.kind = CTX_METRIC_CPU_TIME,
							.unit = CTX_UNIT_NS,
							.samples = 2,
							.weight = 20};
	made->metrics[SLEEP] =
		(struct ctx_metric_info){.name = "sleep", .kind = CTX_METRIC_SPAN, .unit = CTX_UNIT_NS};
	made->threads[0] = (struct ctx_thread_info){.tid = 1, .name = "web"};
	made->threads[1] = (struct ctx_thread_info){.tid = 2, .name = "worker-1"};
	made->threads[2] = (struct ctx_thread_info){.tid = 3, .name = "worker-22"};
	made->properties[0] = (struct ctx_property){"host", "h1"};
	made->properties[1] = (struct ctx_property){"command", "web --fast"};
	made->properties[3] = (struct ctx_property){"start_unix_ns", "1700000000400000000"};
	made->properties[2] = (struct ctx_property){"label.version", "1.4"};
	made->profile = (struct ctx_profile){.name = "web.er",
					     .run = {0, 100 * NS_PER_S},
					     .closed = true,
					     .notes = "",
					     .properties = made->properties,
					     .n_properties = 4,
					     .functions = made->functions,
					     .n_functions = FUNCTIONS,
					     .objects = &made->object,
					     .n_objects = 1,
					     .processes = &made->process,
					     .n_processes = 1,
					     .threads = made->threads,
					     .n_threads = 3,
					     .metrics = made->metrics,
					     .n_metrics = METRICS};
	assert_int_equal(ctx_trie_init(&made->profile.cct, NULL), CTX_OK);
	assert_int_equal(ctx_trie_child(&made->profile.cct, 0, id_of[MAIN], &made->main, NULL), CTX_OK);
	assert_int_equal(ctx_trie_child(&made->profile.cct, made->main, id_of[PARSE], &made->parse, NULL),
			 CTX_OK);
	assert_int_equal(ctx_trie_child(&made->profile.cct, made->parse, id_of[READ], &made->read, NULL),
			 CTX_OK);
	assert_int_equal(ctx_trie_child(&made->profile.cct, made->main, id_of[LOCK], &made->lock, NULL),
			 CTX_OK);
}

static const uint32_t forward[FUNCTIONS] = {MAIN, PARSE, READ, LOCK},
		      backward[FUNCTIONS] = {LOCK, READ, PARSE, MAIN};

/* ---- hashes ---- */

static void test_path_hash__is_the_same_whatever_the_ids_are(void **state)
{
	struct made a, b;
	struct ctx_path_hashes of_a, of_b;

	(void)state;
	made_init(&a, forward);
	made_init(&b, backward);
	assert_int_equal(ctx_path_hashes_make(&a.profile, &of_a, NULL), CTX_OK);
	assert_int_equal(ctx_path_hashes_make(&b.profile, &of_b, NULL), CTX_OK);
	assert_memory_equal(&of_a.stacks[a.read], &of_b.stacks[b.read], sizeof(of_a.stacks[0]));
	assert_memory_equal(&of_a.stacks[a.lock], &of_b.stacks[b.lock], sizeof(of_a.stacks[0]));
	assert_memory_not_equal(&of_a.stacks[a.lock], &of_a.stacks[a.read], sizeof(of_a.stacks[0]));
	assert_true(of_a.stacks[0].low == 0 && of_a.stacks[0].high == 0);
	ctx_path_hashes_deinit(&of_a);
	ctx_path_hashes_deinit(&of_b);
	ctx_trie_deinit(&a.profile.cct);
	ctx_trie_deinit(&b.profile.cct);
}

static void test_path_hash__tells_functions_apart_by_all_that_names_them(void **state)
{
	struct made made;
	struct ctx_path_hashes hashes;

	(void)state;
	made_init(&made, forward);
	made.functions[0] = (struct ctx_function_info){.name = "ab", .linkage_name = "c", .object = CTX_NONE};
	made.functions[1] = (struct ctx_function_info){.name = "a", .linkage_name = "bc", .object = CTX_NONE};
	made.functions[2] = (struct ctx_function_info){.name = "a", .linkage_name = "bc", .object = 0};
	made.functions[3] = (struct ctx_function_info){
		.name = "a", .linkage_name = "bc", .object = 0, .inlined = true, .offset = 64};
	assert_int_equal(ctx_path_hashes_make(&made.profile, &hashes, NULL), CTX_OK);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		for (uint32_t k = 0; k < i; k++)
			assert_true(hashes.functions[i] != hashes.functions[k]);
	}
	ctx_path_hashes_deinit(&hashes);
	ctx_trie_deinit(&made.profile.cct);
}

static void test_path_hash__a_recording_is_what_was_recorded_and_not_its_symbols(void **state)
{
	struct made a, b;
	struct ctx_path_hash of_a, of_b;

	(void)state;
	made_init(&a, forward);
	made_init(&b, backward);
	assert_int_equal(ctx_path_recording(&a.profile, &of_a, NULL), CTX_OK);
	assert_int_equal(ctx_path_recording(&b.profile, &of_b, NULL), CTX_OK);
	assert_memory_equal(&of_a, &of_b, sizeof(of_a));
	b.properties[3].value = "1700000000400000001";
	assert_int_equal(ctx_path_recording(&b.profile, &of_b, NULL), CTX_OK);
	assert_memory_not_equal(&of_a, &of_b, sizeof(of_a));
	ctx_trie_deinit(&a.profile.cct);
	ctx_trie_deinit(&b.profile.cct);
}

/* ---- SQL ---- */

static void test_sql_quote__no_byte_ends_a_literal(void **state)
{
	struct ctx_buf sql CTX_AUTO_BUF = {0};
	char all[256];

	(void)state;
	for (int i = 0; i < 256; i++)
		all[i] = (char)i;
	ctx_sql_put_literal(&sql, all, sizeof(all));
	assert_int_equal(sql.bytes[0], '\'');
	assert_int_equal(sql.bytes[sql.n - 1], '\'');
	for (size_t i = 1; i + 1 < sql.n; i++) {
		assert_true(sql.bytes[i] >= ' ' && sql.bytes[i] < 0x7f);
		assert_int_not_equal(sql.bytes[i], '\'');
		if (sql.bytes[i] == '\\')
			assert_int_equal(sql.bytes[i + 1], 'x');
	}
	ctx_buf_clear(&sql);
	ctx_sql_put_text(&sql, "it's \\ ok");
	ctx_buf_put_u8(&sql, '\0');
	assert_string_equal((char *)sql.bytes, "'it\\x27s \\x5C ok'");
}

static void expect_where(const char *const *terms, size_t n, const char *expected)
{
	struct ctx_buf sql CTX_AUTO_BUF = {0};

	assert_int_equal(ctx_where_put(terms, n, &sql, NULL), CTX_OK);
	ctx_buf_put_u8(&sql, '\0');
	assert_string_equal((char *)sql.bytes, expected);
}

#define WHERE(expected, ...)                                                                                 \
	expect_where((const char *const[]){__VA_ARGS__},                                                     \
		     sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), expected)

static void test_where__terms_are_conditions(void **state)
{
	(void)state;
	expect_where(NULL, 0, "1");
	WHERE("((service = 'web'))", "service=web");
	WHERE("(NOT (host = 'db3'))", "host!=db3");
	WHERE("((match(version, '\\x5E(\\x3Fs:1\\x5C.4\\x5C..*)\\x24')))", "version=1.4.*");
	WHERE("(((end_ns - begin_ns) > 10000000000))", "duration>10s");
	WHERE("((lost = 0))", "lost=0");
	WHERE("((label_values[indexOf(label_keys, 'region')] = 'eu'))", "region=eu");
	WHERE("((arrayExists(x -> x = 'ab12', build_ids)))", "build-id=ab12");
	/* One of those that ask the same; all of the others. */
	WHERE("((service = 'a') OR (service = 'b')) AND ((host = 'h'))", "service=a", "host=h", "service=b");
}

static void test_where__hostile_words_stay_literals(void **state)
{
	(void)state;
	WHERE("((service = 'x\\x27) OR 1 = 1 --'))", "service=x') OR 1 = 1 --");
	WHERE("((label_values[indexOf(label_keys, 'k\\x27')] = 'v'))", "k'=v");
}

static void test_where__what_is_no_term_is_refused(void **state)
{
	static const char *const wrong[] = {"web",	  "=web", "duration>x", "duration>-1", "service>a",
					    "samples=1s", ""};
	struct ctx_buf sql CTX_AUTO_BUF = {0};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(wrong); i++)
		assert_int_equal(ctx_where_put(&wrong[i], 1, &sql, NULL), CTX_E_ARG);
}

static void test_where__times_of_day_are_utc(void **state)
{
	const char *at = "2026-11-21T10:00:2026-11-21T11:00:30";
	uint64_t time_ns = 0;

	(void)state;
	assert_true(ctx_where_take_time(&at, &time_ns));
	assert_true(time_ns == 1795255200 * NS_PER_S);
	assert_string_equal(at, ":2026-11-21T11:00:30");
	at++;
	assert_true(ctx_where_take_time(&at, &time_ns));
	assert_true(time_ns == 1795258830 * NS_PER_S);
	at = "yesterday";
	assert_false(ctx_where_take_time(&at, &time_ns));
}

/* ---- cells ---- */

struct collected {
	struct ctx_fleet_cell *cells;
	size_t n, cap;
};

static enum ctx_status collect(void *context, const struct ctx_fleet_cell *cells, size_t n,
			       struct ctx_err *err)
{
	struct collected *collected = context;

	assert_int_equal(ctx_grow(&collected->cells, &collected->cap, collected->n + n, err), CTX_OK);
	memcpy(collected->cells + collected->n, cells, n * sizeof(*cells));
	collected->n += n;
	return CTX_OK;
}

struct sums {
	uint64_t weight, samples;
	int64_t calls;
};

/* As a reader adds cells up: those of one level, in seconds of the clock. */
static struct sums of_cells(const struct collected *collected, uint32_t level, uint32_t stack,
			    uint32_t begin_s, uint32_t end_s)
{
	struct sums sums = {0};

	for (size_t i = 0; i < collected->n; i++) {
		const struct ctx_fleet_cell *cell = &collected->cells[i];
		bool is_in = level == CTX_CELL_WHOLE || (cell->begin_s >= begin_s && cell->begin_s < end_s);

		if (cell->level != level || cell->stack != stack || !is_in)
			continue;
		sums.weight += cell->weight;
		sums.samples += cell->samples;
		sums.calls += cell->calls;
		if (level != CTX_CELL_WHOLE && cell->begin_s > begin_s) {
			sums.samples -= cell->carried;
			sums.calls -= cell->carried_calls;
		}
	}
	return sums;
}

/* The slow way: each sample, cut. */
static struct sums of_samples(const struct made *made, const struct ctx_sample *samples, size_t n,
			      uint32_t stack, struct ctx_interval window)
{
	struct sums sums = {0};

	for (size_t i = 0; i < n; i++) {
		struct ctx_sample part = samples[i];
		bool is_in = part.metric == SLEEP ? ctx_sample_clip(&part, window)
						  : ctx_interval_has(window, part.time_ns);

		if (!is_in)
			continue;
		if (part.stack == stack) {
			sums.weight += part.weight;
			sums.samples++;
		}
		if (part.kept_depth >= made->profile.cct.depth[part.stack])
			continue;
		sums.calls += part.stack == stack;
		sums.calls -= ctx_trie_ancestor(&made->profile.cct, part.stack, part.kept_depth) == stack;
	}
	return sums;
}

static uint64_t random_below(uint64_t *state, uint64_t n)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (*state >> 33) % n;
}

#define SAMPLES 400u

static void fill_samples(const struct made *made, uint64_t *random, struct ctx_sample *samples)
{
	const uint32_t stacks[] = {made->main, made->parse, made->read, made->lock};

	for (size_t i = 0; i < SAMPLES; i++) {
		bool is_span = random_below(random, 2) != 0;
		uint64_t time_ns = random_below(random, 100 * NS_PER_S);

		samples[i] =
			(struct ctx_sample){.time_ns = time_ns,
					    .weight = is_span ? 1 + random_below(random, 15 * NS_PER_S) : 10,
					    .stack = stacks[random_below(random, 4)],
					    .thread = (uint32_t)random_below(random, 3),
					    .metric = is_span ? SLEEP : CLOCK};
		if (samples[i].weight > time_ns + 1)
			samples[i].weight = time_ns + 1;
		samples[i].kept_depth =
			(uint32_t)random_below(random, made->profile.cct.depth[samples[i].stack] + 1);
	}
}

static void compare_intervals(const struct made *made, const struct collected *collected,
			      const struct ctx_sample *samples, uint64_t *random)
{
	const uint32_t stacks[] = {0, made->main, made->parse, made->read, made->lock};
	uint32_t first = (uint32_t)(WALL_NS / NS_PER_S);

	for (unsigned round = 0; round < 200; round++) {
		uint32_t level = ctx_cell_levels[random_below(random, CTX_CELL_LEVELS)],
			 step = level != 0 ? level : 1;
		uint32_t begin_s = (first + (uint32_t)random_below(random, 100)) / step * step;
		uint32_t end_s = begin_s + step * (1 + (uint32_t)random_below(random, 8));
		struct ctx_interval window = {begin_s * NS_PER_S - WALL_NS, end_s * NS_PER_S - WALL_NS};
		uint32_t stack = stacks[random_below(random, 5)];
		struct sums got = of_cells(collected, level, stack, begin_s, end_s), expected;

		if (level == CTX_CELL_WHOLE)
			window = CTX_INTERVAL_ALL;
		else if (begin_s * NS_PER_S < WALL_NS)
			window.begin_ns = 0;
		expected = of_samples(made, samples, SAMPLES, stack, window);
		assert_true(got.weight == expected.weight);
		assert_true(got.samples == expected.samples);
		assert_true(got.calls == expected.calls);
	}
}

static void test_cells__of_any_interval_are_the_samples_cut_to_it(void **state)
{
	static const uint32_t groups[] = {0, 1, 1};
	struct ctx_sample samples[SAMPLES];
	uint64_t random = 5;
	struct made made;

	(void)state;
	made_init(&made, forward);
	for (unsigned round = 0; round < 4; round++) {
		struct collected collected = {0};
		/* The last one hands rows out again and again: equal keys add up. */
		const struct ctx_fleet_cells_spec spec = {.profile = &made.profile,
							  .wall_ns = WALL_NS,
							  .groups = groups,
							  .rows_max = round == 3 ? 10 : 1000000,
							  .each = collect,
							  .context = &collected};
		struct ctx_fleet_cells cells;

		fill_samples(&made, &random, samples);
		ctx_fleet_cells_init(&cells, &spec);
		for (size_t i = 0; i < SAMPLES; i++)
			assert_int_equal(ctx_fleet_cells_add(&cells, &samples[i], NULL), CTX_OK);
		assert_int_equal(ctx_fleet_cells_end(&cells, NULL), CTX_OK);
		compare_intervals(&made, &collected, samples, &random);
		ctx_fleet_cells_deinit(&cells);
		free(collected.cells);
	}
	ctx_trie_deinit(&made.profile.cct);
}

/* ---- choosing cells ---- */

static void expect_levels(uint32_t begin_s, uint32_t end_s, const char *expected)
{
	struct ctx_fleet_choice choice = {
		.n = 1, .n_partial = 1, .has_interval = true, .begin_s = begin_s, .end_s = end_s};
	struct ctx_buf sql CTX_AUTO_BUF = {0};
	const char *found;

	ctx_fleet_choice_put_cells(&choice, &sql);
	ctx_buf_put_u8(&sql, '\0');
	found = strstr((const char *)sql.bytes, "OR ((0");
	assert_non_null(found);
	found += strlen("OR ((0");
	assert_int_equal(strncmp(found, expected, strlen(expected)), 0);
	assert_int_equal(found[strlen(expected)], ')');
}

static void test_choice__an_interval_is_minutes_with_tens_and_seconds_around(void **state)
{
	(void)state;
	expect_levels(1, 5, " OR (level = 1 AND begin_s >= 1 AND begin_s < 5)");
	expect_levels(10, 40, " OR (level = 10 AND begin_s >= 10 AND begin_s < 40)");
	expect_levels(
		59, 181,
		" OR (level = 1 AND begin_s >= 59 AND begin_s < 60) OR (level = 1 AND begin_s >= 180 AND "
		"begin_s < 181) OR (level = 60 AND begin_s >= 60 AND begin_s < 180)");
}

/* ---- push ---- */

struct fake {		      /* a server that keeps what it is sent */
	struct ctx_buf said;  /* the first words of each statement */
	struct ctx_buf cells; /* rows */
	struct ctx_buf row;   /* of the recording */
	uint64_t counts;      /* answers to the first counts: is it there, is the number taken */
	const char *refuses;  /* a table */
};

#define CELL_BYTES 87u

static void count_cells(const struct fake *fake, struct ctx_buf *answer)
{
	uint64_t checksum = 0;

	assert_int_equal(fake->cells.n % CELL_BYTES, 0);
	for (size_t at = 0; at < fake->cells.n; at += CELL_BYTES) {
		struct ctx_cursor cursor = ctx_cursor_make(fake->cells.bytes + at, CELL_BYTES);
		uint64_t low, weight;

		(void)ctx_cursor_get_bytes(&cursor, 2 + 1 + 8 + 4 + 4);
		low = ctx_cursor_get_u64(&cursor);
		(void)ctx_cursor_get_bytes(&cursor, 8 + 4);
		weight = ctx_cursor_get_u64(&cursor);
		checksum += low ^ (weight + 31 * ctx_cursor_get_u64(&cursor));
	}
	ctx_buf_put_u64(answer, fake->cells.n / CELL_BYTES);
	ctx_buf_put_u64(answer, checksum);
}

static enum ctx_status answer(void *context, const struct ctx_fleet_request *request, struct ctx_buf *answer,
			      struct ctx_err *err)
{
	struct fake *fake = context;

	ctx_buf_printf(&fake->said, "%.24s\n", request->sql);
	if (fake->refuses != NULL && strstr(request->sql, fake->refuses) != NULL)
		return ctx_err_set(err, CTX_E_IO, "refused");
	if (strncmp(request->sql, "INSERT INTO ctx_cell ", 21) == 0)
		ctx_buf_put(&fake->cells, request->rows.at, request->rows.n);
	else if (strncmp(request->sql, "INSERT INTO ctx_recording", 25) == 0)
		ctx_buf_put(&fake->row, request->rows.at, request->rows.n);
	else if (strncmp(request->sql, "SELECT count(), sum", 19) == 0)
		count_cells(fake, answer);
	else if (strncmp(request->sql, "SELECT count()", 14) == 0)
		ctx_buf_put_u64(answer, fake->counts);
	return CTX_OK;
}

static enum ctx_status two_samples(struct ctx_report_source *source, const struct ctx_samples_query *query,
				   ctx_report_sample_fn each, void *context, struct ctx_err *err)
{
	const struct made *made = source->impl;
	struct ctx_sample sample = {
		.time_ns = 5, .weight = 10, .stack = made->read, .thread = 1, .metric = CLOCK};
	enum ctx_status status = CTX_OK;

	assert_true(query->whole_run && query->has_metric);
	for (int i = 0; i < 2 && query->metric == CLOCK && status == CTX_OK; i++) {
		status = each(context, &sample, err);
		sample.thread = 2;
		sample.time_ns += NS_PER_S;
	}
	return status;
}

static enum ctx_status push_made(struct made *made, struct fake *fake, struct ctx_push_result *ret)
{
	static const struct ctx_push_label labels[] = {{"service", "web"}, {"version", "1.5"}};
	const struct ctx_fleet_server server = {answer, fake};
	struct ctx_report_source source = {
		.selection = {.profile = &made->profile}, .impl = made, .samples = two_samples};
	const struct ctx_push_spec spec = {
		.server = &server, .source = &source, .labels = labels, .n_labels = 2, .push = 99};

	return ctx_push_recording(&spec, ret, NULL);
}

static void fake_deinit(struct fake *fake)
{
	ctx_buf_deinit(&fake->said);
	ctx_buf_deinit(&fake->cells);
	ctx_buf_deinit(&fake->row);
}

static bool row_has(const struct fake *fake, const char *text)
{
	struct ctx_buf string CTX_AUTO_BUF = {0};

	ctx_buf_put_string(&string, text);
	return memmem(fake->row.bytes, fake->row.n, string.bytes, string.n) != NULL;
}

static void test_push__the_row_of_the_recording_comes_last(void **state)
{
	struct ctx_push_result result;
	struct fake fake = {0};
	struct made made;

	(void)state;
	made_init(&made, forward);
	assert_int_equal(push_made(&made, &fake, &result), CTX_OK);
	ctx_buf_put_u8(&fake.said, '\0');
	assert_string_equal((char *)fake.said.bytes, "SELECT count() FROM ctx_\nSELECT count() FROM ctx_\n"
						     "INSERT INTO ctx_function\nINSERT INTO ctx_cell (da\n"
						     "INSERT INTO ctx_stack FO\nSELECT count(), sum(bitX\n"
						     "INSERT INTO ctx_recordin\n");
	assert_true(result.samples == 2 && !result.was_there);
	/* The stack and the root where it was entered: whole once, a second apart twice, the same ten seconds and minute. */
	assert_true(result.cells == 2 + 4 + 2 + 2);
	assert_true(result.stacks == 2);
	/* The command line's labels replace the recording's; threads of a pattern are a group. */
	assert_true(row_has(&fake, "1.5") && !row_has(&fake, "1.4"));
	assert_true(row_has(&fake, "web --fast") && row_has(&fake, "h1") && row_has(&fake, "worker-*"));
	fake_deinit(&fake);
	ctx_trie_deinit(&made.profile.cct);
}

static void test_push__again_it_changes_nothing(void **state)
{
	struct ctx_push_result result;
	struct fake fake = {.counts = 1};
	struct made made;

	(void)state;
	made_init(&made, forward);
	assert_int_equal(push_made(&made, &fake, &result), CTX_OK);
	assert_true(result.was_there);
	assert_int_equal(fake.said.n, strlen("SELECT count() FROM ctx_\n"));
	fake_deinit(&fake);
	ctx_trie_deinit(&made.profile.cct);
}

static void test_push__a_failure_leaves_no_recording(void **state)
{
	static const char *const tables[] = {"INTO ctx_function", "INTO ctx_cell", "INTO ctx_stack",
					     "sum(bitXor"};
	struct ctx_push_result result;

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(tables); i++) {
		struct fake fake = {.refuses = tables[i]};
		struct made made;

		made_init(&made, forward);
		assert_int_equal(push_made(&made, &fake, &result), CTX_E_IO);
		assert_int_equal(fake.row.n, 0);
		fake_deinit(&fake);
		ctx_trie_deinit(&made.profile.cct);
	}
}

static void test_push__what_cannot_be_placed_in_time_is_refused(void **state)
{
	struct ctx_push_result result;
	struct fake fake = {0};
	struct made made;

	(void)state;
	made_init(&made, forward);
	made.properties[3].value = "";
	assert_int_equal(push_made(&made, &fake, &result), CTX_E_ARG);
	assert_int_equal(fake.said.n, 0);
	ctx_trie_deinit(&made.profile.cct);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_path_hash__is_the_same_whatever_the_ids_are),
		cmocka_unit_test(test_path_hash__tells_functions_apart_by_all_that_names_them),
		cmocka_unit_test(test_path_hash__a_recording_is_what_was_recorded_and_not_its_symbols),
		cmocka_unit_test(test_sql_quote__no_byte_ends_a_literal),
		cmocka_unit_test(test_where__terms_are_conditions),
		cmocka_unit_test(test_where__hostile_words_stay_literals),
		cmocka_unit_test(test_where__what_is_no_term_is_refused),
		cmocka_unit_test(test_where__times_of_day_are_utc),
		cmocka_unit_test(test_cells__of_any_interval_are_the_samples_cut_to_it),
		cmocka_unit_test(test_choice__an_interval_is_minutes_with_tens_and_seconds_around),
		cmocka_unit_test(test_push__the_row_of_the_recording_comes_last),
		cmocka_unit_test(test_push__again_it_changes_nothing),
		cmocka_unit_test(test_push__a_failure_leaves_no_recording),
		cmocka_unit_test(test_push__what_cannot_be_placed_in_time_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
