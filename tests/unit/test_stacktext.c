/*
 * Texts with call stacks: lines of perf script as its versions and options print them, folded stacks,
 * and what a source makes of them.
 */
#include "base/buf.h"
#include "base/mem.h"
#include "formats/named/named.h"
#include "formats/stacktext/st_line.h"
#include "formats/stacktext/stacktext.h"
#include "tests/unit/source_check.h"
#include "tests/unit/written_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void check_text(struct ctx_st_text text, const char *want)
{
	assert_int_equal(text.n, strlen(want));
	assert_memory_equal(text.at, want, text.n);
}

/* --- lines --- */

static const struct {
	const char *line, *command, *event;
	int64_t pid, tid;
	int32_t cpu;
	uint64_t time_ns, period; /* time UINT64_MAX: none */
	const char *leaf;	  /* NULL: no frame on the line */
} samples[] = {
	{"perf 3509027 7037283.203982:          1 cycles: ", "perf", "cycles", 3509027, 3509027, -1,
	 UINT64_C(7037283203982000), 1, NULL},
	{"BusyThread  7630/7642 [003] 83638.048442:   25000 cycles:HG: ", "BusyThread", "cycles:HG", 7630,
	 7642, 3, UINT64_C(83638048442000), 25000, NULL},
	{"a b 12 c 100 5.000000001: cpu-clock: ", "a b 12 c", "cpu-clock", 100, 100, -1, UINT64_C(5000000001),
	 0, NULL},
	{":-1    -1 [000]     9.250000: sched:sched_switch: prev_comm=a prev_pid=7 ==> next_comm=b", ":-1",
	 "sched:sched_switch", -1, -1, 0, UINT64_C(9250000000), 0, NULL},
	{"swapper 0 [001] 1.5: cpu_core/cycles:Pu/:  ffffffff8da78b06 native_write_msr+0x6 "
	 "([kernel.kallsyms])",
	 "swapper", "cpu_core/cycles:Pu/", 0, 0, 1, 1500000000, 0, "native_write_msr"},
	{"        noreturn 24718  1234.828550:     250000 cpu-clock:u:            401fd6 [unknown] (/tmp/a "
	 "b)",
	 "noreturn", "cpu-clock:u", 24718, 24718, -1, UINT64_C(1234828550000), 250000, ""},
	{"app 7 cycles: ", "app", "cycles", 7, 7, -1, UINT64_MAX, 0, NULL},
	{"app 7 10.000000:", "app", "", 7, 7, -1, UINT64_C(10000000000), 0, NULL},
	{"sh 15130.398888: cpu-clock:u: ", "sh", "cpu-clock:u", -1, -1, -1, UINT64_C(15130398888000), 0,
	 NULL},
	{"  a-b c [003] 2.000001:  4 cycles:  401fd6 main (/bin/a)", "a-b c", "cycles", -1, -1, 3,
	 UINT64_C(2000001000), 4, "main"},
	{"app 7 3.000001:      7fade197d62a handle_amd", "app", "", 7, 7, -1, UINT64_C(3000001000), 0,
	 "handle_amd"},
	{"app 7 3.000001: event: ab cd", "app", "event", 7, 7, -1, UINT64_C(3000001000), 0, NULL},
	{"3.000001: cycles:", "", "cycles", -1, -1, -1, UINT64_C(3000001000), 0, NULL},
	{"kworker/0:1 [x] 31 2.0:  3 instructions:u:", "kworker/0:1 [x]", "instructions:u", 31, 31, -1,
	 UINT64_C(2000000000), 3, NULL},
};

static void test_stacktext__lines_of_samples_are_read_as_perf_prints_them(void **state)
{
	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(samples); i++) {
		struct ctx_st_sample sample;

		assert_true(ctx_st_sample_parse(samples[i].line, strlen(samples[i].line), &sample));
		check_text(sample.command, samples[i].command);
		check_text(sample.event, samples[i].event);
		assert_int_equal(sample.pid, samples[i].pid);
		assert_int_equal(sample.tid, samples[i].tid);
		assert_int_equal(sample.cpu, samples[i].cpu);
		assert_int_equal(sample.has_time, samples[i].time_ns != UINT64_MAX);
		if (sample.has_time)
			assert_int_equal(sample.time_ns, samples[i].time_ns);
		assert_int_equal(sample.period, samples[i].period);
		assert_int_equal(sample.has_leaf, samples[i].leaf != NULL);
		if (sample.has_leaf)
			check_text(sample.leaf.name, samples[i].leaf);
	}
}

