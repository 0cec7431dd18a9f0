/*
 * Thread states from perf.data: formats of tracepoints, and recordings made here with the expected
 * changes. The formats have other offsets than any kernel.
 */
#include "formats/perfdata/pd_tracing.h"
#include "tests/unit/perfdata_reading.h"
#include "tests/unit/source_memory.h"

/* ---- tracing data ---- */

struct format {
	const char *system, *text;
};

#define NEW_STATES                                                                                           \
	"print fmt: \"prev_state=%s%s\", (REC->prev_state & ((((0x00000000 | 0x00000001) + 1) << 1) - 1)) "  \
	"? "                                                                                                 \
	"__print_flags(REC->prev_state & 0xff, \"|\", { 0x00000001, \"S\" }, { 0x00000002, \"D\" }, "        \
	"{ 0x00000004, \"T\" }, { 0x00000008, \"t\" }, { 0x00000010, \"X\" }, { 0x00000020, \"Z\" }, "       \
	"{ 0x00000040, \"P\" }, { 0x00000080, \"I\" }) : \"R\", REC->prev_state & 0x100 ? \"+\" : \"\"\n"

#define OLD_STATES                                                                                           \
	"print fmt: \"prev_state=%s%s\", REC->prev_state & (2048-1) ? __print_flags(REC->prev_state & "      \
	"(2048-1), \"|\", { 1, \"S\"} , { 2, \"D\" }, { 4, \"T\" }, { 8, \"t\" }, { 16, \"Z\" }, "           \
	"{ 32, \"X\" }, { 64, \"x\" }, { 128, \"K\" }, { 256, \"W\" }, { 512, \"P\" }, { 1024, \"N\" }) : "  \
	"\"R\", REC->prev_state & 2048 ? \"+\" : \"\"\n"

#define SWITCH_FORMAT                                                                                        \
	"name: sched_switch\nID: 300\nformat:\n"                                                             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"                                         \
	"\tfield:char next_comm[16];\toffset:4;\tsize:16;\tsigned:0;\n"                                      \
	"\tfield:pid_t next_pid;\toffset:8;\tsize:4;\tsigned:1;\n"                                           \
	"\tfield:long prev_state;\toffset:12;\tsize:8;\tsigned:1;\n\n"

static const struct format usual_formats[] = {
	{"sched", SWITCH_FORMAT NEW_STATES},
	{"sched",
	 "name: sched_waking\nID: 301\nformat:\n\tfield:pid_t pid;\toffset:16;\tsize:4;\tsigned:1;\n"},
	{"sched", "name: sched_unwanted\nID: 302\n"},
	{"raw_syscalls", "name: sys_enter\nID: 303\nformat:\n\tfield:long id;\toffset:8;\tsize:8;\n"},
	{"raw_syscalls", "name: sys_exit\nID: 304\n"},
	{"exceptions",
	 "name: page_fault_user\nID: 305\n\tfield:unsigned long error_code;\toffset:4;\tsize:8;\n"},
};

static void put_sized(struct ctx_buf *buf, bool swap, const char *text)
{
	pd_u64(buf, swap, strlen(text));
	ctx_buf_put(buf, text, strlen(text));
}

/* A section with these formats; those of one system are adjacent. */
static void put_tracing(struct ctx_buf *buf, bool swap, const struct format *formats, size_t n)
{
	size_t at = 0;
	uint32_t systems = 0;

	for (size_t i = 0; i < n; i++)
		systems += i == 0 || strcmp(formats[i].system, formats[i - 1].system) != 0;
	ctx_buf_put(buf, "\x17\x08\x44tracing0.6", 14);
	ctx_buf_put_u8(buf, pd_is_big_endian(swap));
	ctx_buf_put_u8(buf, 8);
	pd_u32(buf, swap, 4096);
	pd_text(buf, "header_page", 1);
	put_sized(buf, swap, "\tfield: u64 timestamp;\toffset:0;\tsize:8;\n");
	pd_text(buf, "header_event", 1);
	put_sized(buf, swap, "# compressed entry header\n");
	pd_u32(buf, swap, 1);
	put_sized(buf, swap, "name: function\nID: 1\n");
	pd_u32(buf, swap, systems);
	while (at < n) {
		size_t end = at;

		while (end < n && strcmp(formats[end].system, formats[at].system) == 0)
			end++;
		pd_text(buf, formats[at].system, 1);
		pd_u32(buf, swap, (uint32_t)(end - at));
		for (; at < end; at++)
			put_sized(buf, swap, formats[at].text);
	}
}

