/*
 * Sources of the HTML page: which functions fit, and what is read back of them, against adding up
 * by hand.
 */
#include "base/cursor.h"
#include "base/mem.h"
#include "failing_malloc.h"
#include "fake_source.h"
#include "report/html_sources.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

enum {
	N = 60,	     /* functions with lines, each in a file of its own; behind them: */
	INLINED = N, /* the inlined instances of function 0, in function 1 */
	BARE,	     /* without lines */
	N_FUNCTIONS,
	EACH = 6,   /* lines of a function that code is of; the first has none */
	LINES = 80, /* of a file */
	FIRST = 30, /* line of the first function's code; every third from there on */
	N_SITES = N * EACH + 1,
	HEADER_LINE = 7,
	UNIT = 250,
};

struct world {
	struct ctx_profile profile;
	struct ctx_function_info functions[N_FUNCTIONS];
	struct ctx_object_info object;
	struct ctx_metric_info metric;
	struct ctx_trie raw_stacks;
	struct ctx_histogram raw;
	struct ctx_site sites[N_SITES];
	struct ctx_location locations[N_SITES + 1];
	struct ctx_source_file files[N + 1];
	char names[N][16], paths[N + 1][32];
	char *texts[N + 1]; /* owned; NULL: not found */
	struct ctx_code code;
	struct ctx_code_reader reader;
	struct fake_source input;
	uint64_t weight[N_SITES + 1];
	uint32_t raw_to_stack[N_SITES + 2];
};

static enum ctx_status read_text(void *context, uint32_t file, const char **ret, size_t *ret_n,
				 struct ctx_err *err)
{
	const struct world *world = context;

	if (world->texts[file] == NULL)
		return ctx_err_set(err, CTX_E_NOTFOUND, "no text");
	*ret = world->texts[file];
	*ret_n = strlen(*ret);
	return CTX_OK;
}

static enum ctx_status read_code(void *context, uint32_t function, const struct ctx_function_code **ret,
				 size_t *ret_n, struct ctx_err *err)
{
	(void)context;
	(void)function;
	(void)err;
	*ret = NULL;
	*ret_n = 0;
	return CTX_OK;
}

/* Lines that do not pack well. */
static char *random_text(void)
{
	char *text = ctx_calloc(LINES * 40 + 1, 1);
	size_t n = 0;

	assert_non_null(text);
	for (int line = 0; line < LINES; line++) {
		for (int length = rand() % 38; length > 0; length--)
			text[n++] = (char)(' ' + rand() % 95);
		text[n++] = '\n';
	}
	return text;
}

static void make_functions(struct world *world)
{
	for (uint32_t i = 0; i < N; i++) {
		snprintf(world->names[i], sizeof(world->names[i]), "f%u", i);
		world->functions[i].name = world->names[i];
		for (uint32_t k = 0; k < EACH; k++)
			world->sites[i * EACH + k] = (struct ctx_site){i, k != 0 ? i : CTX_NONE,
								       k != 0 ? FIRST + 3 * k : 0, CTX_NONE};
	}
	world->functions[INLINED] = (struct ctx_function_info){.name = "f0 (inlined)", .inlined = true};
	world->functions[BARE].name = "bare";
	world->sites[N * EACH] = (struct ctx_site){INLINED, N, HEADER_LINE, EACH + 2}; /* a line of f1 */
	for (uint32_t i = 0; i <= N; i++) {
		snprintf(world->paths[i], sizeof(world->paths[i]), "/src/%u.c", i);
		world->files[i].path = world->paths[i];
		world->texts[i] = random_text();
	}
}

