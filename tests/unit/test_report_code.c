/*
 * Reports of lines and instructions: a small program whose every sample is known; its golden files;
 * the sums beside the obvious slow way; hostile sources; memory that runs out.
 */
#include "base/mem.h"
#include "chance.h"
#include "failing_malloc.h"
#include "report/code_rows.h"
#include "report/instructions.h"
#include "report/names.h"
#include "report/report.h"
#include "report_printing.h"

#define MS UINT64_C(1000000)
#define PATH(...) ((const uint32_t[]){__VA_ARGS__, CTX_NONE})

enum { MAIN, WALK, CLAMP, OTHER, READ, TRUNCATED };
enum { AT_MAIN, AT_SUM, AT_CLAMP, AT_CALL, AT_OTHER, AT_COLD, AT_READ, AT_CUT, AT_JOIN, N_LOCATIONS };
enum { WALK_C, CLAMP_H, MISSING_C, N_FILES };

static const struct ctx_function_info functions[] = {
	[MAIN] = {.name = "main",
		  .linkage_name = "main",
		  .aliases = "",
		  .object = 0,
		  .offset = 0x1000,
		  .size = 0x40},
	[WALK] = {.name = "walk",
		  .linkage_name = "walk",
		  .aliases = "",
		  .parts = "walk.cold",
		  .object = 0,
		  .offset = 0x2000,
		  .size = 90},
	[CLAMP] = {.name = "clamp(int) (inlined)",
		   .linkage_name = "_Z5clampi",
		   .aliases = "",
		   .object = 0,
		   .inlined = true},
	[OTHER] = {.name = "other",
		   .linkage_name = "other",
		   .aliases = "",
		   .object = 0,
		   .offset = 0x3000,
		   .size = 16},
	[READ] = {.name = "read",
		  .linkage_name = "read",
		  .aliases = "",
		  .object = 1,
		  .offset = 0x500,
		  .size = 32},
	[TRUNCATED] = {.name = "<Truncated-stack: no call frame information>",
		       .linkage_name = "<Truncated-stack: no call frame information>",
		       .aliases = "",
		       .object = CTX_NONE,
		       .kind = CTX_FUNCTION_TRUNCATED},
};

static const struct ctx_object_info objects[] = {
	{"/home/user/bin/app", "0123abcd", "archive"},
	{"/usr/lib/x86_64-linux-gnu/libc.so.6", "ffee", "none: no symbol table"},
};

static const struct ctx_site sites[] = {
	{MAIN, WALK_C, 20, CTX_NONE},	 {WALK, WALK_C, 8, CTX_NONE},  {WALK, WALK_C, 7, CTX_NONE},
	{CLAMP, CLAMP_H, 3, 2},		 {WALK, WALK_C, 10, CTX_NONE}, {WALK, CTX_NONE, 0, CTX_NONE},
	{OTHER, MISSING_C, 5, CTX_NONE},
};

static const struct ctx_location locations[N_LOCATIONS] = {
	[AT_MAIN] = {0, MAIN, 0x1010, 0, false},
	[AT_SUM] = {0, WALK, 0x2026, 1, false},
	[AT_CLAMP] = {0, CLAMP, 0x2031, 3, false},
	[AT_CALL] = {0, WALK, 0x2043, 4, false}, /* the last byte of a call of 5 */
	[AT_OTHER] = {0, OTHER, 0x3004, 6, false},
	[AT_COLD] = {0, WALK, 0x4002, 5, false},
	[AT_READ] = {1, READ, 0x510, CTX_NONE, false},
	[AT_CUT] = {CTX_NONE, TRUNCATED, 0, CTX_NONE, false},
	[AT_JOIN] = {CTX_NONE, CTX_NONE, 0, CTX_NONE, true},
};

static const struct ctx_source_file files[N_FILES] = {
	{"/home/user/src/walk.c", "/home/user/src/walk.c"},
	{"/home/user/src/clamp.h", "archive"},
	{"/home/user/src/missing.c", ""},
};

static const char *const usual_texts[N_FILES] = {
	"int data[64];\n"
	"int other(int);\n"
	"int walk(int n)\n"
	"{\n"
	"\tint sum = 0;\n"
	"\tfor (int i = 0; i < n; i++) {\n"
	"\t\tif (data[clamp(i)] > 3)\t\t/* a comment that is so long that it does not fit into eighty "
	"columns */\n"
	"\t\t\tsum += data[clamp(i)];\n"
	"\t\telse\n"
	"\t\t\tsum -= other(i);\n"
	"\t}\n"
	"\treturn sum;\n"
	"}\n"
	"\n"
	"static int unused;\n"
	"\n"
	"\n"
	"int main(void)\n"
	"{\n"
	"\treturn walk(1000);\n"
	"}\n",
	"/* 1 */\nstatic inline int clamp(int i)\n{ return i & 63; }\n\n\n\n\n\n\n\n\n\n\n\n\n/* 16 */\n",
	NULL,
};

