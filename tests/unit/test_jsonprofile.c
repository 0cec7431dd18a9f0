/*
 * Profiles in JSON of three programs, as they write them, and with entries that refer to nothing.
 */
#include "base/buf.h"
#include "base/mem.h"
#include "formats/jsonprofile/jsonprofile.h"
#include "tests/unit/source_check.h"
#include "tests/unit/written_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void note(struct ctx_buf *out, const struct ctx_event_source *source, const struct ctx_event *event,
		 struct ctx_event_function *functions)
{
	switch (event->kind) {
	case CTX_EV_THREAD_START:
		ctx_buf_printf(out, "thread %lld %s of %u\n", (long long)event->thread_start.tid,
			       event->thread_start.name, event->process);
		break;
	case CTX_EV_FUNCTION:
		assert_true(event->function.id < 32);
		functions[event->function.id] = event->function;
		break;
	case CTX_EV_SAMPLE:
		ctx_buf_printf(out, "%llu thread %u %s %llu:", (unsigned long long)event->time_ns,
			       event->thread, source->info.metrics[event->sample.metric].name,
			       (unsigned long long)event->sample.weight);
		for (uint32_t i = 0; i < event->sample.stack.n_frames; i++) {
			uint64_t frame = event->sample.stack.frames[i];
			const struct ctx_event_function *function = &functions[ctx_frame_function(frame)];

			ctx_buf_printf(out, " %s[%s] %s:%u", function->name, function->module,
				       function->file != NULL ? function->file : "-",
				       ctx_frame_position(frame));
		}
		ctx_buf_put_text(out, "\n");
		break;
	case CTX_EV_DAMAGE:
	case CTX_EV_WARNING:
		ctx_buf_printf(out, "! %s\n", event->text);
		break;
	default:
		break;
	}
}

static void check_events(const char *text, const char *want)
{
	struct ctx_event_function functions[32] = {{0}};
	struct source_check check = {0};
	struct ctx_event_source *source;
	struct ctx_buf out = {0};
	struct ctx_event event;
	enum ctx_status status;

	write_bytes(text, strlen(text));
	assert_true(ctx_jsonprofile_is(path));
	assert_int_equal(ctx_jsonprofile_open(path, &source, NULL), CTX_OK);
	ctx_buf_printf(&out, "%s %llu ns\n", source->info.format,
		       (unsigned long long)source->info.duration_ns);
	while ((status = source->next(source, &event, NULL)) == CTX_OK) {
		source_check_event(&check, &source->info, &event);
		note(&out, source, &event, functions);
	}
	assert_int_equal(status, CTX_END);
	source_check_deinit(&check);
	source->close(source);
	ctx_buf_put_u8(&out, 0);
	assert_string_equal((const char *)out.bytes, want);
	ctx_buf_deinit(&out);
}

#define SPEEDSCOPE(profiles)                                                                                 \
	"{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\", \"exporter\": \"test\", "     \
	"\"shared\": {\"frames\": [{\"name\": \"main\"}, {\"name\": \"work\", \"file\": \"a.js\", "          \
	"\"line\": 7}]}, "                                                                                   \
	"\"profiles\": [" profiles "]}"

static void test_jsonprofile__speedscopes_samples_follow_each_other(void **state)
{
	(void)state;
	check_events(SPEEDSCOPE("{\"type\": \"sampled\", \"name\": \"one\", \"unit\": \"microseconds\", "
				"\"startValue\": 100, "
				"\"endValue\": 110, \"samples\": [[0], [0, 1], [], [0, 9]], \"weights\": [2, "
				"3, 4, 1]}"),
		     "speedscope 10000 ns\n"
		     "thread 1 one of 0\n"
		     "0 thread 0 time 2000: main[] -:0\n"
		     "2000 thread 0 time 3000: work[] a.js:7 main[] -:0\n"
		     "9000 thread 0 time 1000: main[] -:0\n"
		     "! 1 entries refer to nothing, or have no time or weight that can be\n");
	check_events(SPEEDSCOPE("{\"type\": \"sampled\", \"unit\": \"bytes\", \"samples\": [[0], [1], [1]], "
				"\"weights\": [512, -1, 8e16]}"),
		     "speedscope 1 ns\n"
		     "! no times in the file: all samples are at 0\n"
		     "thread 1 profile of 0\n"
		     "0 thread 0 bytes 512: main[] -:0\n"
		     "! 2 entries refer to nothing, or have no time or weight that can be\n");
}