static void test_stacktext__other_lines_are_no_samples(void **state)
{
	static const char *const lines[] = {
		"",
		"# app 7 10.0: cycles:",
		"text without numbers",
		"12 34 56",
		"app 7",
		"app 7 [002]",
		"app 7 10.0",
		"main;work 12",
		"app 99999999999 1.0: cycles:",
		"app 7 99999999999999.0:",
		"app-7 [002] d.h1. 10.000001: sched_waking: comm=b",
		"app-7 [002] 10.000001: sched_waking: comm=b",
		"at 10.000001: something happened",
		"sh ",
		"cycles: ",
	};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(lines); i++) {
		struct ctx_st_sample sample;

		assert_false(ctx_st_sample_parse(lines[i], strlen(lines[i]), &sample));
	}
}

static void test_stacktext__lines_of_frames_are_read_as_perf_prints_them(void **state)
{
	static const struct {
		const char *line, *name, *module;
		uint64_t address, offset;
		bool is_inlined;
	} frames[] = {
		{"\tffffffff8da78b06 do_fork+0x26 ([kernel.kallsyms])", "do_fork", "[kernel.kallsyms]",
		 UINT64_C(0xffffffff8da78b06), 0x26, false},
		{"            401136 main (/usr/bin/my app (deleted))", "main", "/usr/bin/my app (deleted)",
		 0x401136, 0, false},
		{"            401136 foo(int, bar (*)(char))+0x1f (/usr/bin/app)", "foo(int, bar (*)(char))",
		 "/usr/bin/app", 0x401136, 0x1f, false},
		{"            401136 [unknown] ([unknown])", "", "", 0x401136, 0, false},
		{"            401136 [unknown] (/usr/bin/app)", "", "/usr/bin/app", 0x401136, 0, false},
		{"            401136 std::max<int> (inlined)", "std::max<int>", "", 0x401136, 0, true},
		{"            401136 operator()", "operator()", "", 0x401136, 0, false},
		{"            main", "main", "", 0, 0, false},
		{"            401136 a+0xzz (b)\r", "a+0xzz", "b", 0x401136, 0, false},
	};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(frames); i++) {
		struct ctx_st_frame frame;

		assert_true(ctx_st_frame_parse(frames[i].line, strlen(frames[i].line), &frame));
		check_text(frame.name, frames[i].name);
		check_text(frame.module, frames[i].module);
		assert_int_equal(frame.address, frames[i].address);
		assert_int_equal(frame.offset, frames[i].offset);
		assert_int_equal(frame.is_inlined, frames[i].is_inlined);
	}
}

static void test_stacktext__folded_lines_are_stacks_and_counts(void **state)
{
	static const char *const others[] = {"",	  "12",		 "main",
					     "main;work", "main;work x", "# main 12",
					     "main 1.x",  "main -3",	 "main 99999999999999999999"};
	struct ctx_st_text stack;
	struct ctx_st_frame frame;
	uint64_t count;

	(void)state;
	assert_true(ctx_st_folded_parse("a b;;main;read_[k] 42.7 ", 24, &stack, &count));
	assert_int_equal(count, 42);
	assert_true(ctx_st_folded_next(&stack, &frame));
	check_text(frame.name, "a b");
	assert_true(ctx_st_folded_next(&stack, &frame));
	check_text(frame.name, "main");
	assert_true(ctx_st_folded_next(&stack, &frame));
	check_text(frame.name, "read");
	check_text(frame.module, "[kernel]");
	assert_false(ctx_st_folded_next(&stack, &frame));
	for (size_t i = 0; i < CTX_COUNT_OF(others); i++)
		assert_false(ctx_st_folded_parse(others[i], strlen(others[i]), &stack, &count));
}

/* Any line, cut anywhere, in memory of its own: nothing is read behind it. */
static void test_stacktext__cut_lines_are_read_within_their_bounds(void **state)
{
	static const char *const lines[] = {
		"app 7/8 [001] 10.5: 4 cycles:u:  401136 main+0x12 (/usr/bin/app)",
		"\t401136 foo(int, bar (*)(char))+0x1f (/usr/bin/app (x))",
		"a b;main;read_[k] 42.7",
	};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(lines); i++) {
		for (size_t n = 0; n <= strlen(lines[i]); n++) {
			char *copy = malloc(n != 0 ? n : 1);
			struct ctx_st_sample sample;
			struct ctx_st_frame frame;
			struct ctx_st_text stack;
			uint64_t count;

			assert_non_null(copy);
			memcpy(copy, lines[i], n);
			(void)ctx_st_sample_parse(copy, n, &sample);
			(void)ctx_st_frame_parse(copy, n, &frame);
			if (ctx_st_folded_parse(copy, n, &stack, &count))
				while (ctx_st_folded_next(&stack, &frame))
					assert_true(frame.name.n <= n);
			free(copy);
		}
	}
}

