/*
 * speedscope, Firefox and trace events: made-up samples with hostile names go in; the files are
 * parsed again with yajl and each sample's stack, time and weight is looked for where the format
 * says that it is.
 */
#include "base/fileio.h"
#include "formats/export/export_lane.h"
#include "formats/export/export_names.h"
#include "formats/export/export_stack.h"
#include "tests/unit/export_world.h"
#include "tests/unit/failing_malloc.h"

#include <inttypes.h>
#include <yajl/yajl_tree.h>

#define RUN_END UINT64_C(5001000)

struct timed { /* a world whose samples have times */
	struct world *world;
	uint64_t times[MAX_SAMPLES];
	uint32_t stacks[MAX_SAMPLES];
	bool untracked_task; /* the samples have one more, with a stack that no histogram has */
};

static enum ctx_status hand_out(void *context, const struct ctx_samples_query *query,
				ctx_report_sample_fn each, void *each_context, struct ctx_err *err)
{
	struct timed *timed = context;
	struct ctx_sample sample = {.thread = query->thread};
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < timed->world->n && status == CTX_OK; i++) {
		if (timed->world->samples[i].thread != query->thread)
			continue;
		sample.time_ns = timed->times[i];
		sample.weight = timed->world->samples[i].weight;
		sample.stack = timed->stacks[i];
		status = each(each_context, &sample, err);
	}
	if (timed->untracked_task && status == CTX_OK) {
		sample.stack = timed->world->profile.cct.n;
		status = each(each_context, &sample, err);
	}
	return status;
}

static struct timed *make_timed(uint32_t seed, size_t n)
{
	struct timed *timed = ctx_calloc(1, sizeof(*timed));
	struct world *world = make_world(seed, n);
	uint64_t now = 1000;

	assert_non_null(timed);
	timed->world = world;
	for (size_t i = 0; i < n; i++) {
		const struct frames *sample = &world->samples[i];
		uint32_t nodes[DEPTH + 1] = {CTX_TRIE_ROOT};

		now += next_random(&seed) % (next_random(&seed) % 4 == 0 ? 9000 : 900);
		timed->times[i] = now;
		assert_int_equal(ctx_trie_path(&world->profile.cct, CTX_TRIE_ROOT,
					       (struct ctx_trie_keys){sample->functions, sample->n},
					       nodes + 1, NULL),
				 CTX_OK);
		timed->stacks[i] = nodes[sample->n];
	}
	world->profile.run = (struct ctx_interval){0, RUN_END};
	for (size_t i = 0; i < CTX_COUNT_OF(world->processes); i++)
		world->processes[i].life = (struct ctx_interval){0, UINT64_MAX};
	/* A child's number that its parent has had, and a thread's. */
	world->processes[1].pid = world->processes[0].pid;
	world->threads[2].tid = world->threads[0].tid;
	world->input.samples = hand_out;
	world->input.samples_context = timed;
	return timed;
}

static void free_timed(struct timed *timed)
{
	free_world(timed->world);
	free(timed);
}

/* ---- reading JSON ---- */

static yajl_val parse(struct world *world)
{
	char why[256] = "";
	yajl_val tree = yajl_tree_parse(world->text, why, sizeof(why));

	if (tree == NULL)
		fail_msg("not JSON: %s", why);
	assert_clean(world->text, world->size);
	assert_int_equal(world->text[world->size - 1], '\n');
	return tree;
}

static yajl_val write_and_parse(struct timed *timed, const struct ctx_export_kind *kind)
{
	assert_int_equal(write_file(timed->world, kind, NULL), CTX_OK);
	return parse(timed->world);
}

/* The value of a key, which must be there. */
static yajl_val get(yajl_val object, const char *key)
{
	assert_true(YAJL_IS_OBJECT(object));
	for (size_t i = 0; i < object->u.object.len; i++) {
		if (strcmp(object->u.object.keys[i], key) == 0)
			return object->u.object.values[i];
	}
	fail_msg("no key \"%s\"", key);
	return NULL;
}

static bool has(yajl_val object, const char *key)
{
	for (size_t i = 0; i < object->u.object.len; i++) {
		if (strcmp(object->u.object.keys[i], key) == 0)
			return true;
	}
	return false;
}

static const char *text_of(yajl_val value)
{
	assert_true(YAJL_IS_STRING(value));
	return value->u.string;
}

