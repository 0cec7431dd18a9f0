/* What is rare in experiments of gprofng: Java, labels, usage of 32-bit targets. */
#include "base/java_name.h"
#include "formats/gprofng/gp_jstack.h"
#include "formats/gprofng/gp_labels.h"
#include "formats/gprofng/gp_overview.h"
#include "formats/gprofng/gprofng.h"
#include "tests/unit/gprofng_fixture.h"
#include "tests/unit/source_memory.h"

#include <stdlib.h>

#define NONE UINT32_MAX

/* Names */

static void test_gp_java__types_read_as_people_write_them(void **state)
{
	static const struct {
		const char *type, *text;
		size_t used;
	} cases[] = {
		{"I", "int", 1},
		{"[[J", "long[][]", 3},
		{"Ljava/lang/String;X", "java.lang.String", 18},
		{"[La/B$C;", "a.B$C[]", 8},
		{"V", "void", 1},
		{"Lno/end", "no.end", 7}, /* cut */
		{"L", "", 1},
		{"[[[", "", 3},
		{"?", "?", 1},
		{"L;", "", 2},
	};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		struct ctx_buf out = {0};

		assert_int_equal(ctx_java_put_type(&out, cases[i].type, strlen(cases[i].type)),
				 cases[i].used);
		ctx_buf_put_u8(&out, 0);
		assert_string_equal((const char *)out.bytes, cases[i].text);
		ctx_buf_deinit(&out);
	}
}

/* A class's or method's record: two numbers, two texts. */
static void put_record(struct ctx_buf *out, unsigned type, uint64_t first, uint64_t second, const char *a,
		       const char *b)
{
	size_t an = (strlen(a) + 4) & ~(size_t)3, bn = (strlen(b) + 4) & ~(size_t)3, n = 24 + an + bn;

	gp_u16(out, false, (unsigned)n);
	gp_u16(out, false, type);
	gp_u32(out, false, 0xdeadbeef);
	gp_u64(out, false, first);
	gp_u64(out, false, second);
	for (size_t i = 0; i < an; i++)
		ctx_buf_put_u8(out, i < strlen(a) ? (uint8_t)a[i] : 0);
	for (size_t i = 0; i < bn; i++)
		ctx_buf_put_u8(out, i < strlen(b) ? (uint8_t)b[i] : 0);
}

static void put_class(struct ctx_buf *out, const char *name, int64_t loaded_ns)
{
	put_record(out, 0x0a03, 0x7000, (uint64_t)loaded_ns, name, "File.java");
}

static void put_method(struct ctx_buf *out, uint64_t number, const char *name, const char *signature)
{
	put_record(out, 0x0b03, 0x7000, number, name, signature);
}

static void test_gp_java__a_method_number_is_resolved_at_its_time(void **state)
{
	struct ctx_gp_java java = {0};
	struct ctx_strtab names = {0};
	struct ctx_gp_blocks blocks;
	struct ctx_buf bytes = {0};

	(void)state;
	put_method(&bytes, 1, "before", "()V"); /* without a class: of none */
	put_class(&bytes, "La/First;", 1000);
	put_method(&bytes, 1, "run", "(IZ)V");
	put_method(&bytes, 2, "call", "()Ljava/lang/Object;");
	put_method(&bytes, 3, "call", "()V"); /* the same name, another method */
	put_class(&bytes, "[La/First;", 1500);
	put_method(&bytes, 4, "clone", "()V");
	put_class(&bytes, "La/Second;", 2000);
	put_method(&bytes, 1, "again", "(");
	gp_u16(&bytes, false, 12); /* too short */
	gp_u16(&bytes, false, 0x0b03);
	gp_u64(&bytes, false, 0);
	ctx_gp_blocks_set(&blocks, bytes.bytes, bytes.n, 0, false);
	assert_int_equal(ctx_gp_java_read(&java, &blocks, &names, NULL), CTX_OK);
	assert_int_equal(java.damaged, 1);
	assert_string_equal(ctx_strtab_get(&names, ctx_gp_java_find(&java, 1, 1500)),
			    "a.First.run(int, boolean)");
	assert_string_equal(ctx_strtab_get(&names, ctx_gp_java_find(&java, 1, 10)),
			    "a.First.run(int, boolean)");
	assert_string_equal(ctx_strtab_get(&names, ctx_gp_java_find(&java, 1, 2000)), "a.Second.again()");
	assert_string_equal(ctx_strtab_get(&names, ctx_gp_java_find(&java, 2, 0)), "a.First.call()");
	assert_string_equal(ctx_strtab_get(&names, ctx_gp_java_find(&java, 3, 0)), "a.First.call()");
	assert_int_not_equal(ctx_gp_java_find(&java, 2, 0), ctx_gp_java_find(&java, 3, 0));
	assert_int_equal(ctx_gp_java_find(&java, 4, 5000), NONE);
	assert_int_equal(ctx_gp_java_find(&java, 0, 5000), NONE);
	ctx_gp_java_deinit(&java);
	ctx_strtab_deinit(&names);
	ctx_buf_deinit(&bytes);
}