/* One raw stack for every site, and one for the function without lines. */
static void make_samples(struct world *world)
{
	for (uint32_t i = 0; i <= N_SITES; i++) {
		uint32_t raw, samples = 1 + (uint32_t)rand() % 1000;

		world->locations[i] = (struct ctx_location){0, i < N_SITES ? world->sites[i].function : BARE,
							    i, i < N_SITES ? i : CTX_NONE, false};
		world->weight[i] = (uint64_t)samples * UNIT - (uint64_t)(rand() % 3);
		assert_int_equal(ctx_trie_child(&world->raw_stacks, CTX_TRIE_ROOT, i, &raw, NULL), CTX_OK);
		assert_int_equal(ctx_histogram_add(&world->raw,
						   (struct ctx_hist_entry){.stack = raw,
									   .weight = world->weight[i],
									   .samples = samples},
						   NULL),
				 CTX_OK);
	}
}

static int setup(void **state)
{
	struct world *world = ctx_calloc(1, sizeof(*world));

	assert_non_null(world);
	srand(7);
	assert_int_equal(ctx_trie_init(&world->raw_stacks, NULL), CTX_OK);
	make_functions(world);
	make_samples(world);
	world->object.path = "/bin/demo";
	world->metric = (struct ctx_metric_info){
		.name = "cpu-clock", .kind = CTX_METRIC_CPU_TIME, .unit = CTX_UNIT_NS};
	world->profile.functions = world->functions;
	world->profile.n_functions = N_FUNCTIONS;
	world->profile.objects = &world->object;
	world->profile.n_objects = 1;
	world->profile.metrics = &world->metric;
	world->profile.n_metrics = 1;
	world->code = (struct ctx_code){&world->raw_stacks, world->raw_to_stack,
					world->locations,   N_SITES + 1,
					world->sites,	    N_SITES,
					world->files,	    N + 1};
	world->reader = (struct ctx_code_reader){read_text, read_code, world};
	world->input = (struct fake_source){.profile = &world->profile,
					    .code = &world->code,
					    .raw = &world->raw,
					    .reader = &world->reader};
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	for (size_t i = 0; i <= N; i++)
		free(world->texts[i]);
	ctx_trie_deinit(&world->raw_stacks);
	ctx_histogram_deinit(&world->raw);
	free(world);
	return 0;
}

/* Exclusive weight of a function with its inlined instances. */
static uint64_t exclusive_of(const struct world *world, uint32_t function)
{
	uint64_t sum = function == 0 ? world->weight[N * EACH] : 0;

	for (uint32_t k = 0; k < EACH; k++)
		sum += world->weight[function * EACH + k];
	return sum;
}

static size_t packed(const struct ctx_buf *bytes)
{
	uLongf n = compressBound(bytes->n);
	uint8_t *out = ctx_calloc(n, 1);

	assert_non_null(out);
	assert_int_equal(compress2(out, &n, bytes->bytes, bytes->n, Z_BEST_COMPRESSION), Z_OK);
	free(out);
	return n;
}

static void test_html_sources__the_hottest_functions_are_included_while_they_fit(void **state)
{
	static const size_t rooms[] = {0, 100, 2000, 8000, 30000, 1 << 20};
	struct world *world = *state;
	size_t before = 0;

	for (size_t r = 0; r < CTX_COUNT_OF(rooms); r++) {
		struct ctx_html_sources sources;
		uint64_t least = UINT64_MAX, most_left = 0;
		size_t left = 0;

		assert_int_equal(
			ctx_html_sources_make(fake_open(&world->input), UNIT, rooms[r], &sources, NULL),
			CTX_OK);
		assert_true(sources.packed_bytes <= rooms[r]);
		if (sources.n_groups != 0)
			assert_true(packed(&sources.groups) <= rooms[r] + 16);
		for (uint32_t i = 0; i < N; i++) {
			uint64_t weight = exclusive_of(world, i);

			assert_int_not_equal(sources.of_function[i], CTX_HTML_SOURCE_NONE);
			if (sources.of_function[i] != CTX_HTML_SOURCE_LEFT) {
				least = weight < least ? weight : least;
				continue;
			}
			left++;
			most_left = weight > most_left ? weight : most_left;
		}
		/*
		 * Of functions that are about as long, the heaviest; some shorter one may fill the
		 * rest.
		 */
		assert_int_equal(sources.n_groups + left, N);
		assert_true(sources.n_groups >= before);
		before = sources.n_groups;
		if (rooms[r] < 100)
			assert_int_equal(sources.n_groups, 0);
		else if (rooms[r] == 8000)
			assert_true(sources.n_groups > 1 && least > most_left / 2);
		assert_int_equal(sources.of_function[INLINED], sources.of_function[0]);
		assert_int_equal(sources.of_function[BARE], CTX_HTML_SOURCE_NONE);
		ctx_html_sources_deinit(&sources);
	}
	assert_int_equal(before, N);
}