static size_t length(yajl_val array)
{
	assert_true(YAJL_IS_ARRAY(array));
	return array->u.array.len;
}

static yajl_val item(yajl_val array, size_t i)
{
	assert_true(i < length(array));
	return array->u.array.values[i];
}

/* A number without a fraction once it is times 10^digits; exactly. */
static uint64_t scaled(yajl_val value, unsigned digits)
{
	const char *text;
	uint64_t number;
	char *end;

	assert_true(YAJL_IS_NUMBER(value));
	text = YAJL_GET_NUMBER(value);
	assert_true(*text >= '0' && *text <= '9');
	number = strtoull(text, &end, 10);
	if (*end == '.')
		end++;
	for (; digits > 0; digits--)
		number = number * 10 + (*end != '\0' ? (uint64_t)(*end++ - '0') : 0);
	assert_int_equal(*end, '\0');
	return number;
}

static uint64_t number(yajl_val value)
{
	return scaled(value, 0);
}

static int64_t signed_number(yajl_val value)
{
	assert_true(YAJL_IS_INTEGER(value));
	return YAJL_GET_INTEGER(value);
}

/* ---- what is expected ---- */

static void expect_name(const struct world *world, uint32_t function, const char *name)
{
	struct ctx_buf buf = {0};

	ctx_export_put_name(&buf, &world->profile, function);
	ctx_buf_put_u8(&buf, 0);
	assert_false(buf.failed);
	assert_string_equal(name, (const char *)buf.bytes);
	ctx_buf_deinit(&buf);
}

static void expect_text(const char *raw, const char *text)
{
	struct ctx_buf buf = {0};

	ctx_export_put_text(&buf, raw);
	ctx_buf_put_u8(&buf, 0);
	assert_false(buf.failed);
	assert_string_equal(text, (const char *)buf.bytes);
	ctx_buf_deinit(&buf);
}

/* ---- the lane ---- */

static void test_export_lane__keeps_lengths_and_finds_back_to_the_time_stamps(void **state)
{
	static const struct {
		uint64_t time, weight, idle, begin, end;
	} cases[] = {
		{1100, 100, 0, 1000, 1100},
		{1205, 100, 0, 1100, 1200},	    /* clocks jitter: no pause of 5 ns */
		{1400, 100, 100 - 100, 1200, 1300}, /* as long as the sample: no pause yet */
		{1600, 100, 200, 1500, 1600},
		{1610, 100, 0, 1600, 1700}, /* closer than its weight: late by 90 */
		{1620, 100, 0, 1700, 1800}, /* late by 180 */
		{2500, 100, 600, 2400, 2500},
		{2500, 0, 0, 2500, 2500},
		{2600, UINT64_MAX, 0, 2500, UINT64_MAX},
		{2700, 100, 0, UINT64_MAX, UINT64_MAX},
	};
	struct ctx_profile profile = {.run = {0, 3000}};
	struct ctx_interval interval = {1000, UINT64_MAX};
	struct fake_source input = {.profile = &profile, .intervals = &interval, .n_intervals = 1};
	struct ctx_export_lane lane = {0};

	(void)state;
	assert_int_equal(ctx_export_extent(fake_export(&input)).begin_ns, 1000);
	assert_int_equal(ctx_export_extent(fake_export(&input)).end_ns, 3000);
	ctx_export_lane_begin(&lane, fake_export(&input));
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		struct ctx_sample sample = {.time_ns = cases[i].time, .weight = cases[i].weight};
		struct ctx_export_span span = ctx_export_lane_place(&lane, &sample);

		assert_int_equal(span.idle_ns, cases[i].idle);
		assert_int_equal(span.begin_ns, cases[i].begin);
		assert_int_equal(span.end_ns, cases[i].end);
		assert_int_equal(lane.end_ns, cases[i].end);
		if (i == 6)
			assert_int_equal(lane.latest_ns, 180);
	}
}

/* ---- speedscope ---- */