static void test_perfdata_states__formats_are_read_in_either_byte_order(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct ctx_buf buf = {0};
		struct ctx_pd_tracing tracing;
		const struct ctx_pd_format *format = &tracing.formats[CTX_PD_TP_SWITCH];

		put_tracing(&buf, swap != 0, usual_formats, CTX_COUNT_OF(usual_formats));
		assert_int_equal(ctx_pd_tracing_parse(buf.bytes, buf.n, &tracing, NULL), CTX_OK);
		assert_int_equal(ctx_pd_tracing_find(&tracing, 300), CTX_PD_TP_SWITCH);
		assert_int_equal(ctx_pd_tracing_find(&tracing, 301), CTX_PD_TP_WAKING);
		assert_int_equal(ctx_pd_tracing_find(&tracing, 302), CTX_PD_TP_NONE);
		assert_int_equal(ctx_pd_tracing_find(&tracing, 0), CTX_PD_TP_NONE);
		assert_int_equal(format->fields[CTX_PD_FIELD_NEXT_PID].offset, 8);
		assert_int_equal(format->fields[CTX_PD_FIELD_NEXT_PID].size, 4);
		assert_int_equal(format->fields[CTX_PD_FIELD_PREV_STATE].offset, 12);
		assert_int_equal(format->fields[CTX_PD_FIELD_PREV_STATE].size, 8);
		assert_int_equal(format->fields[CTX_PD_FIELD_PID].size, 0);
		assert_int_equal(tracing.prev_states.dead, 0x30);
		assert_int_equal(tracing.prev_states.stopped, 0x0c);
		assert_int_equal(tracing.prev_states.waits, 0xc3);
		ctx_buf_deinit(&buf);
	}
}

static void test_perfdata_states__bits_of_the_state_are_those_that_the_format_has_letters_for(void **state)
{
	static const struct format old = {"sched", SWITCH_FORMAT OLD_STATES};
	static const struct format none = {"sched", SWITCH_FORMAT};
	struct ctx_pd_tracing tracing;
	struct ctx_buf buf = {0};

	(void)state;
	put_tracing(&buf, false, &old, 1);
	assert_int_equal(ctx_pd_tracing_parse(buf.bytes, buf.n, &tracing, NULL), CTX_OK);
	assert_int_equal(tracing.prev_states.dead, 16 | 32 | 64);
	assert_int_equal(tracing.prev_states.stopped, 4 | 8);
	assert_int_equal(tracing.prev_states.waits, 1 | 2 | 128 | 256 | 512 | 1024);
	ctx_buf_deinit(&buf);
	put_tracing(&buf, false, &none, 1);
	assert_int_equal(ctx_pd_tracing_parse(buf.bytes, buf.n, &tracing, NULL), CTX_OK);
	assert_int_equal(tracing.prev_states.dead, 0x30);
	assert_int_equal(tracing.prev_states.waits, 0xc3);
	ctx_buf_deinit(&buf);
}

static void test_perfdata_states__truncated_formats_yield_nothing(void **state)
{
	struct ctx_buf buf = {0};

	(void)state;
	put_tracing(&buf, false, usual_formats, CTX_COUNT_OF(usual_formats));
	for (size_t n = 0; n < buf.n; n++) {
		uint8_t *copy = malloc(n != 0 ? n : 1); /* of its own, for a sanitizer */
		struct ctx_pd_tracing tracing;
		struct ctx_err err = {0};

		assert_non_null(copy);
		memcpy(copy, buf.bytes, n);
		assert_int_equal(ctx_pd_tracing_parse(copy, n, &tracing, &err), CTX_E_FORMAT);
		assert_string_not_equal(err.msg, "");
		assert_int_equal(ctx_pd_tracing_find(&tracing, 300), CTX_PD_TP_NONE);
		free(copy);
	}
	ctx_buf_deinit(&buf);
}

