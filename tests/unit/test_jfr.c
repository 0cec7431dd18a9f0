/*
 * JFR files, byte by byte: the same events with fields in another order and of other types, without compression, as
 * async-profiler writes them; cut anywhere, and with numbers that cannot be.
 */
#include "base/mem.h"
#include "formats/jfr/jfr.h"
#include "formats/jfr/jfr_wire.h"
#include "tests/unit/jfr_fixture.h"
#include "tests/unit/source_check.h"
#include "tests/unit/source_memory.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[32]; /* of a file in memory */

/* --- types --- */

#define BASIC "4 boolean", "8 int", "9 long", "10 float", "11 java.lang.String"

/* NOLINTBEGIN(bugprone-suspicious-missing-comma): lines in two parts */
#define ENTER_USUAL                                                                                          \
	"102 jdk.JavaMonitorEnter startTime:9t duration:9t eventThread:20c stackTrace:22c previousOwner:20c" \
	" address:9"
#define ALLOCATION_OTHER                                                                                     \
	"105 jdk.ObjectAllocationSample weight:8 objectClass:21c stackTrace:22c more:8a eventThread:20c"     \
	" startTime:9t"
#define ENTER_OTHER                                                                                          \
	"102 jdk.JavaMonitorEnter address:9 previousOwner:20c stackTrace:22c duration:8t eventThread:20c"    \
	" startTime:9t"

static const char *const usual[] = {
	BASIC,
	"20 java.lang.Thread osName:11 osThreadId:9 javaName:11 javaThreadId:9",
	"21 java.lang.Class name:31c",
	"22 jdk.types.StackTrace truncated:4 frames:23a",
	"23 jdk.types.StackFrame method:24c lineNumber:8 type:25c",
	"24 jdk.types.Method type:21c name:31c descriptor:31c",
	"25 jdk.types.FrameType description:11",
	"31 jdk.types.Symbol string:11",
	"101 jdk.ExecutionSample startTime:9t sampledThread:20c stackTrace:22c state:11",
	ENTER_USUAL,
	"103 jdk.ActiveSetting startTime:9t id:9 name:11 value:11",
	"104 some.Unknown startTime:9t numbers:8a text:11 thread:20",
	"105 jdk.ObjectAllocationSample startTime:9t eventThread:20c stackTrace:22c objectClass:21c weight:9",
	"106 jdk.GCPhasePause startTime:9t duration:9t eventThread:20c name:11",
	"107 jdk.CPULoad startTime:9t jvmUser:10 jvmSystem:10 machineTotal:10",
	"108 jdk.ThreadEnd startTime:9t thread:20c",
	"109 jdk.ActiveRecording startTime:9t id:9 name:11",
};

/* Other orders, further fields, shorter numbers, and a thread that is no constant. */
static const char *const other[] = {
	"107 jdk.CPULoad machineTotal:10 jvmSystem:10 jvmUser:10 startTime:9t",
	ALLOCATION_OTHER,
	"24 jdk.types.Method modifiers:8 hidden:4 descriptor:31c name:31c type:21c",
	"22 jdk.types.StackTrace frames:23a truncated:4",
	"23 jdk.types.StackFrame bytecodeIndex:8 type:25c lineNumber:9 method:24c",
	"20 java.lang.Thread javaThreadId:8 group:20c javaName:11 osThreadId:8 osName:11",
	"101 jdk.ExecutionSample state:31c stackTrace:22c startTime:9t sampledThread:20",
	ENTER_OTHER,
	"103 jdk.ActiveSetting value:11 name:11 more:20 id:9 startTime:9t",
	"106 jdk.GCPhasePause name:31c eventThread:20c duration:9t startTime:9t",
	"31 jdk.types.Symbol string:11",
	"25 jdk.types.FrameType description:31c",
	"21 java.lang.Class modifiers:8 name:31c",
	"104 some.Unknown thread:20a startTime:9t",
	"108 jdk.ThreadEnd thread:20c startTime:9t",
	"109 jdk.ActiveRecording startTime:9t id:9 name:11",
	BASIC,
};

/* NOLINTEND(bugprone-suspicious-missing-comma) */

struct world { /* how a chunk is written */
	struct jfr jfr;
	const char *const *types;
	size_t n_types;
	struct ctx_buf pools, fields;
	uint32_t n_pools;
};