static void check_speedscope_stack(const struct timed *timed, size_t at, yajl_val frames, yajl_val stack)
{
	const struct frames *sample = &timed->world->samples[at];

	if (sample->n == 0) {
		assert_int_equal(length(stack), 1);
		assert_string_equal(text_of(get(item(frames, number(item(stack, 0))), "name")), "<No stack>");
		return;
	}
	assert_int_equal(length(stack), sample->n);
	for (uint32_t i = 0; i < sample->n; i++) {
		yajl_val frame = item(frames, number(item(stack, i)));
		uint32_t object = timed->world->functions[sample->functions[i]].object;

		expect_name(timed->world, sample->functions[i], text_of(get(frame, "name")));
		assert_int_equal(has(frame, "file"), object != CTX_NONE);
		if (object != CTX_NONE)
			expect_text(objects[object].path, text_of(get(frame, "file")));
	}
}

/* The samples of one thread, with pauses between them. */
static void check_speedscope_profile(const struct timed *timed, uint32_t thread, yajl_val frames,
				     yajl_val profile, bool is_clock)
{
	yajl_val samples = get(profile, "samples"), weights = get(profile, "weights");
	uint64_t end = is_clock ? 1000 : 0, late = 0;
	size_t at = 0;

	assert_string_equal(text_of(get(profile, "type")), "sampled");
	assert_string_equal(text_of(get(profile, "unit")), is_clock ? "nanoseconds" : "none");
	assert_int_equal(number(get(profile, "startValue")), end);
	assert_int_equal(length(samples), length(weights));
	for (size_t i = 0; i < timed->world->n; i++) {
		uint64_t weight = timed->world->samples[i].weight;

		if (timed->world->samples[i].thread != thread)
			continue;
		if (length(item(samples, at)) == 0) {
			assert_true(is_clock && number(item(weights, at)) > weight);
			end += number(item(weights, at++));
			assert_int_equal(end + weight, timed->times[i]);
		}
		check_speedscope_stack(timed, i, frames, item(samples, at));
		assert_int_equal(number(item(weights, at++)), weight);
		end += weight;
		late = end > timed->times[i] ? end - timed->times[i] : 0;
		if (is_clock)
			assert_true(late != 0 || timed->times[i] - end <= weight);
	}
	assert_int_equal(at, length(samples));
	assert_int_equal(number(get(profile, "endValue")), is_clock && end < RUN_END ? RUN_END : end);
}

static void check_speedscope(struct timed *timed, bool is_clock)
{
	yajl_val tree = write_and_parse(timed, &ctx_export_speedscope);
	yajl_val profiles = get(tree, "profiles"), frames = get(get(tree, "shared"), "frames");
	uint64_t heaviest = 0;

	assert_string_equal(text_of(get(tree, "$schema")),
			    "https://www.speedscope.app/file-format-schema.json");
	assert_string_equal(text_of(get(tree, "name")), "x.er");
	assert_int_equal(length(profiles), timed->world->input.n_parts);
	for (size_t i = 0; i < timed->world->input.n_parts; i++) {
		const struct ctx_report_part *part = &timed->world->parts[i];

		check_speedscope_profile(timed, part->thread, frames, item(profiles, i), is_clock);
		heaviest = part->histograms->weight > heaviest ? part->histograms->weight : heaviest;
	}
	assert_int_equal(timed->world->parts[number(get(tree, "activeProfileIndex"))].histograms->weight,
			 heaviest);
	yajl_tree_free(tree);
}

static void test_speedscope__has_every_sample_with_its_stack_weight_and_time(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed < 30; seed++) {
		struct timed *timed = make_timed(seed, seed * 13);

		check_speedscope(timed, true);
		timed->world->metric.unit = CTX_UNIT_EVENTS;
		check_speedscope(timed, false);
		assert_non_null(strstr(timed->world->remarks, "not a time"));
		free_timed(timed);
	}
}

/* ---- Firefox ---- */

static void check_columns(yajl_val table)
{
	uint64_t n = number(get(table, "length"));

	for (size_t i = 0; i < table->u.object.len; i++) {
		if (YAJL_IS_ARRAY(table->u.object.values[i]))
			assert_int_equal(length(table->u.object.values[i]), n);
	}
}

static const char *firefox_category(const char *path)
{
	return strcmp(path, "[kernel]") == 0 ? "Kernel" : "User";
}