static void test_perfdata_states__a_tracepoint_without_a_field_that_it_needs_is_not_used(void **state)
{
	static const struct format formats[] = {
		{"sched", "name: sched_switch\nID: 300\n\tfield:pid_t next_pid;\toffset:8;\tsize:4;\n"},
		{"sched", "name: sched_waking\nID: 301\n\tfield:pid_t pid;\toffset:8;\tsize:3;\n"},
		{"sched", "name: sched_wakeup\nID: 302\n\tfield:pid_t pid;\toffset:70000;\tsize:4;\n"},
		{"other", "name: sched_wakeup_new\nID: 303\n\tfield:pid_t pid;\toffset:8;\tsize:4;\n"},
	};
	struct ctx_pd_tracing tracing;
	struct ctx_buf buf = {0};

	(void)state;
	put_tracing(&buf, false, formats, CTX_COUNT_OF(formats));
	assert_int_equal(ctx_pd_tracing_parse(buf.bytes, buf.n, &tracing, NULL), CTX_OK);
	for (uint64_t id = 300; id < 304; id++)
		assert_int_equal(ctx_pd_tracing_find(&tracing, id), CTX_PD_TP_NONE);
	ctx_buf_deinit(&buf);
}

/* ---- recordings ---- */

enum { CLOCK, SWITCH, WAKING, ENTER, EXIT, FAULT, MAJOR, DUMMY };

#define BEGIN UINT64_C(7000000001000)

#define TRACE_TYPE (PD_USUAL_TYPE | PERF_SAMPLE_RAW)

static void add_event(struct pd_recording *recording, uint32_t type, uint64_t config, uint64_t sample_type,
		      const char *name)
{
	struct pd_attr *attr = pd_add_attr(recording, sample_type, 10 + recording->n_attrs);

	attr->type = type;
	attr->config = config;
	attr->period = 1;
	attr->name = name;
}

/* All events; the tracing data is added by who calls. */
static void begin(struct pd_recording *recording, bool swap, bool switch_records)
{
	*recording = (struct pd_recording){.swap = swap};
	add_event(recording, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, PD_USUAL_TYPE, "cpu-clock");
	add_event(recording, PERF_TYPE_TRACEPOINT, 300, TRACE_TYPE, "sched:sched_switch");
	add_event(recording, PERF_TYPE_TRACEPOINT, 301, TRACE_TYPE, "sched:sched_waking");
	add_event(recording, PERF_TYPE_TRACEPOINT, 303, TRACE_TYPE, "raw_syscalls:sys_enter");
	add_event(recording, PERF_TYPE_TRACEPOINT, 304, TRACE_TYPE, "raw_syscalls:sys_exit");
	add_event(recording, PERF_TYPE_TRACEPOINT, 305, TRACE_TYPE, "exceptions:page_fault_user");
	add_event(recording, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ,
		  PD_USUAL_TYPE | PERF_SAMPLE_ADDR, "major-faults");
	add_event(recording, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, PD_USUAL_TYPE, "dummy");
	recording->attrs[DUMMY].flags |= switch_records ? PD_FLAG_CONTEXT_SWITCH : 0;
	pd_add_event_names(recording);
	pd_add_sample_times(recording, BEGIN, BEGIN + 10000);
}

static void add_formats(struct pd_recording *recording)
{
	put_tracing(pd_add_feature(recording, CTX_PD_FEATURE_TRACING_DATA), recording->swap, usual_formats,
		    CTX_COUNT_OF(usual_formats));
}

static struct pd_place at(int32_t pid, int32_t tid, uint64_t t, uint32_t cpu)
{
	return (struct pd_place){.pid = pid, .tid = tid, .time = BEGIN + t, .cpu = cpu};
}

/* A sample in the kernel, called from user code; `raw` of 20 bytes or none. */
static void sample_at(struct pd_recording *recording, size_t attr, struct pd_place place, const uint8_t *raw)
{
	struct pd_sample sample = {.attr = attr,
				   .place = place,
				   .misc = PERF_RECORD_MISC_KERNEL,
				   .ip = UINT64_C(0xffffffff81000000),
				   .period = 1,
				   .raw_bytes = 20,
				   .raw = raw};

	sample.frames[0] = (uint64_t)PERF_CONTEXT_KERNEL;
	sample.frames[1] = sample.ip;
	sample.frames[2] = (uint64_t)PERF_CONTEXT_USER;
	sample.frames[3] = 0x402001;
	sample.n_frames = 4;
	pd_sample(recording, &sample);
}

static void put_raw(uint8_t *raw, bool swap, size_t at_byte, uint64_t value, size_t n)
{
	uint64_t turned = __builtin_bswap64(value);

	memcpy(raw + at_byte, swap ? (uint8_t *)&turned + 8 - n : (uint8_t *)&value, n);
}

