/*
 * callgrind.out: names with numbers, relative positions, calls, inlined code, and lines that are none.
 */
#include "base/buf.h"
#include "base/mem.h"
#include "formats/callgrind/callgrind_lines.h"
#include "formats/callgrind/callgrind_reader.h"
#include "tests/unit/source_check.h"
#include "tests/unit/written_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void note(struct ctx_buf *out, const struct ctx_event_source *source, const struct ctx_event *event,
		 struct ctx_event_function *functions)
{
	if (event->kind == CTX_EV_FUNCTION) {
		assert_true(event->function.id < 16);
		functions[event->function.id] = event->function;
	} else if (event->kind == CTX_EV_SAMPLE) {
		uint64_t frame = event->sample.stack.frames[0];
		const struct ctx_event_function *function = &functions[ctx_frame_function(frame)];

		assert_int_equal(event->sample.stack.n_frames, 1);
		ctx_buf_printf(out, "%s %llu: %s[%s] %s:%u\n",
			       source->info.metrics[event->sample.metric].name,
			       (unsigned long long)event->sample.weight, function->name, function->module,
			       function->file != NULL ? function->file : "-", ctx_frame_position(frame));
	} else if (event->kind == CTX_EV_DAMAGE) {
		ctx_buf_printf(out, "! %s\n", event->text);
	}
}

static void check_events(const char *text, const char *want)
{
	struct ctx_event_function functions[16] = {{0}};
	struct source_check check = {0};
	struct ctx_event_source *source;
	struct ctx_buf out = {0};
	struct ctx_event event;
	enum ctx_status status;

	write_bytes(text, strlen(text));
	assert_true(ctx_callgrind_is(path));
	assert_int_equal(ctx_callgrind_open(path, &source, NULL), CTX_OK);
	while ((status = source->next(source, &event, NULL)) == CTX_OK) {
		source_check_event(&check, &source->info, &event);
		note(&out, source, &event, functions);
	}
	assert_int_equal(status, CTX_END);
	assert_true(source->info.no_call_stacks);
	source_check_deinit(&check);
	source->close(source);
	ctx_buf_put_u8(&out, 0);
	assert_string_equal((const char *)out.bytes, want);
	ctx_buf_deinit(&out);
}

static void test_callgrind__own_costs_are_samples_and_those_of_calls_are_not(void **state)
{
	(void)state;
	check_events("# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\ncmd: ./a 1\n"
		     "positions: line\nevents: Ir Dr\n\n"
		     "ob=(1) /bin/a\nfl=(1) a.c\nfn=(1) main\n16 20\n+2 400 1\n"
		     "cfn=(2) work\ncalls=1 50\n* 900 9\n-1 5\n"
		     "fi=(2) inlined.h\n7 30\nfe=(1)\n20 2\n\n"
		     "fn=(2)\n51 400 8\n"
		     "fl=???\nob=(2) lib.so\nfn=(3) ???\n0 3\n"
		     "totals: 863 9\n",
		     "Ir 20: main[/bin/a] a.c:16\n"
		     "Ir 400: main[/bin/a] a.c:18\nDr 1: main[/bin/a] a.c:18\n"
		     "Ir 5: main[/bin/a] a.c:17\n"
		     "Ir 30: main[/bin/a] a.c:0\n"
		     "Ir 2: main[/bin/a] a.c:20\n"
		     "Ir 400: work[/bin/a] a.c:51\nDr 8: work[/bin/a] a.c:51\n"
		     "Ir 3: <Unknown>[lib.so] -:0\n");
}

static void test_callgrind__instructions_are_positions_before_the_line(void **state)
{
	(void)state;
	check_events("version: 1\npositions: instr line\nevents: Ir\n\nfl=a.c\nfn=f\n0x1000 5 7\n+4 +1 8\n"
		     "jcnd=1/2 0x1000 5\n* * 1\n",
		     "Ir 7: f[] a.c:5\nIr 8: f[] a.c:6\nIr 1: f[] a.c:6\n");
}

static void test_callgrind__unreadable_lines_are_damage(void **state)
{
	(void)state;
	check_events(
		"# callgrind format\nevents: Ir\nfn=(1) f\nwhat is this\n1 x\n1 99999999999999999999\n"
		"fn=(7)\nfn=(1\nfn=(99999999999999999999) g\n2 100000000000000000\nfn=(1)\n3 1\n",
		"! line 4: neither a name nor costs\n! line 5: neither a name nor costs\n"
		"! line 6: neither a name nor costs\n! line 7: a number that has no name\n"
		"! line 8: a number of a name that cannot be\n! line 9: a number of a name that cannot be\n"
		"Ir 1: f[] -:0\n");
}

static void test_callgrind__other_files_are_refused(void **state)
{
	static const char *const others[] = {"", "version: 1\n", "events: Ir\n", "main;work 3\n",
					     "creator: cachegrind\n"};
	struct ctx_event_source *source;

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(others); i++) {
		write_bytes(others[i], strlen(others[i]));
		assert_false(ctx_callgrind_is(path));
	}
	assert_int_equal(ctx_callgrind_open(path, &source, NULL), CTX_E_FORMAT);
	assert_false(ctx_callgrind_is("/no/such/file"));
	assert_int_equal(ctx_callgrind_open("/no/such/file", &source, NULL), CTX_E_NOTFOUND);
}

static void test_callgrind__a_line_of_more_than_a_mebibyte_is_refused(void **state)
{
	static const char header[] = "# callgrind format\nevents: Ir\nfn=f\n";
	size_t n = sizeof(header) - 1, max = (size_t)1 << 20;
	char *text = malloc(n + max + 1);
	struct ctx_event_source *source;
	struct ctx_event event;
	struct ctx_err err;
	enum ctx_status status = CTX_OK;

	(void)state;
	assert_non_null(text);
	memset(text, '#', n + max + 1);
	memcpy(text, header, n);
	for (size_t more = 0; more < 2; more++) {
		write_bytes(text, n + max + more);
		assert_int_equal(ctx_callgrind_open(path, &source, NULL), CTX_OK);
		do
			status = source->next(source, &event, &err);
		while (status == CTX_OK);
		assert_int_equal(status, more != 0 ? CTX_E_LIMIT : CTX_END);
		source->close(source);
	}
	assert_non_null(strstr(err.msg, "line 4 is longer than a mebibyte"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_callgrind__own_costs_are_samples_and_those_of_calls_are_not),
		cmocka_unit_test(test_callgrind__instructions_are_positions_before_the_line),
		cmocka_unit_test(test_callgrind__unreadable_lines_are_damage),
		cmocka_unit_test(test_callgrind__other_files_are_refused),
		cmocka_unit_test(test_callgrind__a_line_of_more_than_a_mebibyte_is_refused),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