/* gcc -O1 of the text above; its call goes to 0x3000. */
static const uint8_t walk_bytes[90] = {
	0x41, 0x55, 0x41, 0x54, 0x55, 0x53, 0x48, 0x83, 0xec, 0x08, 0x85, 0xff, 0x7e, 0x3a, 0x41,
	0x89, 0xfc, 0xbb, 0x00, 0x00, 0x00, 0x00, 0xbd, 0x00, 0x00, 0x00, 0x00, 0x4c, 0x8d, 0x2d,
	0x00, 0x00, 0x00, 0x00, 0xeb, 0x0a, 0x01, 0xc5, 0x83, 0xc3, 0x01, 0x41, 0x39, 0xdc, 0x74,
	0x1f, 0x89, 0xd8, 0x83, 0xe0, 0x3f, 0x41, 0x8b, 0x44, 0x85, 0x00, 0x83, 0xf8, 0x03, 0x7f,
	0xe7, 0x89, 0xdf, 0xe8, 0xbc, 0x0f, 0x00, 0x00, 0x29, 0xc5, 0xeb, 0xde, 0xbd, 0x00, 0x00,
	0x00, 0x00, 0x89, 0xe8, 0x48, 0x83, 0xc4, 0x08, 0x5b, 0x5d, 0x41, 0x5c, 0x41, 0x5d, 0xc3};

/* ud2, a byte that is no instruction, a jump to 0x204d. */
static const uint8_t cold_bytes[8] = {0x0f, 0x0b, 0x06, 0xe9, 0x45, 0xe0, 0xff, 0xff};

static const struct ctx_line_row walk_lines[] = {
	{0x2000, WALK_C, 4},  {0x200a, WALK_C, 6},   {0x2024, WALK_C, 8},
	{0x2026, WALK_C, 6},  {0x202e, CLAMP_H, 3},  {0x2033, WALK_C, 7},
	{0x203d, WALK_C, 10}, {0x2048, CTX_NONE, 0}, {0x204d, WALK_C, 13},
};

static const struct ctx_function_code walk_code[] = {
	{WALK, 0x2000, walk_bytes, sizeof(walk_bytes), walk_lines, CTX_COUNT_OF(walk_lines), 62},
	{WALK, 0x4000, cold_bytes, sizeof(cold_bytes), NULL, 0, 62},
};

struct world {
	struct ctx_profile profile;
	struct ctx_metric_info metric;
	struct ctx_trie raw_stacks;
	uint32_t *raw_to_stack;
	size_t raw_cap;
	struct ctx_histogram raw;
	struct ctx_code code;
	struct ctx_code_reader reader;
	struct fake_source input;
	const char *texts[N_FILES];
	size_t lengths[N_FILES];
	bool no_code;
};

static const struct ctx_interval whole_run = {0, 1000 * MS};

static enum ctx_status read_text(void *context, uint32_t file, const char **ret, size_t *ret_n,
				 struct ctx_err *err)
{
	const struct world *world = context;

	if (world->texts[file] == NULL)
		return ctx_err_set(err, CTX_E_NOTFOUND, "no text");
	*ret = world->texts[file];
	*ret_n = world->lengths[file] != 0 ? world->lengths[file] : strlen(*ret);
	return CTX_OK;
}

static enum ctx_status read_code(void *context, uint32_t function, const struct ctx_function_code **ret,
				 size_t *ret_n, struct ctx_err *err)
{
	const struct world *world = context;

	(void)err;
	*ret = walk_code;
	*ret_n = function == WALK && !world->no_code ? CTX_COUNT_OF(walk_code) : 0;
	return CTX_OK;
}

static void map_stack(struct world *world, uint32_t raw, uint32_t stack)
{
	assert_int_equal(ctx_grow(&world->raw_to_stack, &world->raw_cap, (size_t)raw + 1, NULL), CTX_OK);
	world->raw_to_stack[raw] = stack;
}

/* A stack of locations, ended by CTX_NONE, with so many samples of 1 ms. */
static void add(struct world *world, uint64_t samples, const uint32_t *path)
{
	uint32_t raw = CTX_TRIE_ROOT, stack = CTX_TRIE_ROOT;

	for (; *path != CTX_NONE; path++) {
		assert_int_equal(ctx_trie_child(&world->raw_stacks, raw, *path, &raw, NULL), CTX_OK);
		if (*path == AT_CLAMP)
			assert_int_equal(ctx_trie_child(&world->profile.cct, stack, WALK, &stack, NULL),
					 CTX_OK);
		if (*path != AT_JOIN)
			assert_int_equal(ctx_trie_child(&world->profile.cct, stack, locations[*path].function,
							&stack, NULL),
					 CTX_OK);
		map_stack(world, raw, stack);
	}
	assert_int_equal(ctx_histogram_add(&world->raw,
					   (struct ctx_hist_entry){
						   .stack = raw, .weight = samples * MS, .samples = samples},
					   NULL),
			 CTX_OK);
}

