/* Functions by name and code that is in no file, written to an experiment and read; lines that make no sense. */
#include "experiment_place.h"

#include "formats/experiment/exp_functions.h"
#include "formats/experiment/exp_log_code.h"

static uint32_t number_of(struct ctx_exp_writer *writer, const struct ctx_exp_function *function)
{
	uint32_t number = CTX_NONE;

	assert_int_equal(ctx_exp_function(writer, function, &number, NULL), CTX_OK);
	return number;
}

static struct ctx_exp_writer *begin(const char *path)
{
	struct ctx_exp_options options = fixture_options(path);
	struct ctx_exp_process process = {.origin = CTX_EXP_ROOT_PROCESS,
					  .parent = CTX_NONE,
					  .pid = 100,
					  .command = "java",
					  .time_ns = FIXTURE_START_NS};
	struct ctx_exp_thread thread = {.tid = 100, .name = "t", .time_ns = FIXTURE_START_NS};
	struct ctx_exp_map map = {.address = 0x10000,
				  .size = 0x1000,
				  .path = "//anon",
				  .build_id = "",
				  .time_ns = FIXTURE_START_NS + 50};
	struct ctx_exp_writer *writer = NULL;
	uint32_t number;

	assert_int_equal(ctx_exp_create(&options, &writer, NULL), CTX_OK);
	assert_int_equal(ctx_exp_process_start(writer, &process, &number, NULL), CTX_OK);
	assert_int_equal(ctx_exp_thread_start(writer, &thread, &number, NULL), CTX_OK);
	assert_int_equal(ctx_exp_map(writer, 0, &map, NULL), CTX_OK);
	return writer;
}

static const struct ctx_exp_function fib = {.name = "J.fib(int)",
					    .module = "<Java methods>",
					    .file = "J.java",
					    .line = 5,
					    .kind = CTX_CODE_JAVA_COMPILED};

/* One code, in which a method is inlined, and a frame of a method whose name comes later. */
static void write_run(const char *path)
{
	static const uint8_t instructions[16] = {0x55, 0x48, 0x89, 0xe5, [15] = 0xc3};
	struct ctx_exp_writer *writer = begin(path);
	struct ctx_exp_function inlined = fib, late = {.name = "J.main(\"<&>\")", .module = "<Java methods>"};
	struct ctx_exp_code_site sites[] = {{CTX_NONE, 0, 5}, {0, 1, 6}};
	const struct ctx_exp_code_row rows[] = {{0, CTX_NONE}, {4, 0}, {8, 1}};
	struct ctx_exp_code code = {.address = 0x10100,
				    .size = sizeof(instructions),
				    .rows = rows,
				    .sites = sites,
				    .n_rows = 3,
				    .n_sites = 2,
				    .instructions = instructions};
	uint64_t frames[2] = {0x10108};
	struct ctx_exp_sample sample = {.time_ns = FIXTURE_START_NS + 100, .frames = frames, .n_frames = 2};
	uint32_t reserved;

	inlined.kind = CTX_CODE_JAVA_INLINED;
	code.function = number_of(writer, &fib);
	assert_int_equal(code.function, 0);
	assert_int_equal(number_of(writer, &inlined), 1);
	assert_int_equal(number_of(writer, &fib), 0); /* it is known */
	assert_int_equal(ctx_exp_function_reserve(writer, &reserved, NULL), CTX_OK);
	assert_int_equal(reserved, 2);
	assert_int_equal(ctx_exp_code(writer, &code, NULL), CTX_OK);
	frames[1] = ctx_frame_named(reserved, 7);
	assert_int_equal(ctx_exp_sample(writer, &sample, NULL), CTX_OK);
	late.kind = CTX_CODE_JAVA_INTERPRETED;
	assert_int_equal(ctx_exp_function_define(writer, reserved, &late, NULL), CTX_OK);
	assert_int_equal(ctx_exp_close(writer, FIXTURE_START_NS + 200, NULL), CTX_OK);
}