static void switches(struct pd_recording *recording, struct pd_place place, uint64_t prev_state, int32_t next)
{
	uint8_t raw[20] = {0};

	put_raw(raw, recording->swap, 8, (uint32_t)next, 4);
	put_raw(raw, recording->swap, 12, prev_state, 8);
	sample_at(recording, SWITCH, place, raw);
}

static void wakes(struct pd_recording *recording, struct pd_place place, int32_t who)
{
	uint8_t raw[20] = {0};

	put_raw(raw, recording->swap, 16, (uint32_t)who, 4);
	sample_at(recording, WAKING, place, raw);
}

static void faults(struct pd_recording *recording, struct pd_place place, uint64_t error_code)
{
	uint8_t raw[20] = {0};

	put_raw(raw, recording->swap, 4, error_code, 8);
	sample_at(recording, FAULT, place, raw);
}

static void named(struct pd_recording *recording, int32_t pid, int32_t tid, const char *name)
{
	struct pd_place place = {.pid = pid, .tid = tid};

	pd_comm(recording, &place, name, false);
}

/* With formats, and process 100. */
static void begin_app(struct pd_recording *recording, bool swap, bool switch_records)
{
	begin(recording, swap, switch_records);
	add_formats(recording);
	named(recording, 100, 100, "app");
}

static void switch_record(struct pd_recording *recording, struct pd_place place, uint16_t misc, int32_t other)
{
	pd_switch_of(recording, DUMMY, &place, misc, other);
}

/* Only the lines of states, into `out`. */
static void only_states(const struct pd_reading *reading, struct ctx_buf *out)
{
	const char *line = pd_lines(&reading->events);

	while (*line != '\0') {
		size_t n = strcspn(line, "\n") + 1;

		if (memmem(line, n, " state ", 7) != NULL)
			ctx_buf_put(out, line, n);
		line += n;
	}
	ctx_buf_put_u8(out, 0);
}

static void expect_states(const struct pd_recording *recording, enum pd_kind kind, const char *expected)
{
	struct pd_reading reading;
	struct ctx_buf lines = {0};

	pd_read_form(recording, &(struct pd_form){.kind = kind}, &reading);
	assert_int_equal(reading.status, CTX_OK);
	assert_string_equal(pd_lines(&reading.damage), "");
	assert_string_equal(pd_lines(&reading.warnings), "");
	only_states(&reading, &lines);
	assert_string_equal((const char *)lines.bytes, expected);
	ctx_buf_deinit(&lines);
	pd_reading_deinit(&reading);
}

/* All processors: 100 waits for 200, which stops and dies; the idle thread wakes it. */
static void whole_system(struct pd_recording *recording, bool swap)
{
	begin_app(recording, swap, false);
	named(recording, 200, 201, "other");
	sample_at(recording, ENTER, at(100, 100, 0, 0), NULL);
	switches(recording, at(100, 100, 100, 0), 1, 201);
	wakes(recording, at(200, 201, 200, 0), 100);
	switches(recording, at(200, 201, 300, 0), 0x100, 100);
	sample_at(recording, EXIT, at(100, 100, 400, 0), NULL);
	switches(recording, at(100, 100, 500, 0), 0, 201);
	switches(recording, at(200, 201, 600, 0), 4, 0);
	switches(recording, at(0, 0, 700, 1), 0, 100);
	wakes(recording, at(0, 0, 750, 0), 201);
	wakes(recording, at(0, 0, 760, 0), 999); /* unannounced */
	switches(recording, at(0, 0, 800, 0), 0, 201);
	switches(recording, at(200, 201, 900, 0), 0x10, 0);
	switches(recording, at(100, 100, 1000, 1), 0x80, 0);
	pd_round(recording);
}