static void check_firefox_frame(const struct timed *timed, yajl_val tree, uint64_t row, uint32_t function)
{
	yajl_val shared = get(tree, "shared"), frames = get(shared, "frameTable"),
		 texts = get(shared, "stringArray");
	uint32_t object = function != NO_STACK ? timed->world->functions[function].object : CTX_NONE;
	yajl_val category =
		item(get(get(tree, "meta"), "categories"), number(item(get(frames, "category"), row)));
	uint64_t func = number(item(get(frames, "func"), row));
	int64_t resource = signed_number(item(get(get(shared, "funcTable"), "resource"), func));
	const char *name = text_of(item(texts, number(item(get(get(shared, "funcTable"), "name"), func))));

	if (function == NO_STACK)
		assert_string_equal(name, "<No stack>");
	else
		expect_name(timed->world, function, name);
	if (object == CTX_NONE) {
		assert_int_equal(resource, -1);
		assert_int_equal(signed_number(item(get(frames, "lib"), row)), -1);
		assert_string_equal(text_of(get(category, "name")), "Other");
		return;
	}
	assert_string_equal(text_of(get(category, "name")), firefox_category(objects[object].path));
	expect_text(ctx_path_base(objects[object].path),
		    text_of(item(texts,
				 number(item(get(get(shared, "resourceTable"), "name"), (size_t)resource)))));
	expect_text(objects[object].path,
		    text_of(get(item(get(tree, "libs"), number(item(get(frames, "lib"), row))), "path")));
}

static void check_firefox_stack(const struct timed *timed, size_t at, yajl_val tree, uint64_t row)
{
	const struct frames *sample = &timed->world->samples[at];
	yajl_val stacks = get(get(tree, "shared"), "stackTable");
	uint32_t n = sample->n != 0 ? sample->n : 1;

	for (uint32_t i = n; i > 0; i--) {
		uint64_t offset = number(item(get(stacks, "prefixOffset"), row));

		check_firefox_frame(timed, tree, number(item(get(stacks, "frame"), row)),
				    sample->n != 0 ? sample->functions[i - 1] : NO_STACK);
		assert_true(offset <= row);
		assert_int_equal(offset == 0, i == 1);
		row -= offset;
	}
}

static void check_firefox_thread(const struct timed *timed, uint32_t id, yajl_val tree, yajl_val thread,
				 bool is_clock)
{
	static const char *const pids[] = {"7", "7", "7.1"};
	yajl_val samples = get(thread, "samples");
	uint64_t now = 0;
	size_t at = 0;

	assert_string_equal(text_of(get(thread, "pid")), pids[id]);
	if (id == 2)
		assert_string_equal(text_of(get(thread, "tid")), "7.1");
	else
		assert_int_equal(number(get(thread, "tid")), timed->world->threads[id].tid);
	assert_true(YAJL_IS_NULL(get(thread, "processShutdownTime")));
	expect_text(timed->world->threads[id].name, text_of(get(thread, "name")));
	assert_int_equal(YAJL_IS_TRUE(get(thread, "isMainThread")), id != 1);
	assert_string_equal(text_of(get(samples, "weightType")), is_clock ? "tracing-ms" : "samples");
	assert_int_equal(has(samples, "threadCPUDelta"), is_clock);
	check_columns(samples);
	check_columns(get(thread, "markers"));
	for (size_t i = 0; i < timed->world->n; i++) {
		uint64_t weight = timed->world->samples[i].weight;

		if (timed->world->samples[i].thread != id)
			continue;
		now += scaled(item(get(samples, "timeDeltas"), at), 6);
		assert_int_equal(now, timed->times[i]);
		assert_int_equal(scaled(item(get(samples, "weight"), at), is_clock ? 6 : 0), weight);
		if (is_clock)
			assert_int_equal(number(item(get(samples, "threadCPUDelta"), at)),
					 at != 0 ? weight : 0);
		check_firefox_stack(timed, i, tree, number(item(get(samples, "stack"), at)));
		at++;
	}
	assert_int_equal(at, number(get(samples, "length")));
}