struct value {
	const char *name;
	uint64_t number;
	const char *text;
	const struct ctx_buf *bytes;
};

static const char *line_of(const struct world *world, unsigned type)
{
	for (size_t i = 0; i < world->n_types; i++) {
		if (strtoul(world->types[i], NULL, 10) == type)
			return world->types[i];
	}
	fail_msg("no type %u", type);
	return NULL;
}

static void put_fields(const struct world *world, struct ctx_buf *out, unsigned type,
		       const struct value *values);

static void put_value(const struct world *world, struct ctx_buf *out, const char *type,
		      const struct value *value)
{
	char *flags;
	unsigned class = (unsigned)strtoul(type, &flags, 10);
	const struct value *none = &(struct value){0};
	float number;
	uint32_t bits;

	if (value->bytes != NULL)
		ctx_buf_put(out, value->bytes->bytes, value->bytes->n);
	else if (*flags == 'c')
		jfr_number(&world->jfr, out, value->number, 8);
	else if (*flags == 'a')
		jfr_number(&world->jfr, out, 0, 4);
	else if (class == 4)
		ctx_buf_put_u8(out, value->number != 0);
	else if (class == 8 || class == 9)
		jfr_number(&world->jfr, out, value->number, class == 8 ? 4 : 8);
	else if (class == 11)
		jfr_text(&world->jfr, out, value->text);
	else if (class != 10)
		put_fields(world, out, class, none);
	if (value->bytes != NULL || class != 10)
		return;
	number = (float)value->number / 1000;
	memcpy(&bits, &number, sizeof(bits));
	jfr_fixed(out, bits, 4);
}

/* In the order of the type's fields; `values` ends with one without a name, and what it does not have is 0. */
static void put_fields(const struct world *world, struct ctx_buf *out, unsigned type,
		       const struct value *values)
{
	char *line = strdup(line_of(world, type)), *rest;
	char *field = strtok_r(line, " ", &rest);

	(void)strtok_r(NULL, " ", &rest);
	while ((field = strtok_r(NULL, " ", &rest)) != NULL) {
		char *colon = strchr(field, ':');
		const struct value *value = values;

		*colon = '\0';
		while (value->name != NULL && strcmp(value->name, field) != 0)
			value++;
		put_value(world, out, colon + 1, value);
	}
	free(line);
}

#define PUT(world, out, type, ...) put_fields(world, out, type, (const struct value[]){__VA_ARGS__, {0}})

static void pool(struct world *world, unsigned type, uint32_t n)
{
	jfr_number(&world->jfr, &world->pools, type, 8);
	jfr_number(&world->jfr, &world->pools, n, 4);
	world->n_pools++;
}

static void key(struct world *world, uint64_t number)
{
	jfr_number(&world->jfr, &world->pools, number, 8);
}

static void event(struct world *world, unsigned type)
{
	jfr_event(&world->jfr, type, &world->fields);
}

/* Whether a field of a type is a constant in this world. */
static bool is_constant(const struct world *world, unsigned type, const char *field)
{
	const char *at = strstr(line_of(world, type), field);

	at = strchr(at, ':') + 1;
	return at[strspn(at, "0123456789")] == 'c';
}

static void put_thread(const struct world *world, struct ctx_buf *out, uint64_t tid, const char *name)
{
	PUT(world, out, 20, {"osThreadId", .number = tid}, {"javaThreadId", .number = tid - 100},
	    {"javaName", .text = name}, {"osName", .text = "native"});
}

static const char *const symbols[] = {"com/acme/Main", "work", "(I)V", "libc.so.6", "malloc",
				      "()L;",	       "[B",   "run",  "()V",	    "GC Pause"};