/* Whole experiments */

static char directory[64];

/* A FRAME record with a Java info in front of the native one. */
static uint64_t put_stack(struct ctx_buf *out, const uint64_t *java, size_t n_java, const uint64_t *native,
			  size_t n)
{
	uint64_t record = gp_uid(native, n, n_java != 0 ? gp_uid(java, n_java, GP_R) : GP_R);
	size_t bytes = 16 + (n_java != 0 ? 16 + 8 * n_java : 0) + 16 + 8 * n;

	gp_u16(out, false, (unsigned)bytes);
	gp_u16(out, false, 11);
	gp_u32(out, false, 16);
	gp_u64(out, false, record);
	if (n_java != 0) {
		gp_u32(out, false, (uint32_t)(16 + 8 * n_java));
		gp_u32(out, false, 2);
		gp_u64(out, false, gp_uid(java, n_java, 1));
		for (size_t i = 0; i < n_java; i++)
			gp_u64(out, false, java[i]);
	}
	gp_u32(out, false, (uint32_t)(16 + 8 * n));
	gp_u32(out, false, 1);
	gp_u64(out, false, gp_uid(native, n, 1));
	for (size_t i = 0; i < n; i++)
		gp_u64(out, false, native[i]);
	return record;
}

/* Two samples of Java, one of native code; compiled code; labels, notes, warnings. */
static void write_java(void)
{
	static const uint64_t java[] = {0xbad00000007, 0x9008, 3, 0x9000}, native[] = {0x5010, 0x5020},
			      jni[] = {(uint32_t)-3, 0x9008, 3, 0x9000}, in_library[] = {0x8010, 0x5020},
			      compiled[] = {0x6010, 0x5020};
	struct ctx_buf log = {0}, classes = {0}, frames = {0}, profile = {0};
	static const char map[] =
		"<event kind=\"map\" object=\"function\" tstamp=\"0.0\" vaddr=\"0x5000\" size=\"4096\" "
		"name=\"Interpreter\"/>\n"
		"<event kind=\"map\" object=\"jcm\" tstamp=\"0.0\" vaddr=\"0x6000\" size=\"256\" "
		"methodId=\"0x9008\"/>\n";
	static const char labels[] = "<id name=\"a\" cmd=\"start\" hostname=\"h\" lbl_ts=\"0.5\"/>\n";
	static const char warnings[] = "<event kind=\"cwarn\" id=\"216\">x</event>\n";

	assert_int_equal(mkdir(directory, 0700), 0);
	gp_log_head(&log, "x86_64", 1, 0, "java", 0);
	ctx_buf_put_text(&log, "<profile name=\"jprofile\" jversion=\"17\"/>\n"
			       "<event kind=\"gc_start\" tstamp=\"5000.5\"/>\n" /* absolute */
			       "<event kind=\"exit\" tstamp=\"1.0\"/>\n");
	gp_write_buf(directory, "log.xml", &log);
	gp_write(directory, "map.xml", map, sizeof(map) - 1);
	gp_write(directory, "overview", "", 0);
	put_class(&classes, "LDemo;", GP_RUN_NS);
	put_method(&classes, 0x9000, "main", "()V");
	put_method(&classes, 0x9008, "spin", "(I)V");
	gp_write_buf(directory, "jclasses", &classes);
	gp_clock(&profile, false, 1, GP_RUN_NS + 1000, put_stack(&frames, java, 4, native, 2));
	gp_clock(&profile, false, 1, GP_RUN_NS + 2000, put_stack(&frames, jni, 4, in_library, 2));
	gp_clock(&profile, false, 1, GP_RUN_NS + 3000, put_stack(&frames, NULL, 0, compiled, 2));
	gp_write_buf(directory, "data.frameinfo", &frames);
	gp_write_buf(directory, "profile", &profile);
	gp_write(directory, "labels.xml", labels, sizeof(labels) - 1);
	gp_write(directory, "warnings.xml", warnings, sizeof(warnings) - 1);
	gp_write(directory, "notes", "a note", 6);
}

