/*
 *	thread: samples {schema {stack, time}, data [[stack, time, ...], ...]}		rows, whose fields a schema numbers
 *		stackTable {schema {prefix, frame}, data}, frameTable {schema {location, line}, data}, stringTable [...]
 *	meta {interval, product}, processes [the same again]
 *
 * A location is the text of a frame: "work (in /usr/bin/app)", "js (app.js:12)", "0x7f12". Times are milliseconds on a
 * clock of unknown origin: the first sample is at 0 here.
 */
#include "formats/jsonprofile/jp_forms.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS 1e6
#define PROCESSES_MAX 4096u

/* Rows, and the place of two fields in each; without one, SIZE_MAX. */
struct table {
	yajl_val rows;
	size_t first, second;
};

struct reading {
	struct ctx_jp_model *model;
	struct table stacks, frames, samples;
	yajl_val strings;
	uint32_t *node_of;     /* owned; of a row of the table of stacks; CTX_JP_ROOT: none */
	uint32_t *function_of; /* owned; of a row of the texts; CTX_JP_ROOT: not yet */
	size_t n_stacks, n_strings;
	uint32_t thread, metric;
	double interval_ms;
};

static struct table table_of(yajl_val holder, const char *name, const char *first, const char *second)
{
	yajl_val table = ctx_jp_member(holder, name), schema = ctx_jp_member(table, "schema");

	return (struct table){
		.rows = ctx_jp_member(table, "data"),
		.first = (size_t)ctx_jp_index(ctx_jp_member(schema, first), UINT32_MAX, SIZE_MAX),
		.second = (size_t)ctx_jp_index(ctx_jp_member(schema, second), UINT32_MAX, SIZE_MAX),
	};
}

static yajl_val field(const struct table *table, size_t row, size_t place)
{
	return place != SIZE_MAX ? ctx_jp_item(ctx_jp_item(table->rows, row), place) : NULL;
}

/* Cuts "name (in module)" apart; other locations are names. */
static enum ctx_status make_function(struct ctx_jp_model *model, const char *location,
				     struct ctx_jp_function *ret, struct ctx_err *err)
{
	static const char before[] = " (in ";
	const char *at = NULL;
	size_t n = strlen(location);
	char *name, *module;

	for (const char *next = strstr(location, before); next != NULL; next = strstr(next + 1, before))
		at = next;
	*ret = (struct ctx_jp_function){
		.name = location[0] != '\0' ? location : "<Unknown>", .module = "", .file = ""};
	if (at == NULL || at == location || location[n - 1] != ')')
		return CTX_OK;
	name = ctx_arena_strndup(&model->texts, location, (size_t)(at - location));
	at += sizeof(before) - 1;
	module = ctx_arena_strndup(&model->texts, at, (size_t)(location + n - 1 - at));
	if (name == NULL || module == NULL)
		return ctx_err_nomem(err);
	ret->name = name;
	ret->module = module;
	return CTX_OK;
}

static enum ctx_status function_of(struct reading *reading, size_t text, uint32_t *ret, struct ctx_err *err)
{
	struct ctx_jp_function function;
	enum ctx_status status = CTX_OK;

	if (reading->function_of[text] == CTX_JP_ROOT) {
		status = make_function(reading->model, ctx_jp_text(ctx_jp_item(reading->strings, text)),
				       &function, err);
		if (status == CTX_OK)
			status = ctx_jp_function(reading->model, &function, &reading->function_of[text], err);
	}
	*ret = reading->function_of[text];
	return status;
}

/* Rows refer to rows before them only: those that do not are damaged. */
static enum ctx_status add_stack(struct reading *reading, size_t row, struct ctx_err *err)
{
	const struct table *stacks = &reading->stacks, *frames = &reading->frames;
	yajl_val prefix = field(stacks, row, stacks->first);
	uint64_t caller = ctx_jp_index(prefix, UINT32_MAX, UINT64_MAX);
	uint64_t frame = ctx_jp_index(field(stacks, row, stacks->second), UINT32_MAX, UINT64_MAX);
	uint64_t text = frame != UINT64_MAX ? ctx_jp_index(field(frames, (size_t)frame, frames->first),
							   UINT32_MAX, UINT64_MAX)
					    : UINT64_MAX;
	struct ctx_jp_node node = {.parent = CTX_JP_ROOT};
	enum ctx_status status;

	if (text >= reading->n_strings || (caller != UINT64_MAX && caller >= row)) {
		reading->model->n_damaged++;
		if (text >= reading->n_strings)
			return CTX_OK;
	} else if (caller != UINT64_MAX) {
		node.parent = reading->node_of[caller];
	}
	node.line = (uint32_t)ctx_jp_index(field(frames, (size_t)frame, frames->second), UINT32_MAX, 0);
	status = function_of(reading, (size_t)text, &node.function, err);
	return status == CTX_OK ? ctx_jp_node(reading->model, &node, &reading->node_of[row], err) : status;
}