static void test_jsonprofile__speedscopes_opens_and_closes_are_time_at_the_open_frames(void **state)
{
	(void)state;
	check_events(SPEEDSCOPE("{\"type\": \"evented\", \"name\": \"one\", \"unit\": \"milliseconds\", "
				"\"startValue\": 0, \"endValue\": 9, "
				"\"events\": [{\"type\": \"O\", \"frame\": 0, \"at\": 1}, {\"type\": \"O\", "
				"\"frame\": 1, \"at\": 2}, "
				"{\"type\": \"C\", \"frame\": 1, \"at\": 5}, {\"type\": \"O\", \"frame\": 1, "
				"\"at\": 5}, "
				"{\"type\": \"C\", \"frame\": 0, \"at\": 6}, {\"type\": \"O\", \"frame\": 1, "
				"\"at\": 7}, "
				"{\"type\": \"X\", \"frame\": 1, \"at\": 8}]}"),
		     "speedscope 9000000 ns\n"
		     "thread 1 one of 0\n"
		     "1000000 thread 0 time 1000000: main[] -:0\n"
		     "2000000 thread 0 time 3000000: work[] a.js:7 main[] -:0\n"
		     "5000000 thread 0 time 1000000: work[] a.js:7 main[] -:0\n"
		     "7000000 thread 0 time 1000000: work[] a.js:7\n"
		     "8000000 thread 0 time 1000000: work[] a.js:7\n"
		     "! 2 entries refer to nothing, or have no time or weight that can be\n");
}

static void test_jsonprofile__pieces_of_a_devtools_trace_are_put_together(void **state)
{
	static const char trace[] =
		"{\"traceEvents\": ["
		"{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 7, \"tid\": 3, \"args\": {\"name\": "
		"\"CrRendererMain\"}},"
		"{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 7, \"tid\": 3, \"args\": {\"name\": "
		"\"Renderer\"}},"
		"{\"ph\": \"X\", \"name\": \"RunTask\", \"cat\": \"toplevel\", \"pid\": 7, \"tid\": 3, "
		"\"ts\": 900, \"dur\": 50, \"args\": {}},"
		"{\"ph\": \"P\", \"name\": \"Profile\", \"id\": \"0x1\", \"pid\": 7, \"tid\": 3, \"ts\": "
		"1000, \"args\": {\"data\": {\"startTime\": 1000}}},"
		"{\"ph\": \"P\", \"name\": \"ProfileChunk\", \"id\": \"0x1\", \"pid\": 7, \"tid\": 9, "
		"\"ts\": 1001, \"args\": {\"data\": {\"cpuProfile\": {\"nodes\": ["
		"{\"id\": 1, \"callFrame\": {\"functionName\": \"(root)\", \"scriptId\": \"0\"}},"
		"{\"id\": 2, \"parent\": 1, \"callFrame\": {\"functionName\": \"main\", \"url\": \"a.js\", "
		"\"lineNumber\": 4}}], \"samples\": [2, 2]}, \"timeDeltas\": [10, 5]}}},"
		"{\"ph\": \"P\", \"name\": \"Profile\", \"id\": \"0x2\", \"pid\": 8, \"tid\": 4, \"ts\": "
		"990, \"args\": {\"data\": {\"startTime\": 990}}},"
		"{\"ph\": \"P\", \"name\": \"ProfileChunk\", \"id\": \"0x2\", \"pid\": 8, \"tid\": 9, "
		"\"ts\": 1001, \"args\": {\"data\": {\"cpuProfile\": {\"nodes\": ["
		"{\"id\": 1, \"callFrame\": {\"functionName\": \"other\"}}], \"samples\": [1]}, "
		"\"timeDeltas\": [20], \"endTime\": 1030}}},"
		"{\"ph\": \"P\", \"name\": \"ProfileChunk\", \"id\": \"0x1\", \"pid\": 7, \"tid\": 9, "
		"\"ts\": 1002, \"args\": {\"data\": {\"cpuProfile\": {\"nodes\": ["
		"{\"id\": 3, \"parent\": 2, \"callFrame\": {\"functionName\": \"\", \"url\": \"a.js\", "
		"\"lineNumber\": 6}}, {\"id\": 4, \"parent\": 77, \"callFrame\": {\"functionName\": "
		"\"lost\"}}],"
		"\"samples\": [3, 9, 2]}, \"timeDeltas\": [5, 5, 5], \"endTime\": 1040}}},"
		"{\"ph\": \"P\", \"name\": \"ProfileChunk\", \"id\": \"0x5\", \"pid\": 7, \"tid\": 9, "
		"\"ts\": 1002, \"args\": {\"data\": {\"cpuProfile\": {\"samples\": [1]}}}}"
		"]}";
	static const char want[] =
		"DevTools trace 50000 ns\n"
		"! the CPU profile in the trace is read; its slices, moments and counters are not\n"
		"thread 3 CrRendererMain of 0\n"
		"20000 thread 0 time 5000: main[] a.js:0\n"
		"thread 4  of 1\n"
		"20000 thread 1 time 20000: other[] -:0\n"
		"25000 thread 0 time 5000: main[] a.js:0\n"
		"30000 thread 0 time 5000: (anonymous)[] a.js:0 main[] a.js:0\n"
		"40000 thread 0 time 10000: main[] a.js:0\n"
		"! 3 entries refer to nothing, or have no time or weight that can be\n";
	const char *list = strchr(trace, '['), *end = strrchr(trace, ']');
	char *bare = ctx_memdup0(list, (size_t)(end - list) + 1);

	(void)state;
	assert_non_null(bare);
	check_events(trace, want);
	assert_true(ctx_jsonprofile_is_in_trace(path));
	check_events(bare, want); /* the list alone */
	free(bare);
	write_bytes(trace, sizeof(trace) / 2); /* cut */
	{
		struct ctx_event_source *source;

		assert_int_equal(ctx_jsonprofile_open(path, &source, NULL), CTX_E_FORMAT);
	}
}