static void test_html_sources__dropped_ones_are_left_out(void **state)
{
	struct world *world = *state;
	struct ctx_html_sources sources;

	assert_int_equal(ctx_html_sources_make(fake_open(&world->input), UNIT, 1 << 20, &sources, NULL),
			 CTX_OK);
	ctx_html_sources_drop(&sources, N_FUNCTIONS);
	assert_int_equal(sources.n_groups + sources.groups.n, 0);
	for (uint32_t i = 0; i < N_FUNCTIONS; i++)
		assert_int_equal(sources.of_function[i],
				 i == BARE ? CTX_HTML_SOURCE_NONE : CTX_HTML_SOURCE_LEFT);
	ctx_html_sources_deinit(&sources);
}

/* The text of a line of the world. */
static const char *line_of(const struct world *world, uint32_t file, uint64_t line, size_t *ret_n)
{
	const char *text = world->texts[file];

	for (; line > 1; line--)
		text = strchr(text, '\n') + 1;
	*ret_n = strcspn(text, "\n");
	return text;
}

struct read_section {
	uint32_t file;
	uint64_t n_text, n, lines[LINES + 1], exclusive[LINES + 1], inclusive[LINES + 1];
	const char *text;
	size_t n_bytes;
};

static void read_section(struct ctx_cursor *cursor, struct read_section *ret)
{
	uint64_t samples[2][LINES + 1], length = ctx_cursor_get_varint(cursor);
	const char *path = (const char *)ctx_cursor_get_bytes(cursor, (size_t)length);

	ret->file = (uint32_t)strtoul(path + strlen("/src/"), NULL, 10);
	ret->n_text = ctx_cursor_get_varint(cursor);
	ret->n = ctx_cursor_get_varint(cursor);
	assert_true(ret->n <= LINES);
	for (uint64_t i = 0; i < ret->n; i++) {
		uint64_t step = ctx_cursor_get_varint(cursor);

		assert_true(i == 0 || step > 0);
		ret->lines[i] = step + (i != 0 ? ret->lines[i - 1] : 0);
	}
	for (int column = 0; column < 2; column++) {
		for (uint64_t i = 0; i < ret->n; i++)
			samples[column][i] = ctx_cursor_get_varint(cursor);
	}
	for (uint64_t i = 0; i < ret->n; i++)
		ret->exclusive[i] = samples[0][i] * UNIT + (uint64_t)ctx_cursor_get_zigzag(cursor);
	for (uint64_t i = 0; i < ret->n; i++)
		ret->inclusive[i] = samples[1][i] * UNIT + (uint64_t)ctx_cursor_get_zigzag(cursor);
	ret->n_bytes = (size_t)ctx_cursor_get_varint(cursor);
	ret->text = (const char *)ctx_cursor_get_bytes(cursor, ret->n_bytes);
}