static const char whole_system_states[] = "0 state 0/0 enters cpu 0: ffffffff81000000 402001\n"
					  "100 state 0/0 blocked cpu 0: ffffffff81000000 402001\n"
					  "100 state 1/1 runs cpu 0:\n"
					  "200 state 1/0 waking cpu 0 by 1 -: ffffffff81000000 402001\n"
					  "300 state 1/1 preempted cpu 0: ffffffff81000000 402001\n"
					  "300 state 0/0 runs cpu 0:\n"
					  "400 state 0/0 returns cpu 0: ffffffff81000000 402001\n"
					  "500 state 0/0 preempted cpu 0: ffffffff81000000 402001\n"
					  "500 state 1/1 runs cpu 0:\n"
					  "600 state 1/1 stopped cpu 0: ffffffff81000000 402001\n"
					  "700 state 0/0 runs cpu 1:\n"
					  "750 state 1/1 waking cpu 0 by -1 swapper: ffffffff81000000\n"
					  "800 state 1/1 runs cpu 0:\n"
					  "900 state 1/1 dead cpu 0: ffffffff81000000 402001\n"
					  "1000 state 0/0 blocked cpu 1: ffffffff81000000 402001\n";

static void test_perfdata_states__a_recording_of_all_processors_gives_these_changes_in_every_form(
	void **state)
{
	static const enum pd_kind kinds[] = {PD_FILE, PD_PIPE, PD_COMPRESSED, PD_COMPRESSED2};

	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct pd_recording recording;

		whole_system(&recording, swap != 0);
		for (size_t i = 0; i < CTX_COUNT_OF(kinds); i++)
			expect_states(&recording, kinds[i], whole_system_states);
		pd_recording_deinit(&recording);
	}
}

/* As `switches`, with the kernel's ids: those of samples are smaller by 5000, or 0 outside. */
static void switches_inside(struct pd_recording *recording, struct pd_place place, int32_t prev, int32_t next)
{
	uint8_t raw[20] = {0};

	put_raw(raw, recording->swap, 4, (uint32_t)prev, 4);
	put_raw(raw, recording->swap, 8, (uint32_t)next, 4);
	put_raw(raw, recording->swap, 12, 1, 8);
	sample_at(recording, SWITCH, place, raw);
}

/*
 * Inside a pid namespace the thread of a sample and the one that the tracepoint names have ids of
 * different kinds: 200 is one of the namespace's, and another one of the kernel's.
 */
static void test_perfdata_states__ids_of_a_pid_namespace_are_learnt_and_never_mixed(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct pd_recording recording;
		struct pd_reading reading;
		struct ctx_buf lines = {0};

		begin_app(&recording, swap != 0, false);
		named(&recording, 200, 200, "other");
		switches_inside(&recording, at(100, 100, 100, 0), 5100, 5200); /* 5200 is not known yet */
		switches_inside(&recording, at(200, 200, 200, 0), 5200, 5100);
		switches_inside(&recording, at(100, 100, 300, 0), 5100, 200); /* the kernel's 200: outside */
		switches_inside(&recording, at(0, 0, 400, 0), 200, 5200);
		pd_round(&recording);
		pd_read_form(&recording, &(struct pd_form){.kind = PD_FILE}, &reading);
		assert_int_equal(reading.status, CTX_OK);
		assert_non_null(strstr(pd_lines(&reading.warnings), "ids, 2 of them of threads"));
		only_states(&reading, &lines);
		assert_string_equal((const char *)lines.bytes,
				    "100 state 0/0 blocked cpu 0: ffffffff81000000 402001\n"
				    "200 state 1/1 blocked cpu 0: ffffffff81000000 402001\n"
				    "200 state 0/0 runs cpu 0:\n"
				    "300 state 0/0 blocked cpu 0: ffffffff81000000 402001\n"
				    "400 state 1/1 runs cpu 0:\n");
		ctx_buf_deinit(&lines);
		pd_reading_deinit(&reading);
		pd_recording_deinit(&recording);
	}
}

static void test_perfdata_states__samples_of_the_events_stay_metrics(void **state)
{
	struct pd_recording recording;
	struct pd_reading reading;

	(void)state;
	whole_system(&recording, false);
	pd_read_form(&recording, &(struct pd_form){.kind = PD_FILE}, &reading);
	assert_int_equal(reading.samples, 13);
	assert_non_null(strstr(pd_lines(&reading.head), "metric sched:sched_switch (events)\n"));
	assert_non_null(strstr(reading.properties, "states=from sched:sched_switch; no switch records\n"));
	pd_reading_deinit(&reading);
	pd_recording_deinit(&recording);
}