static void check_firefox(struct timed *timed, bool is_clock)
{
	yajl_val tree = write_and_parse(timed, &ctx_export_firefox);
	yajl_val meta = get(tree, "meta"), shared = get(tree, "shared"), threads = get(tree, "threads");

	assert_int_equal(number(get(meta, "preprocessedProfileVersion")), 70);
	assert_int_equal(number(get(meta, "startTime")), UINT64_C(1795244645000)); /* 2026-11-21 07:04:05 */
	assert_string_equal(text_of(get(meta, "product")), "prog events: x");
	assert_string_equal(YAJL_GET_NUMBER(get(meta, "profilingStartTime")), "0.001");
	assert_int_equal(scaled(get(meta, "profilingEndTime"), 6), RUN_END);
	for (size_t i = 0; i < shared->u.object.len; i++) {
		if (YAJL_IS_OBJECT(shared->u.object.values[i]))
			check_columns(shared->u.object.values[i]);
	}
	assert_int_equal(length(threads), timed->world->input.n_parts);
	for (size_t i = 0; i < length(threads); i++)
		check_firefox_thread(timed, timed->world->parts[i].thread, tree, item(threads, i), is_clock);
	yajl_tree_free(tree);
}

static void check_machine(struct timed *timed, const struct ctx_property *properties, size_t n,
			  const char *expected)
{
	static const char *const keys[] = {"platform", "oscpu", "abi", "CPUName"};
	struct ctx_buf out = {0};
	yajl_val tree, meta;

	timed->world->profile.properties = (struct ctx_property *)properties; /* only read */
	timed->world->profile.n_properties = n;
	tree = write_and_parse(timed, &ctx_export_firefox);
	meta = get(tree, "meta");
	for (size_t i = 0; i < CTX_COUNT_OF(keys); i++)
		ctx_buf_printf(&out, "%s|", has(meta, keys[i]) ? text_of(get(meta, keys[i])) : "-");
	ctx_buf_printf(&out, "%llu",
		       has(meta, "logicalCPUs") ? (unsigned long long)number(get(meta, "logicalCPUs")) : 0);
	ctx_buf_put_u8(&out, 0);
	assert_string_equal((const char *)out.bytes, expected);
	ctx_buf_deinit(&out);
	yajl_tree_free(tree);
}

static void test_firefox__says_where_it_was_recorded(void **state)
{
	static const struct ctx_property ours[] = {
		{"arch", "x86_64"}, {"os", "Linux"}, {"kernel", "6.1"}, {"cpus", "8"}};
	static const struct ctx_property perfs[] = {{"arch", "aarch64"},
						    {"kernel", "5.4"},
						    {"processors", "Cortex A72, 3 online of 4, 1 socket"}};
	static const struct ctx_property bare[] = {{"processors", "12 online of 16"}};
	static const struct ctx_property other[] = {{"processors", "9, x"}, {"arch", "arm"}};
	struct timed *timed = make_timed(1, 5);

	(void)state;
	check_machine(timed, ours, CTX_COUNT_OF(ours), "Linux|Linux 6.1 x86_64|x86_64|-|8");
	check_machine(timed, perfs, CTX_COUNT_OF(perfs), "Linux|Linux 5.4 aarch64|aarch64|Cortex A72|3");
	check_machine(timed, bare, CTX_COUNT_OF(bare), "-||-|-|12");
	check_machine(timed, other, CTX_COUNT_OF(other), "-|arm|arm|9|0");
	check_machine(timed, NULL, 0, "-||-|-|0");
	free_timed(timed);
}

static void test_firefox__has_every_sample_with_its_stack_weight_and_time(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed < 30; seed++) {
		struct timed *timed = make_timed(seed, seed * 13);

		check_firefox(timed, true);
		timed->world->metric.unit = CTX_UNIT_EVENTS;
		check_firefox(timed, false);
		assert_non_null(strstr(timed->world->remarks, "shown as \"samples\""));
		free_timed(timed);
	}
}

static void test_firefox__knows_the_kernel_and_build_ids(void **state)
{
	static struct ctx_object_info *const all = objects;
	struct ctx_object_info was[] = {all[0], all[1], all[2]};
	struct timed *timed = make_timed(3, 200);
	yajl_val tree, libs;

	(void)state;
	all[0] = (struct ctx_object_info){"[ext4]", "", ""};
	all[1] = (struct ctx_object_info){"[vdso]", "00112233445566778899aabbccddeeff01234567", ""};
	all[2] = (struct ctx_object_info){"/lib/short", "abc", ""};
	tree = write_and_parse(timed, &ctx_export_firefox);
	libs = get(tree, "libs");
	assert_string_equal(text_of(get(item(libs, 0), "breakpadId")), "");
	assert_true(YAJL_IS_NULL(get(item(libs, 0), "codeId")));
	assert_string_equal(text_of(get(item(libs, 1), "breakpadId")), "33221100554477668899AABBCCDDEEFF0");
	assert_string_equal(text_of(get(item(libs, 1), "codeId")), all[1].build_id);
	assert_string_equal(text_of(get(item(libs, 2), "breakpadId")), "0000C0AB0000000000000000000000000");
	yajl_tree_free(tree);
	for (size_t i = 0; i < CTX_COUNT_OF(was); i++)
		all[i] = was[i];
	free_timed(timed);
}