static void put_pools(struct world *world)
{
	struct ctx_buf frames = {0};

	pool(world, 31, CTX_COUNT_OF(symbols));
	for (size_t i = 0; i < CTX_COUNT_OF(symbols); i++) {
		key(world, i + 1);
		PUT(world, &world->pools, 31, {"string", .text = symbols[i]});
	}
	pool(world, 21, 3);
	for (uint64_t i = 0; i < 3; i++) {
		key(world, i + 1);
		PUT(world, &world->pools, 21, {"name", .number = i == 0 ? 1 : i == 1 ? 4 : 7});
	}
	pool(world, 24, 3);
	key(world, 1);
	PUT(world, &world->pools, 24, {"type", .number = 1}, {"name", .number = 2},
	    {"descriptor", .number = 3});
	key(world, 2);
	PUT(world, &world->pools, 24, {"type", .number = 2}, {"name", .number = 5},
	    {"descriptor", .number = 6});
	key(world, 3);
	PUT(world, &world->pools, 24, {"type", .number = 1}, {"name", .number = 8},
	    {"descriptor", .number = 9});
	pool(world, 22, 2);
	key(world, 1);
	jfr_number(&world->jfr, &frames, 2, 4);
	PUT(world, &frames, 23, {"method", .number = 1}, {"lineNumber", .number = 17});
	PUT(world, &frames, 23, {"method", .number = 3}, {"lineNumber", .number = 5});
	PUT(world, &world->pools, 22, {"frames", .bytes = &frames});
	ctx_buf_clear(&frames);
	key(world, 2);
	jfr_number(&world->jfr, &frames, 2, 4);
	PUT(world, &frames, 23, {"method", .number = 2});
	PUT(world, &frames, 23, {"method", .number = 1}, {"lineNumber", .number = 18});
	PUT(world, &world->pools, 22, {"truncated", .number = 1}, {"frames", .bytes = &frames});
	pool(world, 20, 2);
	key(world, 7);
	put_thread(world, &world->pools, 101, "main");
	key(world, 8);
	put_thread(world, &world->pools, 102, "other");
	jfr_checkpoint(&world->jfr, &world->pools, world->n_pools);
	ctx_buf_deinit(&frames);
}

/* The period of samples; of ticks of 1 us from 1000. */
static void put_setting(struct world *world, unsigned of, const char *name, const char *value)
{
	PUT(world, &world->fields, 103, {"startTime", .number = 1000}, {"id", .number = of},
	    {"name", .text = name}, {"value", .text = value});
	event(world, 103);
}

static void put_sample(struct world *world, uint64_t ticks, uint64_t thread, uint64_t stack)
{
	struct ctx_buf bytes = {0};

	put_thread(world, &bytes, 94 + thread, thread == 7 ? "main" : "other");
	PUT(world, &world->fields, 101, {"startTime", .number = ticks},
	    {"sampledThread", .number = thread,
	     .bytes = is_constant(world, 101, "sampledThread") ? NULL : &bytes},
	    {"stackTrace", .number = stack});
	event(world, 101);
	ctx_buf_deinit(&bytes);
}

static void put_events(struct world *world)
{
	struct ctx_buf symbol = {0};

	PUT(world, &world->fields, 104, {"startTime", .number = 1});
	event(world, 104);
	put_sample(world, 1300, 8, 2); /* not in order of time */
	put_sample(world, 1100, 7, 1);
	PUT(world, &world->fields, 102, {"startTime", .number = 1150}, {"duration", .number = 100},
	    {"eventThread", .number = 7}, {"stackTrace", .number = 1}, {"previousOwner", .number = 8},
	    {"address", .number = 4096});
	event(world, 102);
	PUT(world, &world->fields, 105, {"startTime", .number = 1400}, {"eventThread", .number = 7},
	    {"stackTrace", .number = 1}, {"objectClass", .number = 3}, {"weight", .number = 512});
	event(world, 105);
	PUT(world, &world->fields, 106, {"startTime", .number = 1500}, {"duration", .number = 50},
	    {"name", .number = 10, .text = "GC Pause"});
	event(world, 106);
	PUT(world, &world->fields, 107, {"startTime", .number = 1600}, {"jvmUser", .number = 250},
	    {"jvmSystem", .number = 125}, {"machineTotal", .number = 500});
	event(world, 107);
	PUT(world, &world->fields, 108, {"startTime", .number = 1700}, {"thread", .number = 8});
	event(world, 108);
	ctx_buf_deinit(&symbol);
}

static struct world make_world(const char *const *types, size_t n, bool compressed)
{
	struct world world = {
		.jfr = {.compressed = compressed, .start_ns = 1000000000}, .types = types, .n_types = n};

	jfr_begin(&world.jfr);
	return world;
}

static void end_world(struct world *world)
{
	ctx_buf_deinit(&world->jfr.out);
	ctx_buf_deinit(&world->pools);
	ctx_buf_deinit(&world->fields);
}