static void add_all(struct world *world)
{
	add(world, 30, PATH(AT_MAIN, AT_SUM));
	add(world, 50, PATH(AT_MAIN, AT_CLAMP));
	add(world, 20, PATH(AT_MAIN, AT_CALL, AT_OTHER));
	add(world, 10, PATH(AT_MAIN, AT_CALL, AT_OTHER, AT_CALL, AT_OTHER, AT_SUM));
	add(world, 5, PATH(AT_MAIN, AT_COLD));
	add(world, 3, PATH(AT_CUT, AT_READ));
	add(world, 122, PATH(AT_MAIN, AT_JOIN, AT_READ));
}

static int setup(void **state)
{
	struct world *world = ctx_calloc(1, sizeof(*world));

	assert_non_null(world);
	world->metric = (struct ctx_metric_info){.name = "cpu-clock",
						 .kind = CTX_METRIC_CPU_TIME,
						 .unit = CTX_UNIT_NS,
						 .samples = 240,
						 .weight = 240 * MS};
	world->profile = (struct ctx_profile){.name = "test.1.er",
					      .run = whole_run,
					      .closed = true,
					      .notes = "",
					      .functions = (struct ctx_function_info *)(uintptr_t)functions,
					      .n_functions = CTX_COUNT_OF(functions),
					      .objects = (struct ctx_object_info *)(uintptr_t)objects,
					      .n_objects = CTX_COUNT_OF(objects),
					      .metrics = &world->metric,
					      .n_metrics = 1};
	assert_int_equal(ctx_trie_init(&world->profile.cct, NULL), CTX_OK);
	assert_int_equal(ctx_trie_init(&world->raw_stacks, NULL), CTX_OK);
	map_stack(world, CTX_TRIE_ROOT, CTX_TRIE_ROOT);
	add_all(world);
	memcpy(world->texts, usual_texts, sizeof(usual_texts));
	world->code = (struct ctx_code){&world->raw_stacks,
					world->raw_to_stack,
					locations,
					N_LOCATIONS,
					sites,
					CTX_COUNT_OF(sites),
					files,
					N_FILES};
	world->reader = (struct ctx_code_reader){read_text, read_code, world};
	world->input = (struct fake_source){.profile = &world->profile,
					    .path = "test.1.er",
					    .intervals = &whole_run,
					    .n_intervals = 1,
					    .filter = "",
					    .code = &world->code,
					    .raw = &world->raw,
					    .reader = &world->reader};
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	ctx_trie_deinit(&world->profile.cct);
	ctx_trie_deinit(&world->raw_stacks);
	ctx_histogram_deinit(&world->raw);
	free(world->raw_to_stack);
	free(world);
	return 0;
}

static void test_report_code__prints_every_report_in_every_format(void **state)
{
	struct world *world = *state;
	struct ctx_report_options options = {0};

	assert_every_format("lines", &world->input, options, "code-lines");
	assert_every_format("pcs", &world->input, options, "code-pcs");
	assert_every_format("source", &world->input, options, "code-source");
	assert_every_format("disasm", &world->input, options, "code-disasm");
	options.subject = "clamp.h";
	assert_every_format("source", &world->input, options, "code-source-file");
	options.subject = "other";
	assert_every_format("source", &world->input, options, "code-source-without-text");
	assert_every_format("disasm", &world->input, options, "code-disasm-without-code");
	options.subject = "read";
	assert_every_format("source", &world->input, options, "code-source-without-lines");
	options = (struct ctx_report_options){.function = "walk", .limit = 2, .sort = "inclusive"};
	assert_every_format("lines", &world->input, options, "code-lines-filter");
	assert_every_format("pcs", &world->input, options, "code-pcs-filter");
}

/* Without a name: what is hotter has lines, but its text is neither in the recording nor here. */
static void test_report_code__the_hottest_with_text_is_shown(void **state)
{
	struct world *world = *state;
	struct ctx_report_options options = {.width = 80};
	char *text;

	add(world, 5000, PATH(AT_MAIN, AT_CALL, AT_OTHER));
	text = print_report("source", &world->input, options);
	assert_non_null(strstr(text, "\nclamp(int) (inlined) [app]: /home/user/src/clamp.h\n"));
	assert_null(strstr(text, "\nother [app]"));
	free(text);
	/* If none has text, the hottest with lines. */
	memset(world->texts, 0, sizeof(world->texts));
	text = print_report("source", &world->input, options);
	assert_non_null(strstr(text, "\nother [app]: /home/user/src/missing.c\n"));
	free(text);
}