struct seen {
	unsigned n_functions, n_codes, n_samples;
	uint64_t leaf;
};

static void check_code(const struct ctx_event *event)
{
	const struct ctx_map_event *map = &event->map;

	assert_int_equal(event->time_ns, 51); /* behind the memory that it is in */
	assert_int_equal(map->address, 0x10100);
	assert_int_equal(map->size, 16);
	assert_string_equal(map->function, "J.fib(int)");
	assert_string_equal(map->path, "<Java methods>");
	assert_int_equal(map->code_kind, CTX_CODE_JAVA_COMPILED);
	assert_int_equal(map->n_code, 16);
	assert_int_equal(map->code[1], 0x48);
	assert_int_equal(map->code[15], 0xc3);
	assert_non_null(map->places);
	assert_int_equal(map->places->n_rows, 3);
	assert_int_equal(map->places->rows[0].site, CTX_NONE);
	assert_int_equal(map->places->rows[2].begin, 8);
	assert_int_equal(map->places->rows[2].site, 1);
	assert_int_equal(map->places->sites[0].caller, CTX_NONE);
	assert_int_equal(map->places->sites[1].caller, 0);
	assert_int_equal(map->places->sites[1].line, 6);
	assert_string_equal(map->places->sites[1].function, "J.fib(int)");
	assert_string_equal(map->places->sites[1].file, "J.java");
}

static void take(struct seen *seen, const struct ctx_event *event)
{
	static const enum ctx_code_kind kinds[] = {CTX_CODE_JAVA_COMPILED, CTX_CODE_JAVA_INLINED,
						   CTX_CODE_JAVA_INTERPRETED};

	if (event->kind == CTX_EV_FUNCTION) {
		assert_int_equal(seen->n_samples, 0); /* also that which was known late */
		assert_true(event->function.id < CTX_COUNT_OF(kinds));
		assert_int_equal(event->function.code_kind, kinds[event->function.id]);
		assert_string_equal(event->function.name,
				    event->function.id == 2 ? "J.main(\"<&>\")" : "J.fib(int)");
		assert_int_equal(event->function.positions, CTX_POSITION_LINE);
		seen->n_functions++;
	} else if (event->kind == CTX_EV_MAP && event->map.function[0] != '\0') {
		check_code(event);
		seen->n_codes++;
	} else if (event->kind == CTX_EV_STACKS) {
		seen->leaf = event->stacks.addresses[0];
	}
	seen->n_samples += event->kind == CTX_EV_SAMPLE;
	assert_int_not_equal(event->kind, CTX_EV_DAMAGE);
}

static void test_experiment_code__functions_and_code_are_read_as_they_were_written(void **state)
{
	const struct place *place = *state;
	struct ctx_event_source *source;
	struct ctx_event event;
	struct seen seen = {0};
	enum ctx_status status;

	write_run(place->path);
	assert_int_equal(ctx_exp_open(place->path, &source, NULL), CTX_OK);
	while ((status = source->next(source, &event, NULL)) == CTX_OK)
		take(&seen, &event);
	assert_int_equal(status, CTX_END);
	assert_int_equal(seen.n_functions, 3);
	assert_int_equal(seen.n_codes, 1);
	assert_int_equal(seen.n_samples, 1);
	assert_int_equal(seen.leaf, ctx_frame_named(2, 7)); /* the root of the stack is its first node */
	source->close(source);
}

/* A line of attributes NAME, VALUE, ..., NULL. */
static struct ctx_exp_line line_of(const char *element, const char *const *words)
{
	struct ctx_exp_line line = {.element = element, .number = 1};

	for (; words[0] != NULL; words += 2)
		line.attributes[line.n_attributes++] = (struct ctx_exp_attribute){words[0], words[1]};
	return line;
}

static enum ctx_status read_function(struct ctx_exp_code_lines *lines, const char *const *words)
{
	const struct ctx_exp_line line = line_of("function", words);
	uint32_t row;