/* A whole chunk: metadata behind what it explains, as recorders write it, or before. */
static struct world usual_chunk(const char *const *types, size_t n, bool compressed)
{
	struct world world = make_world(types, n, compressed);

	put_setting(&world, 101, "period", "20 ms");
	put_events(&world);
	put_pools(&world);
	jfr_metadata(&world.jfr, types, n);
	jfr_end(&world.jfr, world.jfr.out.n);
	return world;
}

#define CHUNK(types, compressed) usual_chunk(types, CTX_COUNT_OF(types), compressed)

/* --- files --- */

static void write_bytes(const char *to, const void *bytes, size_t n, const char *mode)
{
	FILE *file = fopen(to, mode);

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

static void note_frames(struct ctx_buf *out, const struct ctx_event_stack *stack,
			const struct ctx_event_function *functions)
{
	for (uint32_t i = 0; i < stack->n_frames; i++) {
		const struct ctx_event_function *function = &functions[ctx_frame_function(stack->frames[i])];

		if (ctx_frame_is_mark(stack->frames[i]))
			ctx_buf_put_text(out, " cut");
		else
			ctx_buf_printf(out, " %s[%s] %s:%u", function->name, function->module,
				       function->file != NULL ? function->file : "-",
				       ctx_frame_position(stack->frames[i]));
	}
	ctx_buf_put_text(out, "\n");
}

static void note_traced(struct ctx_buf *out, const struct ctx_event *event,
			const struct ctx_event_function *functions)
{
	const struct ctx_traced *operation = event->traced.operation;
	enum ctx_traced_kind kind = (enum ctx_traced_kind)operation->kind;

	ctx_buf_printf(out, "%llu thread %u %s %s", (unsigned long long)event->time_ns, event->thread,
		       ctx_traced_kind_name(kind), ctx_traced_operation_name(kind, operation->operation));
	if (kind == CTX_TRACED_SYNC)
		ctx_buf_printf(out, " %llu ns of %llx had by %u:", (unsigned long long)operation->duration_ns,
			       (unsigned long long)operation->address, operation->other);
	else
		ctx_buf_printf(out, " %s %llu ns %lld", event->traced.file,
			       (unsigned long long)operation->duration_ns, (long long)operation->value);
	note_frames(out, &event->traced.stack, functions);
}

static void note(struct ctx_buf *out, const struct ctx_event_source *source, const struct ctx_event *event,
		 struct ctx_event_function *functions)
{
	switch (event->kind) {
	case CTX_EV_THREAD_START:
		ctx_buf_printf(out, "thread %u: %lld %s of %u\n", event->thread,
			       (long long)event->thread_start.tid, event->thread_start.name, event->process);
		break;
	case CTX_EV_THREAD_EXIT:
		ctx_buf_printf(out, "%llu thread %u ends\n", (unsigned long long)event->time_ns,
			       event->thread);
		break;
	case CTX_EV_FUNCTION:
		assert_true(event->function.id < 64);
		functions[event->function.id] = event->function;
		break;
	case CTX_EV_SAMPLE:
		ctx_buf_printf(out, "%llu thread %u %s %llu:", (unsigned long long)event->time_ns,
			       event->thread, source->info.metrics[event->sample.metric].name,
			       (unsigned long long)event->sample.weight);
		note_frames(out, &event->sample.stack, functions);
		break;
	case CTX_EV_TRACED:
		note_traced(out, event, functions);
		break;
	case CTX_EV_DAMAGE:
	case CTX_EV_WARNING:
		ctx_buf_printf(out, "! %s\n", event->text);
		break;
	default:
		break;
	}
}

/* Reads a file, which must hold the guarantees of sources; NULL: it cannot be opened. */
static char *read_events(const char *from, struct ctx_err *err)
{
	struct ctx_event_function functions[64] = {{0}};
	struct source_check check = {0};
	struct ctx_event_source *source;
	struct ctx_buf out = {0};
	struct ctx_event event;
	enum ctx_status status;

	if (ctx_jfr_open(from, &source, err) != CTX_OK)
		return NULL;
	while ((status = source->next(source, &event, NULL)) == CTX_OK) {
		source_check_event(&check, &source->info, &event);
		note(&out, source, &event, functions);
	}
	assert_int_equal(status, CTX_END);
	assert_int_equal(check.late, 0);
	source_check_deinit(&check);
	source->close(source);
	ctx_buf_put_u8(&out, 0);
	return (char *)out.bytes;
}

static void check_events(const struct world *world, const char *want)
{
	char *have;

	write_bytes(path, world->jfr.out.bytes, world->jfr.out.n, "w");
	assert_true(ctx_jfr_is(path));
	have = read_events(path, NULL);
	assert_non_null(have);
	assert_string_equal(have, want);
	free(have);
}

/* --- tests --- */

#define STACK_1                                                                                              \
	" com.acme.Main.work(int)[<Java methods>] com/acme/Main.java:17"                                     \
	" com.acme.Main.run()[<Java methods>] com/acme/Main.java:5\n"
#define STACK_2 " malloc[libc.so.6] -:0 com.acme.Main.work(int)[<Java methods>] com/acme/Main.java:18 cut\n"
#define EVENTS                                                                                               \
	"thread 0: 101 main of 0\n"                                                                          \
	"100000 thread 0 Java Execution 20000000:" STACK_1 "thread 1: 102 other of 0\n"                      \
	"250000 thread 0 sync mutex 100000 ns of 1000 had by 1:" STACK_1                                     \
	"250000 thread 0 Sync Wait Time 100000:" STACK_1 "300000 thread 1 Java Execution 20000000:" STACK_2  \
	"400000 thread 0 Java Bytes Allocated 512: byte[][<Java classes>] -:0" STACK_1                       \
	"thread 2: 0 <JVM> of 0\n"                                                                           \
	"550000 thread 2 mark end GC Phase Pause 50000 ns 0\n"                                               \
	"600000 thread 2 mark counter CPU load of the JVM, user (per mille) 0 ns 250\n"                      \
	"600000 thread 2 mark counter CPU load of the JVM, system (per mille) 0 ns 125\n"                    \
	"600000 thread 2 mark counter CPU load of the machine (per mille) 0 ns 500\n"                        \
	"700000 thread 1 ends\n"

static void test_jfr__events_are_read_by_their_types(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct world world = i < 2 ? CHUNK(usual, i == 0) : CHUNK(other, i == 2);

		check_events(&world, EVENTS);
		end_world(&world);
	}
}