static uint64_t check_section(const struct world *world, const struct read_section *section)
{
	const char *at = section->text, *end = section->text + section->n_bytes;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < section->n; i++) {
		uint64_t line = section->lines[i], weight = 0;
		size_t n;
		const char *text;

		for (uint32_t k = 0; k < N_SITES; k++) {
			const struct ctx_site *site = &world->sites[k];
			bool here = line == 0 ? site->line == 0 && site->function == section->file
					      : site->file == section->file && site->line == line;

			weight += here ? world->weight[k] : 0;
		}
		assert_int_equal(section->exclusive[i], weight);
		if (section->file == 1 && line == FIRST + 3 * 2)
			weight += world->weight[N * EACH]; /* what is inlined there */
		assert_int_equal(section->inclusive[i], weight);
		sum += section->exclusive[i];
		if (line == 0)
			continue;
		text = line_of(world, section->file, line, &n);
		assert_true((size_t)(end - at) >= n);
		assert_memory_equal(at, text, n);
		at += n;
		if (i + 1 < section->n)
			assert_int_equal(*at++, '\n');
	}
	assert_ptr_equal(at, end);
	return sum;
}

static void test_html_sources__lines_are_read_back_with_their_weights_and_texts(void **state)
{
	struct world *world = *state;
	struct ctx_html_sources sources;
	struct ctx_cursor cursor;
	uint64_t before = UINT64_MAX, all = 0;

	assert_int_equal(ctx_html_sources_make(fake_open(&world->input), UNIT, 1 << 20, &sources, NULL),
			 CTX_OK);
	cursor = ctx_cursor_make(sources.groups.bytes, sources.groups.n);
	for (size_t g = 0; g < sources.n_groups; g++) {
		uint64_t n = ctx_cursor_get_varint(&cursor), sum = 0;
		uint32_t function = 0;

		while (sources.of_function[function] != CTX_HTML_SOURCE_FIRST + g)
			function++;
		assert_int_equal(n, function == 0 ? 2 : 1); /* its own file; where it is inlined from */
		for (; n > 0; n--) {
			struct read_section section;

			read_section(&cursor, &section);
			assert_true(section.file == function || (function == 0 && section.file == N));
			assert_int_equal(section.n_text, LINES);
			sum += check_section(world, &section);
		}
		assert_int_equal(sum, exclusive_of(world, function));
		assert_true(sum <= before);
		before = sum;
		all += sum;
	}
	assert_false(cursor.failed);
	assert_int_equal(ctx_cursor_left(&cursor), 0);
	assert_int_equal(sources.weight, all + world->weight[N_SITES]);
	ctx_html_sources_deinit(&sources);
}

static void test_html_sources__a_file_without_text_has_the_lines_with_weight(void **state)
{
	struct world *world = *state;
	struct ctx_html_sources sources;
	struct ctx_cursor cursor;

	for (size_t i = 0; i <= N; i++) {
		free(world->texts[i]);
		world->texts[i] = NULL;
	}
	assert_int_equal(ctx_html_sources_make(fake_open(&world->input), UNIT, 1 << 20, &sources, NULL),
			 CTX_OK);
	assert_int_equal(sources.n_groups, N);
	cursor = ctx_cursor_make(sources.groups.bytes, sources.groups.n);
	while (ctx_cursor_left(&cursor) != 0) {
		for (uint64_t n = ctx_cursor_get_varint(&cursor); n > 0; n--) {
			struct read_section section;

			read_section(&cursor, &section);
			assert_int_equal(section.n_text, 0);
			assert_int_equal(section.n_bytes, 0);
			assert_int_equal(section.n, section.file == N ? 1 : EACH);
		}
	}
	assert_false(cursor.failed);
	ctx_html_sources_deinit(&sources);
}