#define HOTTER 30u

static void test_report_code__the_hottest_with_code_is_shown(void **state)
{
	static struct ctx_function_info more_functions[CTX_COUNT_OF(functions) + HOTTER];
	static struct ctx_location more_locations[N_LOCATIONS + HOTTER];
	struct world *world = *state;
	char *text;

	memcpy(more_functions, functions, sizeof(functions));
	memcpy(more_locations, locations, sizeof(locations));
	for (uint32_t i = 0; i < HOTTER; i++) {
		uint32_t location = N_LOCATIONS + i, function = CTX_COUNT_OF(functions) + i, raw, stack;

		more_functions[function] = functions[READ];
		more_locations[location] = (struct ctx_location){1, function, 0x1000 + i, CTX_NONE, false};
		assert_int_equal(ctx_trie_child(&world->raw_stacks, CTX_TRIE_ROOT, location, &raw, NULL),
				 CTX_OK);
		assert_int_equal(ctx_trie_child(&world->profile.cct, CTX_TRIE_ROOT, function, &stack, NULL),
				 CTX_OK);
		map_stack(world, raw, stack);
		assert_int_equal(ctx_histogram_add(&world->raw,
						   (struct ctx_hist_entry){
							   .stack = raw, .weight = 900 * MS, .samples = 900},
						   NULL),
				 CTX_OK);
	}
	world->profile.functions = more_functions;
	world->profile.n_functions = CTX_COUNT_OF(more_functions);
	world->code.locations = more_locations;
	world->code.n_locations = CTX_COUNT_OF(more_locations);
	world->code.raw_to_stack = world->raw_to_stack;
	text = print_report("disasm", &world->input, (struct ctx_report_options){.width = 80});
	assert_non_null(strstr(text, "\nwalk [app]"));
	free(text);
}

/* "key":value behind the first `begin`; what it is. */
static uint64_t number_behind(const char *text, const char *begin, const char *key)
{
	const char *at = strstr(text, begin);

	assert_non_null(at);
	at = strstr(at, key);
	assert_non_null(at);
	return strtoull(at + strlen(key), NULL, 10);
}

static uint64_t sum_of(const char *text, const char *key)
{
	uint64_t sum = 0;

	while ((text = strstr(text, key)) != NULL) {
		text += strlen(key);
		sum += strtoull(text, NULL, 10);
	}
	return sum;
}

/*
 * E10: every sample has one line and one instruction, and counts once for each that is on its
 * stack, recursion or not.
 */
static void test_report_code__e10_exclusive_adds_up_and_recursion_counts_once(void **state)
{
	struct world *world = *state;
	struct ctx_report_options options = {.format = CTX_REPORT_JSON};
	char *text = print_report("lines", &world->input, options);

	assert_int_equal(sum_of(text, "\"exclusive_samples\":"), 240);
	assert_int_equal(number_behind(text, "\"line\":10,", "\"inclusive\":"), 30 * MS);
	assert_int_equal(number_behind(text, "\"line\":10,", "\"exclusive\":"), 0);
	assert_int_equal(number_behind(text, "\"line\":7,", "\"inclusive\":"), 50 * MS);
	assert_int_equal(number_behind(text, "\"line\":3,", "\"exclusive\":"), 50 * MS);
	assert_int_equal(number_behind(text, "\"line\":20,", "\"inclusive\":"), 237 * MS);
	free(text);
	text = print_report("pcs", &world->input, options);
	assert_int_equal(sum_of(text, "\"exclusive_samples\":"), 240);
	assert_int_equal(number_behind(text, "\"address\":8259,", "\"inclusive\":"), 30 * MS);
	free(text);
}

static void test_report_code__unknown_lines_come_last(void **state)
{
	struct world *world = *state;
	struct ctx_report_options options = {.format = CTX_REPORT_JSON, .sort = "file"};
	char *text = print_report("pcs", &world->input, options);
	const char *unknown = strstr(text, "\"file\":null");

	assert_true(unknown != NULL && strstr(text, "\"file\":\"") != NULL);
	assert_null(strstr(unknown, "\"file\":\""));
	free(text);
}