/* --- sources --- */

/* All events as lines: "start 1 app", "sample 10 thread 0 metric 0 weight 5: leaf [module]; ..." */
static void read_all(const char *text, struct ctx_buf *out)
{
	static const char *functions[64], *modules[64];
	struct source_check check = {0};
	struct ctx_event_source *source;
	struct ctx_event event;
	enum ctx_status status;

	write_bytes(text, strlen(text));
	assert_true(ctx_stacktext_is(path));
	assert_int_equal(ctx_stacktext_open(path, &source, NULL), CTX_OK);
	ctx_buf_printf(out, "%s %llu ns", source->info.format, (unsigned long long)source->info.duration_ns);
	for (uint32_t i = 0; i < source->info.n_metrics; i++)
		ctx_buf_printf(out, " %s %s", source->info.metrics[i].name,
			       ctx_unit_word(source->info.metrics[i].unit));
	ctx_buf_put_text(out, "\n");
	while ((status = source->next(source, &event, NULL)) == CTX_OK) {
		source_check_event(&check, &source->info, &event);
		switch (event.kind) {
		case CTX_EV_PROCESS_START:
			ctx_buf_printf(out, "process %lld %s\n", (long long)event.process_start.pid,
				       event.process_start.command);
			break;
		case CTX_EV_THREAD_START:
			ctx_buf_printf(out, "thread %lld %s of %u\n", (long long)event.thread_start.tid,
				       event.thread_start.name, event.process);
			break;
		case CTX_EV_THREAD_NAME:
			ctx_buf_printf(out, "name of %u: %s\n", event.thread, event.thread_name);
			break;
		case CTX_EV_FUNCTION:
			assert_true(event.function.id < 64);
			functions[event.function.id] = event.function.name;
			modules[event.function.id] = event.function.module;
			break;
		case CTX_EV_SAMPLE:
			ctx_buf_printf(out, "%llu %u/%u %s %llu on %d:", (unsigned long long)event.time_ns,
				       event.process, event.thread,
				       source->info.metrics[event.sample.metric].name,
				       (unsigned long long)event.sample.weight, event.sample.cpu);
			for (uint32_t i = 0; i < event.sample.stack.n_frames; i++) {
				uint64_t frame = event.sample.stack.frames[i];

				if (frame == 0)
					ctx_buf_put_text(out, " ?");
				else
					ctx_buf_printf(out, " %s[%s]", functions[ctx_frame_function(frame)],
						       modules[ctx_frame_function(frame)]);
			}
			ctx_buf_put_text(out, "\n");
			break;
		case CTX_EV_DAMAGE:
		case CTX_EV_WARNING:
			ctx_buf_printf(out, "! %s\n",
				       strstr(event.text, "line") != NULL ? strstr(event.text, "line")
									  : event.text);
			break;
		default:
			fail_msg("an event of kind %d", (int)event.kind);
		}
	}
	assert_int_equal(status, CTX_END);
	source_check_deinit(&check);
	source->close(source);
	ctx_buf_put_u8(out, 0);
}

static void check_events(const char *text, const char *want)
{
	struct ctx_buf out = {0};

	read_all(text, &out);
	assert_string_equal((const char *)out.bytes, want);
	ctx_buf_deinit(&out);
}

static void test_stacktext__perf_script_becomes_threads_and_samples(void **state)
{
	(void)state;
	check_events("# a comment\n"
		     "app 100/101 [002] 10.000001: 4 cycles: \n"
		     "\t401136 max (inlined)\n"
		     "\t401136 work+0x10 (/bin/app)\n"
		     "\t401200 main+0x2 (/bin/app)\n"
		     "\n"
		     "app 100/101 [002] 10.000003: 5 cycles: \n"
		     "\t401136 [unknown] ([unknown])\n"
		     "\t401200 [unknown] (/bin/app)\n"
		     "something else\n"
		     "new 100/101 [001] 10.000002: 6 instructions:  401136 work (/bin/app)\n"
		     "app 100/102 10.000011: cycles: \n"
		     "\n",
		     "perf script 10001 ns cycles events instructions events\n"
		     "process 100 app\n"
		     "thread 101 app of 0\n"
		     "0 0/0 cycles 1 on 2: max[/bin/app] work[/bin/app] main[/bin/app]\n"
		     "2000 0/0 cycles 1 on 2: ? <Unknown>[/bin/app]\n"
		     "! line 10: neither a sample nor a frame\n"
		     "name of 0: new\n"
		     "1000 0/0 instructions 6 on 1: work[/bin/app]\n"
		     "thread 102 app of 0\n"
		     "10000 0/1 cycles 1 on -1:\n");
}