/* ---- trace events ---- */

struct track { /* the events of one thread, and the slices that are open */
	yajl_val events;
	size_t at;
	uint64_t pid, tid;
	const char *open[DEPTH + 1];
	uint32_t n_open;
};

static bool is_here(const struct track *track, yajl_val event)
{
	return number(get(event, "pid")) == track->pid && number(get(event, "tid")) == track->tid;
}

/* The next event of the thread, not taken; NULL: none. */
static yajl_val peek(struct track *track)
{
	while (track->at < length(track->events) && !is_here(track, item(track->events, track->at)))
		track->at++;
	return track->at < length(track->events) ? item(track->events, track->at) : NULL;
}

static yajl_val take(struct track *track, const char *phase)
{
	yajl_val event = peek(track);

	assert_non_null(event);
	assert_string_equal(text_of(get(event, "ph")), phase);
	track->at++;
	return event;
}

static struct track open_track(const struct timed *timed, uint32_t id, yajl_val tree)
{
	static const uint64_t pids[] = {7, 7, 10000007}, tids[] = {7, 9, 10000007};
	struct track track = {.events = get(tree, "traceEvents"), .pid = pids[id], .tid = tids[id]};
	yajl_val process = take(&track, "M"), thread = take(&track, "M");

	assert_string_equal(text_of(get(process, "name")), "process_name");
	expect_text(timed->world->processes[id / 2].command, text_of(get(get(process, "args"), "name")));
	assert_string_equal(text_of(get(thread, "name")), "thread_name");
	expect_text(timed->world->threads[id].name, text_of(get(get(thread, "args"), "name")));
	return track;
}

/* Events up to this time; slices have to nest. */
static void play(struct track *track, uint64_t until)
{
	yajl_val event;

	while ((event = peek(track)) != NULL && scaled(get(event, "ts"), 3) <= until) {
		const char *name = text_of(get(event, "name"));

		if (strcmp(text_of(get(event, "ph")), "B") == 0) {
			text_of(get(event, "cat"));
			assert_true(track->n_open <= DEPTH);
			track->open[track->n_open++] = name;
		} else {
			assert_string_equal(text_of(get(event, "ph")), "E");
			assert_true(track->n_open > 0);
			assert_string_equal(track->open[--track->n_open], name);
		}
		track->at++;
	}
}

static void check_slices(const struct timed *timed, uint32_t id, yajl_val tree,
			 const struct ctx_export_names *all)
{
	struct track track = open_track(timed, id, tree);
	struct ctx_export_lane lane = {0};

	ctx_export_lane_begin(&lane, fake_export(&timed->world->input));
	for (size_t i = 0; i < timed->world->n; i++) {
		const struct frames *sample = &timed->world->samples[i];
		struct ctx_sample point = {.time_ns = timed->times[i], .weight = sample->weight};
		struct ctx_export_span span;

		if (sample->thread != id)
			continue;
		if (lane.end_ns + 1 < timed->times[i])
			play(&track, lane.end_ns);
		span = ctx_export_lane_place(&lane, &point);
		if (span.idle_ns != 0)
			assert_int_equal(track.n_open, 0);
		play(&track, span.begin_ns);
		assert_int_equal(track.n_open, sample->n != 0 ? sample->n : 1);
		for (uint32_t k = 0; k < track.n_open; k++)
			assert_string_equal(
				track.open[k],
				ctx_export_names_get(all, sample->n != 0 ? sample->functions[k] : NO_STACK));
		if (peek(&track) != NULL)
			assert_true(scaled(get(peek(&track), "ts"), 3) >= span.end_ns);
	}
	play(&track, lane.end_ns);
	assert_int_equal(track.n_open, 0);
	assert_null(peek(&track));
}