/* A return address less one is inside the call: its weight is the call's. */
static void test_report_code__callers_count_for_the_call_instruction(void **state)
{
	struct world *world = *state;
	char *text = print_report("disasm", &world->input,
				  (struct ctx_report_options){.format = CTX_REPORT_JSON, .subject = "walk"});

	assert_int_equal(number_behind(text, "\"address\":8255,", "\"inclusive\":"), 30 * MS);
	assert_non_null(strstr(text, "\"target\":12288,\"target_name\":\"other\""));
	/* 240 less those in main, other, read. */
	assert_int_equal(sum_of(text, "\"exclusive_samples\":"), 95);
	free(text);
}

static void assert_refused(struct world *world, const char *report, const char *subject, const char *because)
{
	struct ctx_err err = {0};
	char *text = NULL;
	size_t n = 0;
	struct ctx_report_options options = {.out = open_memstream(&text, &n), .subject = subject};

	assert_int_equal(fake_print(report, &world->input, &options, &err), CTX_E_NOTFOUND);
	if (strstr(err.msg, because) == NULL)
		fail_msg("%s", err.msg);
	fclose(options.out);
	assert_int_equal(n, 0);
	free(text);
}

static void test_report_code__unknown_subjects_are_refused_with_similar_names(void **state)
{
	struct world *world = *state;

	assert_refused(world, "source", "wolk", "'walk'");
	assert_refused(world, "source", "clam", "'clamp.h'");
	assert_refused(world, "source", "clam", "'clamp(int)'");
	assert_refused(world, "source", "ssing.c", "'missing.c'");
	assert_refused(world, "disasm", "walk.c", "no function 'walk.c'");
	assert_refused(world, "disasm", "nothing-like-this", "no function");
	assert_refused(world, "disasm", "_Z5clampi", "inlined into 'walk'");
}

static void test_report_code__a_function_is_found_with_and_without_inlined(void **state)
{
	struct world *world = *state;
	static const char *const names[] = {"clamp(int) (inlined)", "clamp(int)", "_Z5clampi"};

	for (size_t i = 0; i < CTX_COUNT_OF(names); i++) {
		char *text = print_report(
			"source", &world->input,
			(struct ctx_report_options){.format = CTX_REPORT_JSON, .subject = names[i]});

		assert_int_equal(sum_of(text, "\"exclusive_samples\":"), 50);
		free(text);
	}
}

static void test_report_code__an_empty_selection_is_a_report_too(void **state)
{
	static const char *const names[] = {"lines", "pcs", "source", "disasm"};
	struct world *world = *state;
	static const struct ctx_histogram none = {0};
	static const struct ctx_trie root = {.n = 1};
	static struct ctx_code empty;

	empty = world->code;
	empty.n_locations = empty.n_sites = empty.n_files = 0;
	empty.raw_stacks = &root;
	world->input.raw = &none;
	for (size_t i = 0; i < CTX_COUNT_OF(names); i++) {
		char *text;

		text = print_report(names[i], &world->input, (struct ctx_report_options){.width = 80});
		assert_non_null(strstr(text, "no samples in this selection"));
		free(text);
		world->input.code = &empty;
		text = print_report(names[i], &world->input,
				    (struct ctx_report_options){.format = CTX_REPORT_JSON});
		assert_json(text);
		free(text);
		world->input.code = &world->code;
	}
}

static enum ctx_status check_code(struct world *world, struct ctx_err *err)
{
	struct ctx_code_view view;

	return ctx_code_view_pull(fake_open(&world->input), NULL, &view, err);
}

static void test_report_code__ids_that_lead_nowhere_are_errors(void **state)
{
	struct world *world = *state;
	static struct ctx_location wrong_locations[N_LOCATIONS];
	static struct ctx_site wrong_sites[CTX_COUNT_OF(sites)];
	struct ctx_err err = {0};

	assert_int_equal(check_code(world, &err), CTX_OK);
	memcpy(wrong_locations, locations, sizeof(locations));
	memcpy(wrong_sites, sites, sizeof(sites));
	wrong_sites[3].caller = 3;
	world->code.sites = wrong_sites;
	assert_int_equal(check_code(world, &err), CTX_E_FORMAT);
	wrong_sites[3] = (struct ctx_site){CLAMP, N_FILES, 1, CTX_NONE};
	assert_int_equal(check_code(world, &err), CTX_E_FORMAT);
	world->code.sites = sites;
	wrong_locations[0].site = CTX_COUNT_OF(sites);
	world->code.locations = wrong_locations;
	assert_int_equal(check_code(world, &err), CTX_E_FORMAT);
	wrong_locations[0] = (struct ctx_location){0, CTX_COUNT_OF(functions), 0, CTX_NONE, false};
	assert_int_equal(check_code(world, &err), CTX_E_FORMAT);
	world->code.locations = locations;
	world->code.n_locations = 3;
	assert_int_equal(check_code(world, &err), CTX_E_FORMAT);
	world->input.code = NULL;
	assert_int_equal(check_code(world, &err), CTX_E_ARG);
}