/* Lines without threads and times: those before frames are heads. */
static void test_stacktext__heads_without_threads_and_times_are_known_by_their_frames(void **state)
{
	(void)state;
	check_events("# a comment\n"
		     "app \n"
		     "\t          401136 work (/bin/app)\n"
		     "\t          401200 main (/bin/app)\n"
		     "\n"
		     "other words \n"
		     "my app cycles:u: \n"
		     "\tffffffff8da78b06 [unknown] ([kernel.kallsyms])\n"
		     "\n"
		     "app \n"
		     "\t               0 [unknown] ([unknown])\n\n"
		     "app \n"
		     "\t          401200 main (/bin/app)\n",
		     "perf script 1 ns samples events cycles:u events\n"
		     "! no times in the file: all samples are at 0\n"
		     "process -1 app\n"
		     "thread -1 app of 0\n"
		     "0 0/0 samples 1 on -1: work[/bin/app] main[/bin/app]\n"
		     "! line 6: neither a sample nor a frame\n"
		     "process -1 my app\n"
		     "thread -1 my app of 1\n"
		     "0 1/1 cycles:u 1 on -1: <Unknown>[[kernel.kallsyms]]\n"
		     "0 0/0 samples 1 on -1: ?\n"
		     "0 0/0 samples 1 on -1: main[/bin/app]\n");
	/* Nothing but frames, each stack behind an empty line. */
	check_events("\n"
		     "\t          401136 work\n"
		     "\t          401200 main\n"
		     "\n\n"
		     "\t          401200 main\n",
		     "perf script 1 ns samples events\n"
		     "! no times in the file: all samples are at 0\n"
		     "process -1 \n"
		     "thread -1  of 0\n"
		     "0 0/0 samples 1 on -1: work[] main[]\n"
		     "0 0/0 samples 1 on -1: main[]\n");
}

static void test_stacktext__ticks_weigh_their_periods_where_each_has_one(void **state)
{
	(void)state;
	check_events("app 7 1.0: 250000 cpu-clock:u: \n\t1 main (a)\n\n"
		     "app 7 1.1: 250001 cpu-clock:u: \n\t1 main (a)\n",
		     "perf script 100000001 ns cpu-clock:u ns\n"
		     "process 7 app\nthread 7 app of 0\n"
		     "0 0/0 cpu-clock:u 250000 on -1: main[a]\n"
		     "100000000 0/0 cpu-clock:u 250001 on -1: main[a]\n");
	check_events("app 7 cpu-clock: \n\tmain\n\n", "perf script 1 ns cpu-clock events\n"
						      "! no times in the file: all samples are at 0\n"
						      "process 7 app\nthread 7 app of 0\n"
						      "0 0/0 cpu-clock 1 on -1: main[]\n");
}

static void test_stacktext__folded_stacks_have_one_thread_and_no_times(void **state)
{
	(void)state;
	check_events(
		"app;main;read_[k] 3\n\napp;main;inner_[i] 4\na 1\na 0\na 0\na 0\na 0\na 0\nbroken line\n",
		"folded stacks 1 ns count events\n"
		"! no times in the file: all samples are at 0\n"
		"process 1 folded stacks\nthread 1 folded stacks of 0\n"
		"0 0/0 count 3 on -1: read[[kernel]] main[] app[]\n"
		"0 0/0 count 4 on -1: inner[] main[] app[]\n"
		"0 0/0 count 1 on -1: a[]\n"
		"! line 10: neither a sample nor a frame\n");
}