static void test_jfr__chunks_follow_each_other_in_order_of_time(void **state)
{
	struct world first = CHUNK(usual, true), second = CHUNK(other, true);
	char *have, *found;

	(void)state;
	second.jfr.start_ns += 5000000000;
	jfr_end(&second.jfr, second.jfr.out.n);
	write_bytes(path, second.jfr.out.bytes, second.jfr.out.n, "w");
	write_bytes(path, first.jfr.out.bytes, first.jfr.out.n, "a");
	have = read_events(path, NULL);
	assert_non_null(have);
	assert_memory_equal(have, EVENTS, strlen(EVENTS));
	found = have + strlen(EVENTS);
	assert_memory_equal(found, "5000100000 thread 0 ", strlen("5000100000 thread 0 "));
	/* The thread that has ended is a new one. */
	assert_non_null(strstr(found, "thread 3: 102 other of 0\n"));
	assert_non_null(strstr(found, "5000700000 thread 3 ends\n"));
	free(have);
	end_world(&first);
	end_world(&second);
}

static void test_jfr__a_directory_is_read_as_its_files_one_after_the_other(void **state)
{
	struct world first = CHUNK(usual, true), second = CHUNK(usual, true);
	char dir[] = "/tmp/test_jfr_dir.XXXXXX", file[2][64], hash[2][17];
	char *whole, *parts;

	(void)state;
	second.jfr.start_ns += 1000000;
	jfr_end(&second.jfr, second.jfr.out.n);
	assert_non_null(mkdtemp(dir));
	snprintf(file[0], sizeof(file[0]), "%s/b.jfr", dir);
	snprintf(file[1], sizeof(file[1]), "%s/a.jfr", dir);
	assert_false(ctx_jfr_is(dir));
	write_bytes(file[0], first.jfr.out.bytes, first.jfr.out.n, "w");
	assert_true(ctx_jfr_is(dir));
	assert_int_equal(ctx_jfr_fingerprint(dir, hash[0], NULL), CTX_OK);
	write_bytes(file[1], second.jfr.out.bytes, second.jfr.out.n, "w");
	assert_int_equal(ctx_jfr_fingerprint(dir, hash[1], NULL), CTX_OK);
	assert_string_not_equal(hash[0], hash[1]);
	write_bytes(path, first.jfr.out.bytes, first.jfr.out.n, "w");
	write_bytes(path, second.jfr.out.bytes, second.jfr.out.n, "a");
	whole = read_events(path, NULL);
	parts = read_events(dir, NULL);
	assert_string_equal(whole, parts);
	free(whole);
	free(parts);
	unlink(file[0]);
	unlink(file[1]);
	rmdir(dir);
	end_world(&first);
	end_world(&second);
}