/* SWITCH alone, and beside sched_switch: what is the same switch is for the ingest to find out. */
static void test_perfdata_states__switch_records_come_beside_the_tracepoint(void **state)
{
	struct pd_recording recording;

	(void)state;
	begin_app(&recording, false, true);
	switch_record(&recording, at(100, 100, 90, 2), 0, -1);
	switches(&recording, at(100, 100, 100, 2), 2, 0);
	switch_record(&recording, at(100, 100, 101, 2), PERF_RECORD_MISC_SWITCH_OUT, -1);
	switch_record(&recording, at(100, 100, 200, 3), 0, 0);
	switch_record(&recording, at(100, 100, 300, 3),
		      PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, 55);
	switch_record(&recording, at(0, 0, 310, 3), 0, 100); /* the idle thread is none */
	switch_record(&recording, at(100, 100, 400, 3), 0, -1);
	switch_record(&recording, at(100, 100, 500, 3), PERF_RECORD_MISC_SWITCH_OUT, -1);
	expect_states(&recording, PD_FILE,
		      "90 state 0/0 runs cpu 2:\n"
		      "100 state 0/0 blocked cpu 2: ffffffff81000000 402001\n"
		      "101 state 0/0 off cpu 2:\n"
		      "200 state 0/0 runs cpu 3:\n"
		      "300 state 0/0 off-preempted cpu 3:\n"
		      "400 state 0/0 runs cpu 3:\n"
		      "500 state 0/0 off cpu 3:\n");
	pd_recording_deinit(&recording);
}

static void test_perfdata_states__the_end_of_a_thread_is_not_a_wait(void **state)
{
	struct pd_recording recording;
	struct pd_place end = at(100, 101, 300, 2);

	(void)state;
	begin_app(&recording, false, true);
	named(&recording, 100, 101, "app");
	switch_record(&recording, at(100, 100, 90, 2), 0, -1);
	switches(&recording, at(100, 100, 100, 2), 0x20, 0); /* dead, says the tracepoint */
	switch_record(&recording, at(100, 100, 101, 2), PERF_RECORD_MISC_SWITCH_OUT, -1);
	switch_record(&recording, at(100, 101, 200, 2), 0, -1);
	pd_task(&recording, PERF_RECORD_EXIT, 0, &end, 100);
	switch_record(&recording, at(100, 101, 301, 2), PERF_RECORD_MISC_SWITCH_OUT, -1);
	expect_states(&recording, PD_FILE,
		      "90 state 0/0 runs cpu 2:\n"
		      "100 state 0/0 dead cpu 2: ffffffff81000000 402001\n"
		      "101 state 0/0 off cpu 2:\n"
		      "200 state 0/1 runs cpu 2:\n");
	pd_recording_deinit(&recording);
}

static void test_perfdata_states__exec_continues_as_a_running_thread(void **state)
{
	struct pd_recording recording;
	struct pd_place exec = at(100, 100, 100, 2);

	(void)state;
	begin(&recording, false, true);
	add_formats(&recording);
	named(&recording, 100, 100, "perf");
	switch_record(&recording, at(100, 100, 90, 2), 0, -1);
	pd_comm(&recording, &exec, "app", true);
	switch_record(&recording, at(100, 100, 200, 2), PERF_RECORD_MISC_SWITCH_OUT, -1);
	expect_states(&recording, PD_FILE,
		      "90 state 0/0 runs cpu 2:\n"
		      "100 state 1/1 runs cpu -1:\n"
		      "200 state 1/1 off cpu 2:\n");
	pd_recording_deinit(&recording);
}

/* A recording of one process also has the samples of whoever wakes its threads. */
static void test_perfdata_states__an_external_waker_is_not_a_thread_and_has_no_user_stack(void **state)
{
	struct pd_recording recording;

	(void)state;
	begin_app(&recording, false, false);
	switches(&recording, at(100, 100, 100, 0), 1, 500);
	wakes(&recording, at(500, 500, 200, 0), 100);
	wakes(&recording, at(100, 100, 300, 0),
	      500); /* not in the recording, though its sample refers to it */
	expect_states(&recording, PD_FILE,
		      "100 state 0/0 blocked cpu 0: ffffffff81000000 402001\n"
		      "200 state 0/0 waking cpu 0 by -1 :500: ffffffff81000000\n");
	pd_recording_deinit(&recording);
}

static void major_fault(struct pd_recording *recording, struct pd_place place, uint64_t ip, uint64_t address)
{
	pd_sample(recording,
		  &(struct pd_sample){.attr = MAJOR, .place = place, .ip = ip, .addr = address, .period = 1});
}

