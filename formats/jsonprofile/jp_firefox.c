/*
 *	thread: samples {stack, time | timeDeltas, weight}		parallel lists
 *		stackTable {frame, prefix | prefixOffset}, frameTable {func, line}, funcTable {name, resource, fileName, lineNumber},
 *		resourceTable {name, lib}, stringArray or stringTable		of the thread; since version 56 in `shared`
 *	libs: [{name}], meta {interval, product}
 *
 *		lately a function has no fileName, but a source: of sources {filename}
 *
 * Times are milliseconds since the begin. A stack is its frame and the one before it in the table: prefix is its row, or
 * null; prefixOffset says how many rows before, or 0.
 */
#include "formats/jsonprofile/jp_forms.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS 1e6

struct tables {
	yajl_val stack_frame, stack_prefix, stack_offset, frame_func, frame_line;
	yajl_val func_name, func_resource, func_file, func_line, func_source, source_file;
	yajl_val resource_name, resource_lib, strings, libs;
};

struct reading {
	struct ctx_jp_model *model;
	struct tables tables;
	uint32_t *node_of;     /* owned; of a row of the table of stacks, CTX_JP_ROOT: not yet */
	uint32_t *function_of; /* owned; of a row of the table of functions */
	size_t n_stacks, n_functions;
	uint32_t thread, time_metric;
	double interval_ms;
};

static const char *string_of(const struct tables *tables, yajl_val number)
{
	uint64_t i = ctx_jp_index(number, UINT32_MAX, UINT64_MAX);

	return i != UINT64_MAX ? ctx_jp_text(ctx_jp_item(tables->strings, (size_t)i)) : "";
}

static yajl_val column(yajl_val holder, const char *table, const char *name)
{
	return ctx_jp_member(ctx_jp_member(holder, table), name);
}

static struct tables tables_of(yajl_val root, yajl_val holder)
{
	yajl_val strings = ctx_jp_member(holder, "stringArray");
	yajl_val source_file = column(holder, "sources", "filename");

	if (strings == NULL) /* versions 51 to 55 share the texts alone */
		strings = ctx_jp_member(ctx_jp_member(root, "shared"), "stringArray");
	return (struct tables){
		.stack_frame = column(holder, "stackTable", "frame"),
		.stack_prefix = column(holder, "stackTable", "prefix"),
		.stack_offset = column(holder, "stackTable", "prefixOffset"),
		.frame_func = column(holder, "frameTable", "func"),
		.frame_line = column(holder, "frameTable", "line"),
		.func_name = column(holder, "funcTable", "name"),
		.func_resource = column(holder, "funcTable", "resource"),
		.func_file = column(holder, "funcTable", "fileName"),
		.func_line = column(holder, "funcTable", "lineNumber"),
		.func_source = column(holder, "funcTable", "source"),
		.source_file = source_file != NULL
				       ? source_file
				       : column(ctx_jp_member(root, "shared"), "sources", "filename"),
		.resource_name = column(holder, "resourceTable", "name"),
		.resource_lib = column(holder, "resourceTable", "lib"),
		.strings = strings != NULL ? strings : ctx_jp_member(holder, "stringTable"),
		.libs = ctx_jp_member(root, "libs"),
	};
}

/* The load object: the library of the resource, else the resource's own name. */
static const char *module_of(const struct tables *tables, uint64_t func)
{
	uint64_t resource =
		ctx_jp_index(ctx_jp_item(tables->func_resource, (size_t)func), UINT32_MAX, UINT64_MAX);
	uint64_t lib = resource != UINT64_MAX
			       ? ctx_jp_index(ctx_jp_item(tables->resource_lib, (size_t)resource), UINT32_MAX,
					      UINT64_MAX)
			       : UINT64_MAX;
	yajl_val library = lib != UINT64_MAX ? ctx_jp_item(tables->libs, (size_t)lib) : NULL;
	const char *path = ctx_jp_text(ctx_jp_member(library, "path"));

	if (path[0] != '\0')
		return path;
	if (resource == UINT64_MAX)
		return "";
	return string_of(tables, ctx_jp_item(tables->resource_name, (size_t)resource));
}

static const char *file_of(const struct tables *tables, uint64_t func)
{
	uint64_t source =
		ctx_jp_index(ctx_jp_item(tables->func_source, (size_t)func), UINT32_MAX, UINT64_MAX);

	return source != UINT64_MAX ? string_of(tables, ctx_jp_item(tables->source_file, (size_t)source))
				    : string_of(tables, ctx_jp_item(tables->func_file, (size_t)func));
}