/* async-profiler's: an interval in ns, or of a counter, whose samples are counted. */
static void test_jfr__samples_of_a_counter_are_counted(void **state)
{
	static const struct {
		const char *event, *interval;
		const char *want;
	} cases[] = {
		{"cpu", "10000000", "100000 thread 0 Java Execution 10000000:"},
		{"cache-misses", "1000", "100000 thread 0 Java Execution 1:"},
		{"cpu", "0", "100000 thread 0 Java Execution 1:"},
		{"cpu", "everyChunk", "100000 thread 0 Java Execution 1:"},
	};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		struct world world = make_world(usual, CTX_COUNT_OF(usual), true);
		char *have;

		jfr_metadata(&world.jfr, usual, CTX_COUNT_OF(usual));
		put_pools(&world);
		put_setting(&world, 109, "event", cases[i].event);
		put_setting(&world, 101, "interval", cases[i].interval);
		put_sample(&world, 1100, 7, 1);
		jfr_end(&world.jfr, world.jfr.out.n);
		write_bytes(path, world.jfr.out.bytes, world.jfr.out.n, "w");
		have = read_events(path, NULL);
		assert_non_null(strstr(have, cases[i].want));
		free(have);
		end_world(&world);
	}
}

static void test_jfr__a_cut_chunk_is_read_as_far_as_its_events_are_whole(void **state)
{
	struct world world = make_world(usual, CTX_COUNT_OF(usual), true);
	size_t whole, n_opened = 0, n_samples = 0;
	struct ctx_err err;
	char want[160];

	(void)state;
	jfr_metadata(&world.jfr, usual, CTX_COUNT_OF(usual));
	put_pools(&world);
	put_setting(&world, 101, "period", "20 ms");
	whole = world.jfr.out.n;
	put_events(&world);
	jfr_end(&world.jfr, world.jfr.out.n);
	for (size_t n = 0; n < world.jfr.out.n; n++) {
		char *have;

		write_bytes(path, world.jfr.out.bytes, n, "w");
		have = read_events(path, &err);
		assert_true(have != NULL || err.status == CTX_E_FORMAT);
		n_opened += have != NULL;
		n_samples += have != NULL && strstr(have, "Java Execution") != NULL;
		free(have);
	}
	assert_true(n_opened >= world.jfr.out.n - whole);
	assert_true(n_samples > 10 && n_samples < world.jfr.out.n - whole);
	write_bytes(path, world.jfr.out.bytes, world.jfr.out.n - 1, "w");
	snprintf(want, sizeof(want),
		 "! %s: offset 0: chunk of %zu bytes is cut after %zu: its whole events are read\n",
		 strrchr(path, '/') + 1, world.jfr.out.n, world.jfr.out.n - 1);
	char *have = read_events(path, NULL);

	assert_memory_equal(have, want, strlen(want));
	assert_null(strstr(have, "thread 1 ends"));
	assert_non_null(strstr(have, "machine (per mille)"));
	free(have);
	end_world(&world);
}

static void test_jfr__any_byte_may_be_wrong(void **state)
{
	struct world world = CHUNK(usual, true);

	(void)state;
	for (size_t i = 0; i < world.jfr.out.n; i++) {
		static const uint8_t wrong[] = {0x00, 0xff, 0x7f};
		uint8_t right = world.jfr.out.bytes[i];

		world.jfr.out.bytes[i] = wrong[i % sizeof(wrong)];
		write_bytes(path, world.jfr.out.bytes, world.jfr.out.n, "w");
		free(read_events(path, NULL));
		world.jfr.out.bytes[i] = right;
	}
	end_world(&world);
}