static enum ctx_status read_tables(struct reading *reading, yajl_val thread, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	free(reading->node_of);
	free(reading->function_of);
	reading->stacks = table_of(thread, "stackTable", "prefix", "frame");
	reading->frames = table_of(thread, "frameTable", "location", "line");
	reading->samples = table_of(thread, "samples", "stack", "time");
	reading->strings = ctx_jp_member(thread, "stringTable");
	reading->n_stacks = ctx_jp_length(reading->stacks.rows);
	reading->n_strings = ctx_jp_length(reading->strings);
	reading->node_of = malloc((reading->n_stacks + 1) * sizeof(*reading->node_of));
	reading->function_of = malloc((reading->n_strings + 1) * sizeof(*reading->function_of));
	if (reading->node_of == NULL || reading->function_of == NULL)
		return ctx_err_nomem(err);
	memset(reading->node_of, 0xff, (reading->n_stacks + 1) * sizeof(*reading->node_of));
	memset(reading->function_of, 0xff, (reading->n_strings + 1) * sizeof(*reading->function_of));
	for (size_t i = 0; i < reading->n_stacks && status == CTX_OK; i++)
		status = add_stack(reading, i, err);
	return status;
}

static enum ctx_status read_samples(struct reading *reading, struct ctx_err *err)
{
	struct ctx_jp_model *model = reading->model;
	const struct table *samples = &reading->samples;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < ctx_jp_length(samples->rows) && status == CTX_OK; i++) {
		double at_ms = ctx_jp_number(field(samples, i, samples->second), NAN);
		yajl_val number = field(samples, i, samples->first);
		uint64_t stack = ctx_jp_index(number, UINT32_MAX, UINT64_MAX);

		if (!(at_ms >= 0 && at_ms < CTX_JP_MOST / NS_PER_MS)) {
			model->n_damaged++;
			continue;
		}
		if (stack >= reading->n_stacks || reading->node_of[stack] == CTX_JP_ROOT)
			continue; /* without a stack the thread did nothing */
		status = ctx_jp_sample(
			model,
			&(struct ctx_jp_sample){.time_ns = (uint64_t)llround(at_ms * NS_PER_MS),
						.weight = (uint64_t)llround(reading->interval_ms * NS_PER_MS),
						.thread = reading->thread,
						.node = reading->node_of[stack],
						.metric = reading->metric},
			err);
	}
	return status;
}

static enum ctx_status read_threads(struct reading *reading, yajl_val process, struct ctx_err *err)
{
	yajl_val threads = ctx_jp_member(process, "threads");
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < ctx_jp_length(threads) && status == CTX_OK; i++) {
		yajl_val thread = ctx_jp_item(threads, i);
		const char *name = ctx_jp_text(ctx_jp_member(thread, "name"));
		const struct ctx_jp_thread info = {
			.name = name[0] != '\0' ? name : "thread",
			.process = name[0] != '\0' ? name : "process",
			.pid = ctx_jp_id(ctx_jp_member(thread, "pid"), 1),
			.tid = ctx_jp_id(ctx_jp_member(thread, "tid"), (int64_t)i + 1)};

		status = ctx_jp_thread(reading->model, &info, &reading->thread, err);
		if (status == CTX_OK)
			status = read_tables(reading, thread, err);
		if (status == CTX_OK)
			status = read_samples(reading, err);
	}
	return status;
}

/* The first sample is at 0. */
static void begin_at_first(struct ctx_jp_model *model)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < model->n_samples; i++)
		first = model->samples[i].time_ns < first ? model->samples[i].time_ns : first;
	for (size_t i = 0; i < model->n_samples; i++) {
		model->samples[i].time_ns -= first;
		if (model->samples[i].time_ns + 1 > model->duration_ns)
			model->duration_ns = model->samples[i].time_ns + 1;
	}
}

bool ctx_jp_is_gecko(yajl_val root)
{
	yajl_val thread = ctx_jp_item(ctx_jp_member(root, "threads"), 0);

	return ctx_jp_member(ctx_jp_member(thread, "stackTable"), "schema") != NULL;
}

enum ctx_status ctx_jp_gecko(yajl_val root, struct ctx_jp_model *model, struct ctx_err *err)
{
	static const struct ctx_jp_metric metric = {"time", CTX_UNIT_NS, CTX_METRIC_THREAD_TIME};
	yajl_val meta = ctx_jp_member(root, "meta"), processes = ctx_jp_member(root, "processes");
	struct reading reading = {.model = model};
	enum ctx_status status = ctx_jp_metric(model, &metric, &reading.metric, err);

	model->format = "Gecko profile";
	model->exporter = ctx_jp_text(ctx_jp_member(meta, "product"));
	reading.interval_ms = ctx_jp_number(ctx_jp_member(meta, "interval"), 1);
	if (!(reading.interval_ms > 0 && reading.interval_ms < 1e6))
		reading.interval_ms = 1;
	if (status == CTX_OK)
		status = read_threads(&reading, root, err);
	for (size_t i = 0; i < ctx_jp_length(processes) && i < PROCESSES_MAX && status == CTX_OK; i++)
		status = read_threads(&reading, ctx_jp_item(processes, i), err);
	begin_at_first(model);
	free(reading.node_of);
	free(reading.function_of);
	return status;
}