/* Frames are identified by their row, the leaf first. */
static void check_instants(const struct timed *timed, uint32_t id, yajl_val tree,
			   const struct ctx_export_names *all)
{
	struct track track = open_track(timed, id, tree);
	yajl_val frames = get(tree, "stackFrames");

	for (size_t i = 0; i < timed->world->n; i++) {
		const struct frames *sample = &timed->world->samples[i];
		yajl_val event;
		char row[32];

		if (sample->thread != id)
			continue;
		event = take(&track, "i");
		assert_int_equal(scaled(get(event, "ts"), 3), timed->times[i]);
		assert_int_equal(number(get(get(event, "args"), "weight")), sample->weight);
		snprintf(row, sizeof(row), "%" PRIu64, number(get(event, "sf")));
		for (uint32_t k = sample->n != 0 ? sample->n : 1; k > 0; k--) {
			yajl_val frame = get(frames, row);

			assert_string_equal(text_of(get(frame, "name")),
					    ctx_export_names_get(all, sample->n != 0
									      ? sample->functions[k - 1]
									      : NO_STACK));
			assert_int_equal(has(frame, "parent"), k > 1);
			if (k > 1)
				snprintf(row, sizeof(row), "%" PRIu64, number(get(frame, "parent")));
		}
	}
	assert_null(peek(&track));
}

static void check_trace(struct timed *timed, bool is_clock)
{
	yajl_val tree = write_and_parse(timed, &ctx_export_chrome_trace);
	struct ctx_export_names all;

	assert_int_equal(ctx_export_names_init(&all, &timed->world->profile, NULL), CTX_OK);
	for (size_t i = 0; i < timed->world->input.n_parts; i++)
		(is_clock ? check_slices : check_instants)(timed, timed->world->parts[i].thread, tree, &all);
	ctx_export_names_deinit(&all);
	yajl_tree_free(tree);
}

static void test_chrome_trace__slices_are_open_while_samples_have_the_frame(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed < 30; seed++) {
		struct timed *timed = make_timed(seed, seed * 13);

		check_trace(timed, true);
		free_timed(timed);
	}
}

static void test_chrome_trace__samples_without_length_are_instants_with_stack_and_weight(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed < 30; seed++) {
		struct timed *timed = make_timed(seed, seed * 13);

		timed->world->metric.unit = CTX_UNIT_EVENTS;
		check_trace(timed, false);
		free_timed(timed);
	}
}

/* ---- all three ---- */

static const struct ctx_export_kind *const kinds[] = {&ctx_export_speedscope, &ctx_export_firefox,
						      &ctx_export_chrome_trace};

static void test_exports_json__an_empty_selection_is_a_valid_file(void **state)
{
	struct timed *timed = make_timed(1, 0);
	yajl_val tree, only;

	(void)state;
	for (int k = 0; k < 2; k++) {
		tree = write_and_parse(timed, &ctx_export_speedscope);
		only = item(get(tree, "profiles"), 0);
		assert_int_equal(length(get(tree, "profiles")), 1);
		assert_int_equal(length(get(only, "samples")) + length(get(only, "weights")), 0);
		assert_int_equal(number(get(tree, "activeProfileIndex")), 0);
		yajl_tree_free(tree);
		tree = write_and_parse(timed, &ctx_export_firefox);
		only = item(get(tree, "threads"), 0);
		assert_string_equal(YAJL_GET_NUMBER(get(get(tree, "meta"), "interval")), "1");
		assert_int_equal(length(get(tree, "threads")), 1);
		assert_int_equal(number(get(get(only, "samples"), "length")), 0);
		check_columns(get(only, "samples"));
		yajl_tree_free(tree);
		tree = write_and_parse(timed, &ctx_export_chrome_trace);
		assert_int_equal(length(get(tree, "traceEvents")), 0);
		yajl_tree_free(tree);
		timed->world->metric.unit = CTX_UNIT_BYTES;
	}
	free_timed(timed);
}

static void test_exports_json__the_same_samples_are_the_same_bytes(void **state)
{
	(void)state;
	for (size_t k = 0; k < CTX_COUNT_OF(kinds); k++) {
		struct timed *timed = make_timed(5, 300), *again = make_timed(5, 300);

		assert_int_equal(write_file(timed->world, kinds[k], NULL), CTX_OK);
		assert_int_equal(write_file(again->world, kinds[k], NULL), CTX_OK);
		assert_string_equal(timed->world->text, again->world->text);
		free_timed(timed);
		free_timed(again);
	}
}