/* What is between two chunks and is none is left out, and said with its place. */
static void test_jfr__bytes_between_chunks_are_left_out(void **state)
{
	struct world world = CHUNK(usual, true);
	char want[160];
	char *have;

	(void)state;
	write_bytes(path, world.jfr.out.bytes, world.jfr.out.n, "w");
	write_bytes(path, "what is this?", 13, "a");
	write_bytes(path, world.jfr.out.bytes, world.jfr.out.n, "a");
	snprintf(want, sizeof(want), "! %s: offset %zu: no chunk: 13 bytes are left out\n",
		 strrchr(path, '/') + 1, world.jfr.out.n);
	have = read_events(path, NULL);
	assert_memory_equal(have, want, strlen(want));
	free(have);
	end_world(&world);
}

/* Types inside themselves, empty ones in arrays of thousands of millions, constants that refer to themselves. */
static void test_jfr__hostile_types_and_pools_end(void **state)
{
	static const char *const types[] = {
		BASIC,
		"31 jdk.types.Symbol string:31c",
		"40 loop self:40 n:8",
		"41 empty",
		"42 empties all:41a more:41a",
		"20 java.lang.Thread osThreadId:9 javaName:31c",
		"101 jdk.ExecutionSample startTime:9t sampledThread:20c stackTrace:22c loop:42",
		"102 jdk.ThreadPark startTime:9t eventThread:20c loop:40",
		"22 jdk.types.StackTrace frames:23ca",
		"23 jdk.types.StackFrame method:23c type:22c",
	};
	struct world world = make_world(types, CTX_COUNT_OF(types), true);
	char *have;

	(void)state;
	jfr_metadata(&world.jfr, types, CTX_COUNT_OF(types));
	pool(&world, 31, 1);
	key(&world, 1);
	jfr_number(&world.jfr, &world.pools, 1, 8); /* its text is itself */
	pool(&world, 20, 1);
	key(&world, 7);
	PUT(&world, &world.pools, 20, {"osThreadId", .number = 5}, {"javaName", .number = 1});
	pool(&world, 23, 1);
	key(&world, 1);
	PUT(&world, &world.pools, 23, {"method", .number = 1}, {"type", .number = 1});
	pool(&world, 41, 0xffffffff);
	jfr_checkpoint(&world.jfr, &world.pools, 5);
	pool(&world, 22, 1);
	key(&world, 1);
	jfr_number(&world.jfr, &world.pools, 0xffffffff, 4); /* frames */
	jfr_checkpoint(&world.jfr, &world.pools, 1);
	jfr_number(&world.jfr, &world.fields, 1100, 8);
	jfr_number(&world.jfr, &world.fields, 7, 8);
	jfr_number(&world.jfr, &world.fields, 1, 8);
	jfr_number(&world.jfr, &world.fields, 0xffffffff, 4);
	jfr_number(&world.jfr, &world.fields, 0xffffffff, 4);
	event(&world, 101);
	jfr_number(&world.jfr, &world.fields, 1100, 8);
	event(&world, 102);
	jfr_end(&world.jfr, world.jfr.out.n);
	write_bytes(path, world.jfr.out.bytes, world.jfr.out.n, "w");
	have = read_events(path, NULL);
	assert_non_null(strstr(have, "! "));
	assert_non_null(strstr(have, "events of the chunk cannot be read\n"));
	assert_non_null(strstr(have, "100000 thread 0 Java Execution 1:\n"));
	free(have);
	end_world(&world);
}

static void test_jfr__other_versions_and_files_are_refused(void **state)
{
	struct world world = CHUNK(usual, true);
	struct ctx_err err;

	(void)state;
	world.jfr.out.bytes[5] = 1;
	write_bytes(path, world.jfr.out.bytes, world.jfr.out.n, "w");
	assert_null(read_events(path, &err));
	assert_int_equal(err.status, CTX_E_FORMAT);
	assert_non_null(strstr(err.msg, "version 2"));
	write_bytes(path, "FLR", 3, "w");
	assert_false(ctx_jfr_is(path));
	assert_false(ctx_jfr_is("/nonexistent"));
	assert_null(read_events("/nonexistent", &err));
	assert_int_equal(err.status, CTX_E_NOTFOUND);
	end_world(&world);
}