static void test_report_code__hostile_sources_and_paths_are_harmless(void **state)
{
	static const char *const names[] = {"lines", "pcs", "source", "disasm"};
	static const char hostile[] = "a\033]0;title\007\0b\033[2Jred\n\t\xff\xc0\x80\r\r\n\xe2\x80\xae"
				      "evil\xc2\x9b"
				      "31m\t漢字\t\n\n\n\n\n\x01\x02\0\n\"quote\",'\\\n</script>\n\t\t\x7f";
	struct world *world = *state;
	static struct ctx_source_file paths[N_FILES];

	for (size_t i = 0; i < N_FILES; i++) {
		world->texts[i] = hostile;
		world->lengths[i] = sizeof(hostile) - 1;
		paths[i] = (struct ctx_source_file){"/\033[2J/\xff/\xe2\x80\xae\xc2\x9b"
						    "31m\n\t.c",
						    ""};
	}
	world->code.files = paths;
	for (size_t i = 0; i < CTX_COUNT_OF(names); i++) {
		for (int format = CTX_REPORT_TEXT; format <= CTX_REPORT_CSV; format++) {
			char *text = print_report(
				names[i], &world->input,
				(struct ctx_report_options){.format = (enum ctx_report_format)format,
							    .width = 80,
							    .subject = i >= 2 ? "walk" : NULL});

			assert_harmless(text, (enum ctx_report_format)format, 80);
			free(text);
		}
	}
}

/* Long runs without samples are left out of text, and only there; --limit 0 shows them. */
static void test_report_code__long_runs_without_samples_are_left_out(void **state)
{
	struct world *world = *state;
	struct ctx_report_options options = {.subject = "clamp.h", .width = 80};
	char *text = print_report("source", &world->input, options);

	assert_null(strstr(text, "/* 16 */"));
	assert_non_null(strstr(text, "... (8 lines without samples)"));
	free(text);
	options.whole = true;
	text = print_report("source", &world->input, options);
	assert_non_null(strstr(text, "/* 16 */"));
	assert_null(strstr(text, "without samples"));
	free(text);
}

static void test_report_code__memory_that_runs_out_is_an_error(void **state)
{
	static const char *const names[] = {"lines", "pcs", "source", "disasm"};
	struct world *world = *state;

	for (size_t i = 0; i < CTX_COUNT_OF(names); i++) {
		for (int format = CTX_REPORT_TEXT; format <= CTX_REPORT_CSV; format++) {
			enum ctx_status status = CTX_E_NOMEM;
			long n;

			for (n = 0; status != CTX_OK; n++) {
				struct ctx_report_options options = {.format = (enum ctx_report_format)format,
								     .width = 80,
								     .out = fopen("/dev/null", "w")};
				struct ctx_err err = {0};

				assert_non_null(options.out);
				fail_after = n;
				status = fake_print(names[i], &world->input, &options, &err);
				fail_after = -1;
				fclose(options.out);
				if (status != CTX_OK)
					assert_int_equal(status, CTX_E_NOMEM);
				assert_true(n < 100000);
			}
			assert_true(n > 5);
		}
	}
}

/* ---- beside the obvious slow way ---- */

static bool key_of(const void *context, uint32_t function, uint32_t file, uint32_t line,
		   struct ctx_line_key *ret)
{
	(void)context;
	*ret = (struct ctx_line_key){function, file, line};
	return function != 1; /* of no interest */
}

struct random_code {
	struct ctx_site sites[40];
	struct ctx_location locations[30];
	struct ctx_trie stacks;
	struct ctx_histogram raw;
	struct ctx_code code;
	struct ctx_code_view view;
};

static void fill(struct random_code *it, uint64_t *random)
{
	for (uint32_t i = 0; i < 40; i++)
		it->sites[i] = (struct ctx_site){
			(uint32_t)random_of(random) % 4,
			random_of(random) % 4 == 0 ? CTX_NONE : (uint32_t)random_of(random) % 3,
			(uint32_t)random_of(random) % 5,
			i == 0 || random_of(random) % 2 == 0 ? CTX_NONE : (uint32_t)random_of(random) % i};
	for (uint32_t i = 0; i < 30; i++)
		it->locations[i] = (struct ctx_location){
			.function = (uint32_t)random_of(random) % 4,
			.site = random_of(random) % 4 == 0 ? CTX_NONE : (uint32_t)random_of(random) % 40,
			.joins = random_of(random) % 10 == 0};
	assert_int_equal(ctx_trie_init(&it->stacks, NULL), CTX_OK);
	for (uint64_t n = random_of(random) % 60; n > 0; n--) {
		uint32_t stack = CTX_TRIE_ROOT;

		for (uint64_t depth = random_of(random) % 8; depth > 0; depth--)
			assert_int_equal(ctx_trie_child(&it->stacks, stack, (uint32_t)random_of(random) % 30,
							&stack, NULL),
					 CTX_OK);
		assert_int_equal(ctx_histogram_add(&it->raw,
						   (struct ctx_hist_entry){.stack = stack,
									   .weight = random_of(random) % 100,
									   .samples = 1},
						   NULL),
				 CTX_OK);
	}
}