/* Frames of earlier stacks are the same when they are asked for once more. */
static void ask_again(struct ctx_event_source *source, uint32_t process)
{
	struct ctx_event_stack stack;

	for (unsigned times = 0; times < 2; times++) {
		assert_int_equal(source->stack_frames(source, process, 2, &stack, NULL), CTX_OK);
		assert_int_equal(stack.n_frames, 3);
		assert_int_equal(stack.frames[0], 0x8010);
		assert_int_equal(stack.frames[2], UINT64_C(0x4000000000000003));
	}
	assert_int_equal(source->stack_frames(source, process, 1, &stack, NULL), CTX_OK);
	assert_int_equal(stack.n_frames, 2);
	assert_int_equal(stack.frames[0], UINT64_C(0x4000000001000007));
}

static void test_gprofng__java_frames_are_functions_that_are_announced(void **state)
{
	struct ctx_event_source *source;
	struct gp_reading reading = {0};
	struct ctx_event event;
	enum ctx_status status;
	uint32_t n_samples = 0;

	(void)state;
	write_java();
	assert_int_equal(ctx_gprofng_open(directory, &source, NULL), CTX_OK);
	assert_int_equal(source->info.duration_ns, 1000000001);
	assert_string_equal(source->info.notes, "a note");
	while ((status = source->next(source, &event, NULL)) == CTX_OK) {
		if (event.kind == CTX_EV_SAMPLE) {
			assert_int_equal(source->stack_frames(source, event.process, event.sample.stack.id,
							      &event.sample.stack, NULL),
					 CTX_OK);
			assert_int_equal(event.sample.stack.id, ++n_samples);
		}
		gp_note(&reading, &event);
		if (n_samples == 3 && event.kind == CTX_EV_SAMPLE)
			ask_again(source, event.process);
	}
	assert_int_equal(status, CTX_END);
	source->close(source);
	ctx_buf_put_u8(&reading.events, 0);
	ctx_buf_put_u8(&reading.trouble, 0);
	assert_string_equal(
		(const char *)reading.events.bytes,
		"0 process 0 pid 1 of -1 java []\n"
		"0 map 0 5000+1000 <dynamic functions>@5000 Interpreter \n"
		"0 map 0 6000+100 <compiled Java methods>@1000000 Demo.spin(int) \n"
		"1000 function 1+10000 Demo.spin(int) of <Java methods>\n"
		"1000 function 0+10000 Demo.main() of <Java methods>\n"
		"0 thread 0 tid 1 of 0 \n"
		"1000 sample 0 metric 0 weight 10007000 cpu 1: 4000000001000007 4000000000000003\n"
		"2000 sample 0 metric 0 weight 10007000 cpu 1: 8010 4000000001000000 4000000000000003\n"
		"3000 sample 0 metric 0 weight 10007000 cpu 1: 6010 5020\n"
		"1000000000 end of 0\n");
	assert_non_null(strstr((const char *)reading.trouble.bytes, "wanted to block the profiling signal"));
	gp_reading_deinit(&reading);
	assert_int_equal(ctx_dir_remove(directory, NULL), CTX_OK);
}

static void test_gprofng__java_fails_cleanly_when_memory_is_short(void **state)
{
	(void)state;
	write_java();
	assert_in_range(fail_each_allocation(ctx_gprofng_open, directory), 20, 1999);
	assert_int_equal(ctx_dir_remove(directory, NULL), CTX_OK);
}

/* Labels */

