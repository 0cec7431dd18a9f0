/*
 * Texts of calls: what each line of each kind says, what is wrong with others, and events of what does not
 * fit together.
 */
#include "base/mem.h"
#include "formats/calltrace/calltrace.h"
#include "formats/calltrace/ct_dialect.h"
#include "tests/unit/source_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/ctx-calltrace-XXXXXX";

static void write_text(const char *text, size_t n)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

/* The events as text: "0 1+f" thread 1 enters f at 0, "5 1=2" two calls are left, "5 1~2" by force. */
static void put_call(const struct ctx_event *event, const char names[][32], char *out)
{
	unsigned long long time = (unsigned long long)event->time_ns;

	if (event->call.counted != NULL)
		sprintf(out, "%llu %u#%llu ", time, event->thread,
			(unsigned long long)event->call.counted[0]);
	else if (event->call.frame != 0)
		sprintf(out, "%llu %u+%s ", time, event->thread,
			names[ctx_frame_function(event->call.frame)]);
	else
		sprintf(out, "%llu %u%c%u ", time, event->thread, event->call.unwound ? '~' : '=',
			event->call.kept);
}

static void put_event(const struct ctx_event *event, char names[][32], char *out)
{
	unsigned long long time = (unsigned long long)event->time_ns;

	switch (event->kind) {
	case CTX_EV_FUNCTION:
		snprintf(names[event->function.id], sizeof(names[0]), "%s", event->function.name);
		break;
	case CTX_EV_CALL:
		put_call(event, names, out);
		break;
	case CTX_EV_THREAD_START:
		sprintf(out, "%llu %u(%s %lld) ", time, event->thread, event->thread_start.name,
			(long long)event->thread_start.tid);
		break;
	case CTX_EV_THREAD_EXIT:
		sprintf(out, "%llu %u. ", time, event->thread);
		break;
	case CTX_EV_SAMPLE:
		sprintf(out, "%llu %u*%u ", time, event->thread, event->sample.stack.n_frames);
		break;
	case CTX_EV_STATE:
		sprintf(out, "%llu %u%s ", time, event->thread, ctx_state_change_text(event->state.change));
		break;
	case CTX_EV_DAMAGE:
		sprintf(out, "[%s] ", strstr(event->text, "line "));
		break;
	case CTX_EV_WARNING:
		sprintf(out, "[%.60s] ", event->text);
		break;
	default:
		break;
	}
}

static void expect_events(const char *text, const char *want)
{
	struct ctx_event_source *source = NULL;
	struct source_check check = {0};
	struct ctx_event event;
	struct ctx_err err = {0};
	char names[16][32] = {0}, got[4096] = "";
	enum ctx_status status;

	write_text(text, strlen(text));
	assert_true(ctx_calltrace_is(path));
	if (ctx_calltrace_open(path, &source, &err) != CTX_OK)
		fail_msg("%s", err.msg);
	while ((status = source->next(source, &event, &err)) == CTX_OK) {
		source_check_event(&check, &source->info, &event);
		put_event(&event, names, got + strlen(got));
	}
	assert_int_equal(status, CTX_END);
	assert_string_equal(got, want);
	source_check_deinit(&check);
	source->close(source);
}

static void test_calltrace__own_lines_become_calls(void **state)
{
	(void)state;
	expect_events("# unit us\n\n5 9 enter f\r\n5.0015 9 enter g h\n6 9 exit\n7 9 exit f\n",
		      "0 0(9 9) 0 0+f 1 0+g h 1000 0=1 2000 0=0 ");
	expect_events("0 t stack A;B\n1 t stack A;C;D\n2 t stack A\n3 t stack\n",
		      "0 0(t 1000000) 0 0+A 0 0+B 1 0=1 1 0+C 1 0+D 2 0=1 3 0=0 ");
	expect_events(
		"0 t enter f\n1 t off io\n2 t on\n3 t sample a;b\n4 t count n 7\n5 t end\n6 t enter g\n",
		"0 0(t 1000000) 0 0runs 0 0+f 1 0blocked 2 0runs 3 0*2 4 0#7 5 0. ");
}