/* The keys of a location, innermost first; returns how many. */
static size_t keys_of(const struct random_code *it, uint32_t location, struct ctx_line_key *keys,
		      bool *wanted)
{
	uint32_t site = it->locations[location].site;
	size_t n = 0;

	if (site == CTX_NONE) {
		wanted[0] = key_of(NULL, it->locations[location].function, CTX_NONE, 0, &keys[0]);
		return 1;
	}
	for (; site != CTX_NONE; site = it->sites[site].caller, n++)
		wanted[n] = key_of(NULL, it->sites[site].function, it->sites[site].file, it->sites[site].line,
				   &keys[n]);
	return n;
}

static struct ctx_code_sum slow_sum(const struct random_code *it, const struct ctx_line_key *key)
{
	struct ctx_code_sum sum = {0};

	for (size_t i = 0; i < it->raw.n; i++) {
		const struct ctx_hist_entry *entry = &it->raw.entries[i];
		bool on_stack = false, leaf = true;

		for (uint32_t stack = entry->stack; stack != CTX_TRIE_ROOT;
		     stack = it->stacks.parent[stack]) {
			struct ctx_line_key keys[41];
			bool wanted[41];
			uint32_t location = it->stacks.key[stack];
			size_t n = keys_of(it, location, keys, wanted);

			if (it->locations[location].joins)
				continue;
			for (size_t j = 0; j < n; j++) {
				bool same = wanted[j] && memcmp(&keys[j], key, sizeof(*key)) == 0;

				on_stack |= same;
				if (leaf && j == 0 && same) {
					sum.exclusive += entry->weight;
					sum.exclusive_samples += entry->samples;
				}
			}
			leaf = false;
		}
		sum.inclusive += on_stack ? entry->weight : 0;
		sum.inclusive_samples += on_stack ? entry->samples : 0;
	}
	return sum;
}

static void test_report_code__sums_are_those_of_the_obvious_slow_way(void **state)
{
	uint64_t random = 7;

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct random_code it = {0};
		struct ctx_line_rows rows;

		fill(&it, &random);
		it.code = (struct ctx_code){.raw_stacks = &it.stacks,
					    .locations = it.locations,
					    .n_locations = 30,
					    .sites = it.sites,
					    .n_sites = 40};
		it.view = (struct ctx_code_view){.code = &it.code, .raw = &it.raw};
		assert_int_equal(ctx_line_rows_build(&it.view, key_of, NULL, &rows, NULL), CTX_OK);
		for (size_t i = 0; i < rows.n; i++) {
			struct ctx_code_sum want = slow_sum(&it, &rows.rows[i].key);

			assert_memory_equal(&rows.rows[i].sum, &want, sizeof(want));
		}
		ctx_line_rows_deinit(&rows);
		ctx_trie_deinit(&it.stacks);
		ctx_histogram_deinit(&it.raw);
	}
}

/* ---- instructions ---- */

static void test_instructions__random_bytes_are_covered_without_gaps(void **state)
{
	static const uint16_t machines[] = {62, 3, 183};
	uint64_t random = 3;

	(void)state;
	for (int round = 0; round < 600; round++) {
		struct ctx_disassembler *disassembler = NULL;
		struct ctx_instructions list;
		uint8_t bytes[64];
		struct ctx_function_code code = {.address = random_of(&random) << 20,
						 .bytes = bytes,
						 .n_bytes = random_of(&random) % sizeof(bytes)};
		uint64_t at = code.address;
		struct ctx_buf text = {0};

		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)random_of(&random);
		assert_int_equal(ctx_disassembler_open(machines[round % 3], &disassembler, NULL), CTX_OK);
		assert_int_equal(ctx_instructions_decode(disassembler, &code, &list, NULL), CTX_OK);
		for (size_t i = 0; i < list.n; i++) {
			assert_int_equal(list.list[i].address, at);
			assert_int_equal(ctx_instructions_find(&list, at), i);
			assert_int_equal(ctx_instructions_find(&list, at + list.list[i].size - 1), i);
			at += list.list[i].size;
			ctx_buf_clear(&text);
			ctx_instruction_put(disassembler, &code, &list.list[i], 0, &text);
			assert_true(text.n > 1);
		}
		assert_int_equal(at, code.address + code.n_bytes);
		assert_true(ctx_instructions_find(&list, at) == SIZE_MAX);
		ctx_buf_deinit(&text);
		ctx_instructions_deinit(&list);
		ctx_disassembler_close(disassembler);
	}
}