static void test_perfdata_states__faults_are_for_instructions_or_not(void **state)
{
	struct pd_recording recording;

	(void)state;
	begin_app(&recording, false, false);
	named(&recording, 200, 200, "other");
	faults(&recording, at(100, 100, 100, 0), 0x14);
	switches(&recording, at(100, 100, 110, 0), 2, 200);
	switches(&recording, at(200, 200, 200, 0), 0, 100);
	faults(&recording, at(100, 100, 300, 0), 0x6); /* for data */
	switches(&recording, at(100, 100, 310, 0), 2, 200);
	switches(&recording, at(200, 200, 400, 0), 0, 100);
	faults(&recording, at(100, 100, 500, 0), 0x14); /* does not wait */
	sample_at(&recording, ENTER, at(100, 100, 510, 0), NULL);
	switches(&recording, at(100, 100, 520, 0), 1, 0);
	major_fault(&recording, at(100, 100, 600, 0), 0x400ff0, 0x401000);
	major_fault(&recording, at(100, 100, 700, 0), 0x400ff0, 0x700000);
	expect_states(&recording, PD_FILE,
		      "100 state 0/0 text-fault-begins cpu 0:\n"
		      "110 state 0/0 blocked cpu 0: ffffffff81000000 402001\n"
		      "110 state 1/1 runs cpu 0:\n"
		      "200 state 1/1 preempted cpu 0: ffffffff81000000 402001\n"
		      "200 state 0/0 runs cpu 0:\n"
		      "300 state 0/0 fault-begins cpu 0:\n"
		      "310 state 0/0 blocked cpu 0: ffffffff81000000 402001\n"
		      "310 state 1/1 runs cpu 0:\n"
		      "400 state 1/1 preempted cpu 0: ffffffff81000000 402001\n"
		      "400 state 0/0 runs cpu 0:\n"
		      "500 state 0/0 text-fault-begins cpu 0:\n"
		      "510 state 0/0 enters cpu 0: ffffffff81000000 402001\n"
		      "520 state 0/0 blocked cpu 0: ffffffff81000000 402001\n"
		      "600 state 0/0 text-fault cpu 0:\n");
	pd_recording_deinit(&recording);
}

/* On aarch64 pages may be of 64 KiB: all maps are whole ones. The next page of an instruction is further then. */
static void test_perfdata_states__pages_are_as_large_as_maps_say(void **state)
{
	static const char *const archs[] = {"aarch64", "x86_64", "aarch64"};
	static const uint64_t sizes[] = {0x30000, 0x30000, 0x31000};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		const struct pd_place place = at(100, 100, 50, 0);
		struct pd_recording recording;

		begin_app(&recording, false, false);
		pd_add_text(&recording, CTX_PD_FEATURE_ARCH, archs[i]);
		pd_mmap2(&recording, &place,
			 &(struct pd_map){.address = 0x400000, .size = sizes[i], .path = "/bin/app"});
		major_fault(&recording, at(100, 100, 600, 0), 0x400ff0, 0x412000);
		major_fault(&recording, at(100, 100, 700, 0), 0x400ff0, 0x420000);
		expect_states(&recording, PD_FILE, i == 0 ? "600 state 0/0 text-fault cpu 0:\n" : "");
		pd_recording_deinit(&recording);
	}
}

/* ---- what is missing ---- */

static void expect_none(const struct pd_recording *recording, enum pd_kind kind, const char *damage)
{
	struct pd_reading reading;

	pd_read_form(recording, &(struct pd_form){.kind = kind}, &reading);
	assert_int_equal(reading.status, CTX_OK);
	assert_null(strstr(pd_lines(&reading.events), " state "));
	assert_int_equal(reading.samples, 2);
	assert_non_null(strstr(reading.properties, "states=none; no description of sched:sched_switch\n"));
	assert_non_null(strstr(pd_lines(&reading.damage), damage));
	assert_int_equal(reading.n_damage, damage[0] != '\0');
	pd_reading_deinit(&reading);
}