static void test_calltrace__ends_that_do_not_fit_are_mended_and_counted(void **state)
{
	(void)state;
	expect_events(
		"0 1 exit f\n1 1 enter f\n2 1 enter g\n3 1 enter h\n4 1 exit f\n5 1 exit\n6 1 enter f\n",
		"0 0(1 1) 1 0+f 2 0+g 3 0+h 4 0~1 4 0=0 6 0+f "
		"[of 2 ends of calls the begin is missing: left out; of 2 call] ");
}

static void test_calltrace__bad_lines_are_damage_with_their_number(void **state)
{
	(void)state;
	expect_events(
		"0 1 enter f\nx 1 enter f\n1 1 jump f\n1 1 enter\n# unit ms\n1 1 count n x\n2 1 exit\n",
		"0 0(1 1) 0 0+f [line 2: it does not begin with a time: 'x 1 enter f'] "
		"[line 3: behind time and thread stands none of enter, exit, stack, on, off, end, count, "
		"sample: '1 1 jump f'] "
		"[line 4: the name is missing: '1 1 enter'] "
		"[line 5: the unit comes after a time: '# unit ms'] "
		"[line 6: a count is a word and a number: '1 1 count n x'] 2 0=0 ");
}

static void test_calltrace__a_line_without_end_is_cut(void **state)
{
	size_t n = 300000, used = (size_t)0;
	char *text = ctx_calloc(n + 64, 1);
	struct ctx_event_source *source = NULL;
	struct ctx_event event;
	unsigned damage = 0, calls = 0;

	(void)state;
	assert_non_null(text);
	used = (size_t)sprintf(text, "0 1 enter f\n1 1 enter ");
	memset(text + used, 'x', n);
	strcpy(text + used + n, "\n2 1 exit f\n");
	write_text(text, strlen(text));
	free(text);
	assert_int_equal(ctx_calltrace_open(path, &source, NULL), CTX_OK);
	while (source->next(source, &event, NULL) == CTX_OK) {
		damage += event.kind == CTX_EV_DAMAGE;
		calls += event.kind == CTX_EV_CALL;
	}
	assert_int_equal(damage, 1);
	assert_int_equal(calls, 2);
	source->close(source);
}

static void test_calltrace__tasks_of_uftrace_are_merged_by_time(void **state)
{
	(void)state;
	expect_events("uftrace file header: version       = 4\n"
		      "reading 7.dat\n"
		      "10.000000001      7: [entry] f(a)(4004d0) depth: 0\n"
		      "10.000000009      7: [exit ] f(a)(4004d0) depth: 0\n"
		      "reading 8.dat\n"
		      "10.000000000      8: [entry] g(4004d0) depth: 0\n"
		      "10.000000005      8: [exit ] g(4004d0) depth: 0\n",
		      "0 0(8 8) 0 0+g 1 1(7 7) 1 1+f(a) 5 0=0 9 1=0 ");
}

static void test_calltrace__leaves_of_function_graph_end_by_their_duration(void **state)
{
	(void)state;
	expect_events(
		"cpus=2\n"
		"  a b-1  [001] 2.000001: funcgraph_entry:                   |  f() {\n"
		"  a b-1  [001] 2.000002: funcgraph_entry:        0.123 us   |    g();\n"
		"  <idle>-0  [000] 2.000003: funcgraph_entry:   + 9.000 us   |  h();\n"
		"  a b-1  [001] 2.000005: funcgraph_exit:         4.000 us   |  } /* f */\n",
		"0 0(a b 1) 0 0+f 1000 0+g 1123 0=1 2000 1(<idle> 1000001) 2000 1+h 4000 0=0 11000 1=0 ");
	expect_events(
		"# tracer: function_graph\n#\n 0)               |  f() {\n 1)   2.5 us      |  h();\n"
		" 0)   1.000 us    |    g();\n 0)   3.000 us    |  }\n",
		"0 0(processor 1000000) 0 0+f 0 0+g 0 1(processor 1) 0 1+h 1000 0=1 2500 1=0 3000 0=0 ");
}