	return ctx_exp_code_lines_function(lines, &line, &row, NULL);
}

static enum ctx_status read_code(struct ctx_exp_code_lines *lines, const char *const *words)
{
	const struct ctx_exp_line line = line_of("code", words);
	uint32_t row;

	return ctx_exp_code_lines_code(lines, &line, &row, NULL);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_experiment_code__lines_that_make_no_sense_are_refused(void **state)
{
	struct ctx_exp_code_lines lines = {0};

	(void)state;
	assert_int_equal(read_function(&lines, WORDS("number", "0", "name", "f", "module", "m")), CTX_OK);
	assert_int_equal(read_function(&lines, WORDS("number", "0", "name", "g", "module", "m")),
			 CTX_E_FORMAT);
	assert_int_equal(read_function(&lines, WORDS("number", "1", "name", "", "module", "m")),
			 CTX_E_FORMAT);
	assert_int_equal(read_function(&lines, WORDS("number", "1", "name", "g")), CTX_E_FORMAT);
	assert_int_equal(read_function(&lines, WORDS("number", "99999999", "name", "g", "module", "m")),
			 CTX_E_FORMAT);
	/* A kind of a later version is none. */
	assert_int_equal(
		read_function(&lines, WORDS("number", "1", "name", "g", "module", "m", "kind", "other")),
		CTX_OK);
	assert_int_equal(ctx_exp_code_lines_event(&lines, 1).code_kind, CTX_CODE_NATIVE);
	assert_int_equal(read_code(&lines, WORDS("function", "0")), CTX_OK);
	assert_int_equal(read_code(&lines, WORDS("function", "2")), CTX_E_FORMAT);
	assert_int_equal(read_code(&lines, WORDS("function", "0", "text", "00ff")), CTX_OK);
	assert_int_equal(read_code(&lines, WORDS("function", "0", "text", "00f")), CTX_E_FORMAT);
	assert_int_equal(read_code(&lines, WORDS("function", "0", "text", "0g")), CTX_E_FORMAT);
	assert_int_equal(
		read_code(&lines, WORDS("function", "0", "sites", "0,0,1 1,1,2", "rows", "0,1 5,2 3,0")),
		CTX_OK);
	assert_int_equal(read_code(&lines, WORDS("function", "0", "sites", "", "rows", "")), CTX_OK);
	/* A site that calls itself or one behind it, of an unknown function, not of three numbers. */
	assert_int_equal(read_code(&lines, WORDS("function", "0", "sites", "1,0,1", "rows", "0,1")),
			 CTX_E_FORMAT);
	assert_int_equal(read_code(&lines, WORDS("function", "0", "sites", "0,2,1", "rows", "0,1")),
			 CTX_E_FORMAT);
	assert_int_equal(read_code(&lines, WORDS("function", "0", "sites", "0,0", "rows", "0,1")),
			 CTX_E_FORMAT);
	assert_int_equal(read_code(&lines, WORDS("function", "0", "sites", "0,0,x", "rows", "0,1")),
			 CTX_E_FORMAT);
	/* A row of no site, rows that are not in order or too far on. */
	assert_int_equal(read_code(&lines, WORDS("function", "0", "sites", "0,0,1", "rows", "0,2")),
			 CTX_E_FORMAT);
	assert_int_equal(read_code(&lines, WORDS("function", "0", "sites", "0,0,1", "rows", "0,1 0,1")),
			 CTX_E_FORMAT);
	assert_int_equal(read_code(&lines, WORDS("function", "0", "sites", "0,0,1", "rows",
						 "4294967294,1 4294967294,1")),
			 CTX_E_FORMAT);
	ctx_exp_code_lines_deinit(&lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_experiment_code__functions_and_code_are_read_as_they_were_written, make_place,
			remove_place),
		cmocka_unit_test(test_experiment_code__lines_that_make_no_sense_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