static void test_html_sources__long_lines_are_cut_and_invalid_bytes_replaced(void **state)
{
	struct world *world = *state;
	struct ctx_html_sources sources;
	struct ctx_cursor cursor;
	struct read_section section;
	char *text = ctx_calloc(3000, 1);
	size_t n = 0;

	assert_non_null(text);
	while (n < FIRST + 2)
		text[n++] = '\n';
	strcpy(text + n, "a\xff\t\x01</script>\xe2\x80\xa8\r\n");
	n = strlen(text);
	memset(text + n, 'x', 2000);
	free(world->texts[0]);
	world->texts[0] = text;
	for (size_t i = 0; i < world->raw.n; i++) /* function 0 alone, all of it in one line */
		world->raw.entries[i].weight = world->raw.entries[i].samples = i == 1;
	assert_int_equal(ctx_html_sources_make(fake_open(&world->input), UNIT, 1 << 20, &sources, NULL),
			 CTX_OK);
	assert_int_equal(sources.n_groups, 1);
	cursor = ctx_cursor_make(sources.groups.bytes, sources.groups.n);
	assert_int_equal(ctx_cursor_get_varint(&cursor), 1);
	read_section(&cursor, &section);
	assert_false(cursor.failed);
	n = strlen("\n\na\xef\xbf\xbd\t\x01</script>\xe2\x80\xa8\n");
	assert_int_equal(section.n_bytes, n + 400 + 3);
	assert_memory_equal(section.text, "\n\na\xef\xbf\xbd\t\x01</script>\xe2\x80\xa8\n", n);
	assert_memory_equal(section.text + n + 400, "\xe2\x80\xa6", 3);
	ctx_html_sources_deinit(&sources);
}

static void test_html_sources__without_code_there_are_none(void **state)
{
	struct world *world = *state;
	struct ctx_html_sources sources;

	world->code.n_sites = 0;
	for (uint32_t i = 0; i <= N_SITES; i++)
		world->locations[i].site = CTX_NONE;
	assert_int_equal(ctx_html_sources_make(fake_open(&world->input), UNIT, 1 << 20, &sources, NULL),
			 CTX_OK);
	assert_int_equal(sources.n_groups, 0);
	for (uint32_t i = 0; i < N_FUNCTIONS; i++)
		assert_int_equal(sources.of_function[i], CTX_HTML_SOURCE_NONE);
	ctx_html_sources_deinit(&sources);
	world->input.code = NULL;
	assert_int_equal(ctx_html_sources_make(fake_open(&world->input), UNIT, 1 << 20, &sources, NULL),
			 CTX_OK);
	assert_null(sources.of_function);
	assert_int_equal(sources.n_groups + sources.groups.n, 0);
	assert_int_equal(sources.weight, 0);
	ctx_html_sources_deinit(&sources);
}

static void test_html_sources__ids_that_lead_nowhere_are_refused(void **state)
{
	struct world *world = *state;
	struct ctx_html_sources sources;

	world->sites[3].file = N + 1;
	assert_int_equal(ctx_html_sources_make(fake_open(&world->input), UNIT, 1 << 20, &sources, NULL),
			 CTX_E_FORMAT);
	assert_null(sources.of_function);
}

static void test_html_sources__memory_that_runs_out_is_a_status(void **state)
{
	struct world *world = *state;
	struct ctx_html_sources sources;
	long calls = 0;

	for (enum ctx_status status = CTX_E_NOMEM; status != CTX_OK; calls++) {
		fail_after = calls;
		status = ctx_html_sources_make(fake_open(&world->input), UNIT, 20000, &sources, NULL);
		assert_true(fail_after >= 0 ? status == CTX_OK : status == CTX_E_NOMEM);
		fail_after = -1;
	}
	assert_true(calls > 50);
	ctx_html_sources_deinit(&sources);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_html_sources__the_hottest_functions_are_included_while_they_fit, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_html_sources__dropped_ones_are_left_out, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_html_sources__lines_are_read_back_with_their_weights_and_texts, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_html_sources__a_file_without_text_has_the_lines_with_weight, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_html_sources__long_lines_are_cut_and_invalid_bytes_replaced, setup, teardown),
		cmocka_unit_test_setup_teardown(test_html_sources__without_code_there_are_none, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_html_sources__ids_that_lead_nowhere_are_refused, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_html_sources__memory_that_runs_out_is_a_status, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