static void test_jfr__every_allocation_may_fail(void **state)
{
	struct world world = CHUNK(usual, true);

	(void)state;
	write_bytes(path, world.jfr.out.bytes, world.jfr.out.n, "w");
	assert_true(fail_each_allocation(ctx_jfr_open, path) > 50);
	end_world(&world);
}

static void check_text(const void *bytes, size_t n, const char *want)
{
	struct ctx_jfr_bytes from = {.cursor = ctx_cursor_make(bytes, n), .compressed = true}, again = from;
	struct ctx_buf out = {0};
	uint64_t constant;

	assert_false(ctx_jfr_get_text(&from, &out, &constant));
	ctx_buf_put_u8(&out, 0);
	assert_string_equal((const char *)out.bytes, want);
	assert_false(from.cursor.failed);
	assert_int_equal(ctx_cursor_left(&from.cursor), 0);
	ctx_jfr_skip_text(&again);
	assert_ptr_equal(again.cursor.at, from.cursor.at);
	ctx_buf_deinit(&out);
}

static void test_jfr__texts_have_six_encodings(void **state)
{
	struct ctx_jfr_bytes bytes = {.cursor = ctx_cursor_make("\x02\x81\x01", 3), .compressed = true};
	struct ctx_buf out = {0};
	uint64_t constant;

	(void)state;
	check_text("\x00", 1, "");
	check_text("\x01", 1, "");
	check_text("\x03\x02"
		   "ab",
		   4, "ab");
	check_text("\x05\x02"
		   "a\xe9",
		   4, "a\xc3\xa9");
	check_text("\x04\x02\xac\x41z", 5, "\xe2\x82\xacz");		       /* U+20AC */
	check_text("\x04\x02\xbd\xb0\x03\x80\xb8\x03", 8, "\xf0\x9f\x90\x80"); /* a pair: U+1F400 */
	check_text("\x04\x01\xbd\xb0\x03", 5, "\xef\xbf\xbd");		       /* half of one */
	assert_true(ctx_jfr_get_text(&bytes, &out, &constant));
	assert_int_equal(constant, 129);
	bytes = (struct ctx_jfr_bytes){.cursor = ctx_cursor_make("\x09", 1), .compressed = true};
	assert_false(ctx_jfr_get_text(&bytes, &out, &constant));
	assert_true(bytes.cursor.failed);
	ctx_buf_deinit(&out);
}

static void test_jfr__numbers_have_nine_bytes_at_most(void **state)
{
	static const uint8_t all[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x05};
	struct ctx_jfr_bytes bytes = {.cursor = ctx_cursor_make(all, sizeof(all)), .compressed = true};

	(void)state;
	assert_true(ctx_jfr_get(&bytes, 8) == UINT64_MAX);
	assert_int_equal(ctx_jfr_get(&bytes, 8), 5);
	assert_int_equal(ctx_jfr_get(&bytes, 8), 0);
	assert_true(bytes.cursor.failed);
	bytes = (struct ctx_jfr_bytes){.cursor = ctx_cursor_make(all + 8, 2)};
	assert_int_equal(ctx_jfr_get(&bytes, 2), 0xff05);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jfr__events_are_read_by_their_types),
		cmocka_unit_test(test_jfr__chunks_follow_each_other_in_order_of_time),
		cmocka_unit_test(test_jfr__a_directory_is_read_as_its_files_one_after_the_other),
		cmocka_unit_test(test_jfr__samples_of_a_counter_are_counted),
		cmocka_unit_test(test_jfr__a_cut_chunk_is_read_as_far_as_its_events_are_whole),
		cmocka_unit_test(test_jfr__any_byte_may_be_wrong),
		cmocka_unit_test(test_jfr__bytes_between_chunks_are_left_out),
		cmocka_unit_test(test_jfr__hostile_types_and_pools_end),
		cmocka_unit_test(test_jfr__other_versions_and_files_are_refused),
		cmocka_unit_test(test_jfr__every_allocation_may_fail),
		cmocka_unit_test(test_jfr__texts_have_six_encodings),
		cmocka_unit_test(test_jfr__numbers_have_nine_bytes_at_most),
	};
	int fd = memfd_create("jfr", MFD_CLOEXEC), failed;

	assert_true(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	close(fd);
	return failed;
}