static enum ctx_status function_of(struct reading *reading, uint64_t func, uint32_t *ret, struct ctx_err *err)
{
	const struct tables *tables = &reading->tables;
	struct ctx_jp_function function;
	enum ctx_status status;

	if (reading->function_of[func] != CTX_JP_ROOT) {
		*ret = reading->function_of[func];
		return CTX_OK;
	}
	function = (struct ctx_jp_function){
		.name = string_of(tables, ctx_jp_item(tables->func_name, (size_t)func)),
		.module = module_of(tables, func),
		.file = file_of(tables, func),
		.line = (uint32_t)ctx_jp_index(ctx_jp_item(tables->func_line, (size_t)func), UINT32_MAX, 0)};
	if (function.name[0] == '\0')
		function.name = "<Unknown>";
	status = ctx_jp_function(reading->model, &function, ret, err);
	if (status == CTX_OK)
		reading->function_of[func] = *ret;
	return status;
}

/* The row of a stack's callers; UINT64_MAX: none; `row`: not one before it. */
static uint64_t caller_of(const struct tables *tables, size_t row)
{
	uint64_t offset;

	if (tables->stack_offset == NULL)
		return ctx_jp_index(ctx_jp_item(tables->stack_prefix, row), UINT32_MAX, UINT64_MAX);
	offset = ctx_jp_index(ctx_jp_item(tables->stack_offset, row), UINT32_MAX, 0);
	return offset == 0 ? UINT64_MAX : offset <= row ? row - offset : row;
}

/* Rows refer to rows before them only: those that do not are damaged, and have no callers. */
static enum ctx_status add_stack(struct reading *reading, size_t row, struct ctx_err *err)
{
	const struct tables *tables = &reading->tables;
	uint64_t frame = ctx_jp_index(ctx_jp_item(tables->stack_frame, row), UINT32_MAX, UINT64_MAX);
	uint64_t caller = caller_of(tables, row);
	uint64_t func = frame != UINT64_MAX ? ctx_jp_index(ctx_jp_item(tables->frame_func, (size_t)frame),
							   UINT32_MAX, UINT64_MAX)
					    : UINT64_MAX;
	struct ctx_jp_node node = {.parent = CTX_JP_ROOT};
	enum ctx_status status;

	if (func >= reading->n_functions || (caller != UINT64_MAX && caller >= row)) {
		reading->model->n_damaged++;
		if (func >= reading->n_functions)
			return CTX_OK;
	} else if (caller != UINT64_MAX) {
		node.parent = reading->node_of[caller];
	}
	node.line = (uint32_t)ctx_jp_index(ctx_jp_item(tables->frame_line, (size_t)frame), UINT32_MAX, 0);
	status = function_of(reading, func, &node.function, err);
	return status == CTX_OK ? ctx_jp_node(reading->model, &node, &reading->node_of[row], err) : status;
}

static enum ctx_status read_tables(struct reading *reading, yajl_val root, yajl_val holder,
				   struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	free(reading->node_of);
	free(reading->function_of);
	reading->tables = tables_of(root, holder);
	reading->n_stacks = ctx_jp_length(reading->tables.stack_frame);
	reading->n_functions = ctx_jp_length(reading->tables.func_name);
	reading->node_of = malloc((reading->n_stacks + 1) * sizeof(*reading->node_of));
	reading->function_of = malloc((reading->n_functions + 1) * sizeof(*reading->function_of));
	if (reading->node_of == NULL || reading->function_of == NULL)
		return ctx_err_nomem(err);
	memset(reading->node_of, 0xff, (reading->n_stacks + 1) * sizeof(*reading->node_of));
	memset(reading->function_of, 0xff, (reading->n_functions + 1) * sizeof(*reading->function_of));
	for (size_t i = 0; i < reading->n_stacks && status == CTX_OK; i++)
		status = add_stack(reading, i, err);
	return status;
}

static enum ctx_status add_thread(struct reading *reading, yajl_val thread, size_t i, struct ctx_err *err)
{
	const char *name = ctx_jp_text(ctx_jp_member(thread, "name"));
	const char *process = ctx_jp_text(ctx_jp_member(thread, "processName"));

	return ctx_jp_thread(
		reading->model,
		&(struct ctx_jp_thread){.name = name[0] != '\0' ? name : "thread",
					.process = process[0] != '\0' ? process
						   : name[0] != '\0'  ? name
								      : "process",
					.pid = ctx_jp_id(ctx_jp_member(thread, "pid"), 1),
					.tid = ctx_jp_id(ctx_jp_member(thread, "tid"), (int64_t)i + 1)},
		&reading->thread, err);
}