static void test_gp_labels__marks_become_intervals(void **state)
{
	static const char text[] =
		"<id name=\"x\" cmd=\"stop\" hostname=\"h\" lbl_ts=\"0.1\"/>\n" /* without a beginning */
		"<id name=\"x\" cmd=\"start\" hostname=\"h\" lbl_ts=\"0.2\" comment=\"one\"/>\n"
		"<id name=\"x\" cmd=\"start\" hostname=\"h\" lbl_ts=\"0.3\" comment=\"two\"/>\n"
		"<id name=\"x\" cmd=\"stop\" hostname=\"h\" lbl_ts=\"0.4\"/>\n"
		"<id name=\"y\" cmd=\"start\" hostname=\"h\" relative=\"2\" tstamp=\"12.0\" "
		"lbl_ts=\"0.5\"/>\n"
		"<id name=\"z\" cmd=\"start\" hostname=\"other\" relative=\"2\" tstamp=\"99.0\" time=\"103\" "
		"lbl_ts=\"0.5\"/>\n"
		"<id name=\"back\" cmd=\"start\" hostname=\"h\" relative=\"2\" tstamp=\"1.0\" "
		"lbl_ts=\"-0.5\"/>\n"
		"<id name=\"when\" cmd=\"start\" hostname=\"h\"/>\n"
		"<id cmd=\"start\" hostname=\"h\" lbl_ts=\"1\"/>\n<!DOCTYPE x>\n<id name=\"n\" "
		"lbl_ts=\"1\"\n";
	struct ctx_gp_log log = {
		.machine.host = "h", .times.run_ns = INT64_C(10000000000), .times.run_unix = 100};
	struct ctx_gp_intervals intervals = {0};
	struct ctx_gp_xml xml;

	(void)state;
	assert_int_equal(ctx_gp_xml_set(&xml, text, sizeof(text) - 1, NULL), CTX_OK);
	assert_int_equal(ctx_gp_intervals_parse(&intervals, &xml, &log, NULL), CTX_OK);
	assert_int_equal(intervals.n, 4);
	assert_int_equal(intervals.damaged, 4);
	assert_string_equal(intervals.items[0].name, "x");
	assert_string_equal(intervals.items[0].comment, "one");
	assert_int_equal(intervals.items[0].begin_ns, 200000000);
	assert_int_equal(intervals.items[0].end_ns, 400000000);
	assert_true(intervals.items[0].has_end);
	assert_int_equal(intervals.items[1].begin_ns, INT64_C(2500000000));
	assert_false(intervals.items[1].has_end);
	assert_int_equal(intervals.items[2].begin_ns, INT64_C(3500000000));
	assert_int_equal(intervals.items[3].begin_ns, 0);
	ctx_gp_intervals_deinit(&intervals);
	ctx_gp_xml_deinit(&xml);
}

/* Usage */

static void test_gp_overview__is_read_in_each_layout(void **state)
{
	(void)state;
	assert_int_equal(mkdir(directory, 0700), 0);
	for (unsigned form = 0; form < 4; form++) {
		bool big = (form & 1) != 0, wide = (form & 2) != 0;
		struct ctx_gp_overview overview = {0};
		struct ctx_buf bytes = {0};
		char path[100];

		for (uint64_t k = 1; k <= 300; k++) { /* more than are read at once */
			gp_u32(&bytes, big, 77);
			gp_u32(&bytes, big, 1);
			for (uint64_t i = 0; i < 62; i++) {
				uint64_t value = i < 40 ? (i % 2 == 0 ? k + i : 5 * k) : 1000 * k + i;

				if (wide)
					gp_u64(&bytes, big, value);
				else
					gp_u32(&bytes, big, (uint32_t)value);
			}
		}
		ctx_buf_put_u8(&bytes, 1);
		gp_write_buf(directory, "overview", &bytes);
		snprintf(path, sizeof(path), "%s/overview", directory);
		assert_int_equal(ctx_gp_overview_read(&overview, path, !wide, big, NULL), CTX_OK);
		assert_int_equal(overview.n, 300);
		assert_true(overview.is_cut);
		assert_int_equal(overview.records[299].time_ns, INT64_C(300000001500));
		assert_int_equal(overview.records[0].user_ns, UINT64_C(9000000005));
		assert_int_equal(overview.records[0].system_ns, UINT64_C(11000000005));
		assert_int_equal(overview.records[1].minor_faults, 2040);
		assert_int_equal(overview.records[1].major_faults, 2041);
		assert_int_equal(overview.records[1].blocks_read, 2043);
		assert_int_equal(overview.records[1].blocks_written, 2044);
		assert_int_equal(overview.records[1].voluntary_switches, 2048);
		assert_int_equal(overview.records[1].involuntary_switches, 2049);
		ctx_gp_overview_deinit(&overview);
	}
	assert_int_equal(ctx_dir_remove(directory, NULL), CTX_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gp_java__types_read_as_people_write_them),
		cmocka_unit_test(test_gp_java__a_method_number_is_resolved_at_its_time),
		cmocka_unit_test(test_gprofng__java_frames_are_functions_that_are_announced),
		cmocka_unit_test(test_gprofng__java_fails_cleanly_when_memory_is_short),
		cmocka_unit_test(test_gp_labels__marks_become_intervals),
		cmocka_unit_test(test_gp_overview__is_read_in_each_layout),
	};

	snprintf(directory, sizeof(directory), "/tmp/test_gp_java.%d.er", (int)getpid());
	return cmocka_run_group_tests(tests, NULL, NULL);
}