static void test_perfdata_states__damaged_or_missing_formats_are_reported_and_yield_no_states(void **state)
{
	static const enum pd_kind kinds[] = {PD_FILE, PD_PIPE};

	(void)state;
	for (int damaged = 0; damaged < 2; damaged++) {
		struct pd_recording recording;

		begin(&recording, false, false);
		named(&recording, 100, 100, "app");
		if (damaged) {
			add_formats(&recording);
			recording.features[recording.n_features - 1].bytes.n -= 30;
		}
		switches(&recording, at(100, 100, 100, 0), 2, 200);
		switches(&recording, at(100, 100, 200, 0), 0, 200);
		for (size_t i = 0; i < CTX_COUNT_OF(kinds); i++)
			expect_none(&recording, kinds[i],
				    damaged ? "header: formats of tracepoints: cut short" : "");
		pd_recording_deinit(&recording);
	}
}

static void test_perfdata_states__a_file_without_switches_has_none(void **state)
{
	struct pd_recording recording = {0};
	struct pd_place place = at(100, 100, 0, 0);
	struct pd_reading reading;

	(void)state;
	pd_add_attr(&recording, PD_USUAL_TYPE, 10);
	pd_switch(&recording, &place); /* of no event that asked for it */
	sample_at(&recording, 0, at(100, 100, 10, 0), NULL);
	pd_read_form(&recording, &(struct pd_form){.kind = PD_FILE}, &reading);
	assert_null(strstr(pd_lines(&reading.events), " state "));
	assert_null(strstr(reading.properties, "states="));
	assert_string_equal(pd_lines(&reading.warnings), "records not used: 1 SWITCH\n");
	pd_reading_deinit(&reading);
	pd_recording_deinit(&recording);
}

static void test_perfdata_states__raw_data_that_is_too_short_is_ignored(void **state)
{
	struct pd_recording recording;
	struct pd_sample sample = {.attr = SWITCH, .place = at(100, 100, 10, 0), .raw_bytes = 4};

	(void)state;
	begin_app(&recording, false, false);
	for (sample.attr = SWITCH; sample.attr <= FAULT; sample.attr++) {
		if (sample.attr != ENTER && sample.attr != EXIT)
			pd_sample(&recording, &sample);
	}
	expect_states(&recording, PD_FILE, "10 state 0/0 fault-begins cpu 0:\n"); /* for what is not known */
	pd_recording_deinit(&recording);
}

static void test_perfdata_states__out_of_memory_fails_without_leaks(void **state)
{
	struct pd_recording recording;
	struct ctx_buf bytes = {0};
	struct pd_memory_file file;

	(void)state;
	whole_system(&recording, false);
	pd_write(&recording, &(struct pd_form){.kind = PD_FILE}, &bytes);
	file = pd_memory_open(&bytes);
	assert_true(fail_each_allocation(ctx_perfdata_open, file.path) > 20);
	pd_memory_close(&file);
	ctx_buf_deinit(&bytes);
	pd_recording_deinit(&recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perfdata_states__formats_are_read_in_either_byte_order),
		cmocka_unit_test(
			test_perfdata_states__bits_of_the_state_are_those_that_the_format_has_letters_for),
		cmocka_unit_test(test_perfdata_states__truncated_formats_yield_nothing),
		cmocka_unit_test(
			test_perfdata_states__a_tracepoint_without_a_field_that_it_needs_is_not_used),
		cmocka_unit_test(
			test_perfdata_states__a_recording_of_all_processors_gives_these_changes_in_every_form),
		cmocka_unit_test(test_perfdata_states__ids_of_a_pid_namespace_are_learnt_and_never_mixed),
		cmocka_unit_test(test_perfdata_states__samples_of_the_events_stay_metrics),
		cmocka_unit_test(test_perfdata_states__switch_records_come_beside_the_tracepoint),
		cmocka_unit_test(test_perfdata_states__the_end_of_a_thread_is_not_a_wait),
		cmocka_unit_test(test_perfdata_states__exec_continues_as_a_running_thread),
		cmocka_unit_test(
			test_perfdata_states__an_external_waker_is_not_a_thread_and_has_no_user_stack),
		cmocka_unit_test(test_perfdata_states__faults_are_for_instructions_or_not),
		cmocka_unit_test(test_perfdata_states__pages_are_as_large_as_maps_say),
		cmocka_unit_test(
			test_perfdata_states__damaged_or_missing_formats_are_reported_and_yield_no_states),
		cmocka_unit_test(test_perfdata_states__a_file_without_switches_has_none),
		cmocka_unit_test(test_perfdata_states__raw_data_that_is_too_short_is_ignored),
		cmocka_unit_test(test_perfdata_states__out_of_memory_fails_without_leaks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