static void test_stacktext__other_texts_are_not_taken_for_stacks(void **state)
{
	static const char *const texts[] = {
		"",
		"\n\n# nothing\n",
		"a text\nof several lines\n",
		"    indented 12\n    lines 13\n",
		"key = 3\nother = 4\nname = x\n",
		"main;work 12\nmain;work\n",
		"{\"traceEvents\": [1, 2, 3\n 4 ]}\n",
	};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(texts); i++) {
		write_bytes(texts[i], strlen(texts[i]));
		assert_false(ctx_stacktext_is(path));
	}
	write_bytes("main;work\0x 12\n", 15);
	assert_false(ctx_stacktext_is(path));
	assert_false(ctx_stacktext_is("/no/such/file"));
	assert_false(ctx_stacktext_is("/tmp"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0); /* nobody writes: not waited for */
	assert_false(ctx_stacktext_is(path));
	assert_int_equal(unlink(path), 0);
	write_bytes("", 0);
}

/* A line of 2 MiB is cut; of a stack that is too deep the root is missing, not the leaf. */
static void test_stacktext__lines_and_stacks_have_a_limit(void **state)
{
	struct ctx_event_source *source;
	struct ctx_buf text = {0};
	struct ctx_event event;
	unsigned n_samples = 0, n_damaged = 0;

	(void)state;
	for (int i = 0; i < 100000; i++)
		ctx_buf_put_text(&text, "f;");
	ctx_buf_put_text(&text, "leaf 3\n");
	for (int i = 0; i < 1 << 20; i++)
		ctx_buf_put_text(&text, "f;");
	ctx_buf_put_text(&text, "leaf 4\na;b 5\n");
	write_bytes(text.bytes, text.n);
	assert_int_equal(ctx_stacktext_open(path, &source, NULL), CTX_OK);
	while (source->next(source, &event, NULL) == CTX_OK) {
		n_damaged += event.kind == CTX_EV_DAMAGE;
		if (event.kind != CTX_EV_SAMPLE)
			continue;
		assert_int_equal(event.sample.stack.n_frames, n_samples == 0 ? CTX_NAMED_FRAMES_MAX : 2);
		assert_int_equal(ctx_frame_function(event.sample.stack.frames[0]), n_samples == 0 ? 1 : 3);
		if (n_samples++ == 0)
			assert_int_equal(event.sample.stack.frames[CTX_NAMED_FRAMES_MAX - 1],
					 ctx_frame_truncated(CTX_TRUNCATED_DEPTH));
	}
	assert_int_equal(n_samples, 2);
	assert_int_equal(n_damaged, 1);
	source->close(source);
	ctx_buf_deinit(&text);
}

static void test_stacktext__more_events_than_a_source_has_metrics_are_refused(void **state)
{
	struct ctx_event_source *source;
	struct ctx_buf text = {0};

	(void)state;
	for (unsigned i = 0; i <= CTX_NAMED_METRICS_MAX; i++)
		ctx_buf_printf(&text, "app 7 1.0: event%u: \n", i);
	write_bytes(text.bytes, text.n);
	assert_int_equal(ctx_stacktext_open(path, &source, NULL), CTX_E_LIMIT);
	ctx_buf_deinit(&text);
}

static void test_stacktext__a_text_without_samples_is_refused(void **state)
{
	struct ctx_event_source *source;
	struct ctx_err err = {0};

	(void)state;
	assert_int_equal(ctx_stacktext_open("/no/such/file", &source, &err), CTX_E_NOTFOUND);
	assert_non_null(strstr(err.msg, "/no/such/file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacktext__lines_of_samples_are_read_as_perf_prints_them),
		cmocka_unit_test(test_stacktext__other_lines_are_no_samples),
		cmocka_unit_test(test_stacktext__lines_of_frames_are_read_as_perf_prints_them),
		cmocka_unit_test(test_stacktext__folded_lines_are_stacks_and_counts),
		cmocka_unit_test(test_stacktext__cut_lines_are_read_within_their_bounds),
		cmocka_unit_test(test_stacktext__perf_script_becomes_threads_and_samples),
		cmocka_unit_test(test_stacktext__heads_without_threads_and_times_are_known_by_their_frames),
		cmocka_unit_test(test_stacktext__ticks_weigh_their_periods_where_each_has_one),
		cmocka_unit_test(test_stacktext__folded_stacks_have_one_thread_and_no_times),
		cmocka_unit_test(test_stacktext__other_texts_are_not_taken_for_stacks),
		cmocka_unit_test(test_stacktext__lines_and_stacks_have_a_limit),
		cmocka_unit_test(test_stacktext__more_events_than_a_source_has_metrics_are_refused),
		cmocka_unit_test(test_stacktext__a_text_without_samples_is_refused),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