static void test_jsonprofile__a_cpuprofiles_samples_last_to_the_next(void **state)
{
	(void)state;
	check_events("{\"nodes\": [{\"id\": 1, \"callFrame\": {\"functionName\": \"(root)\", \"url\": \"\", "
		     "\"lineNumber\": -1}, "
		     "\"children\": [2, 4]}, "
		     "{\"id\": 2, \"callFrame\": {\"functionName\": \"\", \"url\": \"a.js\", \"lineNumber\": "
		     "9}, \"children\": [3]}, "
		     "{\"id\": 3, \"callFrame\": {\"functionName\": \"work\", \"url\": \"a.js\", "
		     "\"lineNumber\": 0}}, "
		     "{\"id\": 4, \"callFrame\": {\"functionName\": \"(idle)\", \"url\": \"\", "
		     "\"lineNumber\": -1}, \"children\": [4]}], "
		     "\"startTime\": 1000, \"endTime\": 1010, \"samples\": [2, 3, 1, 77, 3, 4], "
		     "\"timeDeltas\": [1, 2, 3, 1, 1, -1]}",
		     "cpuprofile 10000 ns\n"
		     "thread 1 JavaScript of 0\n"
		     "1000 thread 0 time 2000: (anonymous)[] a.js:0\n"
		     "3000 thread 0 time 3000: work[] a.js:0 (anonymous)[] a.js:0\n"
		     "6000 thread 0 time 1000:\n"
		     "8000 thread 0 time 2000: (idle)[] -:0\n"
		     "! 2 entries refer to nothing, or have no time or weight that can be\n");
	check_events(
		"{\"head\": {\"functionName\": \"(root)\", \"id\": 1, \"children\": [{\"functionName\": "
		"\"f\", \"url\": \"b.js\", "
		"\"lineNumber\": 3, \"id\": 2, \"children\": []}]}, \"startTime\": 5, \"endTime\": 5.00001, "
		"\"samples\": [2, 1], \"timestamps\": [5000000, 5000004]}",
		"cpuprofile 10000 ns\n"
		"thread 1 JavaScript of 0\n"
		"0 thread 0 time 4000: f[] b.js:0\n"
		"4000 thread 0 time 6000:\n");
}