/* What a weight of 1 is, and the metric: times, bytes, or samples, which stand for an interval each. */
static enum ctx_status weigh(struct reading *reading, yajl_val samples, double *ret_factor,
			     uint32_t *ret_metric, struct ctx_err *err)
{
	static const struct ctx_jp_metric bytes = {"bytes", CTX_UNIT_BYTES, CTX_METRIC_BY_UNIT};
	const char *type = ctx_jp_text(ctx_jp_member(samples, "weightType"));

	*ret_metric = reading->time_metric;
	*ret_factor = (strcmp(type, "tracing-ms") == 0 ? 1 : reading->interval_ms) * NS_PER_MS;
	if (strcmp(type, "bytes") != 0)
		return CTX_OK;
	*ret_factor = 1;
	return ctx_jp_metric(reading->model, &bytes, ret_metric, err);
}

static enum ctx_status read_samples(struct reading *reading, yajl_val samples, struct ctx_err *err)
{
	struct ctx_jp_model *model = reading->model;
	yajl_val stacks = ctx_jp_member(samples, "stack"), times = ctx_jp_member(samples, "time");
	yajl_val deltas = ctx_jp_member(samples, "timeDeltas"), weights = ctx_jp_member(samples, "weight");
	double at_ms = 0, factor;
	uint32_t metric;
	enum ctx_status status = weigh(reading, samples, &factor, &metric, err);

	for (size_t i = 0; i < ctx_jp_length(stacks) && status == CTX_OK; i++) {
		struct ctx_jp_sample sample = {.thread = reading->thread, .metric = metric};
		uint64_t stack = ctx_jp_index(ctx_jp_item(stacks, i), UINT32_MAX, UINT64_MAX);
		double count = weights != NULL ? ctx_jp_number(ctx_jp_item(weights, i), 1) : 1, weight;

		at_ms = times != NULL ? ctx_jp_number(ctx_jp_item(times, i), NAN)
				      : at_ms + ctx_jp_number(ctx_jp_item(deltas, i), NAN);
		weight = count * factor;
		if (!(at_ms >= 0 && at_ms < CTX_JP_MOST / NS_PER_MS) ||
		    !(weight >= 0 && weight < CTX_JP_MOST)) {
			model->n_damaged++;
			continue;
		}
		sample.node = stack < reading->n_stacks ? reading->node_of[stack] : CTX_JP_ROOT;
		sample.time_ns = (uint64_t)llround(at_ms * NS_PER_MS);
		sample.weight = (uint64_t)llround(weight);
		if (sample.time_ns + 1 > model->duration_ns)
			model->duration_ns = sample.time_ns + 1;
		if (sample.node != CTX_JP_ROOT &&
		    sample.weight != 0) /* without a stack the thread did nothing */
			status = ctx_jp_sample(model, &sample, err);
	}
	return status;
}

enum ctx_status ctx_jp_firefox(yajl_val root, struct ctx_jp_model *model, struct ctx_err *err)
{
	static const struct ctx_jp_metric metric = {"time", CTX_UNIT_NS, CTX_METRIC_THREAD_TIME};
	yajl_val threads = ctx_jp_member(root, "threads"), shared = ctx_jp_member(root, "shared");
	struct reading reading = {.model = model};
	enum ctx_status status = ctx_jp_metric(model, &metric, &reading.time_metric, err);
	bool is_shared = ctx_jp_member(shared, "stackTable") != NULL;

	model->format = "Firefox Profiler";
	model->exporter = ctx_jp_text(ctx_jp_member(ctx_jp_member(root, "meta"), "product"));
	reading.interval_ms = ctx_jp_number(ctx_jp_member(ctx_jp_member(root, "meta"), "interval"), 1);
	if (!(reading.interval_ms > 0 && reading.interval_ms < 1e6))
		reading.interval_ms = 1;
	if (status == CTX_OK && is_shared)
		status = read_tables(&reading, root, shared, err);
	for (size_t i = 0; i < ctx_jp_length(threads) && status == CTX_OK; i++) {
		yajl_val thread = ctx_jp_item(threads, i);

		status = add_thread(&reading, thread, i, err);
		if (status == CTX_OK && !is_shared)
			status = read_tables(&reading, root, thread, err);
		if (status == CTX_OK)
			status = read_samples(&reading, ctx_jp_member(thread, "samples"), err);
	}
	free(reading.node_of);
	free(reading.function_of);
	return status;
}