static void test_exports_json__large_weights_stay_exact_and_are_remarked(void **state)
{
	(void)state;
	for (size_t k = 0; k < 2; k++) {
		struct timed *timed = make_timed(5, 0);
		struct world *world = timed->world;

		world->metric.unit = CTX_UNIT_BYTES;
		world->samples[world->n++] =
			(struct frames){.n = 1, .functions = {1}, .weight = UINT64_C(9007199254740993)};
		add_sample(world, &world->samples[0]);
		timed->stacks[0] = 1;
		timed->times[0] = 2000;
		world->parts[world->input.n_parts++] =
			(struct ctx_report_part){.histograms = &world->by_thread[0]};
		assert_int_equal(write_file(world, kinds[k], NULL), CTX_OK);
		assert_non_null(strstr(world->text, "[9007199254740993]"));
		assert_non_null(strstr(world->text, "\"bytes\""));
		assert_non_null(strstr(world->remarks, "2^53"));
		free_timed(timed);
	}
}

static void test_exports_json__samples_that_the_histograms_do_not_have_are_refused(void **state)
{
	(void)state;
	for (size_t k = 0; k < CTX_COUNT_OF(kinds); k++) {
		struct timed *timed = make_timed(5, 50);
		struct ctx_err err;

		timed->untracked_task = true;
		assert_int_equal(write_file(timed->world, kinds[k], &err), CTX_E_FORMAT);
		assert_non_null(strstr(err.msg, "stack"));
		free_timed(timed);
	}
}

static void test_firefox__refuses_samples_that_go_back_in_time(void **state)
{
	struct timed *timed = make_timed(5, 50);

	(void)state;
	timed->times[40] = 1;
	timed->world->samples[40].thread = timed->world->samples[0].thread;
	timed->times[0] = 1000;
	timed->stacks[40] = timed->stacks[0];
	assert_int_equal(write_file(timed->world, &ctx_export_firefox, NULL), CTX_E_FORMAT);
	free_timed(timed);
}

static void test_exports_json__out_of_memory_is_reported(void **state)
{
	(void)state;
	for (size_t k = 0; k < CTX_COUNT_OF(kinds); k++) {
		struct timed *timed = make_timed(5, 60);
		long n = 0;

		for (;; n++) {
			struct ctx_err err = {0};
			char *text = NULL;
			size_t size;
			FILE *out = open_memstream(&text, &size);
			enum ctx_status status;

			assert_non_null(out);
			fail_after = n;
			status = kinds[k]->write(fake_export(&timed->world->input), out, &err);
			if (status == CTX_OK)
				assert_true(fail_after >= 0); /* nothing failed */
			fail_after = -1;
			fclose(out);
			free(text);
			if (status == CTX_OK)
				break;
			assert_int_equal(status, CTX_E_NOMEM);
			assert_int_equal(err.status, CTX_E_NOMEM);
		}
		assert_true(n > 4);
		free_timed(timed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_export_lane__keeps_lengths_and_finds_back_to_the_time_stamps),
		cmocka_unit_test(test_speedscope__has_every_sample_with_its_stack_weight_and_time),
		cmocka_unit_test(test_firefox__says_where_it_was_recorded),
		cmocka_unit_test(test_firefox__has_every_sample_with_its_stack_weight_and_time),
		cmocka_unit_test(test_firefox__knows_the_kernel_and_build_ids),
		cmocka_unit_test(test_firefox__refuses_samples_that_go_back_in_time),
		cmocka_unit_test(test_chrome_trace__slices_are_open_while_samples_have_the_frame),
		cmocka_unit_test(
			test_chrome_trace__samples_without_length_are_instants_with_stack_and_weight),
		cmocka_unit_test(test_exports_json__an_empty_selection_is_a_valid_file),
		cmocka_unit_test(test_exports_json__the_same_samples_are_the_same_bytes),
		cmocka_unit_test(test_exports_json__large_weights_stay_exact_and_are_remarked),
		cmocka_unit_test(test_exports_json__samples_that_the_histograms_do_not_have_are_refused),
		cmocka_unit_test(test_exports_json__out_of_memory_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