static void test_calltrace__strace_has_relative_and_absolute_times(void **state)
{
	(void)state;
	expect_events("7     0.000000 brk(NULL) = 0x5 <0.000002>\n7     0.000010 read(3,  <unfinished ...>\n"
		      "8     0.000001 close(3) = 0\n7     0.000009 <... read resumed>\"\", 1) = 0 <0.00001>\n"
		      "7     0.000001 +++ exited with 0 +++\n",
		      "0 0(7 7) 0 0+brk 2000 0=0 10000 0+read 11000 1(8 8) 11000 1+close 11000 1=0 20000 0=0 "
		      "21000 0. ");
	expect_events("[pid  7] 23:59:59.999999 brk(NULL) = 0\n[pid  7] 00:00:00.000001 brk(NULL) = 0\n",
		      "0 0(7 7) 0 0+brk 0 0=0 2000 0+brk 2000 0=0 ");
}

static void test_calltrace__other_files_are_not_ours(void **state)
{
	static const char *const texts[] = {
		"",	   "\n\n",	  "text\n",	   "# comment\n",
		"1 2 3\n", "0 1 enter\n", "read(3) = 0\n", "# tracer: function\n"};
	struct ctx_event_source *source;
	struct ctx_err err = {0};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(texts); i++) {
		write_text(texts[i], strlen(texts[i]));
		assert_false(ctx_calltrace_is(path));
		assert_int_equal(ctx_calltrace_open(path, &source, &err), CTX_E_FORMAT);
	}
	write_text("0 1 enter f\0\n", 13);
	assert_false(ctx_calltrace_is(path));
	assert_false(ctx_calltrace_is("/"));
	assert_int_equal(ctx_calltrace_open("/nowhere", &source, &err), CTX_E_IO);
	/* Its head says what it is, but it has no call. */
	write_text("# tracer: function_graph\n", 25);
	assert_true(ctx_calltrace_is(path));
	assert_int_equal(ctx_calltrace_open(path, &source, &err), CTX_E_FORMAT);
	assert_non_null(strstr(err.msg, "without a line of a call"));
}

static void test_calltrace__times_are_exact_or_refused(void **state)
{
	static const struct {
		const char *word;
		uint64_t unit, want; /* UINT64_MAX: refused */
	} cases[] = {
		{"0", 1, 0},
		{"4611686018427387904", 1, UINT64_C(1) << 62},
		{"4611686018427387905", 1, UINT64_MAX},
		{"99999999999999999999", 1, UINT64_MAX},
		{"5000000000", 1000000000, UINT64_MAX},
		{"1.5", 1, 1},
		{"1.123456789012", 1000000000, 1123456789},
		{".5", 1, UINT64_MAX},
		{"1.", 1000, 1000},
		{"1,5", 1000, UINT64_MAX},
		{"", 1, UINT64_MAX},
		{"-1", 1, UINT64_MAX},
	};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		struct ctx_ct_text word = {cases[i].word, strlen(cases[i].word)};
		uint64_t got = UINT64_MAX;
		bool is = ctx_ct_time(word, cases[i].unit, &got);

		assert_int_equal(is, cases[i].want != UINT64_MAX);
		if (is)
			assert_int_equal(got, cases[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calltrace__own_lines_become_calls),
		cmocka_unit_test(test_calltrace__ends_that_do_not_fit_are_mended_and_counted),
		cmocka_unit_test(test_calltrace__bad_lines_are_damage_with_their_number),
		cmocka_unit_test(test_calltrace__a_line_without_end_is_cut),
		cmocka_unit_test(test_calltrace__tasks_of_uftrace_are_merged_by_time),
		cmocka_unit_test(test_calltrace__leaves_of_function_graph_end_by_their_duration),
		cmocka_unit_test(test_calltrace__strace_has_relative_and_absolute_times),
		cmocka_unit_test(test_calltrace__other_files_are_not_ours),
		cmocka_unit_test(test_calltrace__times_are_exact_or_refused),
	};
	int fd = mkstemp(path), failed;

	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