#define TABLES                                                                                               \
	"\"stackTable\": {\"frame\": [0, 1, 2, 1], \"prefix\": [null, 0, 9, null]}, "                        \
	"\"frameTable\": {\"func\": [0, 1, 1], \"line\": [null, 12, 13]}, "                                  \
	"\"funcTable\": {\"name\": [0, 1], \"resource\": [-1, 0], \"fileName\": [null, 2], \"lineNumber\": " \
	"[null, 10]}, "                                                                                      \
	"\"resourceTable\": {\"name\": [3], \"lib\": [0]}"
#define STRINGS "[\"main\", \"work\", \"a.c\", \"libx\"]"

static void test_jsonprofile__firefoxs_tables_are_of_threads_or_shared(void **state)
{
	static const char want[] = "Firefox Profiler 5000001 ns\n"
				   "thread 11 one of 0\n"
				   "1000000 thread 0 time 500000: main[] -:0\n"
				   "3000000 thread 0 time 1000000: work[/lib/libx.so] a.c:12 main[] -:0\n"
				   "5000000 thread 0 time 500000: work[/lib/libx.so] a.c:13\n"
				   "! 1 entries refer to nothing, or have no time or weight that can be\n";

	(void)state;
	check_events(
		"{\"meta\": {\"interval\": 0.5, \"product\": \"samply\"}, \"libs\": [{\"name\": \"libx.so\", "
		"\"path\": "
		"\"/lib/libx.so\"}], \"threads\": [{\"name\": \"one\", \"pid\": \"10\", \"tid\": 11, " TABLES
		", \"stringArray\": " STRINGS ", \"samples\": {\"stack\": [0, 1, null, 2], \"time\": [1, 3, "
		"4, 5], \"weight\": [1, 2, 1, 1]}}]}",
		want);
	check_events("{\"meta\": {\"interval\": 0.5}, \"libs\": [{\"name\": \"libx.so\", \"path\": "
		     "\"/lib/libx.so\"}], "
		     "\"shared\": {" TABLES ", \"stringArray\": " STRINGS
		     "}, \"threads\": [{\"name\": \"one\", \"pid\": \"10\", \"tid\": 11, \"samples\": "
		     "{\"stack\": [0, 1, null, 2], "
		     "\"timeDeltas\": [1, 2, 1, 1], \"weight\": [0.5, 1, 1, 0.5], \"weightType\": "
		     "\"tracing-ms\"}}]}",
		     want);
}

static void test_jsonprofile__firefoxs_later_tables_have_offsets_and_sources(void **state)
{
	(void)state;
	check_events("{\"meta\": {\"interval\": 1}, \"libs\": [], \"shared\": {"
		     "\"stackTable\": {\"frame\": [0, 1, 1, 1], \"prefixOffset\": [0, 1, 2, 4]}, "
		     "\"frameTable\": {\"func\": [0, 1], \"line\": [null, 12]}, "
		     "\"funcTable\": {\"name\": [0, 1], \"resource\": [-1, 0], \"source\": [null, 0], "
		     "\"lineNumber\": [null, 10]}, \"resourceTable\": {\"name\": [3]}, "
		     "\"sources\": {\"filename\": [2]}, \"stringArray\": " STRINGS "}, "
		     "\"threads\": [{\"name\": \"one\", \"pid\": \"10\", \"tid\": 11, \"samples\": "
		     "{\"stack\": [0, 1, 2, 3], \"timeDeltas\": [1, 1, 1, 1]}}]}",
		     "Firefox Profiler 4000001 ns\n"
		     "thread 11 one of 0\n"
		     "1000000 thread 0 time 1000000: main[] -:0\n"
		     "2000000 thread 0 time 1000000: work[libx] a.c:12 main[] -:0\n"
		     "3000000 thread 0 time 1000000: work[libx] a.c:12 main[] -:0\n"
		     "4000000 thread 0 time 1000000: work[libx] a.c:12\n"
		     "! 1 entries refer to nothing, or have no time or weight that can be\n");
}