static void test_instructions__of_aarch64_have_targets(void **state)
{
	/* b.ne 0x1008; bl 0x2000; ret; no instruction */
	static const uint8_t bytes[] = {0x41, 0x00, 0x00, 0x54, 0xff, 0x03, 0x00, 0x94,
					0xc0, 0x03, 0x5f, 0xd6, 0x00, 0x00, 0x00, 0x00};
	struct ctx_function_code code = {.address = 0x1000, .bytes = bytes, .n_bytes = sizeof(bytes)};
	struct ctx_disassembler *disassembler = NULL;
	struct ctx_instructions list;
	struct ctx_buf text = {0};
	struct ctx_err err = {0};

	(void)state;
	assert_int_equal(ctx_disassembler_open(1, &disassembler, &err), CTX_E_NOTFOUND);
	assert_int_equal(ctx_disassembler_open(183, &disassembler, &err), CTX_OK);
	assert_int_equal(ctx_instructions_decode(disassembler, &code, &list, &err), CTX_OK);
	assert_int_equal(list.n, 4);
	assert_true(list.list[0].kind == CTX_INSTRUCTION_JUMP && list.list[0].target == 0x1008);
	assert_true(list.list[1].kind == CTX_INSTRUCTION_CALL && list.list[1].target == 0x2000);
	assert_true(list.list[2].is_target && !list.list[1].is_target);
	for (size_t i = 0; i < list.n; i++) {
		ctx_instruction_put(disassembler, &code, &list.list[i], 0, &text);
		ctx_buf_put_u8(&text, ';');
	}
	ctx_buf_put_u8(&text, '\0');
	assert_string_equal((const char *)text.bytes, "b.ne #0x1008;bl #0x2000;ret;.inst 0x00000000;");
	ctx_buf_deinit(&text);
	ctx_instructions_deinit(&list);
	ctx_disassembler_close(disassembler);
}

static void test_names__of_paths_lose_directories_first(void **state)
{
	struct ctx_buf buf = {0};

	(void)state;
	assert_cut(ctx_text_cut_path, "/home/user/src/walk.c:8", 30, false, "/home/user/src/walk.c:8");
	assert_cut(ctx_text_cut_path, "/home/user/src/walk.c:8", 17, false, "…/src/walk.c:8");
	assert_cut(ctx_text_cut_path, "/home/user/src/walk.c:8", 15, true, "../src/walk.c:8");
	assert_cut(ctx_text_cut_path, "/home/user/src/walk.c:8", 7, false, "wal…c:8");
	assert_cut(ctx_text_cut_path, "walk", 3, false, "w…k");
	ctx_text_cut_end(&buf, "abcdefgh", 8, 5, false);
	ctx_text_cut_end(&buf, "abcdefgh", 8, 5, true);
	ctx_text_cut_end(&buf, "abc", 3, 5, true);
	ctx_buf_put_u8(&buf, 0);
	assert_string_equal((const char *)buf.bytes, "abcd…abc..abc");
	ctx_buf_deinit(&buf);
}

int main(void)
{
#define CODE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CODE_TEST(test_report_code__prints_every_report_in_every_format),
		CODE_TEST(test_report_code__the_hottest_with_text_is_shown),
		CODE_TEST(test_report_code__the_hottest_with_code_is_shown),
		CODE_TEST(test_report_code__e10_exclusive_adds_up_and_recursion_counts_once),
		CODE_TEST(test_report_code__unknown_lines_come_last),
		CODE_TEST(test_report_code__callers_count_for_the_call_instruction),
		CODE_TEST(test_report_code__unknown_subjects_are_refused_with_similar_names),
		CODE_TEST(test_report_code__a_function_is_found_with_and_without_inlined),
		CODE_TEST(test_report_code__an_empty_selection_is_a_report_too),
		CODE_TEST(test_report_code__ids_that_lead_nowhere_are_errors),
		CODE_TEST(test_report_code__hostile_sources_and_paths_are_harmless),
		CODE_TEST(test_report_code__long_runs_without_samples_are_left_out),
		CODE_TEST(test_report_code__memory_that_runs_out_is_an_error),
		cmocka_unit_test(test_report_code__sums_are_those_of_the_obvious_slow_way),
		cmocka_unit_test(test_instructions__random_bytes_are_covered_without_gaps),
		cmocka_unit_test(test_instructions__of_aarch64_have_targets),
		cmocka_unit_test(test_names__of_paths_lose_directories_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