/* Rows with schemas, in another order than usual; a second process; what refers to nothing. */
static void test_jsonprofile__gecko_has_rows_with_schemas(void **state)
{
#define GECKO(name, tid, samples)                                                                            \
	"{\"name\": \"" name "\", \"tid\": " tid ", \"pid\": \"70\", "                                       \
	"\"stringTable\": [\"main (in /bin/app)\", \"work<a (in b)> (in lib.so)\", \"0x12\", \"f (in\"], "   \
	"\"frameTable\": {\"schema\": {\"line\": 0, \"location\": 2}, "                                      \
	"\"data\": [[null, 0, 0], [5, 0, 1], [null, 0, 2], [null, 0, 3], [null, 0, 9]]}, "                   \
	"\"stackTable\": {\"schema\": {\"frame\": 1, \"prefix\": 0}, "                                       \
	"\"data\": [[null, 0], [0, 1], [1, 2], [null, 3], [null, 4], [9, 0]]}, "                             \
	"\"samples\": {\"schema\": {\"time\": 1, \"stack\": 0}, \"data\": [" samples "]}}"
	(void)state;
	check_events(
		"{\"meta\": {\"interval\": 2, \"product\": \"app\"}, \"libs\": [], \"threads\": [" GECKO(
			"main", "7",
			"[1, 1000.5], [2, 1002.5], [null, 1003], [3, 1004.5], [4, 1005], [0, -1]") "], "
												   "\"process"
												   "es\": "
												   "[{"
												   "\"threads"
												   "\": "
												   "[" GECKO(
													   "s"
													   "e"
													   "c"
													   "o"
													   "n"
													   "d",
													   "8",
													   "["
													   "0"
													   ","
													   " "
													   "1"
													   "0"
													   "0"
													   "3"
													   "."
													   "5"
													   "]") "]}]}",
		"Gecko profile 4000001 ns\n"
		"thread 7 main of 0\n"
		"0 thread 0 time 2000000: work<a (in b)>[lib.so] -:0 main[/bin/app] -:0\n"
		"2000000 thread 0 time 2000000: 0x12[] -:0 work<a (in b)>[lib.so] -:0 main[/bin/app] -:0\n"
		"thread 8 second of 0\n"
		"3000000 thread 1 time 2000000: main[/bin/app] -:0\n"
		"4000000 thread 0 time 2000000: f (in[] -:0\n"
		"! 5 entries refer to nothing, or have no time or weight that can be\n");
}

static void test_jsonprofile__other_files_are_refused(void **state)
{
	static const char *const others[] = {"", "text", "[1, 2]", "{\"traceEvents\": []}", "{\"nodes\": 1}"};
	char deep[300] = "{\"timeDeltas\": \"callFrame\", \"callFrame\": ";
	struct ctx_event_source *source;
	struct ctx_err err = {0};
	size_t n = strlen(deep);

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(others); i++) {
		write_bytes(others[i], strlen(others[i]));
		assert_false(ctx_jsonprofile_is(path));
		assert_int_equal(ctx_jsonprofile_open(path, &source, NULL), CTX_E_FORMAT);
	}
	while (n < sizeof(deep))
		deep[n++] = '[';
	write_bytes(deep, n);
	assert_true(ctx_jsonprofile_is(path));
	assert_int_equal(ctx_jsonprofile_open(path, &source, &err), CTX_E_FORMAT);
	assert_non_null(strstr(err.msg, "64 deep"));
	write_bytes("{\"timeDeltas\": \"callFrame\", \"callFrame\": 1, }", 45);
	assert_int_equal(ctx_jsonprofile_open(path, &source, &err), CTX_E_FORMAT);
	assert_null(strchr(err.msg, '\n'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jsonprofile__speedscopes_samples_follow_each_other),
		cmocka_unit_test(test_jsonprofile__speedscopes_opens_and_closes_are_time_at_the_open_frames),
		cmocka_unit_test(test_jsonprofile__pieces_of_a_devtools_trace_are_put_together),
		cmocka_unit_test(test_jsonprofile__a_cpuprofiles_samples_last_to_the_next),
		cmocka_unit_test(test_jsonprofile__firefoxs_tables_are_of_threads_or_shared),
		cmocka_unit_test(test_jsonprofile__firefoxs_later_tables_have_offsets_and_sources),
		cmocka_unit_test(test_jsonprofile__gecko_has_rows_with_schemas),
		cmocka_unit_test(test_jsonprofile__other_files_are_refused),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
